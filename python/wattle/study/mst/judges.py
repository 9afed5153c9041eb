"""The judges of the minimum spanning tree: for the published statement and for this project's bar."""

from __future__ import annotations

from wattle.study import papers
from wattle.study.published import Outcome, not_here, verdict_of  # noqa: F401 (published.toml names it)
from wattle.study.versions.analysis import Analysis


def right(a: Analysis) -> Outcome:
    runs = a.frame.height
    return Outcome(f"{runs - a.wrong} of {runs} runs", verdict_of(a.wrong == 0))


PAPERS = papers.read(__file__)
ROWS = PAPERS.figures(globals())
BARS = PAPERS.bars(globals())
