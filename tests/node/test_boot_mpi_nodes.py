"""Boot by MPI on several nodes: the PEs that share memory, data between nodes, and a launcher or a node that dies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import Job, Result, program
from mpi_jobs import AS_ROOT, MPICH, OPEN_MPI, mixed_program
from nodes_of_test import by_mpich
from wattle.machine.nodes import Nodes, unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    with Nodes(2) as two:
        yield two


def by_open_mpi(nodes: Nodes, pes: int, *words: str | Path) -> list[str]:
    OPEN_MPI.require()
    options = [*OPEN_MPI.options, "-x", "WATTLE_BOOT=mpi"]
    return nodes.command(OPEN_MPI.launcher, pes, *options, *map(str, words))


def run(command: list[str]) -> Result:
    with Job(command, env=AS_ROOT) as job:
        return job.wait()


@pytest.mark.parametrize("start", [by_mpich, by_open_mpi])
def test_nodes_are_distinguished_and_data_cross(nodes: Nodes, start: object, folder: Path) -> None:
    mpi = MPICH if start is by_mpich else OPEN_MPI
    result = run(start(nodes, 2, mixed_program(mpi, folder), "MSndsm"))
    assert result.code == 0 and result.out.count("MPI good") == 4, result
    for pe in range(4):  # a launcher may run lines of several processes into one
        assert f"PE {pe} of 4 good" in result.out, result
        assert f"PE {pe} reaches {'0 1' if pe < 2 else '2 3'}" in result.out, result


@pytest.mark.parametrize("start", [by_mpich, by_open_mpi])
def test_program_without_mpi_runs_on_two_nodes(nodes: Nodes, start: object) -> None:
    result = run(start(nodes, 1, program("boot")))
    assert result.code == 0 and result.out.count("good") == 2, result


@pytest.mark.parametrize("order", ["SMdsm", "SdsMdm"])
def test_mpi_may_start_after_shmem_under_mpich(nodes: Nodes, order: str, folder: Path) -> None:
    result = run(by_mpich(nodes, 1, mixed_program(MPICH, folder), order))
    assert result.code == 0 and result.out.count("MPI good") == 2 and result.out.count("of 2 good") == 2, result


def test_one_pe_ends_the_job_on_both_nodes_with_its_status(nodes: Nodes) -> None:
    result = run(by_mpich(nodes, 2, program("ends"), "global_exit_7", "3"))
    assert result.code == 7 and "lives" in result.out, result  # Hydra may drop what those that it kills said last


def test_end_of_the_launcher_ends_the_pes_on_both_nodes(nodes: Nodes) -> None:
    with Job(by_mpich(nodes, 1, program("victim"), "barrier")) as job:
        job.until_said("there", 2)
        job.signal(job.find("mpiexec")[0])
        job.all_gone()


def test_node_whose_link_is_cut_ends_the_job_and_is_named(nodes: Nodes) -> None:
    with Job(by_mpich(nodes, 1, program("victim"), "busy")) as job:
        job.until_said("there", 2)
        nodes.cut(1)
        result = job.wait(120)  # some 20 s where cores are free
        assert result.code != 0 and "PE 1" in result.err, result
