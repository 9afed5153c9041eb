"""The runtime uses the cores, memory and processor time that Slurm and the system give a job."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import END_S, HOME, OSHCC, OSHRUN, Result, program, run
from slurm import CGROUPS, Slurm, cgroups_usable, unavailable

REASON = unavailable()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))
needs_cgroups = pytest.mark.skipif(
    not cgroups_usable(),
    reason="no writable cgroups of version 1 here, by which Slurm 22.05 confines jobs without systemd",
)
INFO = HOME / "bin" / "wattle-info"
HALO = HOME / "bin" / "examples" / "halo"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Slurm]:
    with Slurm(1, confine=cgroups_usable()) as one:
        yield one


@pytest.fixture
def slurm(cluster: Slurm) -> Iterator[Slurm]:
    yield cluster
    cluster.cancel_all()


def salloc(*words: object) -> list[str]:
    return ["salloc", "--quiet", "--nodes=1", *map(str, words)]


def cores_seen(result: Result) -> list[int]:
    """How many cores the library found, in each process."""
    found = [int(cores) for cores in re.findall(r'"cores_allowed":(\d+)', result.out)]
    assert result.code == 0 and found, result
    return found


def waits(slurm: Slurm, folder: Path, *words: object) -> list[dict[str, float]]:
    """Time by state of each PE of a job that waits often."""
    env = {**slurm.env, "WATTLE_PROFILE_DIR": str(folder)}
    result = run(*salloc(*words, HALO, "--size", 61, "--steps", 300), env=env)
    assert result.code == 0 and "correct" in result.out, result
    return [json.loads(path.read_text())["state_s"] for path in sorted(folder.glob("*.json"))]


# --- cores ---


@needs_cgroups
def test_pes_in_an_allocation_of_one_core_see_one_core(slurm: Slurm) -> None:
    assert cores_seen(run(*salloc("--ntasks=1", OSHRUN, "-n", 3, INFO), env=slurm.env)) == [1, 1, 1]
    assert cores_seen(run(*salloc("--ntasks=1", "--cpus-per-task=2", OSHRUN, INFO), env=slurm.env)) == [2]


def test_pe_gets_the_cores_of_a_task(slurm: Slurm) -> None:
    """srun 22.05 does not ask the allocation how many those are; oshrun does."""
    assert cores_seen(run(*salloc("--ntasks=2", OSHRUN, INFO), env=slurm.env)) == [1, 1]
    assert cores_seen(run(*salloc("--ntasks=1", "--cpus-per-task=2", OSHRUN, INFO), env=slurm.env)) == [2]
    one = salloc("--ntasks=2", OSHRUN, "-n", 1, "--cpus-per-task=2", INFO)
    assert cores_seen(run(*one, env=slurm.env)) == [2]


def test_tasks_are_bound_to_cores_of_their_own(slurm: Slurm) -> None:
    script = "grep Cpus_allowed_list /proc/self/status"
    result = run(*salloc("--ntasks=2", OSHRUN, "sh", "-c", script), env=slurm.env)
    assert result.code == 0 and len(set(result.out.splitlines())) == 2, result


def test_pes_that_have_a_core_each_may_spin(slurm: Slurm, tmp_path: Path) -> None:
    states = waits(slurm, tmp_path, "--ntasks=2", OSHRUN)
    assert len(states) == 2 and all(state["spin"] > 0 for state in states), states


@needs_cgroups
def test_pes_that_share_the_core_of_an_allocation_yield_or_sleep(slurm: Slurm, tmp_path: Path) -> None:
    states = waits(slurm, tmp_path, "--ntasks=1", OSHRUN, "-n", 2)
    assert len(states) == 2 and all(state["spin"] == 0 for state in states), states
    assert all(state["yield"] + state["asleep"] > 0 for state in states), states


def test_pes_that_are_bound_to_one_core_yield_or_sleep(slurm: Slurm, tmp_path: Path) -> None:
    core = min(os.sched_getaffinity(0))
    states = waits(slurm, tmp_path, "--ntasks=2", OSHRUN, f"--cpu-bind=map_cpu:{core},{core}")
    assert len(states) == 2 and all(state["spin"] == 0 for state in states), states
    assert all(state["yield"] + state["asleep"] > 0 for state in states), states


# --- processor time ---


@contextlib.contextmanager
def quota(cores: float) -> Iterator[Path]:
    """A cgroup whose processes get `cores` cores' worth of time; the tightest limit is that of the group around it."""
    outer = CGROUPS / "cpu" / f"wtl{os.getpid()}"
    inner = outer / "inner"
    inner.mkdir(parents=True)
    try:
        period = int((outer / "cpu.cfs_period_us").read_text())
        (outer / "cpu.cfs_quota_us").write_text(str(int(cores * period)))
        yield inner
    finally:
        deadline = time.monotonic() + END_S
        while outer.exists() and time.monotonic() < deadline:
            for folder in (inner, outer):
                with contextlib.suppress(OSError):
                    folder.rmdir()
            time.sleep(0.01)


@pytest.mark.skipif(
    not os.access(CGROUPS / "cpu/cpu.cfs_quota_us", os.W_OK), reason="no writable cpu cgroup of version 1"
)
def test_quota_of_the_cgroup_counts_as_cores(slurm: Slurm, tmp_path: Path) -> None:
    with quota(0.9) as group:
        enter = ["sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh"]
        result = run(*salloc("--ntasks=2", OSHRUN, "--cpu-bind=none", *enter, INFO), env=slurm.env)
        assert cores_seen(result) == [1, 1]
        states = waits(slurm, tmp_path, "--ntasks=2", OSHRUN, "--cpu-bind=none", *enter)
        assert all(state["spin"] == 0 for state in states), states


# --- memory ---


@pytest.fixture(scope="module")
def hog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hog") / "hog"
    subprocess.run([OSHCC, "-O1", Path(__file__).with_name("hog.c"), "-o", path], check=True)
    return path


@needs_cgroups
def test_job_beyond_its_memory_is_ended_and_says_so(slurm: Slurm, hog: Path) -> None:
    result = run(*salloc("--ntasks=2", "--mem=100", OSHRUN, hog, 10), env=slurm.env)
    assert result.code == 0 and result.out.count("touched 10 MiB") == 2, result
    result = run(*salloc("--ntasks=2", "--mem=100", OSHRUN, hog, 200), env=slurm.env)
    assert result.code != 0 and "touched" not in result.out and "oom" in result.err.lower(), result


def test_limit_on_memory_of_the_shell_reaches_the_pes_and_is_named(slurm: Slurm) -> None:
    script = f"ulimit -v 400000; exec '{OSHRUN}' --launcher srun -n 2 '{program('boot')}'"
    result = run("sh", "-c", script, env=slurm.env)
    assert result.code == 71 and "SHMEM_SYMMETRIC_SIZE" in result.err and "good" not in result.out, result
