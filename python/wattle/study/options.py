"""The options of the studies' commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from wattle.base.errors import WattleError
from wattle.meter_log.options import MeterLog, MeterSet
from wattle.study import measuring

MOST_TIMES, LONGEST_S = 1000, 60  # of repeats and rounds; of --min-time


def check_times(option: str, value: int | None) -> None:
    """Raises WattleError for a number of repeats or rounds that is not allowed."""
    if value is not None and not 1 <= value <= MOST_TIMES:
        raise WattleError(f"{option} {value}: allowed are 1 to {MOST_TIMES}")


def check_repeats(repeats: int | None, min_time_s: float | None) -> None:
    """Raises WattleError for values of --repeat and --min-time that are not allowed."""
    check_times("--repeat", repeats)
    if min_time_s is not None and not 0 <= min_time_s <= LONGEST_S:
        raise WattleError(f"--min-time {min_time_s}: allowed are 0 to {LONGEST_S} seconds")


def times(repeats: int | None, min_time_s: float | None, usual: tuple[int, float]) -> tuple[int, float]:
    """Repeats and the shortest time of a measurement, where they are not given the usual ones. An external meter needs
    longer measurements.
    """
    check_repeats(repeats, min_time_s)
    least_s = max(usual[1], measuring.least_s()) if min_time_s is None else min_time_s
    return usual[0] if repeats is None else repeats, least_s


def number(kind: Any, name: str, words: str, **more: Any) -> Any:
    """An option with a number, which is None where it is not given."""
    return Annotated[kind | None, typer.Option(name, help=words, **more)]


def quick(words: str) -> Any:
    return Annotated[bool, typer.Option("--quick", help=words)]


QUICK = quick("A sweep of about a minute, with fewer PEs.")
ROUNDS = number(int, "--rounds", "Rounds of a job of each version (5, quick 2).")
REPEAT = number(int, "--repeat", "Repeats of every case (15, quick 7).")
Output = Annotated[Path | None, typer.Option("-o", "--output", help="New directory to write to (wattle-runs/...).")]
On = Annotated[
    str,
    typer.Option(
        "--on", metavar="PLACE", help="Where: local (one node), two-nodes (needs root), or sim:CLUSTER (simulated)."
    ),
]
Hosts = Annotated[
    str | None,
    typer.Option(
        "--hosts",
        metavar="A,B",
        help="Hosts to run on, from one PE each; default: a Slurm allocation's nodes, or the default host file's.",
    ),
]
Link = Annotated[
    str | None,
    typer.Option(
        "--link", metavar="RATE", help="With --on two-nodes: limit the bandwidth of the nodes' links (1gbit)."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the results as one JSON document.")]
Shield = Annotated[
    str | None,
    typer.Option(metavar="CORES", help="Run on cores of its own (auto, or 2-5,7), and measure what else ran there."),
]
BEFORE = {"output": Output, "on": On, "hosts": Hosts, "link": Link}  # a study's own options
AFTER = {"as_json": AsJson, "shield": Shield, "meter_log": MeterLog, "meter_set": MeterSet}
