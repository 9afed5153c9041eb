"""Call paths are those of the program: functions inlined, jumped to, in a signal
handler, in libraries that are unloaded, in C++ and in Fortran. Two phases that call one wrapper are two sites.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from preload import LIBRARY
from tree import HOME, ROOT
from wattle.figures import sites
from wattle.record import profile

PROGRAMS = ROOT / "tests/mpi/programs"
TIMES = 20  # that the program repeats its calls
CALL = "the_call"

# From the call to the outermost function.
KNOWN = [
    ("main",),
    (CALL, "phase_a", "main"),
    (CALL, "phase_b", "main"),
    ("third", "second", "first", "main"),
    ("inner", "outer", "with_inlined", "main"),
    ("jumped_to", "before_jump", "main"),
    (*["recursive"] * 4, "main"),
    (*["recursive"] * 17, "(deeper callers)"),
    (CALL, "with_alloca", "main"),
    (CALL, "with_array", "main"),
    (CALL, "with_aligned", "main"),
    (CALL, "with_large", "main"),
    (CALL, "with_fp", "main"),
    (CALL, "unoptimised", "main"),
    (CALL, "by_pointer", "main"),
    (CALL, "variadic", "main"),
    (CALL, "compare", "libc", "with_sort", "main"),
    (CALL, "handler", "(signal handler)"),
    (CALL, "(deeper callers)"),  # of a coroutine, whose stack is not the thread's own
    (CALL, "after_jump", "main"),
    (CALL, "in_thread"),
    (CALL, "once_function", "libc", "with_once", "main"),
    (CALL, "visit", "with_tree", "main"),  # twalk jumps to it
    (CALL, "rare", "with_cold", "main"),
    ("even", "odd", "even", "main"),
    ("deepest", "deeper", "deep", "with_inlines", "main"),
    (CALL, "chosen_one", "with_choice", "main"),
    (CALL, "in_own_stack"),
    (CALL, "solver::Halo::exchange", "in_cxx", "main"),
    (CALL, "solver::Derived::step", "in_cxx", "main"),
    (CALL, "solver::after_exception", "in_cxx", "main"),
    (CALL, "solver::Leaving::~Leaving", "solver::unwound", "solver::catches", "in_cxx", "main"),
    (CALL, "operator()", "with_function", "in_cxx", "main"),  # local types have no longer names
    (CALL, "solver::after_second_throw", "in_cxx", "main"),
    (CALL, "solver::Part::Part", "solver::Whole::Whole", "in_cxx", "main"),
    (CALL, *["solver::descend"] * 3, "in_fortran", "main"),
    (CALL, "inside", "solver::step", "in_fortran", "main"),
    (CALL, "solver::step", "in_fortran", "main"),
    (CALL, "plain", "in_fortran", "main"),
    (CALL, "library_one", "library_enter", "with_library", "main"),
    (CALL, "library_two", "library_enter", "with_library", "main"),
]


def build(folder: Path, compiler: str, *flags: str) -> list[str]:
    """Compiles the program and its two libraries. Returns its command."""
    common = ["-O2", "-g", "-fPIC", "-fno-ipa-icf"]  # GCC would make functions of the same code one
    for name in ("one", "two"):
        library = [f"-DNAME=library_{name}", str(PROGRAMS / "known_paths_library.c"), "-o", str(folder / f"{name}.so")]
        subprocess.run(["gcc", *common, "-shared", *library], check=True)
    for tool, file in (("g++", "known_paths.cc"), ("gfortran", "known_paths.f90")):
        words = [tool, *common, f"-J{folder}", "-fno-inline"] if tool == "gfortran" else [tool, *common]
        subprocess.run([*words, "-c", str(PROGRAMS / file), "-o", str(folder / f"{file}.o")], check=True)
    objects = [str(folder / f"{file}.o") for file in ("known_paths.cc", "known_paths.f90")]
    program = str(folder / "known_paths")
    libraries = ["-lstdc++", "-lgfortran", "-lpthread", "-ldl"]
    words = [compiler, *common, *flags, str(PROGRAMS / "known_paths.c"), *objects, *libraries, "-o", program]
    subprocess.run(words, check=True)
    return [program, str(folder / "one.so"), str(folder / "two.so")]


def paths_of(folder: Path, call: str) -> dict[tuple[str, ...], int]:
    """The paths of a call in the profile of a run with one process, with their calls."""
    found: Counter[tuple[str, ...]] = Counter()
    for site in sites.merge(profile.load(folder, 1)):
        if site.call != call:
            continue
        names: list[str] = []
        for frame in site.frames:
            name = "libc" if "/libc.so" in frame.module else frame.function
            if name != "libc" or names[-1:] != ["libc"]:
                names.append(name)
        found[(*names, *([site.path_end] if site.path_end else []))] += site.calls
    return dict(found)


def run(folder: Path, command: list[str], **settings: str) -> None:
    (folder / "profile").mkdir()
    environment = {**os.environ, "WATTLE_PROFILE_DIR": str(folder / "profile"), **settings}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, ""), done


@pytest.mark.parametrize("compiler", ["mpicc.openmpi", "mpicc.mpich"])
def test_paths_of_an_mpi_program_are_known(tmp_path: Path, compiler: str) -> None:
    command = build(tmp_path, compiler)
    run(tmp_path, command, LD_PRELOAD=str(LIBRARY), OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    assert paths_of(tmp_path, "MPI_Barrier") == dict.fromkeys(KNOWN, TIMES)


def test_paths_of_an_openshmem_program_are_known(tmp_path: Path) -> None:
    command = build(tmp_path, str(HOME / "bin/oshcc"), "-DSHMEM")
    run(tmp_path, command)
    assert paths_of(tmp_path, "shmem_barrier_all") == dict.fromkeys(KNOWN, TIMES)
