"""Sixteen nodes: results are right over each network, connections come on first contact, a lost node is named."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from nodes_of_test import HOME, build, built, pids_on, processes, start, until_under_way
from wattle.machine.nodes import Nodes, unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
HERE = Path(__file__).parent
NODES = 16
PATIENT = {"WATTLE_SILENCE": "60s"}  # so many nodes share the cores of this machine


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with Nodes(NODES) as many:
        yield many


def networks() -> list[str]:
    return [name for name in ("ucx", "ofi") if (HOME / f"lib/libwattle-net-{name}.so").exists()]


@pytest.mark.parametrize("network", networks())
def test_collectives_and_teams_of_many_nodes_are_right(nodes: Nodes, network: str) -> None:
    """Random teams, contexts and collectives, compared with a sequential model."""
    job = start(nodes, 1, built("shmem_random_teams"), "1", "3", WATTLE_NETWORK=network, **PATIENT)
    _, err = job.communicate(timeout=600)
    assert job.returncode == 0, err


def test_a_collect_of_many_nodes_takes_no_message_for_each_pair(nodes: Nodes, tmp_path: Path) -> None:
    """The PEs contribute together more than the leaders combine in one message."""
    program = build(HERE / "gathers.c", tmp_path)
    job = start(nodes, 1, program, "20", WATTLE_PROFILE_DIR=str(tmp_path), WATTLE_NETWORK="ucx", **PATIENT)
    _, err = job.communicate(timeout=600)
    assert job.returncode == 0, err
    profiles = [json.loads(file.read_text()) for file in tmp_path.glob("pe-*.json")]
    sent = [profile["network"]["messages"]["sent"] for profile in profiles]
    calls = 20 * 2
    pairs = 2 * (NODES - 1)  # messages of a PE that fetches from each other one
    assert len(sent) == NODES and max(sent) < calls * pairs / 2, sent


def established(nodes: Nodes, i: int, program: str) -> int:
    """Connections of processes of that name on node `i` to other nodes."""
    listing = subprocess.run(nodes.inside(i, "ss", "-Htnp"), capture_output=True, text=True, check=True).stdout
    return sum(f'"{program}"' in line and "127.0.0.1" not in line for line in listing.splitlines())


def is_prrtes(line: str) -> bool:
    """Whether it is a daemon of PRRTE. That of the lost node may stay, and so may another: OpenPMIx 5.0.7 waits for a
    lock that it holds.
    """
    return Path(line.split(" ")[0]).name == "prted"


def end_prrte(nodes: Nodes) -> None:
    for i in range(NODES):
        for pid in pids_on(nodes, i):
            with contextlib.suppress(OSError):
                if is_prrtes(Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")):
                    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("network", networks())
def test_a_lost_node_of_many_is_named_and_the_job_ends(network: str, tmp_path: Path) -> None:
    lost = 9
    with Nodes(NODES) as nodes:
        settings = {"WATTLE_SILENCE": "20s", "WATTLE_NETWORK": network}
        job = start(nodes, 1, build(HERE / "vanish.c", tmp_path), "wait", **settings)
        until_under_way(job)
        assert 0 < established(nodes, 3, "vanish") < NODES - 1, "a PE that spoke to few others is connected to few"
        nodes.cut(lost)
        assert job.wait(timeout=240) != 0
        deadline = time.monotonic() + 120
        while (left := [line for line in processes(nodes) if not is_prrtes(line)]) and time.monotonic() < deadline:
            time.sleep(0.2)
        assert not left
        end_prrte(nodes)  # it holds the job's pipes open
        _, err = job.communicate(timeout=60)
        by_launcher = "lost communication with a remote daemon" in err and nodes.names[lost] in err
        by_us = re.search(rf"^wattle: PE \d+: .*\bPE {lost}\b", err, re.M)
        assert by_us or by_launcher, err
