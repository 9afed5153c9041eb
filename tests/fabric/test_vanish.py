"""A node that vanishes, its link cut or its processes killed, ends the job, which names a PE of it and leaves nothing.

Several jobs share the nodes, each in another place of the library, so that one cut is a test of all of them.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from nodes_of_test import HOME, Job, build, launch, pids_on, processes, start, until_under_way
from wattle.machine.nodes import Nodes, unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
HERE = Path(__file__).parent
WITHIN_S = 120  # some 20 s where cores are free
SILENCE = "10s"  # longer than a busy machine keeps an agent from its core
# Where the jobs are when it happens. In shmem_init the network is not there yet: the launcher has to notice.
PLACES = ["rounds", "transfer", "barrier", "wait", "finalize"]


def until_said(job: Job, *lines: str) -> None:
    """Until each of these lines has come, in any order."""
    assert job.stdout
    missing = set(lines)
    while missing and (line := job.stdout.readline()):
        missing.discard(line.rstrip())
    assert not missing, f"{job.args} has not said {missing}"


def cut(nodes: Nodes, i: int) -> None:
    nodes.cut(i)


def kill(nodes: Nodes, i: int) -> None:
    for pid in pids_on(nodes, i):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def until_empty(nodes: Nodes, deadline: float) -> list[str]:
    """Processes that still run on the nodes when the job has ended or the time is up."""
    while (left := processes(nodes)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


def ends_and_names(job: Job, nodes: Nodes, i: int, deadline: float) -> str | None:
    """Errors in the end of a job that lost node `i`."""
    node = nodes.names[i]
    try:
        _, err = job.communicate(timeout=deadline - time.monotonic())
    except subprocess.TimeoutExpired:
        return f"has not ended after {WITHIN_S} s"
    if job.returncode == 0:
        return "has ended as if nothing had happened"
    # One PE on each node. Node 0 has the launcher, too: to the others its loss and that of their neighbours is one.
    named = r"\d" if i == 0 else str(i)
    # Where the launcher's daemon died, too, its fellows may notice first, and end the PEs before these can speak.
    by_launcher = "lost communication with a remote daemon" in err and node in err
    # Or it hears of the remote shell's end first, and has these words for it whenever that is.
    by_launcher |= "unable to reliably start one or more daemons" in err
    by_us = re.search(rf"^wattle: PE \d: .*\bPE {named}\b", err, re.M)
    return None if by_us or by_launcher else f"does not name PE {i}:\n{err}"


def break_off(n: int, i: int, how: Callable[[Nodes, int], None], places: list[str], tmp_path: Path) -> None:
    program = build(HERE / "vanish.c", tmp_path)
    with Nodes(n) as nodes:
        jobs = {place: start(nodes, 1, program, place, WATTLE_SILENCE=SILENCE) for place in places}
        for job in jobs.values():
            until_under_way(job)
        time.sleep(0.3)  # the waiting PEs sleep by now
        how(nodes, i)
        deadline = time.monotonic() + WITHIN_S
        wrong = {place: ends_and_names(job, nodes, i, deadline) for place, job in jobs.items()}
        assert not any(wrong.values()), wrong
        assert not until_empty(nodes, max(deadline, time.monotonic() + 5))


def test_a_cut_link_ends_the_job(tmp_path: Path) -> None:
    break_off(3, 1, cut, PLACES, tmp_path)


def test_the_death_of_all_processes_of_a_node_ends_the_job(tmp_path: Path) -> None:
    break_off(3, 2, kill, PLACES, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("how", [cut, kill])
def test_one_node_of_two_that_is_lost_ends_the_job(how: Callable[[Nodes, int], None], tmp_path: Path) -> None:
    break_off(2, 1, how, PLACES, tmp_path)


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("i", [0, 1, 2])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("how", [cut, kill])
def test_any_lost_node_ends_the_job(i: int, place: str, how: Callable[[Nodes, int], None], tmp_path: Path) -> None:
    if how is kill and i == 0:
        pytest.skip("the launcher is killed with it; see tests/node/test_kill.py")
    for _ in range(5):
        break_off(3, i, how, [place], tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("place", ["init", "talk"])
def test_a_node_lost_before_the_network_is_there_ends_the_job(place: str, tmp_path: Path) -> None:
    """In "talk" the daemon there is sending when its link is cut: keepalive is for idle connections."""
    program = build(HERE / "vanish.c", tmp_path)
    with Nodes(3) as nodes:
        job = start(nodes, 1, program, place)
        until_said(job, "under way", "still here" if place == "talk" else "under way")
        nodes.cut(2)
        job.communicate(timeout=WITHIN_S)
        assert job.returncode != 0
        assert not until_empty(nodes, time.monotonic() + WITHIN_S)


@pytest.mark.soak
@pytest.mark.parametrize("place", PLACES)
def test_a_lost_node_ends_a_job_whose_launcher_has_a_node_without_pes(place: str, tmp_path: Path) -> None:
    """As on a login node: no PE there ends the launcher, which waits for the daemon of the lost node."""
    program = build(HERE / "vanish.c", tmp_path)
    with Nodes(3) as nodes:
        hosts = ",".join(f"{name}:1" for name in nodes.names[1:])
        settings = [f"{name}={value}" for name, value in nodes.environment.items()]
        oshrun = [str(HOME / "bin/oshrun"), "-n", "2", "--bind-to", "none", "--host", hosts, str(program), place]
        job = launch(nodes, nodes.inside(0, "env", *settings, *oshrun), WATTLE_SILENCE=SILENCE)
        until_under_way(job)
        nodes.cut(2)
        deadline = time.monotonic() + WITHIN_S
        assert not ends_and_names(job, nodes, 1, deadline)
        assert not until_empty(nodes, deadline)
