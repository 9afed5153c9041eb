"""`wattle study protocols` with real MPIs: configurations, jobs, and messages that went by the other protocol."""

from __future__ import annotations

import json
from dataclasses import replace

import bare_rows
import fakes
import made_rows
import polars as pl
import pytest
import sweeps
from fakes import Wattle
from wattle.sim import cluster as clusters
from wattle.study import published
from wattle.study.place import TWO_NODES, Place
from wattle.study.protocols import configurations, judges
from wattle.study.protocols.configurations import MPICH, OPEN_MPI, SHARED, TCP, Configuration
from wattle.study.protocols.study import STUDY, WAITS
from wattle.study.published import Verdict
from wattle.study.sweep.analysis import SCHEMA, Analysis
from wattle.study.sweep.plan import Job, Plan


def analysis(went: dict[str, bool | None], provenance: str = "modelled") -> Analysis:
    """Samples of real MPIs on two nodes. `went`: by configuration, whether its messages were eager, if that is
    known.
    """
    rows = []
    for name, eager in went.items():
        job = Job(name, "protocols-openmpi", (), 1, wait="spin")
        slower = 1.0 if name.endswith("eager") else 2.0
        for payload, count in ((1024, 1), (1048576, 1), (1048576, 256)):
            for who in ("sender", "receiver"):
                seconds = slower * 1e-6 * (count + payload / 1024)
                for repeat in range(6):
                    at = (0, len(rows), repeat)
                    row = sweeps._row(job, "send", who, float(payload), float(count), at, seconds, 10 * seconds)
                    more = {} if eager is None else {"eager": eager}
                    rows.append(row | {"more_json": json.dumps(more), "verified": True})
                    for domain in ("cpu", "dram"):
                        rows[-1] |= {f"{domain}_provenance": provenance, f"{domain}_source": "model here"}
    return Analysis(pl.DataFrame(rows, schema=SCHEMA), sweeps.NO_KNOB, Place(TWO_NODES))


def verdicts(a: Analysis) -> dict[str, published.Row]:
    return {row.id: row for row in bare_rows.judge(STUDY.rows, a)}


BOTH = {"TCP, rendezvous": False, "TCP, eager": True}


@pytest.mark.parametrize("transport", [TCP, SHARED])
def test_each_mpi_moves_its_eager_limit_to_both_ends_by_its_own_parameter(transport):
    found = {(c.mpi, c.eager): dict(c.settings) for c in configurations.measured(transport)}
    assert set(found) == {(mpi, eager) for mpi in (OPEN_MPI, MPICH) for eager in (False, True)}
    btl = {TCP: "tcp", SHARED: "vader"}[transport]
    limits = [int(found[OPEN_MPI, eager][f"OMPI_MCA_btl_{btl}_eager_limit"]) for eager in (False, True)]
    assert limits[0] <= configurations.SMALLEST[transport] and limits[1] > 1 << 20
    assert [found[MPICH, eager]["UCX_RNDV_THRESH"] for eager in (False, True)] == ["0", "inf"]
    assert all(("tcp" in found[MPICH, eager]["UCX_TLS"]) == (transport == TCP) for eager in (False, True))


@pytest.mark.parametrize(("place", "transport"), [(Place(), SHARED), (Place(TWO_NODES), TCP)])
def test_jobs_are_of_both_mpis_by_the_transport_of_the_place(place, transport):
    for quick in (False, True):
        jobs = STUDY.jobs(Plan(quick, 1, sweeps.NO_KNOB, place=place))
        assert {job.program for job in jobs} == {"protocols-openmpi", "protocols-mpich"}
        assert {job.wait for job in jobs} == set(WAITS)
        assert all(transport in job.series and job.optional and "--probe" in job.arguments for job in jobs)
        for job in jobs:
            sizes = [int(x) // int(y) for x, _, y in (word.partition(":") for word in job.arguments if ":" in word)]
            assert min(sizes) >= configurations.SMALLEST[transport]
            assert len(sizes) * 6 == job.samples and len(sizes) <= 64


def test_messages_that_went_by_the_other_protocol_are_left_out_and_said():
    right, wrong = analysis(BOTH), analysis(BOTH | {"TCP, rendezvous": True})
    assert verdicts(right)["eager-saves"].verdict is Verdict.SAME
    assert verdicts(wrong)["eager-saves"].verdict is Verdict.NOT_TESTABLE
    assert "3 cases went by the other protocol" in STUDY.says(wrong)
    assert "other protocol" not in STUDY.says(right)
    assert judges.senders(analysis({"TCP, eager": None}), configurations.TCP_EAGER)


def test_registering_is_dear_at_the_prices_of_the_papers_cards_and_not_at_low_ones():
    papers = clusters.read("sandybridge-ib")
    dear = judges.pinning_on(papers)
    assert dear.verdict is Verdict.SAME
    assert dear.ours.startswith("16.2 µs of an active core for 1.00 KiB, copying 102 ns")
    assert dear.ours.endswith("copying is cheaper up to 391 KiB")
    free = papers.with_value("register", 0.0, "for a test").with_value("register_page", 0.1e-6, "for a test")
    assert judges.pinning_on(free).verdict is Verdict.WORSE
    large = papers.with_value("register_page", 1e-6, "for a test")  # a page costs more than its copy
    assert judges.pinning_on(large).ours.endswith("copying is cheaper at any size")


def test_fewer_simulated_messages_save_by_construction_and_real_ones_are_judged():
    real = made_rows.protocols(made_rows._published_protocols, made_rows._published_memory)()
    simulated = Analysis(real.frame, replace(sweeps.KNOB, name="simgrid"), Place())
    assert judges.aggregating(real).verdict is Verdict.SAME
    found = judges.aggregating(simulated)
    assert found.verdict is Verdict.CONSTRUCTION
    assert "each message has a price" in found.why[0]


def test_what_was_not_measured_is_named():
    rows = verdicts(analysis(BOTH))
    assert "InfiniBand, eager was not measured here" in rows["ib-eager-peak"].why
    assert "InfiniBand was not measured here" in rows["example-2-time"].why
    assert "registers no memory" in rows["pinning"].why
    shared = verdicts(analysis({"shared memory, rendezvous": False, "shared memory, eager": True}))
    assert shared["eager-over-rendezvous"].verdict is Verdict.NOT_TESTABLE
    assert shared["eager-saves"].verdict is Verdict.SAME


def test_modelled_joules_of_real_ranks_judge_no_watts_and_measured_ones_do():
    modelled, measured = verdicts(analysis(BOTH)), verdicts(analysis(BOTH, "measured"))
    for name in ("tcp-rendezvous-sender", "dram-tcp-rendezvous-bulk", "tcp-rendezvous-peak"):
        assert modelled[name].verdict is Verdict.NOT_TESTABLE
    assert "idle draw" in modelled["tcp-rendezvous-sender"].why
    assert measured["tcp-rendezvous-sender"].verdict is Verdict.WORSE


def test_bytes_per_joule_are_the_payload_over_the_joules_of_both_ends():
    a = analysis(BOTH)
    (point,) = [p for p in judges.senders(a, configurations.TCP_EAGER) if (p.x, p.y) == (1048576, 256)]
    joules = 10 * 1e-6 * (256 + 1024)  # of each end, CPU and DRAM
    assert judges.efficiency(a, point) == pytest.approx(1048576 / (2 * joules))


def test_pairs_are_of_one_transport_and_one_mpi():
    names = ("TCP, rendezvous", "TCP, eager", "MPICH, TCP, rendezvous", "MPICH, TCP, eager")
    found = judges.pairs_of(analysis(dict.fromkeys(names)))
    assert {(e.name, r.name) for e, r in found} == {(names[1], names[0]), (names[3], names[2])}


def test_names_of_configurations_differ():
    names = [c.name for c in configurations.ALL]
    assert len(set(names)) == len(names)
    assert configurations.CALLED["TCP, eager"] == configurations.TCP_EAGER
    assert replace(configurations.TCP_EAGER, name="x") == Configuration("x", TCP, True, "sandybridge-gige")


def test_a_cluster_of_ones_own_is_refused(wattle: Wattle, tmp_path):
    done = wattle("study", "protocols", "--on", "sim:sandybridge-ib", "-o", tmp_path / "out")
    assert done.returncode == 2
    assert "write --on sim" in done.stderr


def test_without_any_mpi_the_first_missing_program_is_named(home, environment, wattle: Wattle, tmp_path):
    sweeps.programs(home)
    clocks = {"mode": "baseline", "scaling": "reactive", "knob": "none", "why": "none here"}
    environment |= {"FAKE_SAYS": str(tmp_path / "says"), "FAKE_TEMPLATE": json.dumps(fakes.pe_profile(clocks=clocks))}
    done = wattle("study", "protocols", "--quick", "-o", tmp_path / "out")
    assert done.returncode == 2
    assert "protocols-openmpi is missing" in done.stderr
    assert "libopenmpi-dev" in done.stderr
