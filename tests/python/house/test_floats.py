"""No code of the libraries computes in the program's floating-point environment (tools/check_floats.py)."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest
from tree import HOME, ROOT

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the check reads the machine code of x86-64")


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "tools/check_floats.py", folder]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_no_library_computes_in_the_environment_of_the_program() -> None:
    if not (HOME / "lib/libwattle-shmem.so").exists() or "asan" in HOME.name:
        pytest.skip("needs a build for users")
    done = check(HOME / "lib")
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_the_check_finds_arithmetic_without_a_guard(tmp_path: Path) -> None:
    source = """
        #include "os/floats.h"
        static __attribute__((noinline)) double twice(double x) { return 1.5 * x; }
        double guarded(double x) { WTL_FLOATS_APART; return twice(x); }
        double bare(double x) { return twice(x); }
        static int is_less(const void *a, const void *b) { return *(const double *)a < *(const double *)b; }
        int (*const callback)(const void *, const void *) = is_less;
        long double exact(long double x) { WTL_FLOATS_APART; return x * x; }
        double wtl_sum_double(double x, double y) { return x + y; }
        void *const reduction = wtl_sum_double;
    """
    library = tmp_path / "libwattle-shmem.so"
    compiler = ["gcc", "-O2", "-shared", "-fPIC", f"-I{ROOT / 'src'}", "-x", "c", "-", "-o", library]
    subprocess.run(compiler, input=source, text=True, check=True)
    found = {line.split(": ")[-1] for line in check(tmp_path).stdout.splitlines()}
    assert found == {"twice < bare", "is_less", "exact (x87)"}
