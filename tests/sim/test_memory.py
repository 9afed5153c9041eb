"""Memory in simulation: a copy costs by the level that holds it, the cores of a socket share its memory, and each byte
that reaches memory costs joules once."""

from __future__ import annotations

from pathlib import Path

import pytest
from sim_job import build, free_cluster, is_built, result, simulate
from tree import HOME
from wattle.sim import cluster as clusters
from wattle.sim.cluster import Cluster

pytestmark = pytest.mark.skipif(not is_built(), reason="built without SimGrid (libsimgrid-dev)")

BYTE_J = 0.625e-9  # sandybridge-e5-2670: half of it for a byte read, half for a byte written
KIB, MIB = 1 << 10, 1 << 20
SLOWEST = 2.6 / 1.2  # times as long as at the base clock


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("memory"), "copies", "moved", "by_card", "puts")


@pytest.fixture(scope="module")
def node() -> Cluster:
    return clusters.read("sandybridge-ib")


def seconds(where: Path, programs: Path, *arguments: str, n: int = 1, **costs: float) -> list[float]:
    """Of a copied byte, in each case. `costs`: in place of those of the cluster. Eight PEs have a node together."""
    per_node = ("--per-node", str(min(8, n)))
    where.mkdir()
    options = ("--machine", str(free_cluster(where, **costs)), *per_node)
    done = simulate(where / "run", programs / "copies", *arguments, n=n, options=options)
    assert done.returncode == 0, done
    return [1e-9 * float(line) for line in done.stdout.split()]


def test_a_copy_costs_by_the_cache_that_holds_its_bytes(programs: Path, node: Cluster, tmp_path: Path) -> None:
    sizes = [8 * KIB, 15 * KIB, 64 * KIB, 120 * KIB, 512 * KIB, MIB, 16 * MIB, 32 * MIB]
    found = seconds(tmp_path / "r", programs, "1", *map(str, sizes))
    prices = [node.value(key) for key in ("copy_l1", "copy_l2", "copy", "copy_memory")]
    assert found == pytest.approx([price for price in prices for _ in range(2)], rel=0.01)
    assert prices == sorted(prices)


def test_pieces_of_a_large_block_come_from_where_the_block_is(programs: Path, node: Cluster, tmp_path: Path) -> None:
    swept, again = seconds(tmp_path / "r", programs, "swept", str(16 * MIB))
    assert swept == pytest.approx(node.value("copy_memory"), rel=0.01)
    assert again == pytest.approx(node.value("copy_l1"), rel=0.01)


def test_a_block_that_was_just_written_is_in_the_cache(programs: Path, node: Cluster, tmp_path: Path) -> None:
    sizes = [4 * KIB, 512 * KIB]
    found = seconds(tmp_path / "r", programs, "just", *map(str, sizes))
    assert found == pytest.approx([node.value(key) for key in ("copy_l1", "copy_l1", "copy", "copy")], rel=0.01)


@pytest.mark.parametrize(("pes", "on_socket"), [(1, 1), (2, 2), (4, 4), (8, 4)])
def test_cores_of_a_socket_share_the_bandwidth_of_its_memory(
    programs: Path, node: Cluster, tmp_path: Path, pes: int, on_socket: int
) -> None:
    (found,) = seconds(tmp_path / "r", programs, str(pes), str(16 * MIB), n=8)
    share = on_socket * node.value("copy_socket")
    assert found == pytest.approx(max(node.value("copy_memory"), share), rel=0.01)


def test_the_cores_that_still_copy_get_the_bandwidth_of_those_that_are_done(programs: Path, tmp_path: Path) -> None:
    """PE 0 copies as much as the others together, so it is alone for half of it."""
    (found,) = seconds(tmp_path / "r", programs, "2", str(16 * MIB), n=8, copy_memory=1e-10, copy_socket=1e-10)
    assert found == pytest.approx(2e-10, rel=0.01)


@pytest.mark.parametrize(
    ("size", "price", "share"),
    [
        (8 * KIB, "copy_l1", None),
        (64 * KIB, "copy_l2", None),
        (MIB, "copy", "copy_clock"),
        (16 * MIB, "copy_memory", "memory_clock"),
    ],
)
def test_each_level_follows_the_clock_by_its_share(
    programs: Path, node: Cluster, tmp_path: Path, size: int, price: str, share: str | None
) -> None:
    options = ("--machine", str(free_cluster(tmp_path)), "--set", "WATTLE_CLOCKS=0=1.2")
    done = simulate(tmp_path / "run", programs / "copies", "1", str(size), n=1, options=options)
    part = node.value(share) if share else 1.0
    expected = node.value(price) * (part * SLOWEST + 1 - part)
    assert 1e-9 * float(done.stdout) == pytest.approx(expected, rel=0.01)


def test_a_loop_that_memory_bounds_gains_less_from_a_higher_clock(tmp_path: Path) -> None:
    took: dict[tuple[str, str], float] = {}
    for clock in ("1.2", "2.6"):
        options = ("--set", f"WATTLE_CLOCKS=0-7={clock}", "--set", "WATTLE_WAIT=spin", "--per-node", "8")
        kernels = HOME / "lib/wattle/apps/simulated/kernels"
        done = simulate(tmp_path / clock, kernels, "--least", "0.001", "24", n=8, options=options)
        assert done.returncode == 0, done
        for line in done.stdout.splitlines():
            row = dict(field.split(":", 1) for field in line.strip("{}").replace('"', "").split(",") if ":" in field)
            if row.get("kind") == "sample":
                took[row["name"], clock] = float(row["seconds"])
    gains = {name: 1 - took[name, "2.6"] / took[name, "1.2"] for name in ("fma", "copy", "triad")}
    assert gains["fma"] == pytest.approx(1 - 1 / SLOWEST, abs=0.01)
    assert gains["copy"] == pytest.approx(1 - 1 / (0.57 * SLOWEST + 0.43), abs=0.03)
    assert gains["triad"] < gains["fma"] - 0.1
    copied = 24 * MIB / 2  # of each core, four of which share a socket's memory
    assert took["triad", "2.6"] == pytest.approx(copied * 4 * 0.076e-9, rel=0.01)


def dram_joules(where: Path, program: Path, *arguments: str, cards: bool, n: int = 2) -> list[float]:
    where.mkdir()
    options = ("--machine", str(free_cluster(where, cards=cards)), "--set", "WATTLE_WAIT=spin")
    done = simulate(where / "run", program, *arguments, n=n, options=options)
    assert done.returncode == 0, done
    return [pe["joules"]["dram"] for pe in result(where / "run")["pes"]]  # type: ignore[attr-defined]


def test_bytes_that_a_core_moves_cost_joules_once_and_those_in_caches_none(programs: Path, tmp_path: Path) -> None:
    (idle,) = dram_joules(tmp_path / "idle", programs / "moved", "0", cards=True, n=1)
    (cached,) = dram_joules(tmp_path / "cached", programs / "moved", str(MIB), cards=True, n=1)
    (moved,) = dram_joules(tmp_path / "moved", programs / "moved", str(16 * MIB), cards=True, n=1)
    assert cached == idle
    assert moved - idle == pytest.approx(16 * MIB * BYTE_J / 2, rel=1e-6)
    (copied,) = dram_joules(tmp_path / "copied", programs / "copies", "1", str(16 * MIB), cards=True, n=1)
    assert copied - idle == pytest.approx(5 * 2 * 16 * MIB * BYTE_J / 2, rel=0.01)


@pytest.mark.parametrize(("cards", "accesses"), [(True, 1), (False, 3)])
def test_a_put_costs_joules_of_memory_at_both_ends(programs: Path, tmp_path: Path, cards: bool, accesses: int) -> None:
    """A card reads and stores each byte once. Without cards the kernel copies it at both ends, too."""
    n, times = MIB, 8
    some = dram_joules(tmp_path / "some", programs / "puts", str(n), "1", cards=cards)
    more = dram_joules(tmp_path / "more", programs / "puts", str(n), str(1 + times), cards=cards)
    for few, many in zip(some, more, strict=True):
        assert many - few == pytest.approx(accesses * times * n * BYTE_J / 2, rel=0.01)
