"""`wattle study lsms`."""

from wattle.study.lsms.study import SWEEP
from wattle.study.sweep.command import of

command = of(
    SWEEP,
    "The two stages of LSMS by MPI and OpenSHMEM: transfers in five access patterns, waits in each governor mode.",
)
