"""Call paths of Python programs are those that the interpreter itself shows: file, function, line and calls of each."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from jobs import clean_environment
from preload import ENVIRONMENT, LIBRARY, PROGRAMS
from tree import HOME
from wattle.figures import sites
from wattle.record import profile

PROGRAM = PROGRAMS / "python_frames.py"
VERSIONS = ("3.9", "3.10", "3.11", "3.12", "3.13")
Paths = dict[tuple[tuple[str, str, int], ...], int]


def interpreters() -> list[str]:
    """This one, the system's, and one of each version that is installed."""
    names = {sys.executable: "", "/usr/bin/python3": ""}
    for version in VERSIONS:
        candidates = [shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python3")]
        for path in map(str, filter(None, candidates)):
            if not subprocess.run([path, "-c", "import ctypes"], capture_output=True, check=False).returncode:
                names[path] = ""
                break
    return [name for name in names if Path(name).exists()]


def paths_of(folder: Path, call: str) -> Paths:
    """The Python frames of each path of a call, with its calls."""
    found: Counter[tuple[tuple[str, str, int], ...]] = Counter()
    for site in sites.merge(profile.load(folder, 1)):
        if site.call == call:
            found[tuple((f.file, f.function, f.line) for f in site.frames if f.is_python)] += site.calls
    return dict(found)


def run(folder: Path, python: str, api: str, library: str, *end: str, **settings: str) -> dict[str, Paths]:
    """Runs the program, and collects its counts if it kills itself. Returns the paths that it noted."""
    (folder / "profile").mkdir()
    environment = {**clean_environment(), **ENVIRONMENT, "WATTLE_PROFILE_DIR": str(folder / "profile"), **settings}
    result = folder / "result.json"
    words = [python, PROGRAM, api, library, result, *end]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGKILL if end else 0, "", ""), done
    if end:
        collect = [HOME / "bin/wattle-profiles", "collect", folder / "profile"]
        subprocess.run(collect, env=environment, capture_output=True, timeout=300, check=True)
    noted = json.loads(result.read_text())
    return {call: {tuple(map(_place, frames)): n for frames, n in of} for call, of in noted.items()}


def _place(frame: list[Any]) -> tuple[str, str, int]:
    file, name, line = frame
    return file, name.replace(".<locals>", ""), line


@pytest.mark.parametrize("python", interpreters())
def test_python_frames_of_an_openshmem_program_are_known(tmp_path: Path, python: str) -> None:
    noted = run(tmp_path, python, "shmem", str(HOME / "lib/libwattle-shmem.so"), WATTLE_CALL_PATHS="64")
    assert len(noted["barrier"]) >= 29
    assert paths_of(tmp_path, "shmem_barrier_all") == noted["barrier"]
    assert paths_of(tmp_path, "shmem_long_p") == noted["put"]  # short calls as well


@pytest.mark.parametrize("python", interpreters())
def test_python_frames_of_an_mpi_program_are_known(tmp_path: Path, python: str) -> None:
    if not (HOME / "lib/libwattle-mpi-openmpi.so").exists():
        pytest.skip("libwattle-mpi-openmpi.so is not built")
    settings = {"LD_PRELOAD": str(LIBRARY), "WATTLE_CALL_PATHS": "64"}
    noted = run(tmp_path, python, "mpi", "libmpi.so.40", **settings)
    assert paths_of(tmp_path, "MPI_Barrier") == noted["barrier"]


def test_call_paths_outlive_a_process_that_is_killed(tmp_path: Path) -> None:
    library = str(HOME / "lib/libwattle-shmem.so")
    noted = run(tmp_path, sys.executable, "shmem", library, "kill", WATTLE_CALL_PATHS="64")
    assert profile.load(tmp_path, 1).pes[0].ended is not None
    assert paths_of(tmp_path, "shmem_barrier_all") == noted["barrier"]
    assert paths_of(tmp_path, "shmem_long_p") == noted["put"]


def test_python_frames_end_at_the_depth(tmp_path: Path) -> None:
    noted = run(tmp_path, sys.executable, "shmem", str(HOME / "lib/libwattle-shmem.so"), WATTLE_CALL_PATHS="7")
    found = paths_of(tmp_path, "shmem_barrier_all")
    assert sum(found.values()) == sum(noted["barrier"].values())
    assert max(map(len, found)) < 7
    for path, n in found.items():
        assert n == sum(calls for whole, calls in noted["barrier"].items() if whole[: len(path)] == path)
