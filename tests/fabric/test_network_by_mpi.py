"""The network by MPI: programs on two nodes under both MPIs, PEs that sleep or compute, and no other network."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from jobs import Job, Result
from mpi_jobs import AS_ROOT, MPICH, OPEN_MPI, mixed_program
from nodes_of_test import HOME, build, built, by_mpich
from wattle.machine.nodes import Nodes, unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
HERE = Path(__file__).parent
Start = Callable[..., list[str]]


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with Nodes(2) as two:
        yield two


def by_open_mpi(nodes: Nodes, pes: int, *words: str | Path) -> list[str]:
    """Boot is by PMIx there, so MPI is started for the network alone."""
    return nodes.command(str(HOME / "bin/oshrun"), pes, *map(str, words))


def run(command: list[str], folder: Path, timeout: float = 300, **settings: str) -> tuple[Result, set[str]]:
    """The result, and the networks that the PEs took."""
    with Job(command, env=AS_ROOT | {"WATTLE_PROFILE_DIR": str(folder)} | settings) as job:
        result = job.wait(timeout)
    profiles = [json.loads(path.read_text()) for path in folder.glob("*.json")]
    return result, {profile["network"]["name"] for profile in profiles}


@pytest.mark.parametrize("start", [by_open_mpi, by_mpich])
@pytest.mark.parametrize(("program", "arguments"), [("oracle", ("1", "5")), ("am_basics", ())])
def test_programs_run_on_it(
    nodes: Nodes, start: Start, program: str, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    result, networks = run(start(nodes, 1, built(program), *arguments), tmp_path, WATTLE_NETWORK="mpi")
    assert result.code == 0 and networks == {"mpi"}, result


ALL = (
    "oracle 1 100",
    "oracle 1 10 large",
    "shmem_calls",
    "shmem_teams",
    "shmem_contexts",
    "shmem_contexts threads",
    "shmem_locks",
    "shmem_memory",
    "am_basics",
    "am_mutexes",
    "am_flood 20000 256",
    "am_threads 1000",
    "flood put:100000:8 put:1000:65536 get:20000:8 get:500:65536 add:20000:8",
)


@pytest.mark.soak
@pytest.mark.timeout(330)
@pytest.mark.parametrize(
    ("start", "pes"), [(by_open_mpi, 2), (by_mpich, 1)]
)  # a node has one core; MPICH's polls keep it
@pytest.mark.parametrize("line", ALL)
def test_every_program_of_several_nodes_runs_on_it(
    nodes: Nodes, start: Start, pes: int, line: str, tmp_path: Path
) -> None:
    program, *arguments = line.split()
    command = start(nodes, pes, built(program), *arguments)
    heap = "8M" if program == "shmem_memory" else "16M"  # it counts on that size
    result, networks = run(command, tmp_path, 300, WATTLE_NETWORK="mpi", SHMEM_SYMMETRIC_SIZE=heap)
    assert result.code == 0 and networks == {"mpi"}, result


def test_a_pe_that_computes_is_served_and_one_that_waits_sleeps(nodes: Nodes, tmp_path: Path) -> None:
    program = build(HERE / "passive.c", tmp_path)
    result, _ = run(by_open_mpi(nodes, 1, program), tmp_path, WATTLE_NETWORK="mpi")
    cpu = {what: float(seconds) for what, seconds in re.findall(r"cpu (\w+) ([0-9.]+)", result.out)}
    assert result.code == 0 and cpu.keys() == {"barrier", "idle"}, result
    assert max(cpu.values()) <= 0.1, "a PE asleep for 2 s: a look in each of its naps, of up to 5 ms"


@pytest.mark.parametrize(
    ("start", "order"),
    [
        *((by_open_mpi, order) for order in ("MSdms", "MSdm", "MSSdmss", "MSdsm")),
        (by_mpich, "MSdms"),
        (by_mpich, "MSdm"),
    ],
)
def test_mpi_may_end_before_shmem_does(nodes: Nodes, start: Start, order: str, tmp_path: Path) -> None:
    program = mixed_program(MPICH if start is by_mpich else OPEN_MPI, tmp_path)
    (tmp_path / "profiles").mkdir()
    result, networks = run(start(nodes, 2, program, order), tmp_path / "profiles", WATTLE_NETWORK="mpi")
    assert result.code == 0 and result.err == "" and networks == {"mpi"}, result
    assert result.out.count("MPI good") == 4 and result.out.count("of 4 good") == 4, result


def test_after_mpi_has_ended_a_call_of_shmem_is_an_error(nodes: Nodes, tmp_path: Path) -> None:
    start = by_open_mpi(nodes, 1, mixed_program(OPEN_MPI, tmp_path), "MSmds")
    result, _ = run(start, tmp_path, WATTLE_NETWORK="mpi")
    assert result.code == 64 and "called after MPI_Finalize, with which the network between nodes ended" in result.err


def test_it_is_taken_where_ucx_and_libfabric_are_missing(nodes: Nodes, tmp_path: Path) -> None:
    without, profiles = tmp_path / "lib", tmp_path / "profiles"
    for folder in (without, profiles):
        folder.mkdir()
    for library in (HOME / "lib").glob("*.so*"):
        if "libwattle-net-" not in library.name:
            shutil.copy2(library, without)  # modules are found beside the file, not beside a link to it
    start = by_open_mpi(nodes, 1, "-x", "LD_LIBRARY_PATH", built("am_basics"))
    result, networks = run(start, profiles, LD_LIBRARY_PATH=str(without))
    assert result.code == 0 and networks == {"mpi"}, result
