"""ARMCI beside MPI and OpenSHMEM in one process, whichever begins; mistakes end the job with a line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from armci_jobs import OURS, compile_program, need, run
from jobs import HOME
from mpi_jobs import MPICH, OPEN_MPI

WRONG = [
    ("too early", "ARMCI_Barrier: called before ARMCI_Init"),
    ("no such process", "PE 0: ARMCI_Put: there is no process 2; this job has processes 0 to 1"),
    ("not its memory", "ARMCI_Put: dst=0x[0-9a-f]+ and 8 bytes from there are not memory that process 1 allocated"),
    ("too far", "ARMCI_Get: src=0x[0-9a-f]+ and 8 bytes from there are not memory"),
    ("patch too far", "ARMCI_PutS: dst=0x[0-9a-f]+ and [0-9]+ bytes from there are not memory"),
    ("list elsewhere", "ARMCI_PutV: an address in the list=0x[0-9a-f]+ and 8 bytes"),
    ("negative", "ARMCI_Put: bytes=-4 is not valid here; allowed: 0 and more"),
    ("levels", "ARMCI_GetS: stride_levels=9 is not valid here; allowed: 0 to 8"),
    ("type", "ARMCI_Acc: datatype=77 is not valid here; allowed: ARMCI_ACC_INT to ARMCI_ACC_DCP"),
    (
        "half an element",
        re.escape("ARMCI_AccS: count[0]=24 is not valid here; allowed: multiples of an element's bytes"),
    ),
    ("rmw", "ARMCI_Rmw: op=9 is not valid here"),
    ("no mutexes", "ARMCI_Lock: there are no mutexes"),
    ("no group", "armci_msg_barrier: the group at 0x[0-9a-f]+ is none"),
    ("free twice", "ARMCI_Free_local: ptr=0x[0-9a-f]+ is not the start of memory that this process got"),
    ("operation", 'armci_msg_gop: op="plus" is no operation; there are'),
    ("of reals", 'armci_msg_gop: op="or" is for integers alone'),
    ("short buffer", "armci_msg_rcv: the message of PE 0 has 64 bytes, and there is room for 8"),
]


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("mpicc.openmpi", "mpirun.openmpi")
    return compile_program("wrong.c", tmp_path_factory.mktemp("wrong") / "wrong", *OURS)


@pytest.mark.parametrize(("case", "words"), WRONG, ids=[case.replace(" ", "_") for case, _ in WRONG])
def test_a_mistake_ends_the_job_with_a_line(wrong: Path, case: str, words: str) -> None:
    done = run(2, wrong, case)
    assert done.returncode == 64, done.stdout + done.stderr
    assert re.search(words, done.stderr), done.stderr


def test_the_programs_own_error_is_its_exit_code(wrong: Path) -> None:
    done = run(2, wrong, "error")
    assert done.returncode == 42, done.stderr
    assert "ARMCI_Error: the program's own words (42)" in done.stderr


def test_without_checks_a_good_program_runs(wrong: Path) -> None:
    assert run(2, wrong, "none of them", WATTLE_CHECK="off").returncode == 0


@pytest.mark.parametrize("first", ["armci", "mpi", "shmem"])
@pytest.mark.parametrize("mpi", [OPEN_MPI, MPICH], ids=lambda mpi: mpi.name)
def test_armci_openshmem_and_mpi_share_a_process(mpi, first: str, tmp_path: Path) -> None:
    mpi.require(compiler=True)
    program = tmp_path / "beside_mpi"
    compile_program("beside_mpi.c", program, *OURS, "-lwattle-shmem", compiler=mpi.compiler)
    for n in (1, 3):
        done = run_under(mpi, n, program, first)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout == "all is there\n"


def run_under(mpi, n: int, program: Path, *words: str):
    import subprocess

    from armci_jobs import ENVIRONMENT
    from jobs import clean_environment

    return subprocess.run(
        mpi.start(n, program, *words),
        env={**clean_environment(), **ENVIRONMENT},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_pkg_config_names_what_a_program_needs(tmp_path: Path) -> None:
    import os
    import subprocess

    need("pkg-config", "mpicc.openmpi", "mpirun.openmpi")
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "armci"],
        env=os.environ | {"PKG_CONFIG_PATH": str(HOME / "lib/pkgconfig")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    program = compile_program("beside_mpi.c", tmp_path / "beside_mpi", *flags)
    assert run(2, program).returncode == 0
