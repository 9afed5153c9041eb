"""What the papers say of the minimum spanning tree's versions: that there were some (D 1.5), and no figure. And the bar
this project sets itself."""

from __future__ import annotations

from wattle.study.published import Outcome, Published, verdict_of
from wattle.study.versions import judges as rows
from wattle.study.versions.analysis import Analysis

NO_FIGURE = "The text names the three versions among its contributions and gives no time, energy or figure of them."


def _right(a: Analysis) -> Outcome:
    runs = a.frame.height
    return Outcome(f"{runs - a.wrong} of {runs} runs", verdict_of(a.wrong == 0))


ROWS: list[Published[Analysis]] = [
    Published(
        "versions",
        "published",
        "D 1.5",
        "graph applications",
        "MPI, standard OpenSHMEM and active messages",
        "-",
        rows.not_here(NO_FIGURE),
        "not said",
    )
]

BARS: list[Published[Analysis]] = [
    Published(
        "bar-right",
        "bar",
        "this project",
        "every version, number of PEs and graph",
        "The tree is Kruskal's",
        "weight, number of edges and a checksum over them are equal in every run",
        _right,
        "this machine",
    )
]
