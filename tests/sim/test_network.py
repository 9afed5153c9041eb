"""The benchmark of a network in simulation: it tells every case, and times follow the numbers of the description."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sim_job import HOME, is_built
from wattle.machine import paths
from wattle.study.network import fit as network
from wattle.study.network.fit import Case

pytestmark = pytest.mark.skipif(not is_built(), reason="built without SimGrid (libsimgrid-dev)")


@pytest.fixture
def simulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> network.Simulator:
    monkeypatch.setenv("WATTLE_HOME", str(HOME))
    monkeypatch.setenv("XDG_CACHE_HOME", os.environ.get("XDG_CACHE_HOME", str(tmp_path / "cache")))
    return network.simulator(paths.find_home(), tmp_path)


def of(found: dict[Case, float], name: str, n: int) -> float:
    return next(s for case, s in found.items() if (case.name, case.bytes) == (name, n))


def test_every_program_lists_its_cases(simulator: network.Simulator) -> None:
    for job in network.jobs():
        assert all(seconds > 0 for seconds in simulator.run(job, {}).values())


def test_times_follow_the_numbers_of_the_network(simulator: network.Simulator) -> None:
    job = network.jobs()[0]
    before = simulator.run(job, {})
    assert before == simulator.run(job, {})
    base = simulator.base.cluster
    slower = simulator.run(job, {"latency": base.value("latency") + 10e-6})
    # A get is a way there and a way back. A ping-pong's way is one, and a part of another: the flag goes behind a put.
    assert of(slower, "get", 8) - of(before, "get", 8) == pytest.approx(20e-6, rel=0.2)
    assert 10e-6 <= of(slower, "ping", 8) - of(before, "ping", 8) <= 20e-6
    # A wait may become one that is slept through, or stop being one; here wake-ups are free.
    awake = {"wake": 1e-9}
    dear, cheap = simulator.run(job, awake | {"receive": base.value("receive") + 5e-6}), simulator.run(job, awake)
    assert of(dear, "get", 65536) - of(cheap, "get", 65536) == pytest.approx(10e-6, rel=0.2)
    narrow = simulator.run(job, {"bandwidth": base.value("bandwidth") / 10})
    assert of(narrow, "stream", 262144) > 5 * of(before, "stream", 262144)
    assert of(narrow, "compute", 0) == of(before, "compute", 0)
    costly = simulator.run(job, {"block": 3 * base.value("block")})
    assert of(costly, "compute", 0) == pytest.approx(3 * of(before, "compute", 0), rel=0.05)
