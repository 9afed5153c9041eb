"""`wattle study slack`."""

from wattle.study.slack.study import SWEEP
from wattle.study.sweep.command import of

command = of(SWEEP, "Early and late PEs at a barrier, under each wait policy, mode and scaling.")
