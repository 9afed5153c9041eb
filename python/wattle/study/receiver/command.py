"""`wattle study receiver`."""

from wattle.study.receiver.study import SWEEP
from wattle.study.sweep.command import of

command = of(SWEEP, "Clocks under a put: three ways of receiving, by the receiver's wait policy and clock.")
