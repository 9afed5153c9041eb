"""Global Arrays programs say the same on our ARMCI as on Debian's."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from armci_jobs import ARRAYS, BELOW, OURS, OURS_STATIC, THEIRS, compile_program, need, need_arrays, run
from jobs import HOME
from nodes_of_test import built, launch
from wattle.machine.nodes import Nodes, unavailable

# The output of the last three does not depend on the number of processes.
CASES = [("arrays.c", "mpicc.openmpi"), ("matrices.F90", "mpif90.openmpi")]
CASES += [("products.c", "mpicc.openmpi"), ("heat.F90", "mpif90.openmpi"), ("operations.c", "mpicc.openmpi")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("arrays")


def build(source: str, compiler: str, folder: Path, library: list) -> Path:
    need_arrays()
    need(compiler)
    program = folder / f"{Path(source).stem}-{'-'.join(Path(str(word)).name for word in library)[:40].strip('-')}"
    if not program.exists():
        compile_program(source, program, *ARRAYS, *library, *BELOW, compiler=compiler)
    return program


def lines(done) -> list[str]:
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stderr}{done.stdout}"
    return sorted(done.stdout.splitlines())


@cache
def theirs(n: int, source: str, compiler: str, folder: Path) -> list[str]:
    """Returns the output over Debian's library."""
    return lines(run(n, build(source, compiler, folder, THEIRS)))


@pytest.mark.parametrize(("source", "compiler"), CASES)
@pytest.mark.parametrize("n", [1, *(pytest.param(n, marks=pytest.mark.soak) for n in (2, 3)), 4])
def test_the_answers_are_those_of_debians_library(source: str, compiler: str, n: int, folder: Path) -> None:
    ours = lines(run(n, build(source, compiler, folder, OURS)))
    assert ours == theirs(2 if (source, compiler) in CASES[2:] else n, source, compiler, folder)
    assert len(ours) > 0


# The last has all operations.
@pytest.mark.parametrize(
    ("source", "compiler"), [*(pytest.param(*case, marks=pytest.mark.soak) for case in CASES[2:4]), CASES[4]]
)
def test_the_answers_are_the_same_on_sixteen_processes(source: str, compiler: str, folder: Path) -> None:
    assert lines(run(16, build(source, compiler, folder, OURS))) == theirs(2, source, compiler, folder)


def test_a_static_library_serves_as_well(folder: Path) -> None:
    ours = lines(run(2, build(*CASES[0], folder, OURS)))
    assert lines(run(2, build(*CASES[0], folder, OURS_STATIC))) == ours


# Distributed cyclically, the processes of a node have no consecutive numbers, as Global Arrays has them in its domains.
ON_NODES = [(*case, []) for case in CASES] + [
    pytest.param(*case, ["--map-by", "node"], marks=[] if case == CASES[0] else pytest.mark.soak) for case in CASES
]


def expect_the_same_on_two_nodes(program: Path, *options: str, **settings: str) -> None:
    alone = lines(run(4, program))
    with Nodes(2) as nodes:
        job = launch(nodes, nodes.command(str(HOME / "bin/oshrun"), 2, *options, str(program)), **settings)
        out, err = job.communicate(timeout=300)
    assert job.returncode == 0, out + err
    assert sorted(out.splitlines()) == alone


@pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
@pytest.mark.parametrize(("source", "compiler", "options"), ON_NODES)
def test_the_answers_are_the_same_on_two_nodes(source: str, compiler: str, options: list[str], folder: Path) -> None:
    expect_the_same_on_two_nodes(build(source, compiler, folder, OURS), *options)


@pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
@pytest.mark.parametrize(("source", "compiler"), CASES)
@pytest.mark.parametrize("network", ["ucx", "ofi"])
def test_the_answers_are_the_same_by_hardware(source: str, compiler: str, network: str, folder: Path) -> None:
    program = build(source, compiler, folder, OURS)
    expect_the_same_on_two_nodes(program, WATTLE_RMA="on", WATTLE_NETWORK=network)


def test_the_processes_of_a_domain_follow_each_other_wherever_they_are() -> None:
    if reason := unavailable():
        pytest.skip(reason)
    with Nodes(2) as nodes:
        for program in ("armci_edges", "armci_groups"):
            words = ["--map-by", "node", str(built(program)), "3000"]
            job = launch(nodes, nodes.command(str(HOME / "bin/oshrun"), 2, *words))
            out, err = job.communicate(timeout=300)
            assert job.returncode == 0, out + err
