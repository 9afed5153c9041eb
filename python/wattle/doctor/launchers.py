"""Findings on launchers: which are installed, under which name and in which version."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from wattle.commands import run_quietly
from wattle.doctor.finding import Finding, State

LIMIT_S = 10


@dataclass(frozen=True)
class Launcher:
    """A launcher. `commands`: its possible names, the most specific first. `version`: reads the version from the output
    of `--version`; "" where that belongs to another launcher.
    """

    name: str
    commands: tuple[str, ...]
    version: Callable[[str], str]


def _after(pattern: str) -> Callable[[str], str]:
    return lambda text: found[1] if (found := re.search(pattern, text)) else ""


LAUNCHERS = (
    Launcher("Open MPI", ("mpirun.openmpi", "mpirun", "mpiexec"), _after(r"\((?:Open MPI|OpenRTE)\) (\S+)")),
    Launcher("PRRTE", ("prterun", "mpirun"), _after(r"PRRTE\)? (\S+)")),
    Launcher("MPICH", ("mpiexec.hydra", "mpiexec.mpich", "mpiexec", "mpirun"), _after(r"HYDRA[^V]*Version:\s+(\S+)")),
    Launcher("Slurm", ("srun",), _after(r"^slurm\S* (\S+)")),
)


def examine() -> list[Finding]:
    """A finding for each launcher that is installed, and one with the names of the others."""
    rows = [(launcher, _find(launcher)) for launcher in LAUNCHERS]
    found = [row for _, row in rows if row is not None]
    missing = [launcher.name for launcher, row in rows if row is None]
    if not any(row.state is State.YES for row in found):
        why = "without a launcher a program runs as one PE"
        return [*found, Finding("launcher", State.NO, "none found", why, ("sudo apt-get install openmpi-bin",))]
    return [*found, *([Finding("other launchers", State.INFO, f"not found: {', '.join(missing)}")] if missing else [])]


def _find(launcher: Launcher) -> Finding | None:
    silent = None
    for command in filter(shutil.which, launcher.commands):
        said = _say_version(command)
        if version := launcher.version(said):
            return Finding(launcher.name, State.YES, f"{version} ({command})")
        if command == launcher.commands[0]:  # this name belongs to this launcher only, but it does not work
            first = said.partition("\n")[0]
            silent = Finding(launcher.name, State.PARTLY, f"{command} is there", f"reports no version: {first}")
    return silent


def _say_version(command: str) -> str:
    try:
        answer = run_quietly([command, "--version"], limit_s=LIMIT_S)
    except subprocess.TimeoutExpired:
        return f"no answer within {LIMIT_S} s"
    except OSError as error:
        return str(error.strerror)
    return answer.stdout.strip() or answer.stderr.strip()
