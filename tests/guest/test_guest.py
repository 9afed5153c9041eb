"""Wattle leaves a process alone: its state after each call, and programs that do odd things to themselves."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest
from jobs import OSHCC, OSHRUN, Result, compile_once, run
from pe_job import ON_NODES
from preload import BOTH, MPICH, OPEN_MPI, Mpi
from tree import ROOT

PROGRAMS = ROOT / "tests/guest/programs"
LIMIT = "200"  # seconds, against a hang


def program(name: str, folder: Path, mpi: Mpi | None = None) -> Path:
    compiler = [mpi.tool("mpicc"), "-DUSE_MPI"] if mpi else [OSHCC]
    words = [*compiler, "-g", "-O1", "-Wall", "-Werror", PROGRAMS / f"{name}.c", "-pthread", "-lm"]
    return compile_once(words, folder / f"{name}-{mpi or 'shmem'}")


def owner_may_read(folder: Path) -> bool:
    files = list(folder.iterdir())
    return bool(files) and all(stat.S_IMODE(file.stat().st_mode) & 0o600 == 0o600 for file in files)


# --- odd programs ---

ENDS = ["umask", "umask early", "streams", "streams early", "streams twice", "environ", "clearenv", "clearenv early"]
ENDS += [
    "folder",
    "no_folder",
    "no_folder early",
    "blocked early",
    "ignored early",
    "child_closes",
    "child_exits",
    "vfork",
]
ENDS += ["cancel", "stack", "stack first", "stack_exit", "stack_finish", "file_size"]
REFUSED = [
    ("file_size early", "ulimit -f"),
    ("daemon", "called in a forked child, which is no PE"),
    ("closes", "the program has closed descriptors that it did not open"),
    ("closes_epolls", "the program has closed descriptors that it did not open"),
]


def odd(way: str, folder: Path, profile: Path, n: int = 2) -> Result:
    words = [OSHRUN, "-n", n, program("odd", folder), *way.split()]
    return run("timeout", LIMIT, *map(str, words), env={"WATTLE_PROFILE_DIR": str(profile)}, clean=False)


@pytest.mark.parametrize("way", ENDS)
def test_a_pe_with_an_odd_process_ends_as_others_do(way: str, tmp_path: Path) -> None:
    (tmp_path / "profile").mkdir()
    result = odd(way, tmp_path, tmp_path / "profile")
    assert result.code == 0 and result.out == ("" if way == "stack_exit" else "end\nend\n"), result
    if way == "file_size":
        assert all("cannot write the profile" in line for line in result.said), result
    else:
        assert result.said == [], result
        assert way == "clearenv early" or owner_may_read(tmp_path / "profile")  # without the variable there is none


@pytest.mark.parametrize(("way", "reason"), REFUSED)
def test_a_process_that_cannot_go_on_is_refused_by_a_line(way: str, reason: str, tmp_path: Path) -> None:
    result = odd(way, tmp_path, tmp_path)
    assert result.code != 0 and any(reason in line for line in result.said), result


def test_a_program_with_the_rights_of_another_group_runs_without_a_profile(tmp_path: Path) -> None:
    """The C library is in secure mode then, and ignores LD_PRELOAD."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a program to another group")
    path = program("odd", tmp_path, MPICH)
    shutil.chown(path, group="nogroup")
    path.chmod(0o2755)
    done = MPICH.run(2, path, "nothing", profile=tmp_path / "profile")
    assert (done.returncode, done.stdout) == (0, "end\nend\n"), done
    assert not list((tmp_path / "profile").iterdir())


def needs_nodes(result: Result) -> None:
    if result.code == 77:
        pytest.skip(result.out)


def test_a_call_of_a_cancelled_thread_has_its_effect_on_other_nodes(tmp_path: Path) -> None:
    result = run(ON_NODES, "2", "1", program("odd", tmp_path), "cancel")
    needs_nodes(result)
    assert result.code == 0 and result.out == "end\nend\n", result


OF_MPI = ["umask", "umask early", "streams early", "environ", "clearenv", "no_folder", "blocked early", "ignored early"]
OF_MPI += ["child_closes", "child_exits", "vfork", "file_size", "stack_exit"]
# Most of these depend on no MPI: with MPICH, too, in the long tests.
WITH_BOTH = ("clearenv", "blocked early", "child_exits")
# In a plain run, too, a cancelled thread ends where Open MPI polls a socket, and MPICH needs more stack.
OF_ONE_MPI = [
    *((OPEN_MPI, way) for way in OF_MPI),
    *(pytest.param(MPICH, way, marks=[] if way in WITH_BOTH else pytest.mark.soak) for way in OF_MPI),
    *((OPEN_MPI, way) for way in ("stack", "stack first", "stack_finish")),
    *((MPICH, way) for way in ("cancel", "user")),
]


@pytest.mark.parametrize(("mpi", "way"), OF_ONE_MPI, ids=str)
def test_a_rank_with_an_odd_process_ends_as_in_a_plain_run(mpi: Mpi, way: str, tmp_path: Path) -> None:
    path, profile = program("odd", tmp_path, mpi), tmp_path / "profile"
    plain = mpi.run(2, path, *way.split(), preload=False)
    done = mpi.run(2, path, *way.split(), profile=profile)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), (done, plain)
    assert way in ("file_size", "stack_exit", "user") or owner_may_read(profile)


# --- fingerprints ---

# The differences that docs/beside-tools.md names.
DESCRIPTORS = {"descriptors", "descriptors with Wattle's name"}
OF_INIT = {"variable OMPI_MCA_mpi_yield_when_idle", "signal 3", *DESCRIPTORS}
EXPECTED = {*(("MPI_Init_thread", name) for name in OF_INIT), *(("MPI_Finalize", name) for name in DESCRIPTORS)}
OF_PMIX = {"variable PMIX_MCA_psec", "threads", "death signal", "errno"}
OF_UCX = {"variable UCX_HANDLE_ERRORS", "variable UCX_DEBUG_SIGNO", "variable UCX_LOG_LEVEL"}


def changes(files: list[Path]) -> set[tuple[str, str]]:
    """The calls that changed the process, and the name of the state that they changed."""
    lines = [line for file in files for line in file.read_text().splitlines()]
    return {(call, name) for call, name, _ in (line.split(": ", 2) for line in lines)}


@BOTH
@pytest.mark.parametrize("level", [{}, {"MULTIPLE": "1"}], ids=["single", "multiple"])
def test_a_call_changes_no_more_of_a_rank_than_in_a_plain_run(mpi: Mpi, level: dict[str, str], tmp_path: Path) -> None:
    path = program("fingerprint", tmp_path, mpi)
    for name, preload in (("plain", False), ("wattle", True)):
        done = mpi.run(2, path, tmp_path / name, preload=preload, profile=tmp_path / f"{name}.dir", **level)
        assert done.returncode == 0, done
    found, plain = (changes(sorted(tmp_path.glob(f"{name}-?"))) for name in ("wattle", "plain"))
    assert found - plain - EXPECTED == set()


@pytest.mark.parametrize("level", [{}, {"MULTIPLE": "1"}], ids=["single", "multiple"])
@pytest.mark.parametrize("start", [[OSHRUN, "-n", "2"], [ON_NODES, "2", "2"]], ids=["node", "nodes"])
def test_a_call_of_openshmem_leaves_the_process_as_it_was(
    start: list[str | Path], level: dict[str, str], tmp_path: Path
) -> None:
    path = program("fingerprint", tmp_path)
    result = run(*map(str, [*start, path, tmp_path / "of"]), env={"WATTLE_PROFILE_DIR": str(tmp_path), **level})
    needs_nodes(result)
    assert result.code == 0, result
    found = changes(sorted(tmp_path.glob("of-?")))
    assert {name for call, name in found if call == "shmem_init_thread"} <= OF_INIT | OF_PMIX | OF_UCX
    assert {name for call, name in found if call == "shmem_finalize"} <= DESCRIPTORS | OF_PMIX
    of_ucx = {"descriptors"} if start[0] == ON_NODES else set()  # connections, at the first use of a PE
    rest = {(call, name) for call, name in found if call not in ("shmem_init_thread", "shmem_finalize")}
    assert {(call, name) for call, name in rest if name not in of_ucx} == set()
