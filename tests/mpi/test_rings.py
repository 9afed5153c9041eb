"""Processes of one node wake each other from their sleeps; and nothing hangs where they cannot."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path

import pytest
from governed_job import processes, until
from jobs import clean_environment, compile_once
from preload import BOTH, EITHER, ENVIRONMENT, LIBRARY, MPICH, PROGRAMS, Mpi, profiles

ROUNDS = 10
SUM = f"{ROUNDS * (ROUNDS + 1) // 2}\n"


def compiled(mpi: Mpi, folder: Path) -> Path:
    """In a program that traps floating-point exceptions MPICH 4.0 loses accumulates by itself."""
    return mpi.compile("rings.c", folder, traps=False)


@BOTH
@pytest.mark.parametrize("how", ["barrier", "message", "window", "tests"])
def test_an_arriving_process_wakes_a_sleeping_one(mpi: Mpi, how: str, tmp_path: Path) -> None:
    done = mpi.run(2, compiled(mpi, tmp_path), how, profile=tmp_path / "profile")
    assert (done.returncode, done.stdout) == (0, SUM), done.stderr
    waits = profiles(tmp_path / "profile")[1]
    assert waits["sleeps"] >= waits["rings"] > 0, waits


@BOTH
def test_without_a_wake_up_a_receiver_polls_by_itself(mpi: Mpi, tmp_path: Path) -> None:
    """A library may send by PMPI_Send."""
    done = mpi.run(2, compiled(mpi, tmp_path), "unheard", profile=tmp_path / "profile")
    assert (done.returncode, done.stdout) == (0, SUM), done.stderr


@EITHER
@pytest.mark.parametrize("how", ["barrier", "message", "window", "tests"])
def test_where_no_memory_is_shared_all_is_as_without_rings(mpi: Mpi, how: str, tmp_path: Path) -> None:
    none = compile_once(["cc", "-shared", "-fPIC", PROGRAMS / "no_memfd.c"], tmp_path / "no_memfd.so")
    words = ["env", f"LD_PRELOAD={none}:{LIBRARY}", compiled(mpi, tmp_path), how]
    done = mpi.run(2, *words, profile=tmp_path / "profile", preload=False)
    assert (done.returncode, done.stdout) == (0, SUM), done.stderr
    assert [pe["rings"] for pe in profiles(tmp_path / "profile")] == [0, 0]


@EITHER
def test_a_spinning_process_needs_no_wake_up(mpi: Mpi, tmp_path: Path) -> None:
    program = compiled(mpi, tmp_path)
    done = mpi.run(2, program, profile=tmp_path / "profile", WATTLE_WAIT="spin")
    assert (done.returncode, done.stdout) == (0, SUM), done.stderr
    assert [pe["rings"] for pe in profiles(tmp_path / "profile")] == [0, 0]


@EITHER
def test_processes_that_are_killed_leave_no_memory_of_ours(mpi: Mpi, tmp_path: Path) -> None:
    program = compiled(mpi, tmp_path)
    environment = {**clean_environment(), **ENVIRONMENT, "LD_PRELOAD": str(LIBRARY)}
    words = [mpi.tool("mpirun"), "-n", "2", program, "barrier", "1000000"]

    def those() -> list[int]:
        return processes(lambda entry: (entry / "exe").resolve() == program.resolve())

    def wait_together() -> bool:  # Open MPI's mpirun may hang where processes end before they have come to MPI_Init
        maps = [Path(f"/proc/{pid}/maps") for pid in those()]
        return [at.exists() and "wattle-ring" in at.read_text() for at in maps] == [True, True]

    job = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert until(wait_together)
        for pid in those():
            with contextlib.suppress(ProcessLookupError):  # the launcher may end the one that is left
                os.kill(pid, signal.SIGKILL)
        job.wait(timeout=300)
    finally:
        job.kill()
        job.wait()
    assert until(lambda: not those())
    assert list(Path("/dev/shm").glob("*wattle-ring*")) == []


def test_mpich_asks_requests_that_a_program_lets_it_ask(tmp_path: Path) -> None:
    """MPIX_Grequest_start: nothing but MPI_Waitall itself, or a test, calls the program's function."""
    program = MPICH.compile("general.c", tmp_path)
    plain, done = MPICH.run(2, program, preload=False), MPICH.run(2, program)
    assert (plain.returncode, plain.stdout) == (0, "3 elements, 1 came\n"), plain.stderr
    assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
