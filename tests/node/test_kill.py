"""SIGKILL of any process of a job, at any moment, ends all of it within 5 s, non-zero, and leaves nothing behind."""

from __future__ import annotations

import os
import random
import re
import shlex
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import END_S, OSHRUN, Job, program

PLACES = ["compute", "barrier", "wait", "lock", "finalize", "busy"]
MPIRUN = shutil.which("mpirun.openmpi")
SESSIONS = ("ompi.*/pid.*", "prterun.*")  # of Open MPI 4 and 5
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def victims(job: Job, who: str) -> list[int]:
    """Process ids of one kind, oldest first; empty before they exist. A second oshrun is the keeper of a directory."""
    if who == "oshrun":
        return [job.process.pid] if job.process.pid in job.alive() else []
    return job.launchers() if who == "mpirun" else job.find("victim")


def kill_one(job: Job, who: str, which: int = 0, number: int = signal.SIGKILL) -> bool:
    found = victims(job, who)
    if found:
        job.signal(found[which % len(found)], number)
    return bool(found)


def ends_badly(job: Job) -> None:
    start = time.monotonic()
    job.all_gone(END_S)
    result = job.wait(max(0.1, END_S - (time.monotonic() - start)))
    assert result.code != 0, result


def start(place: str, n: int = 2) -> Job:
    return Job([OSHRUN, "-n", str(n), program("victim"), place])


@pytest.mark.parametrize(
    ("who", "which", "place"),
    [
        ("pe", 0, "barrier"),
        ("pe", 1, "lock"),
        ("pe", 1, "finalize"),
        ("mpirun", 0, "compute"),
        ("mpirun", 0, "barrier"),
        ("mpirun", 0, "finalize"),
        ("oshrun", 0, "wait"),
        ("oshrun", 0, "busy"),
        ("mpirun", 0, "before"),
        ("mpirun", 0, "after"),
        ("oshrun", 0, "after"),
    ],
)
def test_kill_in_a_known_place(who: str, which: int, place: str) -> None:
    with start(place) as job:
        job.until_said("there", 1 if place in ("lock", "finalize") else 2)
        kill_one(job, who, which)
        ends_badly(job)


@pytest.mark.parametrize("n", [16])
@pytest.mark.parametrize("who", ["pe", "mpirun", "oshrun"])
def test_kill_in_a_job_of_many(who: str, n: int) -> None:
    with start("barrier", n) as job:
        job.until_said("there", n)
        kill_one(job, who, n // 2)
        ends_badly(job)


def test_kill_of_mpirun_that_started_pes_through_a_shell() -> None:
    wrapped = f"true; {shlex.quote(str(program('victim')))} barrier; exit $?"
    with Job([OSHRUN, "-n", "2", "sh", "-c", wrapped]) as job:
        job.until_said("there", 2)
        kill_one(job, "mpirun")
        ends_badly(job)


@pytest.mark.skipif(not MPIRUN, reason="no mpirun.openmpi here")
@pytest.mark.parametrize("place", ["barrier", "compute"])
def test_kill_of_plain_mpirun(place: str) -> None:
    with Job([MPIRUN, "--oversubscribe", "-n", "2", program("victim"), place], env=AS_ROOT) as job:
        job.until_said("there", 2)
        kill_one(job, "mpirun")
        ends_badly(job)


def test_kill_of_mpirun_whose_parent_never_collects_it() -> None:
    """As under a container's first process: the corpse stays, and its directory must go all the same."""
    sleeper = ["sh", "-c", '"$@" & exec sleep 1000', "sh"]
    with Job(
        [*sleeper, MPIRUN or "mpirun", "--oversubscribe", "-n", "2", program("victim"), "barrier"], env=AS_ROOT
    ) as job:
        job.until_said("there", 2)
        kill_one(job, "mpirun")
        deadline = time.monotonic() + END_S
        while left := job.find("victim") or job.remains():
            assert time.monotonic() < deadline, f"{left}\n{job.err}"
            time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_signal_to_oshrun_ends_the_job(number: signal.Signals) -> None:
    with start("barrier") as job:
        job.until_said("there", 2)
        kill_one(job, "oshrun", number=number)
        ends_badly(job)
        assert job.process.returncode == 128 + number


def test_oshrun_goes_on_ignoring_a_signal_that_was_ignored_at_its_start() -> None:
    with Job(["nohup", OSHRUN, "-n", "2", program("victim"), "barrier"]) as job:
        job.until_said("there", 2)
        (ignored,) = re.findall(r"^SigIgn:\s*(\w+)", Path(f"/proc/{job.process.pid}/status").read_text(), re.M)
        assert int(ignored, 16) & 1 << signal.SIGHUP - 1
        kill_one(job, "oshrun", number=signal.SIGTERM)
        ends_badly(job)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_to_the_whole_process_group_ends_the_job(number: signal.Signals) -> None:
    """As Ctrl-C and timeout(1) send it: launcher and oshrun get it at once, and the launcher twice."""
    with start("barrier") as job:
        job.until_said("there", 2)
        os.killpg(job.process.pid, number)
        ends_badly(job)


def test_nothing_is_left_where_oshrun_launcher_and_pes_are_killed_at_once() -> None:
    with start("barrier") as job:
        job.until_said("there", 2)
        for pid in [job.process.pid, *job.launchers(), *job.find("victim")]:
            job.signal(pid)
        job.all_gone()


def test_directory_of_another_user_is_never_removed() -> None:
    """A launcher's directory of another user, in a folder that all may write to, must stay."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to make another user's directory")
    with Job([MPIRUN or "mpirun", "--oversubscribe", "-n", "2", program("victim"), "barrier"], env=AS_ROOT) as job:
        job.until_said("there", 2)
        (session,) = [p for form in SESSIONS for p in job.tmp.glob(form) if p.is_dir()]
        shutil.chown(session.parent if session.name.startswith("pid.") else session, "nobody")
        kill_one(job, "mpirun")
        job.process.wait(END_S)
        time.sleep(0.5)
        assert session.exists()


def moments(seed: int, trials: int) -> Iterator[tuple[str, int, str, float, int]]:
    dice = random.Random(seed)
    for _ in range(trials):
        who = dice.choice(["pe", "mpirun", "oshrun"])
        yield (
            who,
            dice.randrange(3),
            dice.choice([*PLACES, "before", "after", "quick"]),
            dice.uniform(0, 0.3),
            dice.choice([1, 2, 3]),
        )


def at_a_random_moment(who: str, which: int, place: str, delay: float, n: int) -> None:
    """A job may have ended before the blow ("quick", or there is no PE yet to strike): then it must have ended well."""
    with start(place, n) as job:
        time.sleep(delay)
        if place == "quick":
            struck = kill_one(job, who, which)
            job.all_gone(END_S)
            assert struck or job.wait().code == 0
            return
        job.until(lambda: kill_one(job, who, which) or job.process.poll() is not None, f"a {who} to kill")
        ends_badly(job)


@pytest.mark.parametrize(("who", "which", "place", "delay", "n"), list(moments(1, 5)))
def test_kill_at_a_random_moment(who: str, which: int, place: str, delay: float, n: int) -> None:
    at_a_random_moment(who, which, place, delay, n)


@pytest.mark.parametrize("delay", [0.04, 0.07])
def test_kill_of_a_pe_while_it_joins(delay: float) -> None:
    """Open MPI's launcher may hang for ever over that; oshrun may not."""
    at_a_random_moment("pe", 1, "barrier", delay, 2)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("who", "which", "place", "delay", "n"), list(moments(2, 300)))
def test_kill_at_many_random_moments(who: str, which: int, place: str, delay: float, n: int) -> None:
    at_a_random_moment(who, which, place, delay, n)
