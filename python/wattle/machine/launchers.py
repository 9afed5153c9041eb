"""The launchers of parallel jobs: their names, their versions, and which of them are installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wattle.machine.commands import run_quietly

LIMIT_S = 10
# Launchers that start a job by themselves, with the endings that Debian and the MPIs give their names.
_STARTS_JOBS = re.compile(
    r"(?:mpirun|mpiexec|oshrun|shmemrun)(?:\.(?:openmpi|mpich|hydra|gforker|slurm))?"
    r"|mpirun_rsh|orterun|prterun|prun|srun|aprun|jsrun|ibrun|flux"
)


@dataclass(frozen=True)
class Launcher:
    """A launcher. `commands`: its possible names, the most specific first. `version`: reads the version from the output
    of `--version`; "" where that belongs to another launcher. `package`: Debian's.
    """

    name: str
    commands: tuple[str, ...]
    version: Callable[[str], str]
    package: str


def _after(pattern: str) -> Callable[[str], str]:
    return lambda text: found[1] if (found := re.search(pattern, text)) else ""


OPEN_MPI = Launcher(
    "Open MPI",
    ("mpirun.openmpi", "mpirun", "mpiexec"),
    _after(r"\((?:Open MPI|OpenRTE)\) (\S+)"),
    "openmpi-bin",
)
MPICH = Launcher(
    "MPICH",
    ("mpiexec.hydra", "mpiexec.mpich", "mpiexec", "mpirun"),
    _after(r"HYDRA[^V]*Version:\s+(\S+)"),
    "mpich",
)
PRRTE = Launcher("PRRTE", ("prterun", "mpirun"), _after(r"PRRTE\)? (\S+)"), "prrte")
SLURM = Launcher("Slurm", ("srun",), _after(r"^slurm\S* (\S+)"), "slurm-client")
LAUNCHERS = (OPEN_MPI, PRRTE, MPICH, SLURM)


def is_launcher(program: str) -> bool:
    """Whether a program of this name starts the processes of a job by itself, as mpirun and srun do."""
    return _STARTS_JOBS.fullmatch(Path(program).name) is not None


def command_of(launcher: Launcher) -> str:
    """The command by which this launcher is installed, `mpirun` where that is one. Empty where it is not installed."""
    usual_first = sorted(launcher.commands, key=lambda command: command != "mpirun")
    there = filter(shutil.which, usual_first)
    return next((command for command in there if launcher.version(say_version(command))), "")


def say_version(command: str) -> str:
    """The output of `COMMAND --version`, or the reason why there is none."""
    try:
        answer = run_quietly([command, "--version"], limit_s=LIMIT_S)
    except subprocess.TimeoutExpired:
        return f"no answer within {LIMIT_S} s"
    except OSError as error:
        return str(error.strerror)
    return answer.stdout.strip() or answer.stderr.strip()
