"""`wattle study tsp`."""

from wattle.study.tsp.study import APP
from wattle.study.versions.command import of

command = of(APP)
