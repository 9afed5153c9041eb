"""The judges of the minimum spanning tree: for the published statement and for this project's bar."""

from __future__ import annotations

from wattle.study import published
from wattle.study.published import Outcome, verdict_of
from wattle.study.versions import judges as rows
from wattle.study.versions.analysis import Analysis


def right(a: Analysis) -> Outcome:
    runs = a.frame.height
    return Outcome(f"{runs - a.wrong} of {runs} runs", verdict_of(a.wrong == 0))


PAPERS = published.read(__file__)
ROWS = PAPERS.figures(rows.not_here)
BARS = PAPERS.bars(right)
