"""Time in which a PE had no core is not computing time, and its cause is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import jobs
import pytest
from wattle.figures import no_core
from wattle.record import profile

CPU_S = 0.4  # of each PE, or of one PE in all rounds
ROUNDS = 40

# Each PE uses as much CPU time as its share says, in rounds that end with a barrier. So its computing time is known,
# also beside other programs.
PROGRAM = r"""
#include <pthread.h>
#include <shmem.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double cpu_s(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static volatile int ended;

/* Uses CPU time before shmem_init alone. */
static void *early(void *unused)
{
  for (double since = cpu_s(); cpu_s() - since < %CPU_S%;) continue;
  ended = 1;
  pause();
  return unused;
}

int main(int argc, char **argv)
{
  if (argc > 2 && strcmp(argv[2], "early") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, early, NULL);
    while (!ended) usleep(1000);
  }
  shmem_init();
  int rounds = argc > 1 ? atoi(argv[1]) : 1, alone = argc > 2 && strcmp(argv[2], "alone") == 0;
  double each = %CPU_S% / rounds;
  for (int i = 0; i < rounds; i++) {
    if (!alone || shmem_my_pe() == 1)
      for (double since = cpu_s(); cpu_s() - since < each;) continue;
    shmem_barrier_all();
  }
  if (argc > 2 && strcmp(argv[2], "killed") == 0) {
    static int waits; /* PE 1 */
    if (shmem_my_pe() == 1) {
      shmem_int_p(&waits, 1, 0);
      shmem_barrier_all();
    }
    shmem_int_wait_until(&waits, SHMEM_CMP_EQ, 1);
    sleep(1);
    raise(SIGKILL);
  }
  shmem_finalize();
  return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    source = folder / "uses_cpu.c"
    source.write_text(PROGRAM.replace("%CPU_S%", str(CPU_S)))
    return jobs.compile_once([jobs.OSHCC, "-O1", "-pthread", source], folder / "uses_cpu")


def run(
    folder: Path, program: Path, pes: int, *words: object, before: Callable[[], None] | None = None, **settings: str
) -> profile.RunProfile:
    """The profile of a job that is bound to one core."""
    core = str(min(os.sched_getaffinity(0)))
    (folder / "profile").mkdir()
    environment = {**os.environ, "WATTLE_METER": "model", "WATTLE_PROFILE_DIR": str(folder / "profile"), **settings}
    command = ["taskset", "-c", core, jobs.OSHRUN, "-n", str(pes), "--", program, *words]
    subprocess.run(list(map(str, command)), env=environment, preexec_fn=before, timeout=120, check=True)
    return profile.load(folder)


def test_states_add_up_and_computing_is_what_ran(tmp_path, program):
    found = run(tmp_path, program, 2)
    for pe in found.pes:
        assert sum(pe.state_s.values()) == pytest.approx(pe.wall_s, rel=1e-3)
        assert sum(pe.time_s.values()) == pytest.approx(pe.wall_s, rel=1e-3)
        assert pe.time_s["no_core"] == pe.state_s["no_core"]
        assert pe.state_s["active"] == pytest.approx(CPU_S, rel=0.2)
    assert max(pe.state_s["no_core"] for pe in found.pes) >= 0.4 * CPU_S  # they took turns


def test_pes_that_are_bound_to_one_core_are_the_cause(tmp_path, program):
    short = no_core.shortage(run(tmp_path, program, 2))
    assert short is not None
    assert short.is_too_much
    core = min(os.sched_getaffinity(0))
    assert f"PEs 0-1 are bound to core {core} together" in short.words
    assert "other programs" not in short.words


@pytest.mark.parametrize("policy", ["yield", "adaptive", "sleep"])
def test_time_without_a_core_in_a_wait_belongs_to_the_wait(tmp_path, program, policy):
    found = run(tmp_path, program, 2, ROUNDS, "alone", WATTLE_WAIT=policy)
    waits, computes = found.pes
    assert waits.cores is not None
    assert computes.state_s["active"] == pytest.approx(CPU_S, rel=0.25)
    if policy == "yield":  # it is ready all the time, and the other one has the core
        assert waits.cores.in_waits_s >= 0.5 * CPU_S
        assert waits.state_s["no_core"] <= 0.2 * waits.cores.in_waits_s
    assert waits.state_s["yield"] + waits.state_s["asleep"] + waits.state_s["spin"] >= 0.5 * CPU_S


def test_another_program_is_the_cause(tmp_path, program):
    core = min(os.sched_getaffinity(0))
    busy = subprocess.Popen(["taskset", "-c", str(core), sys.executable, "-c", "while True: pass"])
    try:
        found = run(tmp_path, program, 1)
    finally:
        busy.kill()
        busy.wait()
    short = no_core.shortage(found)
    assert short is not None
    assert "other programs had the cores" in short.words
    assert found.pes[0].state_s["active"] == pytest.approx(CPU_S, rel=0.2)


def test_a_killed_pe_keeps_it_up_to_its_last_long_wait(tmp_path, program):
    """PE 1 is killed in a barrier, to which PE 0 never comes."""
    with pytest.raises(subprocess.CalledProcessError):
        run(tmp_path, program, 2, 1, "killed")
    subprocess.run(
        [jobs.HOME / "bin/wattle-profiles", "collect", tmp_path / "profile"], capture_output=True, check=True
    )
    found = profile.load(tmp_path)
    pe = found.pes[1]
    assert pe.ended is not None and pe.ended.wait is not None and pe.ended.wait.call == "shmem_barrier_all"
    assert pe.cores.until_s == pytest.approx(pe.wall_s, rel=1e-3)
    assert sum(pe.state_s.values()) == pytest.approx(pe.wall_s, rel=1e-3)
    assert pe.state_s["active"] == pytest.approx(CPU_S, rel=0.25)
    assert pe.state_s["no_core"] >= 0.1 * CPU_S  # the PEs took turns
    assert not no_core.is_unknown(pe)
    short = no_core.shortage(found)
    assert short is not None
    assert f"PEs 0-1 are bound to core {min(os.sched_getaffinity(0))} together" in short.words


@pytest.fixture
def quota() -> Iterator[Path]:
    """A control group with a quota of 0.2 cores, of either version."""
    number = os.getpid()
    for root, file, text in (
        ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "20000"),
        ("/sys/fs/cgroup", "cpu.max", "20000 100000"),
    ):
        group = Path(root) / f"wattle-test-{number}"
        try:
            group.mkdir()
            (group / file).write_text(text)
        except OSError:
            if group.is_dir():
                group.rmdir()
            continue
        yield group
        group.rmdir()
        return
    pytest.skip("no control group with a quota can be made here")


def test_a_quota_of_cpu_time_is_the_cause(tmp_path, program, quota):
    found = run(tmp_path, program, 1, before=lambda: (quota / "cgroup.procs").write_text(str(os.getpid())))
    (pe,) = found.pes
    assert pe.cores.quota_cores == pytest.approx(0.2)
    assert pe.cores.throttled_s > 0
    assert pe.state_s["active"] == pytest.approx(CPU_S, rel=0.2)
    assert pe.state_s["no_core"] >= CPU_S
    short = no_core.shortage(found)
    assert short is not None
    assert "the CPU quota of 0.2 cores of their control group stopped them" in short.words


def test_the_profile_names_cores_and_threads(tmp_path, program):
    run(tmp_path, program, 1)
    written = json.loads((tmp_path / "profile/pe-00000.json").read_text())["no_core"]
    assert written["cores"] == [min(os.sched_getaffinity(0))]
    assert written["source"] in ("schedstat", "cpu time")
    assert written["other_busy_threads"] == 0


def test_a_thread_that_was_busy_before_the_start_is_not_the_cause(tmp_path, program):
    (pe,) = run(tmp_path, program, 1, 1, "early").pes
    assert pe.cores.other_busy_threads == 0
