"""Globals and statics of the program are symmetric."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from jobs import HOME, OSHRUN, oshrun, program, run

LINKS = sorted(p.name for p in (HOME / "bin/tests").glob("statics_*") if "cxx" not in p.name)


def test_the_ways_of_linking_were_built() -> None:
    assert {"statics_pie", "statics_no_pie", "statics_no_relro", "statics_full_relro"} <= set(LINKS)


@pytest.mark.parametrize("name", LINKS)
def test_variables_are_symmetric_however_linked(name: str) -> None:
    result = oshrun(3, name)
    assert result.code == 0 and result.out.count("good") == 3, result


@pytest.mark.parametrize("name", ["statics_pie", "statics_no_pie", "statics_no_relro"])
def test_variables_of_one_bare_pe_are_symmetric(name: str) -> None:
    result = run(program(name))
    assert result.code == 0 and "good" in result.out, result


@pytest.mark.parametrize("name", ["statics_cxx", "statics_cxx_no_pie"])
def test_objects_constructed_before_main_are_kept(name: str) -> None:
    result = oshrun(2, name)
    assert result.code == 0 and result.out.count("good") == 2, result
    assert result.out.count("destroyed local with 14") == 2, result
    assert result.out.count("small string buffer with 13") == 2, result


def test_gib_of_untouched_variables_is_cheap() -> None:
    result = oshrun(2, "big_bss")
    peaks = [int(kib) for kib in re.findall(r"good peak (\d+) KiB", result.out)]
    assert result.code == 0 and len(peaks) == 2 and max(peaks) < 200_000, result


def test_statics_off_makes_a_put_to_a_global_an_error_that_says_so() -> None:
    result = oshrun(2, "statics_pie", env={"WATTLE_STATICS": "off"})
    assert result.code == 64 and "WATTLE_STATICS=on" in result.err and "shmem_long_put" in result.err, result


def parts(*words: str) -> list[str | Path]:
    """One PE of each executable of the two, with one build id or without."""
    id, *rest = words
    first, other = program(f"executable_{id}"), program(f"executable_{id}_other")
    return [OSHRUN, "-n", "1", first, *rest, ":", "-n", "1", other, *rest]


@pytest.mark.parametrize("boot", ["pmix", "mpi"])
@pytest.mark.parametrize("id", ["sha1", "none"])
def test_between_executables_the_heap_alone_is_symmetric(id: str, boot: str) -> None:
    result = run(*parts(id), env={"WATTLE_BOOT": boot})
    assert result.code == 0 and result.out.count("good, statics are 0") == 2, result
    assert all("run different executables" in line for line in result.said), result
    assert len(result.said) == 2, result  # of two starts


def test_parts_of_one_executable_share_its_statics() -> None:
    app = program("executable_sha1")
    result = run(OSHRUN, "-n", "1", app, ":", "-n", "1", app)
    assert result.code == 0 and result.out.count("good, statics are 1") == 2 and not result.said, result


def test_put_to_a_static_of_another_executable_is_refused_by_name() -> None:
    result = run(*parts("sha1", "put"))
    assert result.code == 64 and "shmem_long_p" in result.err and "same executable" in result.err, result


def choosing(id: str) -> list[str | Path]:
    """A script that runs one executable or the other, by the PE's number."""
    other = f"{program(f'executable_{id}')}$([ $PMIX_RANK = 0 ] || echo _other)"
    return ["sh", "-c", f"exec {other}"]


def test_executables_unknown_to_the_launcher_end_the_job_with_a_remedy() -> None:
    result = run(OSHRUN, "-n", "2", "--", *choosing("none"))
    assert result.code == 78 and "good" not in result.out and "WATTLE_STATICS=off" in result.err, result
    result = run(OSHRUN, "-n", "2", "--", *choosing("none"), env={"WATTLE_STATICS": "off"})
    assert result.code == 0 and result.out.count("good, statics are 0") == 2 and not result.said, result


INTERPRETED = """
import ctypes, os, subprocess, sys
lib = ctypes.CDLL(sys.argv[1])
lib.shmem_malloc.restype = ctypes.POINTER(ctypes.c_long)
lib.shmem_init()
me, n = lib.shmem_my_pe(), lib.shmem_n_pes()
p = lib.shmem_malloc(ctypes.c_size_t(8))
p[0] = 0
lib.shmem_barrier_all()
lib.shmem_long_p(p, ctypes.c_long(7 + me), (me + 1) % n)
lib.shmem_barrier_all()
assert p[0] == 7 + (me + n - 1) % n
assert subprocess.run(["sh", "-c", "exit 3"]).returncode == 3
child = os.fork()
if child == 0:
    os.environ["X"] = "1"
    junk = [object() for _ in range(10000)]
    os._exit(4)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
junk = {i: str(i) for i in range(10000)}
lib.shmem_barrier_all()
lib.shmem_finalize()
junk = {i: str(i) for i in range(10000)}
print("good")
"""


def test_interpreter_that_loads_the_library_runs_on(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(INTERPRETED)
    result = run(OSHRUN, "-n", "2", sys.executable, script, HOME / "lib/libwattle-shmem.so")
    assert result.code == 0 and result.out.count("good") == 2, result
