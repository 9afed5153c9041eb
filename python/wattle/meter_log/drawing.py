"""Adds the watts of an external meter to the timelines of a run."""

from __future__ import annotations

import os
from pathlib import Path

from wattle.machine import info
from wattle.meter_log.kept import External
from wattle.record.manifest import Manifest
from wattle.timeline import perfetto, written


def draw(directory: Path, record: Manifest, found: External) -> None:
    """Writes the timelines of the run, or of its repeats, again with the watts. Does nothing where there are none."""
    folders = [directory / name for name in record.repeats] or [directory]
    if not found.power or not any((folder / perfetto.NAME).exists() for folder in folders):
        return
    machine = info.ask({**os.environ, **record.settings}).machine
    for folder in folders:
        written.again(folder, machine, found.power)
