"""A slow link is not a lost one: transfers that take longer than a node may be silent, and small ones in between."""

from __future__ import annotations

import pytest
from jobs import complaints
from nodes_of_test import built, start
from wattle.machine.nodes import Nodes, unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))


def flood(rate: str, silence: str, floods: list[str], timeout: float, pes: int = 1) -> None:
    with Nodes(2, rate) as nodes:
        job = start(nodes, pes, built("flood"), *floods, WATTLE_SILENCE=silence)
        _, err = job.communicate(timeout=timeout)
        assert job.returncode == 0 and complaints(err) == "", err


def test_large_transfers_over_a_slow_link_are_no_silence() -> None:
    """4 MiB at 10 Mbit/s take 3.4 s."""
    flood("10mbit", "3s", ["put:4:1048576", "get:4:1048576", "put:2000:2000", "add:1000:8"], 120)


def test_many_pes_large_transfers_do_not_queue_in_front_of_signs_of_life() -> None:
    """Two PEs put 2.7 MiB each to the other node: 4.5 s, longer than it may be silent."""
    flood("10mbit", "3s", ["put:4:1048576"], 120, pes=2)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_long_transfers_over_a_slow_link_are_no_silence() -> None:
    flood(
        "10mbit", "3s", ["put:40:1048576", "get:40:1048576", "put:2:30000000", "put:1500:30000", "put:1000000:8"], 800
    )
