"""A sensor sees all programs of a node. Joules of other programs are theirs, and the sum is the node's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jobs
import pytest

IDLE_W, CORE_W = 10.0, 5.0

# A PE that computes for half a second of CPU time. At its end it sets the sensor to the watts of the profile: those of
# the idle node, and those of all CPU time of the machine.
PROGRAM = r"""
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double machine(void)
{
  double user, nice, system, idle, wait, irq, softirq;
  FILE *f = fopen("/proc/stat", "r");
  int n = f ? fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &wait, &irq, &softirq) : 0;
  if (n != 7) exit(3);
  fclose(f);
  return (user + nice + system + irq + softirq) / (double)sysconf(_SC_CLK_TCK);
}

int main(int argc, char **argv)
{
  shmem_init();
  double wall = seconds(CLOCK_MONOTONIC), busy = machine(), own = seconds(CLOCK_PROCESS_CPUTIME_ID);
  while (seconds(CLOCK_PROCESS_CPUTIME_ID) - own < 0.5) continue;
  shmem_barrier_all();
  if (argc > 1 && shmem_my_pe() == 0) {
    double joules = 10.0 * (seconds(CLOCK_MONOTONIC) - wall) + 5.0 * (machine() - busy);
    FILE *f = fopen(argv[1], "w");
    if (!f || fprintf(f, "%.0f\n", 1e6 + 1e6 * joules) < 0 || fclose(f) != 0) exit(4);
    printf("%.17g\n", joules);
  }
  shmem_finalize();
  return 0;
}
"""

PROFILE = """
name: known
sockets: 1
idle:
  cpu: {value: 10, plus_minus: 0, unit: W, tag: assumed, how: the truth of this test}
  dram: {value: 0, plus_minus: 0, unit: W, tag: assumed, how: the truth of this test}
dram:
  per_byte: {value: 0, plus_minus: 0, unit: J/B, tag: assumed, how: the truth of this test}
clocks:
  - ghz: 2
    base: true
    active: {value: 5, plus_minus: 0, unit: W, tag: assumed, how: the truth of this test}
    spin: {value: 5, plus_minus: 0, unit: W, tag: assumed, how: the truth of this test}
    yield: {value: 5, plus_minus: 0, unit: W, tag: assumed, how: the truth of this test}
    asleep: {value: 0, plus_minus: 0, unit: W, tag: assumed, how: the truth of this test}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    source = folder / "computes.c"
    source.write_text(PROGRAM)
    return jobs.compile_once([jobs.OSHCC, "-O1", source], folder / "computes")


@pytest.fixture
def sensor(tmp_path) -> Path:
    zone = tmp_path / "sys/class/powercap/intel-rapl:0"
    zone.mkdir(parents=True)
    for name, text in (("name", "package-0"), ("energy_uj", "1000000"), ("max_energy_range_uj", "262143328850")):
        (zone / name).write_text(text + "\n")
    (tmp_path / "known.yaml").write_text(PROFILE)
    return zone / "energy_uj"


def run(
    tmp_path: Path, program: Path, sensor: Path, pes: int, meter: str = "powercap"
) -> tuple[list[dict], list[float]]:
    out = tmp_path / "profiles"
    out.mkdir()
    settings = {
        "WATTLE_METER": meter,
        "WATTLE_SYSFS": str(tmp_path / "sys"),
        "WATTLE_MACHINE": str(tmp_path / "known.yaml"),
        "WATTLE_PROFILE_DIR": str(out),
    }
    words = [jobs.OSHRUN, "-n", str(pes), "--", program, sensor]
    done = subprocess.run(
        words, env={**os.environ, **settings}, capture_output=True, text=True, timeout=120, check=True
    )
    found = [json.loads((out / f"pe-{pe:05d}.json").read_text()) for pe in range(pes)]
    return found, [float(word) for word in done.stdout.split()]


def of_cpu(figures: list[dict]) -> float:
    return sum(figure["joules"] for figure in figures if figure["domain"] not in ("dram",))


@pytest.mark.parametrize("pes", [1, 2])
def test_each_program_has_its_part_of_the_sensor(tmp_path, program, sensor, pes):
    """Another program computes all the time. All other work of the machine counts as another program, too."""
    other = subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"])
    try:
        profiles, (joules,) = run(tmp_path, program, sensor, pes)
    finally:
        other.kill()
        other.wait()
    node = profiles[0]["node"]
    own = [of_cpu(profile["joules"]) for profile in profiles]
    others, idle = of_cpu(node["others"]), of_cpu(node["idle"])
    assert of_cpu(node["joules"]) == pytest.approx(joules, rel=1e-6)
    assert sum(own) + others + idle == pytest.approx(joules, rel=1e-6)
    # The profile's interval begins before that of the program's joules and ends after it: by how much depends on other
    # work. So the sensor has less joules than the profile's watts and times say, and each part is smaller by `scale`.
    interval_s = node["joules"][0]["interval_s"]
    cpu_s = [profile["cpu_s"] for profile in profiles]
    scale = joules / (IDLE_W * interval_s + CORE_W * (sum(cpu_s) + node["others_cpu_s"]))
    assert 0.6 < scale < 1.05
    assert own == pytest.approx([CORE_W * s * scale for s in cpu_s], rel=0.05)
    assert idle == pytest.approx(IDLE_W * interval_s * scale, rel=0.05)
    assert node["others_cpu_s"] > 0.1
    assert others == pytest.approx(CORE_W * node["others_cpu_s"] * scale, rel=0.05)
    provenance = {figure["domain"]: figure["provenance"] for figure in node["others"]}
    assert provenance.pop("dram") == "unavailable"  # the bytes of other programs are not counted
    assert set(provenance.values()) == {"modelled"}


def test_modelled_joules_have_no_others(tmp_path, program, sensor):
    profiles, _ = run(tmp_path, program, sensor, 1, meter="model")
    assert profiles[0]["node"]["others"] == []
