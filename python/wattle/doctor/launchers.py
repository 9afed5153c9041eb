"""Findings on launchers: which are installed, under which name and in which version."""

from __future__ import annotations

import shutil

from wattle.doctor.finding import Finding, State
from wattle.machine.launchers import LAUNCHERS, OPEN_MPI, Launcher, say_version


def examine() -> list[Finding]:
    """A finding for each launcher that is installed, and one with the names of the others."""
    rows = [(launcher, _find(launcher)) for launcher in LAUNCHERS]
    found = [row for _, row in rows if row is not None]
    missing = [launcher.name for launcher, row in rows if row is None]
    if not any(row.state is State.YES for row in found):
        why = "without a launcher a program runs as one PE"
        return [*found, Finding("launcher", State.NO, "none found", why, (f"sudo apt-get install {OPEN_MPI.package}",))]
    return [*found, *([Finding("other launchers", State.INFO, f"not found: {', '.join(missing)}")] if missing else [])]


def _find(launcher: Launcher) -> Finding | None:
    silent = None
    for command in filter(shutil.which, launcher.commands):
        said = say_version(command)
        if version := launcher.version(said):
            return Finding(launcher.name, State.YES, f"{version} ({command})")
        if command == launcher.commands[0]:  # this name belongs to this launcher only, but it does not work
            first = said.partition("\n")[0]
            silent = Finding(launcher.name, State.PARTLY, f"{command} is there", f"reports no version: {first}")
    return silent
