"""`wattle study race`."""

from wattle.study.race.study import SWEEP
from wattle.study.sweep.command import of

command = of(SWEEP, "Race to halt: jobs, processes and phases at each available clock.")
