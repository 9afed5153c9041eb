"""`wattle study pascol`, which also runs on two nodes."""

from wattle.study.pascol.study import CLUSTER, SWEEP
from wattle.study.place import SIMULATED
from wattle.study.sweep.command import of

command = of(
    SWEEP,
    lambda on: f"{SIMULATED}:{CLUSTER}" if on == SIMULATED else on,
)
