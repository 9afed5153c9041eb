"""The profiles that `oshrun` writes of PEs that could not do so themselves."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import HOME, OSHRUN, Job, oshrun, program

WAYS = {"global_exit_7": 7, "exit_3": 3, "_exit_4": 4, "abort": 134, "segfault": 139}


def profiles(folder: Path) -> list[dict]:
    return [json.loads(path.read_text()) for path in sorted(folder.glob("pe-*.json"))]


@pytest.mark.parametrize("way", WAYS)
def test_each_pe_of_a_job_that_failed_has_a_profile(way: str, tmp_path: Path) -> None:
    result = oshrun(3, "ends", way, 1, "wait", env={"WATTLE_PROFILE_DIR": str(tmp_path), "WATTLE_METER": "model"})
    assert result.code == WAYS[way], result
    pes = profiles(tmp_path)
    assert [pe["pe"] for pe in pes] == [0, 1, 2], result
    for pe in pes:
        barriers = [site for site in pe["sites"] if site["call"] == "shmem_barrier_all"]
        assert sum(site["calls"] for site in barriers) == 1
        assert sum(s for s in pe["state_s"].values() if s) == pytest.approx(pe["wall_s"], rel=1e-3, abs=1e-3)
        assert pe["api"] == "shmem"
    for pe in (pes[0], pes[2]):
        assert pe["ended"]["time"] == "job"
        assert pe["joules"][0]["provenance"] == "modelled"
    assert pes[0]["node"]["joules"]
    assert ("ended" in pes[1]) == (way != "global_exit_7")


def test_a_job_that_asked_for_a_sensor_gets_no_modelled_joules(tmp_path: Path) -> None:
    settings = {"WATTLE_PROFILE_DIR": str(tmp_path), "WATTLE_METER": "none"}
    oshrun(2, "ends", "abort", 1, "wait", env=settings)
    assert [(pe["joules"], pe["node"]) for pe in profiles(tmp_path)] == [([], None)] * 2


def test_a_job_that_ends_well_leaves_no_trace_of_this(tmp_path: Path) -> None:
    result = oshrun(2, "ends", "finalize", env={"WATTLE_PROFILE_DIR": str(tmp_path)})
    assert result.code == 0, result
    assert ["ended" in pe for pe in profiles(tmp_path)] == [False, False]


def test_a_pe_that_is_killed_from_outside_leaves_the_figures_of_all(tmp_path: Path) -> None:
    with Job([OSHRUN, "-n", "2", program("victim"), "wait"], env={"WATTLE_PROFILE_DIR": str(tmp_path)}) as job:
        job.until_said("there", 2)
        assert len(list(kept(job))) == 2
        job.signal(job.find("victim")[0])
        job.wait()
        job.all_gone()
    found = profiles(tmp_path)
    assert [pe["pe"] for pe in found] == [0, 1]
    assert all("ended" in pe for pe in found)


def kept(job: Job) -> Iterator[Path]:
    for pid in job.find("victim"):
        yield from Path("/dev/shm").glob(f"wattle-profile.*.{pid}.*")


@pytest.mark.parametrize("launcher", ["openmpi", "mpich"])
def test_pes_that_are_killed_with_oshrun_leave_figures_and_no_files(launcher: str, tmp_path: Path) -> None:
    command = [OSHRUN, "--launcher", launcher, "-n", "2", program("victim"), "wait"]
    with Job(command, env={"WATTLE_PROFILE_DIR": str(tmp_path), "OSHRUN_LEAVES_PROFILES": str(ended_process())}) as job:
        job.until_said("there", 2)
        files = list(kept(job))
        job.signal(job.process.pid)
        job.all_gone()
    assert len(files) == 2 and not any(path.exists() for path in files)
    assert [pe["pe"] for pe in profiles(tmp_path)] == [0, 1]


def ended_process() -> int:
    with subprocess.Popen(["true"]) as process:
        return process.pid


NAMESPACE = Path("/proc/self/ns/pid").readlink().name


@pytest.mark.skipif(NAMESPACE != "pid:[4026531836]", reason="a container, where numbers of processes mean nothing")
def test_files_that_nobody_can_read_are_removed_after_a_job(tmp_path: Path) -> None:
    """Those of processes that were killed while they started, and of a folder that is gone."""
    names = (f"wattle-mpi.{os.geteuid()}.{ended_process()}.0", f"wattle-profile.{os.geteuid()}.{ended_process()}.1.0")
    files = [Path("/dev/shm", name) for name in names]
    for path in files:
        path.write_bytes(bytes(8192))
    gone = tmp_path / "gone"
    result = oshrun(1, "ends", "finalize", env={"WATTLE_PROFILE_DIR": str(gone)})
    assert result.code == 0 and not any(path.exists() for path in files), result
    done = subprocess.run([HOME / "bin/wattle-profiles", "collect", gone], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"written": [], "failed": [], "running": 0} and not done.stderr
