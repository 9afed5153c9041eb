"""`wattle study slack`."""

from wattle.study.slack.study import SWEEP
from wattle.study.sweep.command import of

command = of(SWEEP)
