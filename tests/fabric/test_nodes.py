"""Jobs on several nodes: a target that computes is served, one that waits sleeps, and nothing is left behind."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from nodes_of_test import build, built, start
from wattle.machine.nodes import Nodes, unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
HERE = Path(__file__).parent


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    with Nodes(2) as two:
        yield two


def test_a_pe_that_computes_is_served_and_one_that_waits_sleeps(nodes: Nodes, tmp_path: Path) -> None:
    job = start(nodes, 1, build(HERE / "passive.c", tmp_path))
    out, err = job.communicate(timeout=300)
    assert job.returncode == 0, err
    found = re.findall(r"cpu (\w+) ([0-9.]+) in ([0-9.]+)", out)
    assert [what for what, _, _ in found] == ["barrier", "idle"], out
    for what, cpu, waited in found:  # a busy machine makes the waits longer
        assert float(cpu) / max(1, float(waited) / 2) <= 0.05, f"{what}: a PE that sleeps used more CPU time in 2 s"


@pytest.mark.parametrize("pes", [1, 2])
def test_a_sleeper_is_woken_by_the_message_after_a_put_by_hardware(nodes: Nodes, tmp_path: Path, pes: int) -> None:
    """Its sleeps may take 1 s. In each round it sleeps until a ring or the flag arrives."""
    settings = {"WATTLE_RMA": "on", "WATTLE_SLEEP_MAX": "1s", "WATTLE_WAIT": "sleep"}
    rescues = []
    for _ in range(3):  # a sleep may end by itself where the sender has lost its core for as long
        job = start(nodes, pes, build(HERE / "late_flag.c", tmp_path), WATTLE_PROFILE_DIR=str(tmp_path), **settings)
        _, err = job.communicate(timeout=300)
        assert job.returncode == 0, err
        profile = json.loads((tmp_path / f"pe-0000{pes}.json").read_text())
        assert profile["sleeps"] < 4 * 40, profile["sleeps"]  # by looks once a millisecond it would be hundreds
        assert json.loads((tmp_path / "pe-00000.json").read_text())["network"]["bytes"]["hardware"] >= 4 * 2048 * 8
        rescues.append(profile["rescues"])
        if rescues[-1] == 0:
            return
    raise AssertionError(rescues)


def test_each_nodes_interface_counts_the_jobs_packets(nodes: Nodes, tmp_path: Path) -> None:
    """The flood puts at least a thousand messages of 64 KiB into the second node."""
    job = start(nodes, 1, built("flood"), "put:1000:65536", WATTLE_COUNTERS="on", WATTLE_PROFILE_DIR=str(tmp_path))
    _, err = job.communicate(timeout=300)
    assert job.returncode == 0, err
    profiles = [json.loads((tmp_path / f"pe-0000{pe}.json").read_text()) for pe in (0, 1)]
    cards = [{card["name"]: card for card in pe["interfaces"]["list"]}["e0"] for pe in profiles]
    for mine, other in (cards, reversed(cards)):
        for what in ("packets", "bytes"):
            assert mine[what]["sent"] == pytest.approx(other[what]["received"], rel=0.05)
    for pe, card in zip(profiles, cards, strict=True):
        assert card["bytes"]["sent"] >= 0.95 * pe["network"]["bytes"]["sent"] > 0
    assert max(card["bytes"]["sent"] for card in cards) >= 1000 * 65536


def test_nodes_are_taken_down_with_what_runs_in_them() -> None:
    with Nodes(2) as two:
        names = list(two.names)
        folder = two.folder
    left = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    assert not any(name in left for name in names)
    assert not folder.exists()
