"""Clocks and joules in simulation: equal to a calculation by hand, on a machine whose network and blocks cost
nothing. Every joule belongs to a part. The governor finds the simulated clock."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from sim_job import build, free_cluster, is_built, result, simulate
from wattle.sim import cluster as clusters
from wattle.sim import platform, simulation

pytestmark = pytest.mark.skipif(not is_built(), reason="built without SimGrid (libsimgrid-dev)")

IDLE, DRAM_IDLE, NIC_IDLE = 3.786 * 2 / 16, 7 * 2 / 16, 8 / 16  # W, a core's share
ACTIVE, SPIN = 12.458, 12.064  # W, sandybridge-e5-2670 at its base clock
ACTIVE_LOW, SPIN_LOW = 5.973, 5.784  # at 1.2 GHz
ACTIVE_TURBO = 26.974
WAKE, CHANGE = 50e-6, 40e-6
CORE = ("computes", "spins", "yields", "sleeps", "wakes", "changes")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("joules"), "imbalance", "moved", "shared_clock", "own_arguments")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return free_cluster(tmp_path_factory.mktemp("cluster"), wake=WAKE, clock_change=CHANGE)


def run(where: Path, program: Path, cluster: Path, *arguments: str, n: int = 2, options: tuple[str, ...] = ()) -> str:
    done = simulate(where, program, *arguments, n=n, options=("--machine", str(cluster), *options))
    assert done.returncode == 0, done
    return done.stdout


def setting(*pairs: str) -> tuple[str, ...]:
    return tuple(word for pair in pairs for word in ("--set", pair))


def seen(output: str) -> list[dict[str, float]]:
    """By PE: seconds, and the meter's joules of what was measured."""
    assert "modelled" in output and "measured" not in output
    found = []
    for line in output.splitlines():
        words = line.split()
        joules = {words[i]: float(words[i + 1]) for i in range(4, len(words), 4)}
        found.append({"s": float(words[3])} | joules)
    return found


def test_an_imbalanced_barrier_costs_what_a_hand_calculation_gives(
    programs: Path, cluster: Path, tmp_path: Path
) -> None:
    output = run(tmp_path / "r", programs / "imbalance", cluster, "3", "10", options=setting("WATTLE_WAIT=spin"))
    first, second = seen(output)
    assert first["s"] == second["s"] == pytest.approx(10e-3, rel=1e-6)
    uncore = 3 * 10e-3 / 2  # both are awake all the time, and share it
    assert first["cpu"] == pytest.approx(3e-3 * ACTIVE + 7e-3 * SPIN + 10e-3 * IDLE + uncore, rel=1e-4)
    assert second["cpu"] == pytest.approx(10e-3 * (ACTIVE + IDLE) + uncore, rel=1e-4)
    assert first["dram"] == pytest.approx(10e-3 * DRAM_IDLE, rel=1e-3)
    assert first["nic"] == pytest.approx(10e-3 * NIC_IDLE, rel=1e-3)


def test_a_sleeper_draws_nothing_but_to_wake_up(programs: Path, cluster: Path, tmp_path: Path) -> None:
    output = run(tmp_path / "r", programs / "imbalance", cluster, "3", "10", options=setting("WATTLE_WAIT=sleep"))
    first, second = seen(output)
    assert second["s"] == pytest.approx(10e-3, rel=1e-6)
    wakes = WAKE  # of the PE, which sleeps on the network
    assert first["s"] == pytest.approx(10e-3 + wakes, rel=1e-4)
    alone = 7e-3  # in which the uncore is the other PE's
    uncore = 3 * ((10e-3 - alone) / 2 + wakes)
    expected = (3e-3 + wakes) * ACTIVE + first["s"] * IDLE + uncore
    assert first["cpu"] == pytest.approx(expected, abs=1.1 * WAKE * ACTIVE)  # the agent may be woken once more


def test_a_lower_clock_computes_longer_at_its_own_watts(programs: Path, cluster: Path, tmp_path: Path) -> None:
    options = setting("WATTLE_WAIT=spin", "WATTLE_CLOCKS=0=1.2")
    first, second = seen(run(tmp_path / "r", programs / "imbalance", cluster, "3", "10", options=options))
    computes = 3e-3 * 2.6 / 1.2
    assert second["s"] == pytest.approx(10e-3, rel=1e-6)
    expected = computes * ACTIVE_LOW + (10e-3 - computes) * SPIN_LOW + 10e-3 * (IDLE + 3 / 2)
    assert first["cpu"] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("arguments", [("3", "10", "8", "1", "20"), ("10", "3", "9", "4", "20")])
def test_every_joule_is_of_a_part(programs: Path, cluster: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    options = setting("WATTLE_GOVERN=hybrid", "WATTLE_SCALING=proactive")
    run(tmp_path / "r", programs / "imbalance", cluster, *arguments, n=4, options=options)
    found = result(tmp_path / "r")
    for pe in found["pes"]:
        joules, seconds = pe["joules"], pe["seconds"]
        assert sum(seconds.values()) == pytest.approx(found["simulated_s"], rel=1e-9)
        assert sum(joules[part] for part in CORE) + joules["idle"] == pytest.approx(pe["cpu_j"], rel=1e-9)
        assert seconds["wakes"] * ACTIVE_LOW <= joules["wakes"] <= seconds["wakes"] * ACTIVE_TURBO
    assert any(pe["seconds"]["changes"] > 0 for pe in found["pes"])
    awake = sum(pe["joules"]["uncore"] for pe in found["pes"])
    assert 0 < awake <= 3 * found["simulated_s"] * (1 + 1e-9)  # of one socket, shared by any of its PEs


def test_the_parts_of_the_job_add_up_in_its_profile(programs: Path, cluster: Path, tmp_path: Path) -> None:
    run(tmp_path / "r", programs / "imbalance", cluster, "3", "10", options=setting("WATTLE_WAIT=spin"))
    for pe in result(tmp_path / "r")["pes"]:
        profile = json.loads((tmp_path / f"r/profile/pe-{pe['pe']:05d}.json").read_text())
        node = {d["domain"]: d["joules"] for d in profile["node"]["joules"]}
        parts = {d["domain"]: d["joules"] for d in profile["joules"]}
        idle = {d["domain"]: d["joules"] for d in profile["node"]["idle"]}
        for domain, joules in node.items():
            assert parts[domain] + idle[domain] == pytest.approx(joules, rel=1e-6)


def test_the_governor_finds_the_simulated_clock(programs: Path, cluster: Path, tmp_path: Path) -> None:
    options = setting("WATTLE_GOVERN=energy", "WATTLE_SCALING=reactive", "WATTLE_WAIT=spin")
    base = seen(
        run(tmp_path / "b", programs / "imbalance", cluster, "3", "10", "40", options=setting("WATTLE_WAIT=spin"))
    )
    less = seen(run(tmp_path / "e", programs / "imbalance", cluster, "3", "10", "40", options=options))
    clocks = json.loads((tmp_path / "e/profile/pe-00000.json").read_text())["clocks"]
    assert clocks["knob"] == "simgrid" and clocks["changes"] > 20 and not clocks["failed"]
    assert clocks["price_s"] == pytest.approx(CHANGE, rel=0.1)
    assert less[0]["cpu"] < 0.85 * base[0]["cpu"]
    assert less[1]["s"] < 1.01 * base[1]["s"]


def test_a_governed_run_is_the_same_again_bit_for_bit(programs: Path, cluster: Path, tmp_path: Path) -> None:
    options = setting("WATTLE_GOVERN=hybrid", "WATTLE_SCALING=reactive")
    for name in ("one", "two"):
        run(tmp_path / name, programs / "imbalance", cluster, "3", "10", "5", "20", n=3, options=options)
    assert (tmp_path / "one/simulation.json").read_bytes() == (tmp_path / "two/simulation.json").read_bytes()


def test_cores_that_share_a_clock_run_at_the_highest_that_is_asked_for(
    programs: Path, cluster: Path, tmp_path: Path
) -> None:
    output = run(tmp_path / "r", programs / "shared_clock", cluster, options=("--clock-domain", "2"))
    found = re.search(r"computed ([0-9.]+)", output)
    # 5 ms at 1.2 GHz, the rest at 2.6
    assert found and float(found[1]) == pytest.approx(5e-3 + (10e-3 - 5e-3 * 1.2 / 2.6), rel=1e-6)


@pytest.mark.parametrize("cores", ["0", "9" * 11, "9" * 24, "9" * 400])
def test_a_clock_of_more_cores_than_any_job_has_pes_is_refused(tmp_path: Path, cores: str) -> None:
    done = simulate(tmp_path / "run", Path("/bin/true"), n=2, options=("--clock-domain", cores))
    assert done.returncode == 2 and "expected a number of cores, 1 to 99999" in done.stderr, done
    assert done.stderr.count("\n") == 1 and len(done.stderr) < 300 and not (tmp_path / "run").exists()


def test_a_cluster_whose_cores_all_share_a_clock_may_name_any_number_of_them(tmp_path: Path) -> None:
    described = clusters.read(str(free_cluster(tmp_path))).with_value("domain", 1e30, "for a test")
    node = simulation.plan(described, 2, {}).core
    assert '"domain_pes" value="2"' in platform.text(described, node, 2)


def test_a_cluster_whose_messages_are_all_eager_may_name_any_number_of_bytes(tmp_path: Path) -> None:
    folder = build(tmp_path, "mpi_parts")
    done = simulate(
        tmp_path / "run", folder / "mpi_parts", "2", n=2, options=("--machine", str(free_cluster(tmp_path, eager=1e17)))
    )
    assert done.returncode == 0, done.stderr


def test_memory_follows_the_clock_only_in_part(programs: Path, cluster: Path, tmp_path: Path) -> None:
    mega = 10_000_000  # more than the caches hold
    for name, clock in (("high", "2.6"), ("low", "1.2")):
        run(tmp_path / name, programs / "moved", cluster, str(mega), options=setting(f"WATTLE_CLOCKS=0-1={clock}"))
    high, low = (result(tmp_path / name)["pes"][0] for name in ("high", "low"))
    took = mega / 2 * 0.18e-9
    assert high["seconds"]["computes"] == pytest.approx(took, rel=1e-6)
    assert low["seconds"]["computes"] == pytest.approx(took * (0.43 + 0.57 * 2.6 / 1.2), rel=1e-6)
    assert high["joules"]["dram"] == pytest.approx(mega / 2 * 0.625e-9, rel=0.01)


def test_each_pe_has_arguments_of_its_own(programs: Path, cluster: Path, tmp_path: Path) -> None:
    assert run(tmp_path / "r", programs / "own_arguments", cluster, "one", "two", n=3).split() == ["mine"] * 3


def test_the_numbers_of_the_cores_have_their_tags(programs: Path, cluster: Path, tmp_path: Path) -> None:
    run(tmp_path / "r", programs / "moved", cluster)
    numbers = json.loads((tmp_path / "r/manifest.json").read_text())["simulated"]["numbers"]
    assert {numbers[key]["tag"] for key in ("uncore", "nic", "nic_byte")} == {"assumed"}
    assert numbers["turbo"]["tag"] == "cited"
