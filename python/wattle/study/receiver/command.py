"""`wattle study receiver`."""

from wattle.study.receiver.study import SWEEP
from wattle.study.sweep.command import of

command = of(SWEEP)
