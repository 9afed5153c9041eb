"""Processes that ranks start: forked ones, other programs, and jobs of their own."""

from __future__ import annotations

from pathlib import Path

import fakes
import pytest
from preload import EACH_INTERFACE, MPICH, Mpi, profiles

CALLS = {"MPI_Allreduce": 1, "MPI_Barrier": 1, "MPI_Finalize": 1}


@EACH_INTERFACE
@pytest.mark.parametrize("ends", ["_exit", "exit", "exec false"])
def test_a_forked_child_leaves_no_profile_and_that_of_its_rank_is_whole(mpi: Mpi, ends: str, tmp_path: Path) -> None:
    program, folder = mpi.compile("forks.c", tmp_path), tmp_path / "profile"
    done = mpi.run(2, program, *ends.split(), profile=folder)
    code = 1 if ends == "exec false" else 7
    assert (done.returncode, done.stdout) == (0, f"child {code} of 2\n" * 2), done.stderr
    assert [path.name for path in sorted(folder.rglob("*"))] == ["pe-00000.json", "pe-00001.json"]
    for pe in profiles(folder):
        assert {site["call"]: site["calls"] for site in pe["sites"]} == CALLS


@pytest.mark.parametrize("mpi", [MPICH], ids=str)
def test_a_job_that_a_rank_starts_has_a_profile_of_its_own(mpi: Mpi, tmp_path: Path) -> None:
    """Open MPI's launcher refuses to run inside a job. The launcher of MPICH runs there without the job's variables."""
    program, inner, folder = mpi.compile("forks.c", tmp_path), mpi.compile("sums.c", tmp_path), tmp_path / "profile"
    apart = "unset $(env | sed -n 's/^\\(PMI[^=]*\\|MPI[^=]*\\|HYD[^=]*\\)=.*/\\1/p'); exec"
    script = fakes.script(
        tmp_path / "inner", f"#!/bin/sh\n{apart} {mpi.tool('mpirun')} -n 3 {inner} > {tmp_path}/out\n"
    )
    done = mpi.run(1, program, "exec", script, profile=folder)
    assert (done.returncode, done.stdout) == (0, "child 0 of 1\n"), done.stderr
    assert [len(profiles(folder)), len(profiles(folder / "job-2"))] == [1, 3]
    assert {pe["n_pes"] for pe in profiles(folder / "job-2")} == {3}
