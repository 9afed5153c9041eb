"""The preload library beside other tools in one process: wrappers of MPI, allocators, debuggers, sanitizers."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from jobs import HOME
from preload import EACH_INTERFACE, EITHER, LIBRARY, OPEN_MPI, PROGRAMS, Mpi, profiles
from wattle.run.mpi import environment_of

ALLOCATORS = ("libjemalloc.so.2", "libmimalloc.so", "libtcmalloc_minimal.so.4")
# glibc's line where the library is preloaded before a tool that needs MPICH 4.2.1. The calls go to the right place.
RELINK = re.compile(r"\S+: Relink `\S*/libmpich\.so\S*' with `\S*' for IFUNC symbol `MPI_\w+'\n")
COUNTS = "1 5 5 1 1\n" * 2  # of tool.c: MPI_Init, Allreduce, Scan, Gather and Finalize of sums.c, by rank


def tool(mpi: Mpi, folder: Path, *options: str) -> Path:
    made = folder / "libtool.so"
    command = [mpi.tool("mpicc"), "-shared", "-fPIC", "-O1", *options, PROGRAMS / "tool.c", "-o", made]
    subprocess.run(command, check=True)
    return made


def calls(rank: dict) -> dict[str, int]:
    """The number of calls by name."""
    found: dict[str, int] = {}
    for site in rank["sites"]:
        found[site["call"]] = found.get(site["call"], 0) + site["calls"]
    return found


@EACH_INTERFACE
@pytest.mark.parametrize(
    ("place", "options"),
    [("before", []), ("before", ["-DBY_DLSYM"]), ("after", []), ("linked", [])],
    ids=["before", "before, by dlsym", "after", "linked"],
)
def test_another_tool_and_this_library_see_every_call(mpi: Mpi, place: str, options: list[str], tmp_path: Path) -> None:
    made = tool(mpi, tmp_path, *options)
    program, preloads = mpi.compile("sums.c", tmp_path), {"before": f"{made}:{LIBRARY}", "after": f"{LIBRARY}:{made}"}
    alone = {"LD_PRELOAD": str(made)}
    if place == "linked":
        words = [mpi.tool("mpicc"), PROGRAMS / "sums.c", made, f"-Wl,-rpath,{tmp_path}", "-o", tmp_path / "linked"]
        subprocess.run(words, check=True)
        program, alone = tmp_path / "linked", {}
    plain = mpi.run(2, program, preload=False, **alone)
    done = mpi.run(
        2, program, preload=False, profile=tmp_path / "profile", LD_PRELOAD=preloads.get(place, str(LIBRARY))
    )
    assert (plain.returncode, plain.stderr) == (0, "") and COUNTS in plain.stdout
    err = RELINK.sub("", done.stderr) if mpi.name == "mpich" and place == "after" else done.stderr
    assert (done.returncode, done.stdout, err) == (0, plain.stdout, "")
    ranks = [calls(rank) for rank in profiles(tmp_path / "profile")]
    assert len(ranks) == 2
    for rank in ranks:
        assert {name: rank.get(name) for name in ("MPI_Allreduce", "MPI_Scan", "MPI_Reduce")} == {
            "MPI_Allreduce": 5,
            "MPI_Scan": 5,
            "MPI_Reduce": 5,
        }


@EITHER
def test_calls_by_the_names_of_the_profiling_interface_are_in_the_profile(mpi: Mpi, tmp_path: Path) -> None:
    source, program = tmp_path / "direct.c", tmp_path / "direct"
    source.write_text((PROGRAMS / "sums.c").read_text().replace("MPI_Allreduce(", "PMPI_Allreduce("))
    subprocess.run([mpi.tool("mpicc"), source, "-o", program], check=True)
    done = mpi.run(2, program, profile=tmp_path / "profile")
    assert (done.returncode, done.stderr) == (0, "")
    assert [calls(rank)["MPI_Allreduce"] for rank in profiles(tmp_path / "profile")] == [5, 5]


def assert_profile(folder: Path) -> None:
    ranks = profiles(folder)
    assert ranks and all(calls(rank)["MPI_Allreduce"] == 5 for rank in ranks)


def library(name: str) -> str:
    path = subprocess.run(["cc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
    if path == name:
        pytest.skip(f"no {name} here")
    return path


@pytest.mark.parametrize("name", ALLOCATORS)
@pytest.mark.parametrize("is_first", [True, False], ids=["first", "last"])
def test_another_allocator_is_used(name: str, is_first: bool, tmp_path: Path) -> None:
    allocator, program = library(name), OPEN_MPI.compile("sums.c", tmp_path)
    order = [allocator, str(LIBRARY)] if is_first else [str(LIBRARY), allocator]
    plain = OPEN_MPI.run(2, program, preload=False)
    done = OPEN_MPI.run(2, program, preload=False, profile=tmp_path / "profile", LD_PRELOAD=":".join(order))
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, "")
    assert_profile(tmp_path / "profile")


def test_a_program_with_sanitizers_runs_by_wattle_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTLE_HOME", str(HOME))
    settings = {
        name: value
        for name, value in environment_of({"ASAN_OPTIONS": "detect_leaks=0"}).items()  # MPI itself has leaks
        if name in ("ASAN_OPTIONS", "LD_PRELOAD")
    }
    program = OPEN_MPI.compile("sums.c", tmp_path, "-fsanitize=address,undefined")
    plain = OPEN_MPI.run(2, program, preload=False, ASAN_OPTIONS="detect_leaks=0")
    done = OPEN_MPI.run(2, program, preload=False, profile=tmp_path / "profile", **settings)
    assert (done.returncode, done.stdout, done.stderr) == (0, plain.stdout, "")
    assert_profile(tmp_path / "profile")


def test_tools_of_the_user_stay_before_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTLE_HOME", str(HOME))
    made = environment_of({"LD_PRELOAD": "/a/libtool.so", "ASAN_OPTIONS": "detect_leaks=0"})
    assert made["LD_PRELOAD"] == f"/a/libtool.so:{LIBRARY}"
    assert made["ASAN_OPTIONS"] == "verify_asan_link_order=0:detect_leaks=0"


def test_gdb_stops_in_calls_and_shows_the_program(tmp_path: Path) -> None:
    if not shutil.which("gdb"):
        pytest.skip("no gdb here")
    program = OPEN_MPI.compile("sums.c", tmp_path)
    commands = [f"set environment LD_PRELOAD {LIBRARY}", "set breakpoint pending on", "break MPI_Scan", "run"]
    commands += ["backtrace", "delete", "continue"]
    words = [word for command in commands for word in ("-ex", command)]
    debugged = OPEN_MPI.run(1, "gdb", "-batch", "-nx", *words, program, preload=False, profile=tmp_path / "profile")
    plain = OPEN_MPI.run(1, program, preload=False)
    assert re.search(r"#0 .* in MPI_Scan \(\) from .*libwattle-mpi\.so\n#1 .* in main .*sums\.c:18", debugged.stdout), (
        debugged
    )
    assert plain.stdout in debugged.stdout and "exited normally" in debugged.stdout
    assert_profile(tmp_path / "profile")


def test_valgrind_finds_no_error_in_the_library(tmp_path: Path) -> None:
    if not shutil.which("valgrind"):
        pytest.skip("no valgrind here")
    program, log = OPEN_MPI.compile("sums.c", tmp_path), tmp_path / "log"
    words = ["valgrind", "-q", "--trace-children=yes", f"--log-file={log}.%p", "env", f"LD_PRELOAD={LIBRARY}", program]
    done = OPEN_MPI.run(2, *words, preload=False, profile=tmp_path / "profile")
    plain = OPEN_MPI.run(2, program, preload=False)
    assert (done.returncode, done.stdout) == (0, plain.stdout), done
    logs = [path.read_text() for path in tmp_path.glob("log.*")]
    assert logs and not any("wattle" in text for text in logs), logs
    assert_profile(tmp_path / "profile")
