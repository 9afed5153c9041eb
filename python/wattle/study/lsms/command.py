"""`wattle study lsms`."""

from wattle.study.lsms.study import SWEEP
from wattle.study.sweep.command import of

command = of(SWEEP)
