"""MPI programs in simulation: calls do what MPI says, waits last and cost what a hand calculation gives, the same run
gives the same result bit for bit, and a deadlock names each rank's call and line."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
from sim_job import build, free_cluster, is_built, result, simulate

pytestmark = pytest.mark.skipif(not is_built(), reason="built without SimGrid (libsimgrid-dev)")

ACTIVE, SPIN, SPIN_LOW = 12.458, 12.064, 5.784  # W, sandybridge-e5-2670: at its base clock, and at 1.2 GHz
WAKE, CHANGE = 50e-6, 40e-6


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("mpi"), "mpi_kinds", "mpi_late", "mpi_deadlock", "mpi_ring", "mpi_wrong")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return free_cluster(tmp_path_factory.mktemp("cluster"), wake=WAKE, clock_change=CHANGE)


def late(where: Path, programs: Path, cluster: Path, *arguments: str, settings: tuple[str, ...] = ()) -> float:
    """How long rank 1 of 2 waited."""
    options = [word for pair in settings for word in ("--set", pair)]
    done = simulate(where, programs / "mpi_late", *arguments, n=2, options=("--machine", str(cluster), *options))
    found = re.search(r"waited ([0-9.]+) got 1", done.stdout)
    assert found, done
    return float(found[1])


def test_a_wrong_call_ends_the_job_with_its_name_and_place(programs: Path, tmp_path: Path) -> None:
    done = simulate(tmp_path / "run", programs / "mpi_wrong", n=2)
    assert done.returncode != 0
    assert re.search(r"rank 1: MPI_Send at program\+0x[0-9a-f]{1,8}: MPI_ERR_RANK", done.stderr), done
    done = simulate(tmp_path / "returned", programs / "mpi_wrong", "returns", n=2)
    assert done.returncode == 0 and done.stdout == "returned\n", done


@pytest.mark.parametrize("n", [2, 7])
def test_every_kind_of_call_does_what_the_mpi_standard_says(programs: Path, tmp_path: Path, n: int) -> None:
    done = simulate(tmp_path / "run", programs / "mpi_kinds", n=n)
    assert done.returncode == 0 and done.stdout.startswith("good at "), done


def test_a_fortran_program_runs_and_its_sites_are_its_lines(tmp_path: Path) -> None:
    program = build(tmp_path, "mpi_fortran", suffix=".f90", compiler="gfortran") / "mpi_fortran"
    done = simulate(tmp_path / "run", program, n=4)
    assert done.returncode == 0 and done.stdout.split() == ["sum", "6", "left", "0"], done
    assert re.search(r"^mpi_fortran\.f90:12 .*\n +MPI_Allreduce", done.stderr, re.M), done.stderr


def test_a_wait_that_spins_costs_its_length_in_spinning_watts(programs: Path, cluster: Path, tmp_path: Path) -> None:
    waited = late(tmp_path / "r", programs, cluster, "40", settings=("WATTLE_WAIT=spin",))
    first, second = result(tmp_path / "r")["pes"]
    assert waited == pytest.approx(40e-3, rel=1e-6)
    assert first["joules"]["computes"] == pytest.approx(40e-3 * ACTIVE, rel=1e-6)
    assert second["joules"]["spins"] == pytest.approx(40e-3 * SPIN, rel=1e-4)


def looks(waited: float) -> tuple[float, int]:
    """When a sleeper's look finds what came after `waited`, and how many that took: src/govern/steps.c, of a wait of
    which nothing is known."""
    at, n = 0.0, 0
    while at < waited:
        at += max(10e-6, min(math.sqrt(2 * 17e-6 * at), at / 16, 1e-3)) + WAKE
        n += 1
    return at, n


def test_a_sleeping_wait_costs_a_wake_up_for_each_test_in_time_and_joules(
    programs: Path, cluster: Path, tmp_path: Path
) -> None:
    waited = late(tmp_path / "r", programs, cluster, "40", settings=("WATTLE_WAIT=sleep",))
    second = result(tmp_path / "r")["pes"][1]
    until, n = looks(40e-3)
    assert waited == pytest.approx(until, rel=1e-5) and n > 40
    assert second["seconds"]["sleeps"] == pytest.approx(until - n * WAKE, rel=1e-2)
    wakes = second["seconds"]["wakes"]
    assert wakes == pytest.approx(n * WAKE, rel=0.05) and second["joules"]["wakes"] == pytest.approx(wakes * ACTIVE)


def test_a_message_takes_of_both_cores_and_of_the_network_what_the_cluster_says(programs: Path, tmp_path: Path) -> None:
    cluster = free_cluster(tmp_path, latency=1e-3, message=2e-3, receive=3e-3, bandwidth=1e3, byte=1e-4)
    waited = late(tmp_path / "r", programs, cluster, "40", settings=("WATTLE_WAIT=spin",))
    n, envelope = 4, 16  # bytes; SimGrid adds the envelope on the wire
    assert waited == pytest.approx(40e-3 + 2e-3 + n * 1e-4 + 1e-3 + (n + envelope) / 1e3 + 3e-3 + n * 1e-4, rel=1e-6)


def test_a_long_message_asks_first(programs: Path, tmp_path: Path) -> None:
    """By rendezvous: a request and its answer, each of which both cores and the network have work with."""
    cluster = free_cluster(tmp_path, latency=1e-3, message=2e-3, receive=3e-3, bandwidth=1e3, byte=1e-4, eager=4)
    waited = late(tmp_path / "r", programs, cluster, "40", settings=("WATTLE_WAIT=spin",))
    n, envelope = 4, 16
    asked = 2 * (2e-3 + 1e-3 + 3e-3)
    cores = 2e-3 + 3e-3 + 2 * n * 1e-4
    assert waited == pytest.approx(40e-3 + asked + cores + 1e-3 + (n + envelope) / 1e3, rel=1e-6)


def test_the_governor_lowers_the_clock_of_a_waiting_pe(programs: Path, cluster: Path, tmp_path: Path) -> None:
    settings = ("WATTLE_WAIT=spin", "WATTLE_GOVERN=energy", "WATTLE_SCALING=reactive")
    waited = late(tmp_path / "r", programs, cluster, "10", "40", settings=settings)
    assert waited == pytest.approx(400e-3, rel=0.01)
    assert result(tmp_path / "r")["pes"][1]["joules"]["spins"] < 0.6 * 400e-3 * SPIN
    clocks = json.loads((tmp_path / "r/profile/pe-00001.json").read_text())["clocks"]
    assert clocks["knob"] == "simgrid" and clocks["changes"] > 20 and not clocks["failed"]


def test_a_plan_s_clock_makes_work_take_longer(programs: Path, cluster: Path, tmp_path: Path) -> None:
    waited = late(tmp_path / "r", programs, cluster, "12", settings=("WATTLE_CLOCKS=0-1=1.2", "WATTLE_WAIT=spin"))
    assert waited == pytest.approx(12e-3 * 2.6 / 1.2, rel=1e-2)


def test_the_same_run_has_the_same_result_bit_for_bit(programs: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        simulate(tmp_path / name, programs / "mpi_kinds", n=5)
    assert (tmp_path / "one/simulation.json").read_bytes() == (tmp_path / "two/simulation.json").read_bytes()


def test_a_deadlock_names_the_call_and_the_line_of_each_rank(programs: Path, tmp_path: Path) -> None:
    done = simulate(tmp_path / "run", programs / "mpi_deadlock", n=3)
    assert done.returncode != 0
    assert re.search(r"MPI_Recv at mpi_deadlock\.c:9: rank 0$", done.stderr, re.M), done.stderr
    assert re.search(r"MPI_Barrier at mpi_deadlock\.c:10: rank 1-2$", done.stderr, re.M), done.stderr


def test_the_profile_counts_calls_bytes_and_waits_by_line(programs: Path, tmp_path: Path) -> None:
    done = simulate(tmp_path / "run", programs / "mpi_ring", "1000", "3", n=4)
    assert done.returncode == 0, done
    profile = json.loads((tmp_path / "run/profile/pe-00001.json").read_text())

    def total(call: str, field: str) -> int:
        return sum(site[field] for site in profile["sites"] if site["call"] == call)

    assert profile["api"] == "mpi"
    assert total("MPI_Isend", "calls") == 6 and total("MPI_Isend", "bytes") == 6 * 8000
    assert total("MPI_Waitall", "calls") == 3
    assert {j["provenance"] for j in profile["joules"]} == {"modelled"}
    # each message is sent once and received once, and what the collectives say is short
    network = sum(pe["joules"]["network"] for pe in result(tmp_path / "run")["pes"]) / 0.2e-9  # J/B
    assert network == pytest.approx(2 * 4 * 6 * 8000, rel=0.01)


# The limits are there to end what hangs.
@pytest.mark.soak
@pytest.mark.timeout(600)
def test_hundreds_of_ranks(programs: Path, tmp_path: Path) -> None:
    options = ("--no-profile",)
    done = simulate(tmp_path / "run", programs / "mpi_ring", "2048", "20", n=512, options=options, timeout=500)
    assert done.returncode == 0, done.stderr[-1000:]
    assert len(result(tmp_path / "run")["pes"]) == 512
