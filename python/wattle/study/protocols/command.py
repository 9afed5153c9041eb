"""`wattle study protocols`."""

from wattle.errors import WattleError
from wattle.study.place import SIMULATED
from wattle.study.protocols import configurations
from wattle.study.protocols.study import SWEEP
from wattle.study.sweep.command import of


def _where(on: str) -> str:
    """The place; a simulation is of the study's own clusters."""
    if on.startswith(f"{SIMULATED}:"):
        names = " and ".join(dict.fromkeys(c.cluster for c in configurations.SIMULATED))
        raise WattleError(f"--on {on}: this study simulates {names}; write --on {SIMULATED}")
    return on


command = of(SWEEP, _where)
