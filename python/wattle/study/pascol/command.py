"""`wattle study pascol`, which also runs on two nodes."""

from __future__ import annotations

from wattle.study.options import AsJson, Link, On, Output, Quick, Rounds
from wattle.study.pascol.study import CLUSTER, SWEEP
from wattle.study.place import LOCAL, SIMULATED, check_place
from wattle.study.sweep.command import plan_of, study


def command(
    quick: Quick = False,
    output: Output = None,
    on: On = LOCAL,
    link: Link = None,
    rounds: Rounds = None,
    as_json: AsJson = False,
) -> None:
    """A power-aware one-sided library: displaced rings of put, get, accumulate and strided put, in four schemes."""
    place = check_place(f"{SIMULATED}:{CLUSTER}" if on == SIMULATED else on, link, simulates=True)
    study(SWEEP, plan_of(quick, rounds, place), output, as_json)
