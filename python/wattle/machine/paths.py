"""Finds the parts of Wattle: the tools, the machine profiles and the shared files.

Search order: WATTLE_HOME (an installation prefix or a build tree), beside this package (an installation), the
repository's build/release, and PATH.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wattle.base import input_files, limits
from wattle.base.errors import DamagedFile, WattleError

TOOLS = ("oshrun", "oshcc", "wattle-info")
PRELOADED = "libwattle-mpi.so"  # the library in front of MPI


@dataclass(frozen=True)
class Home:
    """A place that holds the tools. `root` is an installation prefix or a build tree."""

    root: Path
    how: str  # how it was found; `wattle doctor` shows it

    @property
    def source_root(self) -> Path | None:
        """The repository that a build tree was made from; None for an installation."""
        try:
            cache = input_files.read_text(self.root / "CMakeCache.txt", limits.TEXT_BYTES)
        except DamagedFile:
            return None
        for line in cache.splitlines():
            if line.startswith("CMAKE_HOME_DIRECTORY:INTERNAL="):
                return Path(line.partition("=")[2])
        return None

    def tool(self, name: str) -> Path:
        """Path of a tool of this home. Raises WattleError where it is missing."""
        path = self.root / "bin" / name
        if not os.access(path, os.X_OK):
            raise WattleError(f"{path} is missing ({self.how}); build it with `make build`, or set WATTLE_HOME")
        return path

    @property
    def runtime(self) -> Path:
        """The folder of libraries that oshrun adds to the end of LD_LIBRARY_PATH. A build tree has none."""
        return self.root / "lib" / "wattle" / "runtime"

    def shared(self, name: str) -> Path:
        """A folder of shared files, such as `machines` or `bench`. Raises WattleError where it is missing."""
        source = self.source_root
        candidates = [self.root / "share" / "wattle" / name] + ([source / name] if source else [])
        for candidate in candidates:
            if candidate.is_dir():
                return candidate
        tried = " and ".join(str(c) for c in candidates)
        raise WattleError(f"the folder {name!r} of Wattle is missing; looked for {tried}")


def find_home() -> Home:
    """The home in force. Raises WattleError where WATTLE_HOME is set and holds no tools, or where no home is found."""
    forced = os.environ.get("WATTLE_HOME", "")
    if forced:
        root = Path(forced).expanduser().absolute()
        if not _holds_tools(root):
            raise WattleError(
                f"WATTLE_HOME={forced}: no oshrun in its bin folder; set it to an installation prefix or a build tree"
            )
        return Home(root, "WATTLE_HOME")
    for root, how in _candidates():
        if _holds_tools(root):
            return Home(root, how)
    raise WattleError(
        "oshrun was not found beside this package, in the repository's build/release or on PATH; "
        "run `make build`, or set WATTLE_HOME to an installation prefix or a build tree"
    )


def tool(name: str) -> Path:
    """Path of a tool, such as oshrun, oshcc or wattle-info."""
    return find_home().tool(name)


def machines_dir() -> Path:
    """The folder of machine profiles."""
    return find_home().shared("machines")


def bench_dir() -> Path:
    """The folder of the micro-benchmarks' sources."""
    return find_home().shared("bench")


def library(home: Home | None = None) -> Path | None:
    """Path of libwattle-shmem.so in a home. None where it is not built."""
    return _library((home or find_home()).root, "libwattle-shmem.so")


def energy_library() -> Path:
    """Path of libwattle.so, for this process. Raises WattleError where it is missing."""
    home = find_home()
    found = _library(home.root, "libwattle.so.0")
    if found is None:
        raise WattleError(f"{home.root}: holds no libwattle.so.0 ({home.how}); build it with `make build`")
    return found


def _library(root: Path, name: str) -> Path | None:
    folders = (root / "lib", root / "lib64", *sorted(root.glob("lib/*-linux-*")))
    return next((folder / name for folder in folders if (folder / name).exists()), None)


def _candidates() -> Iterator[tuple[Path, str]]:
    package = Path(__file__).resolve()
    yield Path(sys.prefix), "beside this package"
    # PREFIX/lib/python3.11/site-packages/wattle/machine/paths.py, or PREFIX/share/wattle/python/wattle/machine/paths.py
    for parent in package.parents[3:7]:
        yield parent, "beside this package"
    yield package.parents[3] / "build" / "release", "the repository's build/release"
    found = shutil.which("oshrun")
    if found and shutil.which("wattle-info"):
        yield Path(found).resolve().parent.parent, "PATH"


def _holds_tools(root: Path) -> bool:
    # The folder must hold wattle-info, too: it may have the oshrun of another OpenSHMEM.
    return all(os.access(root / "bin" / name, os.X_OK) for name in ("oshrun", "wattle-info"))
