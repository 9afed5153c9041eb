"""`wattle study barrier`."""

from wattle.study.barrier.study import SWEEP
from wattle.study.sweep.command import of

command = of(
    SWEEP, "Waiting at a barrier, in time and in scale, under each wait policy and mode; straight lines with r2."
)
