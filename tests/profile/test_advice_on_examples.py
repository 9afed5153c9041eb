"""`wattle advise` on the programs of examples/advice: the flaw is found at its line, and nothing in the sound ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import HOME, OSHCC, clean_environment, compile_once
from preload import ENVIRONMENT, OPEN_MPI
from tree import PACKAGE, ROOT

FOLDER = ROOT / "examples/advice"
# Advice on the machine and not on the program: other programs may use its cores.
OF_MACHINE = {"no-core", "imbalance"}
# A program, its rule and its rounds: few, because many other programs may run beside it.
FLAWED = {
    "quiet_each": ("quiet-each", 200),
    "adjacent": ("adjacent", 200),
    "strided": ("adjacent", 400),
    "flag": ("flag", 200),
    "get_put": ("get-put", 200),
    "unchanged": ("unchanged", 2_000_000),
    "small_sends": ("small-sends", 100),
    "barrier_before": ("barrier-before", 300),
    "reductions": ("reductions", 300),
    "armci_fence_each": ("quiet-each", 200),
}
SOUND = {
    "puts": 200,
    "signals": 100,
    "atomics": 200_000,
    "halo_mpi": 100,
    "sum_mpi": 100,
    "armci_strided": 300,
}


def compiled(source: Path, folder: Path, *options: str) -> Path:
    command: list[str | Path] = [OSHCC, "-g", "-O2"]
    if is_mpi(source):
        command = [OPEN_MPI.tool("mpicc"), "-g", "-O2", f"-I{ROOT}/include"]
    if source.stem.startswith("armci"):
        options = (*options, f"-L{HOME}/lib", f"-Wl,-rpath,{HOME}/lib", "-larmci")
    return compile_once([*command, source, *options], folder / source.stem)


def is_mpi(source: Path) -> bool:
    return "mpi.h" in source.read_text()


def advice(source: Path, rounds: int, folder: Path, pes: int) -> list[dict]:
    """The findings on the program itself."""
    wattle = [sys.executable, "-m", "wattle"]
    program = compiled(source, folder)
    ranks = "1" if source.stem.startswith("armci") else "2"
    job = ["--mpi", "--", OPEN_MPI.tool("mpirun"), "-n", ranks] if is_mpi(source) else ["-n", str(pes), "--"]
    environment = {**clean_environment(), **ENVIRONMENT, "WATTLE_HOME": str(HOME), "PYTHONPATH": str(PACKAGE)}
    for command in (
        [*wattle, "run", "--meter", "model", "-o", "run", *job, str(program), str(rounds)],
        [*wattle, "advise", "run", "--json"],
    ):
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
    return [found for found in json.loads(done.stdout)["findings"] if found["rule"] not in OF_MACHINE]


@pytest.mark.parametrize("name", FLAWED)
def test_the_flaw_is_found_at_its_line_and_nothing_else(name, tmp_path):
    rule, rounds = FLAWED[name]
    source = FOLDER / f"{name}.c"
    line = next(i for i, text in enumerate(source.read_text().splitlines(), 1) if "/* flaw */" in text)
    # One PE puts to itself: no other program can make it wait for a PE without a core.
    (found,) = advice(source, rounds, tmp_path, 1)
    assert found["rule"] == rule
    assert line in {site["line"] for site in found["sites"]}
    assert all(site["file"].endswith(source.name) for site in found["sites"])


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_program_gets_no_advice(name, tmp_path):
    assert advice(FOLDER / "sound" / f"{name}.c", SOUND[name], tmp_path, 1) == []


def test_every_example_is_tested():
    others = {"broadcast_loop", "imbalance", "armci_get_put"}  # of several PEs with a core each, or of two nodes
    assert {path.stem for path in FOLDER.glob("*.c")} == {*FLAWED, *others}
    assert {path.stem for path in (FOLDER / "sound").glob("*.c")} == set(SOUND)


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.c")))
def test_the_mended_twin_compiles(name, tmp_path):
    compiled(FOLDER / f"{name}.c", tmp_path, "-DMENDED", "-Wall", "-Werror")
    assert os.access(tmp_path / name, os.X_OK)
