"""Finds and checks the program before anything is started."""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from wattle.base import files
from wattle.base.errors import WattleError
from wattle.machine import elf
from wattle.run import mpi


@dataclass(frozen=True)
class Target:
    """A program that can be started. `warning` gives the reason why it may leave no profile, or is empty. `mpi` is the
    kind of MPI (see `run.mpi`) that it uses without Wattle's own library, or None.
    """

    path: Path
    warning: str = ""
    mpi: str | None = None


def find(program: str) -> Target:
    """Finds the program as the shell does. Raises WattleError with the reason where it cannot be started."""
    return Target(_find(program))


def look_at(program: str, runtime: Path | None = None) -> Target:
    """Finds the program, and examines its libraries as the loader finds them, which searches the folder `runtime` last.
    Raises WattleError with the reason where the program cannot be started.
    """
    path = _find(program)
    if not elf.is_elf(path):
        return Target(path)  # a script may start any program
    libraries = elf.libraries(str(path), runtime)
    if libraries is None:
        return Target(path, f"{path} loads no shared libraries; if it uses another OpenSHMEM, there will be no profile")
    ours = next((name for name in libraries if name.startswith(elf.LIBRARY)), None)
    if ours is None:
        warning = f"{path} is not linked with {elf.LIBRARY} (oshcc does that): no profile, unless it starts one that is"
        return Target(path, warning, mpi.kind_of(libraries))
    if libraries[ours] is None:
        raise WattleError(
            f"{path}: its library {ours} is not found; build the program again with oshcc, or set LD_LIBRARY_PATH"
        )
    return Target(path)


def _find(program: str) -> Path:
    if not program:
        raise WattleError("the program's name is empty; give it after --, as in `wattle run -n 2 -- ./program`")
    if "/" not in program:
        return _on_path(program)
    path = Path(program)
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise WattleError(f"{program}: {error.strerror}") from None
    if stat.S_ISDIR(mode):
        raise WattleError(f"{program}: is a directory, not a program")
    if not os.access(path, os.X_OK):
        raise WattleError(f"{program}: is not executable; `chmod +x {program}` makes it so")
    return path


def _on_path(program: str) -> Path:
    found = shutil.which(program)
    if found:
        return Path(found)
    here = f"; did you mean ./{program}?" if files.is_file(program) else ""
    raise WattleError(f"{program}: not found on PATH{here}")
