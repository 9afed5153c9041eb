"""Some processes have the preload library and others have not: nothing hangs, and those without it are named."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from jobs import Job, complaints, run
from preload import (
    BOTH,
    EACH_INTERFACE,
    EITHER,
    ENVIRONMENT,
    LIBRARY,
    MPICH,
    OPEN_MPI,
    Mpi,
    launcher_of_parts,
    profiles,
)
from wattle.machine.nodes import Nodes, unavailable

HANGS = 124  # the code of a job that reached its time limit
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
        ((False, True), "only 1 of 2 processes on this node have Wattle's library: rank 1, not rank 0."),
        (
            (False, True, True, False),
            "only 2 of 4 processes on this node have Wattle's library: rank 1-2, not rank 0, 3.",
        ),
    ],
    ids=["last", "middle"],
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


def test_processes_are_counted_where_the_launcher_does_not_say_how_many_there_are(tmp_path: Path) -> None:
    """PRRTE's prterun numbers processes by PMIx alone. A child of a process counts with it."""
    program, child = OPEN_MPI.compile("sums.c", tmp_path), tmp_path / "child"
    child.write_text(f"#!/bin/sh\nsleep 60 & {program}; kill $!\n")
    child.chmod(0o755)
    unsaid = ("env", "-u", "OMPI_COMM_WORLD_LOCAL_SIZE", *WITH[1:])
    done = OPEN_MPI.run(1, *unsaid, program, ":", "-n", 1, *unsaid, child, ":", "-n", 1, child, preload=False)
    said = "only 2 of 3 processes on this node have Wattle's library: rank 0-1, not rank 2."
    assert done.returncode == 0 and done.stderr.count(said) == done.stderr.count("wattle:") == 1, done


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make a PID namespace")
def test_processes_find_each_other_in_a_pid_namespace_with_a_foreign_proc(tmp_path: Path) -> None:
    """Rank 1 has the number of this process, whose parent is no launcher. MPICH itself does not start there."""
    program, namespace = OPEN_MPI.compile("sums.c", tmp_path), ("unshare", "--pid", "--fork", "--kill-child")
    settings = {**ENVIRONMENT, "LD_PRELOAD": str(LIBRARY), "WATTLE_PROFILE_DIR": str(tmp_path)}
    numbered = ("sh", "-c", 'echo $0 >/proc/sys/kernel/ns_last_pid; "$1"; true', str(os.getpid() - 1), program)
    done = run(*namespace, launcher_of_parts(OPEN_MPI), "-n", "1", program, ":", "-n", "1", *numbered, env=settings)
    assert (done.code, complaints(done.err)) == (0, ""), done
    assert [pe["pe"] for pe in profiles(tmp_path)] == [0, 1]


def lives(pid: str) -> bool:
    """Whether this process runs. A dead one may wait for its parent."""
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


def test_a_job_that_fails_in_mpi_init_leaves_no_file(tmp_path: Path) -> None:
    """Without a network between them the ranks fail where each asks for the others' addresses."""
    program = MPICH.compile("sums.c", tmp_path)
    before = set(Path("/dev/shm").glob("wattle-mpi.*"))
    MPICH.run(2, program, UCX_TLS="self", UCX_LOG_LEVEL="fatal")
    left = set(Path("/dev/shm").glob("wattle-mpi.*")) - before
    assert [path for path in left if not lives(path.name.split(".")[2])] == []  # others are of jobs beside this one


@BOTH
def test_every_call_is_right_where_only_some_have_the_library(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.compile("calls.c", tmp_path)
    words = [
        word for part in (True, False, True) for word in (*parts(mpi, program, part), tmp_path / "file", ":", "-n", 1)
    ]
    done = mpi.run(1, *words[:-3], preload=False)
    assert (done.returncode, done.stdout) == (0, "all as it should be\n"), done.stderr


@EACH_INTERFACE
@pytest.mark.parametrize("children", ["with", "without"])
def test_spawned_processes_may_have_the_library_or_not(mpi: Mpi, children: str, tmp_path: Path) -> None:
    """The launcher starts them, in its own environment."""
    program = mpi.compile("spawn.c", tmp_path)
    plain = mpi.run(2, program, preload=False, limit_s=60)
    if plain.returncode != 0:
        how = "hangs" if plain.returncode == HANGS else "fails"
        pytest.skip(f"the plain program {how}: {plain.stderr}"[:300])
    started = mpi.run(2, *WITH, program, preload=children == "with", profile=tmp_path / "profile")
    assert (started.returncode, started.stdout) == (0, plain.stdout), started
    assert started.stdout == "sum 4422\n"
    assert "only" not in started.stderr, started.stderr
    assert len(profiles(tmp_path / "profile")) == 2
    assert len(profiles(tmp_path / "profile/job-2")) == (2 if children == "with" else 0)


def files_of_jobs() -> list[str]:
    return [path.name for path in Path("/dev/shm").glob(f"wattle-mpi.{os.geteuid()}.*")]


@EITHER
@pytest.mark.parametrize("source", ["sums.c", "passed.F90"])
def test_nothing_stays_in_the_memory_file_system(mpi: Mpi, source: str, tmp_path: Path) -> None:
    before, folder = set(files_of_jobs()), tmp_path / "profile"
    assert mpi.run(3, mpi.compile(source, tmp_path), profile=folder).returncode == 0
    pids = {str(pe["pid"]) for pe in profiles(folder)}
    assert len(pids) == 3
    assert not [path for path in Path("/dev/shm").glob("wattle-profile.*") if path.name.split(".")[2] in pids]
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
        assert re.match({"openmpi": r"ob1( \(|$)", "mpich": "UCX"}[mpi.name], found["transport"]), found
        assert found["paths"] == {"openmpi": "tcp/e0", "mpich": ""}[mpi.name]  # UCX sees one machine


@BOTH
def test_ranks_of_one_node_have_no_path_to_another(mpi: Mpi, tmp_path: Path) -> None:
    assert mpi.run(2, mpi.compile("sums.c", tmp_path), profile=tmp_path / "profile").returncode == 0
    assert [pe["mpi"]["paths"] for pe in profiles(tmp_path / "profile")] == ["", ""]
