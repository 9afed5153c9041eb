"""`wattle advise` on the programs of examples/advice: the flaw is found at its line, and nothing in the sound ones."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import loaded
import pytest
from jobs import HOME, OSHCC, clean_environment, compile_once
from preload import ENVIRONMENT, OPEN_MPI
from tree import PACKAGE, ROOT

FOLDER = ROOT / "examples/advice"
# Other programs on a busy machine may also make a PE compute longer than the others.
OF_MACHINE = {"imbalance"}
FLAW = ("/* flaw */", "! flaw")
# A program, its rule and its rounds: few, because many other programs may run beside it.
FLAWED = {
    "quiet_each": ("quiet-each", 200),
    "adjacent": ("adjacent", 200),
    "strided": ("adjacent", 400),
    "flag": ("flag", 200),
    "get_put": ("get-put", 200),
    "unchanged": ("unchanged", 2_000_000),
    "small_sends": ("small-sends", 100),
    "barrier_before": ("barrier-before", 20_000),
    "reductions": ("reductions", 20_000),
    "reductions_fortran": ("reductions", 20_000),
    "reductions_shmem": ("reductions", 100_000),
    "windows": ("windows", 100),
    "armci_fence_each": ("quiet-each", 200),
}
PROGRAMS = sorted([*FOLDER.glob("*.c"), *FOLDER.glob("*.f90")])
SOUND = {
    "puts": 200,
    "signals": 100,
    "atomics": 200_000,
    "halo_mpi": 100,
    "sum_mpi": 100,
    "wavefront": 100,
    "dependent_sums": 20_000,
    "mixed_reductions": 20_000,
    "needed_at_once": 100,
    "busy_receiver": 100,
    "setup": 300,
    "armci_strided": 300,
}


def compiled(source: Path, folder: Path, *options: str) -> Path:
    command: list[str | Path] = [OSHCC, "-g", "-O2"]
    if is_mpi(source):
        command = [OPEN_MPI.tool("mpicc"), "-g", "-O2", f"-I{ROOT}/include"]
    if source.suffix == ".f90":
        command = [OPEN_MPI.tool("mpif90"), "-cpp", "-g", "-O2"]
    if source.stem.startswith("armci"):
        options = (*options, f"-L{HOME}/lib", f"-Wl,-rpath,{HOME}/lib", "-larmci")
    return compile_once([*command, source, *options], folder / source.stem)


def is_mpi(source: Path) -> bool:
    return source.suffix == ".f90" or "mpi.h" in source.read_text()


def advice(program: Path, rounds: int, folder: Path, job: list[str], *options: str) -> list[dict]:
    """The findings on the program itself, of a run in folder / "run". `options`: of `wattle run`."""
    wattle(folder, "run", "--meter", "model", *options, "-o", "run", *job, str(program), str(rounds))
    findings = json.loads(wattle(folder, "advise", "run", "--json"))["findings"]
    return [found for found in findings if found["rule"] not in OF_MACHINE]


def job_of(source: Path, pes: int) -> list[str]:
    ranks = "1" if source.stem.startswith("armci") else "2"
    return ["--mpi", "--", OPEN_MPI.tool("mpirun"), "-n", ranks] if is_mpi(source) else ["-n", str(pes), "--"]


TRIES = 10  # a PE that lost its core may hide a flaw, and busy machines take cores for seconds


def best_advice(
    is_right: Callable[[list[dict]], bool], source: Path, rounds: int, folder: Path, *options: str
) -> list[dict]:
    """The findings of the first of some runs that are right, or else of the last run. Where the machine takes the core
    of a process, another one does wait for it, and a finding may say so. Not so in each of TRIES runs.
    `options`: of the compiler.
    """
    program = compiled(source, folder, *options)
    for i in range(TRIES):
        place = folder / str(i)
        place.mkdir()
        # One PE puts to itself: no other program can make it wait for a PE without a core.
        found = advice(program, rounds, place, job_of(source, 1))
        if is_right(found):
            break
    return found


def wattle(folder: Path, *words: str) -> str:
    """The standard output of the command."""
    environment = {**clean_environment(), **ENVIRONMENT, "WATTLE_HOME": str(HOME), "PYTHONPATH": str(PACKAGE)}
    done = loaded.wattle(*words, environment=environment, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", FLAWED)
def test_the_flaw_is_found_at_its_line_and_nothing_else(name, tmp_path):
    rule, rounds = FLAWED[name]
    source = next(FOLDER.glob(f"{name}.*"))
    line = next(i for i, text in enumerate(source.read_text().splitlines(), 1) if text.endswith(FLAW))

    def is_the_flaw(findings: list[dict]) -> bool:
        return (
            [found["rule"] for found in findings] == [rule]
            and line in {site["line"] for site in findings[0]["sites"]}
            and all(site["file"].endswith(source.name) for site in findings[0]["sites"])
        )

    found = best_advice(is_the_flaw, source, rounds, tmp_path)
    assert is_the_flaw(found), found


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_program_gets_no_advice(name, tmp_path):
    source = FOLDER / "sound" / f"{name}.c"
    assert best_advice(lambda found: found == [], source, SOUND[name], tmp_path) == []


@pytest.mark.parametrize("options", [("--timeline",), ()], ids=["timeline", "sums"])
@pytest.mark.parametrize("name", ["quiet_each", "small_sends"])
def test_a_finding_is_checked_by_a_replay_that_lasts_as_long_as_the_run(name, options, tmp_path):
    rule, rounds = FLAWED[name]
    source = FOLDER / f"{name}.c"
    program = compiled(source, tmp_path)
    for _ in range(TRIES):
        findings = advice(program, rounds, tmp_path, job_of(source, 2), *options)
        if findings:
            break
        shutil.rmtree(tmp_path / "run")
    (found,) = findings
    assert found["rule"] == rule
    checked = json.loads(wattle(tmp_path, "advise", "run", "--check", str(found["number"]), "--json"))
    assert checked["title"] == found["title"]
    assert checked["replay"].startswith("from timelines: " if options else "from the profile's sums: ")
    cluster, here = checked["cluster"], checked["here"]
    # From the first PE's start to the last one's end, which is at least the longest PE's time.
    assert cluster["before"]["seconds"] > 0.9 * here["wall_s"]
    low, high = here["saved_s"]
    assert 0 <= low <= high <= here["wall_s"] and high > 0
    assert cluster["most"]["joules"] < cluster["before"]["joules"]
    assert cluster["provenance"] == "modelled"


def test_every_example_is_tested():
    # Of several PEs with a core each, or of two nodes. tests/sim has most of them.
    others = {"imbalance", "armci_get_put", "neighbours", "am_update", "fetches", "late_receiver"}
    others |= {"barrier_exchange", "small_isends"}  # of ranks that lose their cores seldom
    assert {path.stem for path in PROGRAMS} == {*FLAWED, *others}
    assert {path.stem for path in (FOLDER / "sound").glob("*.c")} == set(SOUND)


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda source: source.stem)
def test_the_mended_twin_compiles(source, tmp_path):
    compiled(source, tmp_path, "-DMENDED", "-Wall", "-Werror")
    assert os.access(tmp_path / source.stem, os.X_OK)


def test_a_mended_program_has_no_late_receiver(tmp_path):
    source = FOLDER / "late_receiver.c"
    assert best_advice(lambda found: found == [], source, 20, tmp_path, "-DMENDED") == []


def test_polling_in_long_waits_is_a_matter_of_the_setting(tmp_path):
    program = compiled(FOLDER / "imbalance.c", tmp_path)
    for wait, expected in (("spin", ["wait-setting"]), ("adaptive", [])):
        job = ["--set", f"WATTLE_WAIT={wait}", "-n", "2", "-o", wait, "--", str(program), "15"]
        wattle(tmp_path, "run", "--meter", "model", *job)
        findings = json.loads(wattle(tmp_path, "advise", wait, "--json"))["findings"]
        assert [found["rule"] for found in findings if found["rule"] not in OF_MACHINE] == expected
