"""`wattle study mst`."""

from wattle.study.mst.study import APP
from wattle.study.versions.command import of

command = of(APP)
