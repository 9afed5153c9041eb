"""The judges of the minimum spanning tree: for the published statement and for this project's bar."""

from __future__ import annotations

from wattle.study import published
from wattle.study.published import Outcome, verdict_of
from wattle.study.versions.analysis import Analysis
from wattle.study.versions.judges import not_here  # noqa: F401 (published.toml names it)


def right(a: Analysis) -> Outcome:
    runs = a.frame.height
    return Outcome(f"{runs - a.wrong} of {runs} runs", verdict_of(a.wrong == 0))


PAPERS = published.read(__file__)
ROWS = PAPERS.figures(globals())
BARS = PAPERS.bars(globals())
