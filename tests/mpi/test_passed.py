"""Calls that the module does not know pass to the MPI unchanged, and the profile counts them."""

from __future__ import annotations

from pathlib import Path

from preload import BOTH, EACH_INTERFACE, Mpi, profiles

RIGHT = "all as it should be\n"
ONCE = ("set_view", "write_at_all_begin", "write_at_all_end")


@EACH_INTERFACE
def test_calls_without_a_wrapper_are_right_and_counted(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.compile("passed.c", tmp_path)
    done = mpi.run(2, program, tmp_path / "file", profile=tmp_path / "profile")
    assert (done.returncode, done.stdout, done.stderr) == (0, RIGHT, ""), done
    for pe in profiles(tmp_path / "profile"):
        counted = {row["call"]: row["calls"] for row in pe["passed"]}
        assert counted == {"MPI_File_set_size": 2} | {f"MPI_File_{name}": 1 for name in ONCE}


@BOTH
def test_a_fortran_call_with_text_passes_unchanged(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.compile("passed.F90", tmp_path)
    done = mpi.run(2, program, tmp_path / "file", profile=tmp_path / "profile")
    assert (done.returncode, done.stdout.strip()) == (0, RIGHT.strip()), done
    for pe in profiles(tmp_path / "profile"):
        assert {"call": "mpi_file_set_view_", "calls": 1} in pe["passed"]  # MPICH's own calls the C function, too


@BOTH
def test_a_program_with_wrapped_calls_alone_passes_none(mpi: Mpi, tmp_path: Path) -> None:
    done = mpi.run(2, mpi.compile("sums.c", tmp_path), profile=tmp_path / "profile")
    assert done.returncode == 0, done
    assert [pe["passed"] for pe in profiles(tmp_path / "profile")] == [[], []]
