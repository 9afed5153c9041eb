"""oshcc and oshc++, with programs that have names, headers or macros of other libraries."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tree import HOME, ROOT

LANGUAGES = {"oshcc": ".c", "oshc++": ".cc"}


def compile_and_run(
    folder: Path, text: str, *words: str, wrapper: str = "oshcc", run: bool = True
) -> subprocess.CompletedProcess[str]:
    source, program = folder / f"program{LANGUAGES[wrapper]}", folder / "program"
    source.write_text(text)
    done = subprocess.run(
        [HOME / "bin" / wrapper, "-Wall", "-Wextra", "-Werror", *words, source, "-o", program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return subprocess.run([program], capture_output=True, text=True, check=False) if run else done


OWN_NAMES = """
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
@OWN@
int main(void)
{
  shmem_init();
  printf("%g\\n", shmemx_wtime());
  shmem_finalize();
  return 0;
}
"""
STATIC = "static double shmemx_wtime(void) { return -42; }\n"
EXPECTED = {
    # A program that leaves the other libraries' names out of the header has any function of its own by these names.
    "switch": (["-DSHMEMX_AM_ONLY"], STATIC + "static inline int shmemx_signal_add(int a) { return a; }\n", True),
    # Programs written for other libraries test this before they define it.
    "guarded": ([], f"#ifndef HAVE_SHMEMX_WTIME\n{STATIC}#endif\n", False),
    "configured": (["-DHAVE_SHMEMX_WTIME=1"], f"#ifndef HAVE_SHMEMX_WTIME\n{STATIC}#endif\n", False),
    # One of the same type that others may call: the program's goes before the library's.
    "global": ([], "double shmemx_wtime(void) { return -42; }\n", True),
}


@pytest.mark.parametrize("wrapper", LANGUAGES)
@pytest.mark.parametrize("how", EXPECTED)
def test_a_program_may_have_a_shmemx_wtime_of_its_own(wrapper: str, how: str, tmp_path: Path) -> None:
    options, own, is_own = EXPECTED[how]
    if "signal_add" in own:
        options = [*options, "-Wno-unused-function"]
    done = compile_and_run(tmp_path, OWN_NAMES.replace("@OWN@", own), *options, wrapper=wrapper)
    assert done.returncode == 0 and (float(done.stdout) == -42) == is_own, done


def test_a_simulated_program_s_own_shmemx_wtime_goes_before_the_archive_s(tmp_path: Path) -> None:
    if not (HOME / "bin/wattle-simulator").exists():
        pytest.skip("built without SimGrid (libsimgrid-dev)")
    text = OWN_NAMES.replace("@OWN@", "double shmemx_wtime(void) { return -42; }\n")
    compile_and_run(tmp_path, text, "--sim", run=False)
    command = [ROOT / ".venv/bin/python", "-m", "wattle", "sim", "-n", "2", "-o", tmp_path / "run", "--"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python"), "WATTLE_HOME": str(HOME)}
    done = subprocess.run(
        [*command, tmp_path / "program"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and done.stdout.startswith("-42\n-42\n"), done


# Python's shmem4py looks for these two in shmem.h, and then takes every routine for there.
KNOWN = """
#include <shmem.h>
#if defined(OSHMEM_MAJOR_VERSION) || defined(OSHMPI_NUMVERSION) || defined(CRAY_SHMEM_NUMVERSION)
#error "taken for a library that lacks routines"
#elif !defined(SHMEM_DEF_H) || !defined(SHMEM_FUNCTION_ATTRIBUTES)
#error "taken for no library that has all routines"
#endif
SHMEM_FUNCTION_ATTRIBUTES int unused(void);
int main(void) { return SHMEM_DEF_H - 1; }
"""


@pytest.mark.parametrize("wrapper", LANGUAGES)
def test_programs_that_ask_for_the_vendor_take_the_library_for_a_whole_one(wrapper: str, tmp_path: Path) -> None:
    assert compile_and_run(tmp_path, KNOWN, wrapper=wrapper).returncode == 0


@pytest.mark.parametrize("wrapper", LANGUAGES)
def test_for_a_program_that_needs_an_mpi_the_message_names_its_package(wrapper: str, tmp_path: Path) -> None:
    """Also where a header of its own includes mpi.h; where something else is wrong nothing is said of MPI."""
    (tmp_path / "own.h").write_text("#include <mpi.h>\n")
    (tmp_path / "wrong.h").write_text("/* mpi.h: No such file */\n#error no\n")
    variable = "OSHCC_CC" if wrapper == "oshcc" else "OSHCXX_CXX"
    for header, is_told in (("own.h", True), ("wrong.h", False)):
        source = tmp_path / f"program{LANGUAGES[wrapper]}"
        source.write_text(f'#include "{header}"\nint main(void) {{ return 0; }}\n')
        for words in (["-c", source, "-o", tmp_path / "a b.o"], [source, "-o", tmp_path / "a"]):
            # The compiler's own folders may have an mpi.h.
            command = [HOME / "bin" / wrapper, "-nostdinc", *words]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            hint = f"{wrapper}: mpi.h belongs to an MPI, and {wrapper} chooses none: use {variable}=NAME {wrapper}"
            assert done.returncode == 1 and (hint in done.stderr) == is_told, done
            assert not (tmp_path / "a b.o").exists() and not (tmp_path / "a").exists()


@pytest.mark.parametrize(("wrapper", "variable"), [("oshcc", "OSHCC_CC"), ("oshc++", "OSHCXX_CXX")])
def test_a_compiler_that_is_not_there_is_named(wrapper: str, variable: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [HOME / "bin" / wrapper, ROOT / "examples/hello.c", "-o", tmp_path / "hello"],
        env=os.environ | {variable: "no-such-compiler -m64"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 127
    assert done.stderr.startswith(f"{wrapper}: there is no compiler no-such-compiler; install one")
    assert f"{variable}=NAME" in done.stderr and done.stderr.count("\n") == 1


def test_a_program_that_needs_an_mpi_compiles_with_the_mpi_s_compiler(tmp_path: Path) -> None:
    if not shutil.which("mpicc"):
        pytest.skip("no mpicc here (libopenmpi-dev)")
    source = tmp_path / "program.c"
    source.write_text("#include <mpi.h>\n#include <shmem.h>\nint main(void) { shmem_init(); return 0; }\n")
    command = [HOME / "bin/oshcc", source, "-o", tmp_path / "program"]
    subprocess.run(command, env=os.environ | {"OSHCC_CC": "mpicc"}, check=True)


@pytest.mark.parametrize("wrapper", LANGUAGES)
def test_help_names_the_options_of_the_wrapper_and_its_compiler(wrapper: str) -> None:
    done = subprocess.run([HOME / "bin" / wrapper, "--help"], capture_output=True, text=True, check=True)
    assert all(
        word in done.stdout for word in ("--sim", "--showme:", "OSHCC_CC" if wrapper == "oshcc" else "OSHCXX_CXX")
    )
