"""Modelled joules count awake sockets and second threads of cores, if the machine profile tells them apart."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import jobs
import pytest

WAKE_W, SECOND_W, CORE_W = 50.0, 1.0, 4.0

PROGRAM = r"""
#include <shmem.h>
#include <time.h>

int main(void)
{
  struct timespec t;
  shmem_init();
  do
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  while (t.tv_sec == 0 && t.tv_nsec < 400000000);
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
"""

PROFILE = f"""
name: known
sockets: 1
cores_per_socket: 1
wake: {{value: {WAKE_W}, plus_minus: 10, unit: W, tag: assumed, how: the truth of this test}}
second: {{value: {SECOND_W}, plus_minus: 1, unit: W, tag: assumed, how: the truth of this test}}
idle:
  cpu: {{value: 10, plus_minus: 0, unit: W, tag: assumed, how: the truth of this test}}
  dram: {{value: 0, plus_minus: 0, unit: W, tag: assumed, how: the truth of this test}}
dram:
  per_byte: {{value: 0, plus_minus: 0, unit: J/B, tag: assumed, how: the truth of this test}}
clocks:
  - ghz: 2
    base: true
    active: {{value: {CORE_W}, plus_minus: 0, unit: W, tag: assumed, how: the truth of this test}}
    spin: {{value: {CORE_W}, plus_minus: 0, unit: W, tag: assumed, how: the truth of this test}}
    yield: {{value: {CORE_W}, plus_minus: 0, unit: W, tag: assumed, how: the truth of this test}}
    asleep: {{value: 0, plus_minus: 0, unit: W, tag: assumed, how: the truth of this test}}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    source = folder / "computes.c"
    source.write_text(PROGRAM)
    return jobs.compile_once([jobs.OSHCC, "-O1", source], folder / "computes")


@pytest.mark.parametrize("pes", [1, 3])
def test_joules_are_those_of_awake_sockets_and_of_both_threads_of_cores(tmp_path, program, pes):
    (tmp_path / "known.yaml").write_text(PROFILE)
    out = tmp_path / "profiles"
    out.mkdir()
    settings = {
        "WATTLE_METER": "model",
        "WATTLE_MACHINE": str(tmp_path / "known.yaml"),
        "WATTLE_PROFILE_DIR": str(out),
    }
    subprocess.run(
        [jobs.OSHRUN, "-n", str(pes), "--", program],
        env={**os.environ, **settings},
        capture_output=True,
        timeout=120,
        check=True,
    )
    profiles = [json.loads((out / f"pe-{pe:05d}.json").read_text()) for pe in range(pes)]
    wall = max(profile["wall_s"] for profile in profiles)
    assert 0 < sum(profile["wake_s"] for profile in profiles) <= wall * 1.001
    assert sum(profile["second_s"] for profile in profiles) <= wall * os.cpu_count()
    for profile in profiles:
        joules = next(figure["joules"] for figure in profile["joules"] if figure["domain"] == "cpu")
        cores = joules - WAKE_W * profile["wake_s"] - SECOND_W * profile["second_s"]
        assert cores == pytest.approx(CORE_W * (profile["cpu_s"] - profile["second_s"]), rel=0.05, abs=0.02)
