"""The study of the travelling salesman: the same branch and bound, with its work distributed in four ways."""

from __future__ import annotations

from typing import Any

from wattle.base.checked import Checked
from wattle.machine.paths import Home
from wattle.study.tsp.judges import BARS, ROWS
from wattle.study.versions.family import App, Case, Size

FILES = ("tsp04.txt", "tsp14.txt", "tsp15.txt")
HELD_PES = (4,)
SIMULATED_EACH = 6  # the minimum for 95 % confidence


def _files(*names: str) -> Any:
    def arguments(home: Home) -> list[str]:
        folder = home.shared("apps") / "tsp" / "data"
        return [str(folder / name) for name in names]

    return arguments


def _held(seconds: float) -> tuple[Case, ...]:
    return (Case(lambda home: ["--hold", f"{seconds:g}", *_files(FILES[0])(home)], 1, "held", HELD_PES),)


def _input_of(line: dict[str, Any]) -> str:
    return f"{Checked('the mini-app', line).integer('cities', lo=1)} cities"


PAPERS = Case(_files(*FILES), len(FILES))

STUDY = App(
    name="tsp",
    title="The travelling salesman, four ways",
    question=(
        "What does it cost to distribute the work of a branch and bound by MPI, by buckets, and by active messages?"
    ),
    versions=("mpi", "bucket", "am", "steal"),
    words={
        "mpi": "a master takes reports and sends work by two-sided messages with tags, yielding while it waits",
        "bucket": "workers put reports into buckets, which the master scans repeatedly",
        "am": "a report is an active message, and its handler's reply is the next work; the master works, too",
        "steal": "no master: PEs without work take some from others by active messages; a token detects the end",
    },
    full=Size((2, 4, 8, 16, 32), 5, 4, (PAPERS,)),
    quick=Size((2, 4, 8), 2, 10, (PAPERS,)),
    input_of=_input_of,
    held=_held(1.0),
    simulated=Size((2, 4, 8, 16, 32, 64, 128, 256), 1, SIMULATED_EACH, (PAPERS,)),
    system="opteron-ddr",
    rows=ROWS,
    bars=BARS,
)
