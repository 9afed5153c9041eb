"""A function that has a name of MPI's and is not MPI's belongs to the library that defines it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from jobs import clean_environment
from preload import BOTH, EACH_INTERFACE, LIBRARY, OPEN_MPI, PROGRAMS, Mpi, profiles

FORTRAN = {"openmpi": "-lmpi_mpifh", "mpich": "-lmpichfort"}


def library(folder: Path, *options: str) -> Path:
    made = folder / "libown.so"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-O1", *options, PROGRAMS / "own_names_library.c", "-o", made], check=True
    )
    return made


@BOTH
@pytest.mark.parametrize(
    ("linked", "fortran"), [(False, False), (True, False), (True, True)], ids=["loaded", "linked", "beside Fortran"]
)
def test_a_library_calls_its_own_functions_with_fortran_names(
    mpi: Mpi, linked: bool, fortran: bool, tmp_path: Path
) -> None:
    """Beside MPI's Fortran library, only the name without an underscore can be the library's own."""
    own = library(tmp_path, *([] if fortran else ["-DALL_NAMES"]))
    options = [str(own), f"-Wl,-rpath,{tmp_path}", "-DLINKED"] if linked else ["-ldl"]
    options += ["-Wl,--no-as-needed", FORTRAN[mpi.name]] if fortran else []
    program = tmp_path / "program"
    source = PROGRAMS / "own_names.c"
    subprocess.run([mpi.tool("mpicc"), "-O1", source, *options, "-o", program], check=True)
    plain = mpi.run(2, program, own, preload=False)
    done = mpi.run(2, program, own, profile=tmp_path / "profile")
    assert (plain.returncode, plain.stdout) == (0, f"sum {2 if fortran else 222}\n"), plain
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, plain.stderr)
    for pe in profiles(tmp_path / "profile"):
        assert {"MPI_Allreduce"} <= {site["call"] for site in pe["sites"]}


def test_a_library_that_replaces_mpi_is_called(tmp_path: Path) -> None:
    source, made, program = PROGRAMS / "serial_mpi.c", tmp_path / "libserial.so", tmp_path / "program"
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", made], check=True)
    subprocess.run(["gcc", "-DMAIN", source, made, f"-Wl,-rpath,{tmp_path}", "-o", program], check=True)
    environment = {**clean_environment(), "LD_PRELOAD": str(LIBRARY)}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "size 1, rc 0\n", "")


@EACH_INTERFACE
def test_a_program_finds_those_calls_of_later_versions_that_its_mpi_has(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.compile("newer_names.c", tmp_path, "-ldl")
    plain = mpi.run(2, program, preload=False)
    done = mpi.run(2, program, profile=tmp_path / "profile")
    assert (plain.returncode, "value 7" in plain.stdout) == (0, True), plain
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, plain.stderr)
    called = "MPI_Bcast_c" if "MPI_Bcast_c 1" in plain.stdout else "MPI_Bcast"
    for pe in profiles(tmp_path / "profile"):
        assert called in {site["call"] for site in pe["sites"]}


def test_rmpi_runs_as_in_the_plain_program(tmp_path: Path) -> None:
    """R's Rmpi has sixty C functions with names such as `mpi_barrier`."""
    if subprocess.run(["sh", "-c", "command -v Rscript"], capture_output=True, check=False).returncode:
        pytest.skip("no Rscript here (Debian: r-cran-rmpi)")
    script = tmp_path / "sum.R"
    script.write_text(RMPI)
    plain = OPEN_MPI.run(2, "Rscript", script, preload=False)
    done = OPEN_MPI.run(2, "Rscript", script, profile=tmp_path / "profile")
    assert (plain.returncode, plain.stdout) == (0, "sum 3 gathered 1 2 received 7\n"), plain
    assert (done.returncode, done.stdout) == (0, plain.stdout), done
    ranks = profiles(tmp_path / "profile")
    assert len(ranks) == 2
    assert all({"MPI_Barrier", "MPI_Allreduce"} <= {site["call"] for site in rank["sites"]} for rank in ranks)


RMPI = """
library(Rmpi)
me <- mpi.comm.rank(0)
invisible(mpi.barrier(0))
sum <- mpi.allreduce(as.integer(me + 1), type = 1, op = "sum", comm = 0)
all <- mpi.allgather(as.integer(me + 1), 1, integer(2), comm = 0)
if (me == 1) invisible(mpi.send(7L, 1, 0, 5, comm = 0))
if (me == 0) {
  got <- mpi.recv(integer(1), 1, 1, 5, comm = 0)
  cat("sum", sum, "gathered", all, "received", got, fill = TRUE)
}
invisible(mpi.barrier(0))
invisible(mpi.quit(save = "no"))
"""
