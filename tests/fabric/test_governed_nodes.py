"""A governor on several nodes: each changes its own clocks, and hears of waits on the others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from governed_job import Machine
from jobs import complaints
from nodes_of_test import built, start
from wattle.machine.nodes import Nodes, unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
ROUNDS = 60


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    with Nodes(2) as two:
        yield two


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path / "sys")
    if len(made.cpus) < 2:
        pytest.skip("two nodes on one core share its clock")
    return made


def clocks(nodes: Nodes, machine: Machine, folder: Path, mode: str) -> list[dict]:
    """Each PE's figures of clocks. PE 0 computes nothing; PE 1, on the other node, 12 ms a round."""
    (folder / "profile").mkdir()
    settings = {
        "WATTLE_GOVERN": mode,
        "WATTLE_SCALING": "proactive",
        "WATTLE_KNOB": "cpufreq",
        "WATTLE_SLOWDOWN": "100",
        "WATTLE_CLOCK_COST": "2ms",  # so long a wait of the late one's own is none
        "WATTLE_SYSFS": str(machine.root),
        "WATTLE_CLOCK_STATE": str(folder / "state"),
        "WATTLE_PROFILE_DIR": str(folder / "profile"),
    }
    job = start(nodes, 1, built("unequal"), str(ROUNDS), **settings)
    out, err = job.communicate(timeout=300)
    assert (job.returncode, out, complaints(err)) == (0, f"count {2 * ROUNDS}\n", ""), err
    assert machine.comes_back(), machine.limits()
    return [json.loads(file.read_text())["clocks"] for file in sorted((folder / "profile").glob("pe-*.json"))]


def only_one_changes(nodes: Nodes, machine: Machine, tmp_path: Path, mode: str, which: int) -> None:
    """Asserts that one PE alone changes its clock. Once is enough: where others want the cores, the PE that computes
    nothing may come late, too."""
    for attempt in range(5):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        pes = clocks(nodes, machine, folder, mode)
        one, other = pes[which], pes[1 - which]
        if one["changes"] > 0 and other["changes"] == 0:
            break
    assert sum(region["acted"] for region in one["regions"]) > 0, one
    assert one["changes"] > 0, one
    assert other["changes"] == 0, other


def test_a_late_pe_alone_on_its_node_is_raised(nodes: Nodes, machine: Machine, tmp_path: Path) -> None:
    """No PE of its own node waits for it. The message came from the other node."""
    only_one_changes(nodes, machine, tmp_path, "performance", 1)


def test_an_early_pe_is_lowered_for_a_late_one_of_another_node(nodes: Nodes, machine: Machine, tmp_path: Path) -> None:
    only_one_changes(nodes, machine, tmp_path, "energy", 0)
