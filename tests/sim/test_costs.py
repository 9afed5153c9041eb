"""The work of the library takes time of the simulated core, at its clock, and an agent has a core or shares one."""

from __future__ import annotations

from pathlib import Path

import pytest
from sim_job import build, free_cluster, is_built, result, simulate

pytestmark = pytest.mark.skipif(not is_built(), reason="built without SimGrid (libsimgrid-dev)")

OF_CALLER = {"call": 1e-6, "far": 3e-6, "request": 10e-6, "near": 0}
COSTS = OF_CALLER | {"handler": 30e-6, "serve": 100e-6}


@pytest.fixture(scope="module")
def costs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("costs"), "costs") / "costs"


def run(
    where: Path, program: Path, *words: str, each: int = 1, settings: tuple[str, ...] = (), **prices: float
) -> float:
    """Returns the time in seconds that the program prints."""
    where.mkdir()
    chosen = [word for setting in ("WATTLE_WAIT=spin", *settings) for word in ("--set", setting)]
    options = ("--machine", str(free_cluster(where, **prices)), "--per-node", str(each), *chosen)
    done = simulate(where / "run", program, *words, n=2, options=options)
    assert done.returncode == 0, done.stderr
    return 1e-6 * float(done.stdout.split()[1])


def computed(where: Path, pe: int) -> float:
    return result(where / "run")["pes"][pe]["seconds"]["computes"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("what", "each", "a_call"),
    [("polls", 1, 1e-6), ("puts", 1, 4e-6), ("puts", 2, 1e-6), ("requests", 1, 4e-6), ("requests", 2, 11e-6)],
)
def test_a_call_takes_time_of_its_caller_s_core(
    costs: Path, tmp_path: Path, what: str, each: int, a_call: float
) -> None:
    took = run(tmp_path / "run", costs, what, "400", each=each, **OF_CALLER)
    assert took == pytest.approx(400 * a_call, rel=0.02)


def test_a_call_takes_longer_at_a_lower_clock(costs: Path, tmp_path: Path) -> None:
    slow = run(tmp_path / "slow", costs, "polls", "400", settings=("WATTLE_CLOCKS=0-1=1.3",), **OF_CALLER)
    assert slow == pytest.approx(400 * 1e-6 * 2.6 / 1.3, rel=0.02)


@pytest.mark.parametrize(
    ("what", "each", "of_each"), [("requests", 2, 30e-6), ("replies", 2, 30e-6 + 1e-6 + 10e-6), ("puts", 1, 100e-6)]
)
def test_what_arrives_takes_time_of_its_receiver_s_core(
    costs: Path, tmp_path: Path, what: str, each: int, of_each: float
) -> None:
    for times in (20, 70):
        run(tmp_path / f"{times}", costs, what, str(times), each=each, **COSTS)
    more = computed(tmp_path / "70", 1) - computed(tmp_path / "20", 1)
    assert more == pytest.approx(50 * of_each, rel=0.1)


@pytest.mark.parametrize("own_core", [0, 1])
def test_an_agent_takes_time_of_its_pe_unless_it_has_a_core_of_its_own(
    costs: Path, tmp_path: Path, own_core: int
) -> None:
    took = run(tmp_path / "run", costs, "busy", "200", "0.005", agent_core=own_core, serve=10e-6)
    assert took == pytest.approx(0.005 if own_core else 0.007, rel=0.02)
    assert computed(tmp_path / "run", 1) == pytest.approx(0.007, rel=0.02)


def test_an_agent_s_core_has_its_share_of_the_idle_node(costs: Path, tmp_path: Path) -> None:
    idle = {}
    for own_core in (0, 1):
        where = tmp_path / str(own_core)
        run(where, costs, "busy", "1", "0.005", agent_core=own_core)
        pes = result(where / "run")["pes"]  # type: ignore[index]
        idle[own_core] = sum(pe["joules"]["idle"] for pe in pes) / result(where / "run")["simulated_s"]  # type: ignore[operator]
    assert idle[1] == pytest.approx(2 * idle[0], rel=0.01)


def test_an_agent_has_one_core_or_none(costs: Path, tmp_path: Path) -> None:
    cluster = free_cluster(tmp_path, agent_core=2)
    done = simulate(tmp_path / "run", costs, "polls", "1", n=2, options=("--machine", str(cluster)))
    assert done.returncode != 0 and "agent_core: 2: expected 1" in done.stderr, done
