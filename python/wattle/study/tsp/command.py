"""`wattle study tsp`."""

from wattle.study.tsp.study import APP
from wattle.study.versions.command import of

command = of(
    APP, "The travelling salesman by MPI, buckets, active messages and work stealing: time, CPU seconds, joules, waits."
)
