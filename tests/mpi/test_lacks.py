"""A process that lacks space or memory: the program ends as it does without the library, and nothing waits for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from jobs import HOME
from preload import EITHER, LIBRARY, OPEN_MPI, Mpi, profiles

# Also shows what is left in the folder.
FILLED = """
mount -t tmpfs -o size=64k tmpfs /dev/shm || exit 77
dd if=/dev/zero of=/dev/shm/fill bs=4096 2>/dev/null
"$@"
code=$?
rm /dev/shm/fill
ls /dev/shm
exit $code
"""
PRIVATE = ("unshare", "--mount", "--propagation", "private")


def test_a_full_memory_file_system_ends_no_program(tmp_path: Path) -> None:
    """MPICH itself dies of it."""
    if subprocess.run([*PRIVATE, "mount", "-t", "tmpfs", "tmpfs", "/dev/shm"], check=False).returncode != 0:
        pytest.skip("this container may not mount a file system")
    mpirun, program = OPEN_MPI.tool("mpirun"), OPEN_MPI.compile("lacks.c", tmp_path)
    words = [*PRIVATE, "sh", "-c", FILLED, "filled", mpirun, "-n", "2", "env"]
    environment = OPEN_MPI.environment(WATTLE_PROFILE_DIR=str(tmp_path))
    plain, done = (
        subprocess.run(
            [*words, *preload, str(program), "space"], env=environment, capture_output=True, text=True, check=False
        )
        for preload in ((), (f"LD_PRELOAD={LIBRARY}",))
    )
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout) == (0, "sum 1\n"), done
    assert [pe["pe"] for pe in profiles(tmp_path)] == [0, 1]


@EITHER
def test_a_rank_without_memory_at_its_end_lets_no_other_wait(mpi: Mpi, tmp_path: Path) -> None:
    done = mpi.run(3, mpi.compile("lacks.c", tmp_path), "memory", profile=tmp_path / "profile", limit_s=120)
    assert (done.returncode, done.stdout) == (0, "sum 3\n"), done
    assert [pe["pe"] for pe in profiles(tmp_path / "profile")] == [0, 1, 2]


@EITHER
def test_counts_outlive_a_process_that_may_not_call_fallocate(mpi: Mpi, tmp_path: Path) -> None:
    mpi.run(2, mpi.compile("lacks.c", tmp_path), "fallocate", profile=tmp_path / "profile")
    subprocess.run([HOME / "bin/wattle-profiles", "collect", tmp_path / "profile", "now"], check=True)
    sites = {site["call"] for site in profiles(tmp_path / "profile")[0]["sites"]}
    assert "MPI_Allreduce" in sites


@EITHER
def test_a_governor_without_shared_memory_does_without_and_says_so(mpi: Mpi, tmp_path: Path) -> None:
    settings = {"WATTLE_GOVERN": "energy", "WATTLE_KNOB": "record"}
    done = mpi.run(3, mpi.compile("lacks.c", tmp_path), "memfd", profile=tmp_path / "profile", **settings)
    assert (done.returncode, done.stdout) == (0, "sum 3\n"), done
    assert done.stderr.count("refuses memfd_create") == 1, done
    assert len(profiles(tmp_path / "profile")) == 3
