"""`wattle study mst`."""

from wattle.study.mst.study import APP
from wattle.study.versions.command import of

command = of(APP, "A minimum spanning tree by MPI, buckets and active messages: time, CPU seconds, joules, waits.")
