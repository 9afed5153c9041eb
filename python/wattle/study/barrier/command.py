"""`wattle study barrier`."""

from wattle.study.barrier.study import SWEEP
from wattle.study.sweep.command import of

command = of(SWEEP)
