"""The study of the minimum spanning tree: the same Boruvka algorithm, with its small messages sent in three ways."""

from __future__ import annotations

from typing import Any

from wattle.base.checked import Checked
from wattle.machine.paths import Home
from wattle.study.mst.judges import BARS, ROWS
from wattle.study.versions.family import App, Case, Size

KINDS = {"uniform": "uniform", "rmat": "R-MAT"}  # name of the program: name in the report
LOG_VERTICES, EDGES = 17, 1_000_000


def _graph(kind: str) -> Case:
    def arguments(home: Home) -> list[str]:
        return ["--graph", kind, "--log-vertices", str(LOG_VERTICES), "--edges", str(EDGES)]

    return Case(arguments)


def _input_of(line: dict[str, Any]) -> str:
    graph = Checked("the mini-app", line)
    edges = graph.integer("edges") / 1e6
    kind = KINDS[graph.choice("graph", tuple(KINDS))]
    return f"{kind}, {edges:g} million edges, 2^{graph.integer('log_vertices')} vertices"


CASES = tuple(_graph(kind) for kind in KINDS)

STUDY = App(
    name="mst",
    title="A minimum spanning tree, three ways",
    question="What do many small, irregular messages cost by MPI, by buckets and gets, and by active messages?",
    versions=("mpi", "bucket", "am"),
    words={
        "mpi": "PEs agree how much each sends to each, then send it by two-sided messages with tags",
        "bucket": "offers are put into buckets, which their owners scan; look-ups are non-blocking gets",
        "am": "offers are active messages that their handlers take in; look-ups are answered in the reply",
    },
    full=Size((2, 4, 8, 16, 32), 5, 4, CASES),
    quick=Size((2, 4), 2, 3, CASES),
    input_of=_input_of,
    held=(),
    simulated=Size((2, 4, 8, 16, 32), 1, 6, CASES),
    system="opteron-ddr",
    rows=ROWS,
    bars=BARS,
)
