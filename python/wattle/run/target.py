"""Finds and checks the program before anything is started."""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from wattle import elf
from wattle.errors import WattleError

MPI_LIBRARIES = ("libmpi.", "libmpi_", "libmpich")  # of Open MPI and of MPICH, for C and other languages


@dataclass(frozen=True)
class Target:
    """A program that can be started. `warning` gives the reason why it may leave no profile, or is empty."""

    path: Path
    warning: str


def look_at(program: str) -> Target:
    """Finds the program as the shell does. Raises WattleError with the reason where it cannot be started."""
    path = _find(program)
    return Target(path, _warning(path))


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
    here = f"; did you mean ./{program}?" if Path(program).is_file() else ""
    raise WattleError(f"{program}: not found on PATH{here}")


def _warning(path: Path) -> str:
    if not elf.is_elf(path):
        return ""  # a script may start any program
    libraries = elf.libraries(str(path.absolute()))
    if libraries is None:
        return f"{path} loads no shared libraries; if it uses another OpenSHMEM, there will be no profile"
    ours = [name for name in libraries if name.startswith(elf.LIBRARY)]
    if not ours:
        of_mpi = any(name.startswith(MPI_LIBRARIES) for name in libraries)
        remedy = f"; an MPI program is run by `wattle run --mpi -- mpirun -n N {path}`" if of_mpi else ""
        return (
            f"{path} is not linked with {elf.LIBRARY} (oshcc does that): no profile, unless it starts one "
            f"that is{remedy}"
        )
    if libraries[ours[0]] is None:
        raise WattleError(
            f"{path}: its library {ours[0]} is not found; build the program again with oshcc, or set LD_LIBRARY_PATH"
        )
    return ""
