"""`wattle study protocols`, which is always simulated."""

from __future__ import annotations

from typing import Annotated

import typer

from wattle.study.options import AsJson, Output, Quick
from wattle.study.place import DEFAULT_CLUSTER, SIMULATED, Place
from wattle.study.protocols.study import SWEEP, check_place
from wattle.study.sweep.command import plan_of, study


def command(
    quick: Quick = False,
    output: Output = None,
    on: Annotated[str, typer.Option("--on", metavar="PLACE", help="Where: sim (simulated).")] = SIMULATED,
    as_json: AsJson = False,
) -> None:
    """Two-sided messages by TCP and InfiniBand, eager and rendezvous: bytes per joule, power at both ends."""
    check_place(on)
    study(SWEEP, plan_of(quick, None, Place(SIMULATED, cluster=DEFAULT_CLUSTER)), output, as_json)
