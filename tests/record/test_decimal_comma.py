"""A program may set a locale with a decimal comma. Settings, machine profiles and results keep their decimal point, and
the program keeps its comma."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jobs
import preload
import pytest
from tree import HOME, ROOT

PROGRAM = r"""
#ifdef MPI
#include <mpi.h>
#else
#include <shmem.h>
#endif
#include <locale.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
  char half[8];
  if (!setlocale(LC_ALL, "de_DE.UTF-8")) return 3;
#ifdef MPI
  double one = 1, sum = 0;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 100; i++) MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
#else
  static long here;
  (void)argc, (void)argv;
  shmem_init();
  for (int i = 0; i < 100; i++) {
    shmem_long_p(&here, i, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
  }
  shmem_finalize();
#endif
  snprintf(half, sizeof half, "%.1f", 0.5);
  return strcmp(half, "0,5") ? 4 : 0;
}
"""

SETTINGS = {
    "LOCPATH": str(HOME / "tests/locale"),
    "WATTLE_METER": "model",
    "WATTLE_MACHINE": "nw-ice",
    "WATTLE_KNOB": "record",
    "WATTLE_TIMELINE": "1M",
}

pytestmark = pytest.mark.skipif(
    not (HOME / "tests/locale/de_DE.UTF-8").exists(),
    reason="no package locales when the tests were built",
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "comma.c"
    path.write_text(PROGRAM)
    return path


def wattle(*words: str | Path) -> None:
    environment = jobs.clean_environment() | preload.ENVIRONMENT | SETTINGS
    environment |= {"WATTLE_HOME": str(HOME), "PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, "-m", "wattle", *map(str, words)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done


def profiles(run: Path) -> list[dict]:
    return [json.loads((run / f"profile/pe-{number:05d}.json").read_text()) for number in range(2)]


def check(run: Path) -> None:
    """Each process has a whole profile, and its times are no whole numbers."""
    for pe in profiles(run):
        assert pe["sites"] and 0 < pe["wall_s"] != int(pe["wall_s"]), pe


def test_an_openshmem_program_with_a_decimal_comma(source: Path, tmp_path: Path) -> None:
    program = jobs.compile_once([jobs.OSHCC, source], tmp_path / "comma")
    wattle("run", "-n", "2", "-o", tmp_path / "governed", "--set", "WATTLE_GOVERN=hybrid", "--", program)
    check(tmp_path / "governed")
    wattle("run", "-n", "2", "-o", tmp_path / "set", "--set", "WATTLE_CLOCKS=0=1.9,1=2.33", "--", program)
    planned = [pe["clocks"]["mine"][0]["planned_khz"] for pe in profiles(tmp_path / "set")]
    assert planned == [1900000, 2330000]


@preload.BOTH
def test_an_mpi_program_with_a_decimal_comma(mpi: preload.Mpi, source: Path, tmp_path: Path) -> None:
    program = jobs.compile_once([mpi.tool("mpicc"), "-DMPI", source], tmp_path / "comma")
    wattle("run", "--mpi", "-o", tmp_path / "run", "--", mpi.tool("mpirun"), "-n", "2", program)
    check(tmp_path / "run")


@pytest.mark.skipif(not (HOME / "bin/wattle-simulator").exists(), reason="simulation is not built")
def test_a_simulated_program_with_a_decimal_comma(source: Path, tmp_path: Path) -> None:
    compiled = [jobs.OSHCC, "--sim", source, "-o", tmp_path / "comma"]
    subprocess.run(compiled, env=os.environ | {"OSHCC_CC": "cc"}, check=True)
    wattle("sim", "-n", "2", "-o", tmp_path / "run", "--", tmp_path / "comma")
    check(tmp_path / "run")
