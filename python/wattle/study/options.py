"""Options that several studies share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wattle.base.errors import WattleError

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


Quick = Annotated[bool, typer.Option("--quick", help="A sweep of about a minute, with fewer PEs.")]
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
Pes = Annotated[str | None, typer.Option("--pes", metavar="N,...", help="Numbers of PEs, as in 2,4,8.")]
Rounds = Annotated[int | None, typer.Option("--rounds", help="Rounds of a job of each version (5, quick 2).")]
Repeat = Annotated[int | None, typer.Option("--repeat", help="Repeats of every case (15, quick 7).")]
