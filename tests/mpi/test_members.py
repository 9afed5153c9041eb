"""Some processes have the preload library and others have not: nothing hangs, and those without it are named."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from jobs import Job
from preload import BOTH, ENVIRONMENT, LIBRARY, MPICH, OPEN_MPI, OTHERS, Mpi, profiles
from wattle.nodes import Nodes, unavailable

WITH = ("env", f"LD_PRELOAD={LIBRARY}")


def parts(mpi: Mpi, program: Path, *has_library: bool) -> list[object]:
    """The words after `mpirun -n 1`: one process for each, with the library or without it."""
    words: list[object] = []
    for has in has_library:
        words += ([":", "-n", 1] if words else []) + ([*WITH] if has else []) + [program]
    return words


@BOTH
@pytest.mark.parametrize(
    ("has_library", "said"),
    [
        ((True, False), "only 1 of 2 processes on this node have Wattle's library: rank 0, not rank 1."),
        ((False, True), "only 1 of 2 processes on this node have Wattle's library: rank 1, not rank 0."),
        (
            (False, True, True, False),
            "only 2 of 4 processes on this node have Wattle's library: rank 1-2, not rank 0, 3.",
        ),
    ],
    ids=["first", "last", "middle"],
)
def test_a_job_in_which_only_some_have_the_library_runs(
    mpi: Mpi, has_library: tuple[bool, ...], said: str, tmp_path: Path
) -> None:
    program = mpi.compile("sums.c", tmp_path)
    plain = mpi.run(len(has_library), program, preload=False)
    done = mpi.run(1, *parts(mpi, program, *has_library), preload=False, WATTLE_PROFILE_DIR=str(tmp_path))
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, sorted(plain.stdout.splitlines())), done
    assert done.stderr.count(said) == done.stderr.count("wattle:") == 1, done.stderr
    left = profiles(tmp_path)
    assert [pe["pe"] for pe in left] == [rank for rank, has in enumerate(has_library) if has]


@BOTH
def test_every_call_is_right_where_only_some_have_the_library(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.compile("calls.c", tmp_path)
    words = [
        word for part in (True, False, True) for word in (*parts(mpi, program, part), tmp_path / "file", ":", "-n", 1)
    ]
    done = mpi.run(1, *words[:-3], preload=False)
    assert (done.returncode, done.stdout) == (0, "all as it should be\n"), done.stderr


@pytest.mark.parametrize("mpi", [OPEN_MPI, MPICH, *OTHERS], ids=str)
@pytest.mark.parametrize("children", ["with", "without"])
def test_spawned_processes_may_have_the_library_or_not(mpi: Mpi, children: str, tmp_path: Path) -> None:
    """The launcher starts them, in its own environment."""
    program = mpi.compile("spawn.c", tmp_path)
    plain = mpi.run(2, program, preload=False)
    if plain.returncode != 0:
        pytest.skip(f"the plain program fails: {plain.stderr}"[:300])
    started = mpi.run(2, *WITH, program, preload=children == "with")
    assert (started.returncode, started.stdout) == (0, plain.stdout), started
    assert started.stdout == "sum 4422\n"
    assert "only" not in started.stderr, started.stderr


def files_of_jobs() -> list[str]:
    return [path.name for path in Path("/dev/shm").glob(f"wattle-mpi.{os.geteuid()}.*")]


@BOTH
def test_nothing_stays_in_the_memory_file_system(mpi: Mpi, tmp_path: Path) -> None:
    before = set(files_of_jobs())
    assert mpi.run(3, mpi.compile("sums.c", tmp_path)).returncode == 0
    left, until = set(files_of_jobs()) - before, time.monotonic() + 60
    while left and time.monotonic() < until:  # those of tests beside this one go, too
        time.sleep(0.1)
        left &= set(files_of_jobs())
    assert not left


@pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
@BOTH
def test_ranks_of_each_node_find_each_other(mpi: Mpi, tmp_path: Path) -> None:
    program, profile = mpi.compile("sums.c", tmp_path), tmp_path / "profile"
    profile.mkdir()
    words = [*WITH, f"WATTLE_PROFILE_DIR={profile}", str(program)]
    with Nodes(2) as nodes:
        launcher = mpi.tool("mpirun")
        start = nodes.command if mpi is OPEN_MPI else nodes.by_mpich
        options = ["--oversubscribe"] if mpi is OPEN_MPI else []
        with Job(start(launcher, 2, *options, *words), env=ENVIRONMENT) as job:
            result = job.wait()
    assert result.code == 0 and "wattle:" not in result.err, result
    pes = profiles(profile)
    assert len(pes) == 4 and len({pe["host"] for pe in pes}) == 2
    assert [pe["node"] is not None for pe in pes] == [True, False, True, False]  # one of each node reads its joules
    for found in (pe["mpi"] for pe in pes):
        assert found["library"].startswith({"openmpi": "Open MPI v", "mpich": "MPICH "}[mpi.name]), found
        assert found["transport"].startswith({"openmpi": "ob1 (", "mpich": "UCX"}[mpi.name]), found
        assert found["paths"] == {"openmpi": "tcp/e0", "mpich": ""}[mpi.name]  # UCX sees one machine


@BOTH
def test_ranks_of_one_node_have_no_path_to_another(mpi: Mpi, tmp_path: Path) -> None:
    assert mpi.run(2, mpi.compile("sums.c", tmp_path), profile=tmp_path / "profile").returncode == 0
    assert [pe["mpi"]["paths"] for pe in profiles(tmp_path / "profile")] == ["", ""]
