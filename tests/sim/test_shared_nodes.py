"""Nodes with several PEs in simulation: memory, card and watts are shared, and as much is sent as on real nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nodes_of_test
import pytest
from sim_job import PROGRAMS, build, free_cluster, is_built, result, simulate
from tree import ROOT
from wattle.machine.nodes import Nodes, unavailable

pytestmark = pytest.mark.skipif(not is_built(), reason="Wattle was built without SimGrid")

WAITS = ("spin", "sleep", "adaptive")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    words = ("-D_GNU_SOURCE", f"-I{ROOT / 'tests'}", f"-I{ROOT / 'src'}")
    build(folder, "oracle", of=ROOT / "tests/pgas", words=words)
    build(folder, "basics", of=ROOT / "tests/am", words=words)
    build(folder, "patches", of=ROOT / "tests/armci", words=words)
    return build(folder, "all_kinds", "mpi_kinds", "on_nodes", "near")


def on_nodes(each: int, *options: str, wait: str = "spin") -> tuple[str, ...]:
    return ("--per-node", str(each), "--set", f"WATTLE_WAIT={wait}", *options)


def run(where: Path, program: Path, *arguments: str, n: int, options: tuple[str, ...]) -> list[float]:
    """Runs a program. Returns the times in seconds of the line that it prints."""
    done = simulate(where, program, *arguments, n=n, options=options)
    assert done.returncode == 0, done
    line = next((line for line in done.stdout.splitlines() if line.startswith("us ")), "us")
    return [1e-6 * float(word) for word in line.split()[1:]]


def counted(folder: Path) -> list[Any]:
    """The counts of each PE: calls and bytes by routine, by partner, and messages and bytes to other nodes. The
    last messages of a job may arrive after the receiver has written its counts, so those received are left out.
    """
    found = []
    for path in sorted(folder.glob("pe-*.json")):
        pe = json.loads(path.read_text())
        sites = sorted([site["call"], site["calls"], site["bytes"]] for site in pe["sites"])
        messages, sent = pe["network"]["messages"], pe["network"]["bytes"]["sent"]
        found.append([pe["bytes"], pe["partners"]["calls"], sites, messages["sent"], messages["merged"], sent])
    return found


@pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
def test_a_program_calls_and_sends_as_much_as_on_real_nodes(programs: Path, tmp_path: Path) -> None:
    """By TCP, so that no card moves bytes, and without heartbeats, whose number depends on the time."""
    real = tmp_path / "real"
    real.mkdir()
    with Nodes(2) as nodes:
        program = nodes_of_test.build(PROGRAMS / "on_nodes.c", tmp_path)
        settings = {"WATTLE_SILENCE": "0", "WATTLE_PROFILE_DIR": str(real)}
        out, err = nodes_of_test.start(nodes, 4, program, **settings).communicate(timeout=300)
    assert out == "done\n", err
    simulated = tmp_path / "simulated"
    done = simulate(simulated, programs / "on_nodes", n=8, options=on_nodes(4, "--machine", "sandybridge-tcp"))
    assert done.stdout == "done\n", done
    assert counted(simulated / "profile") == counted(real)
    assert len(counted(real)) == 8


@pytest.mark.parametrize(("n", "each"), [(7, 3), (8, 8)])
@pytest.mark.parametrize("wait", WAITS)
def test_every_kind_of_communication_works(programs: Path, tmp_path: Path, n: int, each: int, wait: str) -> None:
    run(tmp_path / "kinds", programs / "all_kinds", n=n, options=on_nodes(each, "--no-profile", wait=wait))
    run(tmp_path / "model", programs / "oracle", "7", "2", n=n, options=on_nodes(each, "--no-profile", wait=wait))


@pytest.mark.parametrize("program", ["basics", "patches", "mpi_kinds"])
@pytest.mark.parametrize("each", [2, 4])
def test_messages_global_memory_and_mpi_work_within_and_between_nodes(
    programs: Path, tmp_path: Path, program: str, each: int
) -> None:
    run(tmp_path / "run", programs / program, n=4, options=on_nodes(each, "--no-profile", wait="sleep"))


def test_memory_of_the_node_is_accessed_at_its_price(programs: Path, tmp_path: Path) -> None:
    cluster = free_cluster(tmp_path, near=2e-6, copy=1e-9, copy_clock=1.0)
    options = on_nodes(2, "--machine", str(cluster))
    put, get, atomic = run(tmp_path / "run", programs / "near", "times", "4096", n=2, options=options)
    assert (put, get, atomic) == pytest.approx((6.096e-6, 6.096e-6, 2e-6), abs=2e-9)
    assert result(tmp_path / "run")["messages"] == 0


def test_the_pes_of_a_node_share_its_link(programs: Path, tmp_path: Path) -> None:
    cluster = free_cluster(tmp_path, cards=True, bandwidth=1e9)
    size = 1 << 20

    def crossing(n: int, each: int) -> float:
        options = on_nodes(each, "--machine", str(cluster))
        return run(tmp_path / f"{n}-{each}", programs / "near", "cross", str(size), n=n, options=options)[0]

    alone = crossing(2, 1)
    assert alone == pytest.approx(size / 1e9, rel=0.01)
    assert crossing(8, 1) == pytest.approx(alone, rel=0.01)
    assert crossing(8, 4) == pytest.approx(4 * alone, rel=0.01)


@pytest.mark.parametrize("wait", WAITS)
def test_a_store_through_a_pointer_ends_a_wait(programs: Path, tmp_path: Path, wait: str) -> None:
    """A sleeper finds it at the end of its sleep (WATTLE_SLEEP_MAX, 20 ms)."""
    (waited,) = run(tmp_path / "run", programs / "near", "pointer", "0.003", n=2, options=on_nodes(2, wait=wait))
    assert 0.003 <= waited < (0.0065 if wait == "spin" else 0.021)


@pytest.mark.parametrize("wait", WAITS)
def test_a_deadlock_within_a_node_is_reported(programs: Path, tmp_path: Path, wait: str) -> None:
    done = simulate(tmp_path / "run", programs / "near", "never", n=2, options=on_nodes(2, wait=wait))
    assert done.returncode != 0 and "deadlock" in done.stderr and "shmem_long_wait_until" in done.stderr, done


def test_the_pes_of_a_node_share_all_of_its_idle_watts(programs: Path, tmp_path: Path) -> None:
    """Two sockets of the profile draw 3.786 W idle each, and the node's card 8 W."""
    run(tmp_path / "run", programs / "all_kinds", n=4, options=on_nodes(4))
    pes = result(tmp_path / "run")["pes"]
    seconds = [sum(pe["seconds"].values()) for pe in pes]
    assert sum(pe["joules"]["idle"] for pe in pes) == pytest.approx(2 * 3.786 * sum(seconds) / 4, rel=1e-9)
    assert sum(pe["joules"]["network_idle"] for pe in pes) == pytest.approx(8 * sum(seconds) / 4, rel=1e-9)
    kept = [json.loads(path.read_text()) for path in sorted((tmp_path / "run/profile").glob("pe-*.json"))]
    assert [pe["node"] is not None for pe in kept] == [True, False, False, False]
    of_node, idle = (kept[0]["node"][key][0]["joules"] for key in ("joules", "idle"))
    assert of_node == pytest.approx(idle + sum(pe["joules"][0]["joules"] for pe in kept), abs=1e-7)


def test_more_pes_than_the_node_has_cores_are_refused(programs: Path, tmp_path: Path) -> None:
    done = simulate(tmp_path / "run", programs / "near", n=34, options=("--per-node", "17"))
    assert done.returncode == 2 and "--per-node 17: expected 1 to 16" in done.stderr, done
    assert not (tmp_path / "run").exists()
