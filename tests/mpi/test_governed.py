"""Clocks of MPI programs, on a made-up /sys: the changes, the remains, and that no program notices."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from governed_job import BASE, FIXED, MIN, TRIES, Machine, processes, put_packages, texts, until
from jobs import clean_environment
from preload import BOTH, EITHER, ENVIRONMENT, LIBRARY, MPICH, Mpi, profiles

ROUNDS = 40
# Only who is bound to a core says for sure which clock is its own.
BOUND = {"openmpi": ["--bind-to", "core"], "mpich": ["-bind-to", "core"]}
SETTINGS = {"WATTLE_KNOB": "cpufreq", "WATTLE_SLOWDOWN": "100", "WATTLE_CLOCK_COST": "100us", "WATTLE_METER": "model"}


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    made = Machine(tmp_path / "sys")
    if len(made.cpus) < 2:
        pytest.skip("two processes on one core share its clock")
    yield made
    assert made.comes_back(), made.limits()


def settings(machine: Machine, folder: Path, **more: str) -> dict[str, str]:
    places = {"WATTLE_SYSFS": str(machine.root), "WATTLE_CLOCK_STATE": str(folder / "state")}
    return {**SETTINGS, **places, "WATTLE_MACHINE": "sandybridge-e5-2670", **more}


def run(mpi: Mpi, machine: Machine, folder: Path, *words: object, **more: str) -> list[dict]:
    """Runs unequal; returns what the profiles say of clocks."""
    program = mpi.compile("unequal.c", folder)
    done = mpi.run(
        2, *BOUND[mpi.name], program, *words, profile=folder / "profile", **settings(machine, folder, **more)
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"count {2 * ROUNDS}\n", ""), done
    return [pe["clocks"] for pe in profiles(folder / "profile")]


@EITHER
@pytest.mark.parametrize("how", ["barrier", "sum"])
@pytest.mark.parametrize("scaling", ["reactive", "proactive"])
def test_clocks_follow_the_waiting_ranks_between_collectives(
    mpi: Mpi, how: str, scaling: str, machine: Machine, tmp_path: Path
) -> None:
    slack = []
    for _ in range(TRIES):
        clocks = run(mpi, machine, tmp_path, ROUNDS, how, WATTLE_GOVERN="hybrid", WATTLE_SCALING=scaling)
        assert [c["knob"] for c in clocks] == ["cpufreq", "cpufreq"], clocks
        assert sum(c["changes"] for c in clocks) > 0, clocks
        assert sum(r["acted"] for r in clocks[0]["regions"]) > 0, clocks[0]["regions"]
        for c in clocks:
            assert max(r["instances"] for r in c["regions"]) >= ROUNDS - 1, c["regions"]
        slack.append([c["slack_s"] for c in clocks])
        if slack[-1][0] > slack[-1][1]:
            return
    raise AssertionError(slack)


@EITHER
@pytest.mark.parametrize("mode", ["baseline", "performance", "energy"])
def test_each_mode_is_had(mpi: Mpi, mode: str, machine: Machine, tmp_path: Path) -> None:
    """A busy machine may hide the waits of a run, so that no clock is changed."""
    for _ in range(TRIES):
        clocks = run(mpi, machine, tmp_path, ROUNDS, "barrier", WATTLE_GOVERN=mode)
        assert {c["mode"] for c in clocks} == {mode}
        changed, slowed = sum(c["changes"] for c in clocks) > 0, clocks[0]["slow_s"] > 0
        assert mode == "energy" or not slowed, clocks
        assert mode != "baseline" or not changed, clocks
        if (changed, slowed) == (mode != "baseline", mode == "energy"):
            return
    raise AssertionError(clocks)


@BOTH
def test_a_call_that_cannot_be_turned_is_clocked_too(mpi: Mpi, machine: Machine, tmp_path: Path) -> None:
    early, _ = run(mpi, machine, tmp_path, ROUNDS, "fence", WATTLE_GOVERN="energy")
    assert early["changes"] > 0 and early["slow_s"] > 0, early


@EITHER
def test_the_knob_that_records_touches_no_file(mpi: Mpi, machine: Machine, tmp_path: Path) -> None:
    clocks = run(mpi, machine, tmp_path, ROUNDS, "barrier", WATTLE_GOVERN="hybrid", WATTLE_KNOB="record")
    assert sum(c["changes"] for c in clocks) > 0, clocks
    assert machine.is_restored() and not (tmp_path / "state").exists()


@EITHER
def test_a_second_at_half_the_clock_has_fewer_modelled_joules(mpi: Mpi, machine: Machine, tmp_path: Path) -> None:
    """The same program at two clocks: joules of each CPU second, however many it got."""

    def watts(name: str, ghz: str) -> float:
        folder = tmp_path / name
        folder.mkdir()
        run(mpi, machine, folder, ROUNDS, "barrier", WATTLE_CLOCKS=f"0-1={ghz}", WATTLE_WAIT="spin")
        early = profiles(folder / "profile")[0]
        return next(j["joules"] for j in early["joules"] if j["domain"] == "cpu") / early["cpu_s"]

    assert watts("slow", "1.2") < 0.7 * watts("base", "2.4")


@BOTH
def test_a_plan_gives_each_process_its_clock(mpi: Mpi, machine: Machine, tmp_path: Path) -> None:
    with hanging(mpi, machine, tmp_path, WATTLE_CLOCKS="0=1.5"):
        assert machine.limits() == {(MIN, "1500000"), (MIN, BASE)}


@BOTH
def test_clocks_come_back_after_sigkill(mpi: Mpi, machine: Machine, tmp_path: Path) -> None:
    with hanging(mpi, machine, tmp_path, WATTLE_GOVERN="baseline"):
        assert machine.limits() == {(MIN, BASE)}
        for pid in ranks(machine):
            with contextlib.suppress(ProcessLookupError):  # the launcher may end those that are left
                os.kill(pid, signal.SIGKILL)


@EITHER
def test_packages_have_the_users_values_and_come_back(mpi: Mpi, machine: Machine, tmp_path: Path) -> None:
    files = put_packages(machine)
    with hanging(mpi, machine, tmp_path, **FIXED):
        assert texts(*files) == ["1600000", "60000000"]
        for pid in ranks(machine):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    assert until(lambda: texts(*files) == ["2400000", "90000000"])


@EITHER
def test_the_uncore_is_governed(mpi: Mpi, machine: Machine, tmp_path: Path) -> None:
    uncore, _ = put_packages(machine)
    clocks = run(mpi, machine, tmp_path, ROUNDS, "barrier", WATTLE_GOVERN="energy", WATTLE_UNCORE="wait")
    assert [c["uncore"]["packages"] for c in clocks] == [1, 1]
    assert texts(uncore) == ["2400000"]


def test_processes_with_several_calling_threads_are_not_governed(machine: Machine, tmp_path: Path) -> None:
    program = MPICH.compile("threads.c", tmp_path, "-pthread")
    done = MPICH.run(2, program, **settings(machine, tmp_path, WATTLE_GOVERN="hybrid"))
    assert done.returncode == 0 and "MPI_THREAD_MULTIPLE" in done.stderr, done


@EITHER
def test_a_wrong_plan_ends_the_job_with_its_name(mpi: Mpi, machine: Machine, tmp_path: Path) -> None:
    program = mpi.compile("unequal.c", tmp_path)
    done = mpi.run(2, program, 3, **settings(machine, tmp_path, WATTLE_CLOCKS="0=fast"))
    assert done.returncode != 0 and "WATTLE_CLOCKS=0=fast is not a value" in done.stderr


# --- jobs that do not end by themselves ---


class hanging:
    """A job that has done its rounds and calls barriers without end. The fixture ends it and waits for its launcher."""

    def __init__(self, mpi: Mpi, machine: Machine, folder: Path, **more: str) -> None:
        words = [mpi.tool("mpirun"), "-n", "2", *BOUND[mpi.name], mpi.compile("unequal.c", folder), "10", "hang"]
        environment = {**clean_environment(), **ENVIRONMENT, **settings(machine, folder, **more)}
        self.job = subprocess.Popen(
            words, env={**environment, "LD_PRELOAD": str(LIBRARY)}, stderr=subprocess.PIPE, text=True
        )

    def __enter__(self) -> None:
        assert self.job.stderr and "rounds done\n" in iter(self.job.stderr.readline, "")

    def __exit__(self, *_: object) -> None:
        self.job.terminate()
        self.job.communicate(timeout=300)


def ranks(machine: Machine) -> list[int]:
    root = f"WATTLE_SYSFS={machine.root}".encode()
    return processes(
        lambda p: "unequal" in (p / "exe").readlink().name and root in (p / "environ").read_bytes().split(b"\0")
    )


def test_no_rank_is_left_behind(machine: Machine, tmp_path: Path) -> None:
    with hanging(MPICH, machine, tmp_path, WATTLE_GOVERN="energy"):
        assert len(ranks(machine)) == 2
    assert until(lambda: not ranks(machine))
