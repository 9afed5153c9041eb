"""`wattle study protocols`."""

from __future__ import annotations

from wattle.errors import WattleError
from wattle.study.options import AsJson, Link, On, Output, Quick, Rounds
from wattle.study.place import LOCAL, SIMULATED, check_place
from wattle.study.protocols import configurations
from wattle.study.protocols.study import SWEEP
from wattle.study.sweep.command import plan_of, study


def command(
    quick: Quick = False,
    output: Output = None,
    on: On = LOCAL,
    link: Link = None,
    rounds: Rounds = None,
    as_json: AsJson = False,
) -> None:
    """Two-sided messages, eager and rendezvous, by Open MPI and MPICH or simulated: bytes per joule, power."""
    if on.startswith(f"{SIMULATED}:"):
        names = " and ".join(dict.fromkeys(c.cluster for c in configurations.SIMULATED))
        raise WattleError(f"--on {on}: this study simulates {names}; write --on {SIMULATED}")
    study(SWEEP, plan_of(quick, rounds, check_place(on, link, simulates=True)), output, as_json)
