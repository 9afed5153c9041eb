"""The figures of communication: the matrix by pair, calls by size, and waiting by its kind."""

from __future__ import annotations

import json
import re
from typing import Any

import fakes
import pytest
from wattle.figures import sites, waiting
from wattle.record import profile
from wattle.report import traffic_figures


def talking(pe: int, n_pes: int, **changes: Any) -> dict[str, Any]:
    """A profile that sends 1000 bytes to the next process and waits for the one before."""
    after, before = (pe + 1) % n_pes, (pe - 1) % n_pes
    rows = {before: (0, 0, 0.25), after: (10, 1000, 0.0)} if before != after else {after: (10, 1000, 0.25)}
    numbers = sorted(rows)
    partners = {"pe": numbers} | {
        key: [rows[k][i] for k in numbers] for i, key in enumerate(("calls", "bytes", "wait_s"))
    }
    sizes = [{"call": "shmem_double_put", "counts": [0, 0, 4, 6]}, {"call": "shmem_long_p", "counts": [0, 0, 0, 0, 3]}]
    return fakes.pe_profile(pe % 2, n_pes) | {"pe": pe, "partners": partners, "sizes": sizes} | changes


def load(folder, n_pes: int) -> profile.RunProfile:
    fakes.write_profiles(folder / "profile", [talking(pe, n_pes) for pe in range(n_pes)])
    return profile.load(folder)


def drawn(found: profile.RunProfile) -> dict[str, Any]:
    return {figure.id: figure for figure in traffic_figures.figures(found)}


def test_the_matrix_has_bytes_calls_and_waiting_of_each_pair(tmp_path):
    found = drawn(load(tmp_path, 4))
    hover = found["pairs-bytes"].traces[0]["customdata"]
    assert [[("1000 B" in cell) for cell in row] for row in hover] == [
        [column == (row + 1) % 4 for column in range(4)] for row in range(4)
    ]
    waits = found["pairs-waiting"].traces[0]["z"]
    assert [[cell is not None for cell in row] for row in waits] == [
        [column == (row - 1) % 4 for column in range(4)] for row in range(4)
    ]
    assert "10" in found["pairs-calls"].traces[0]["customdata"][0][1]


def test_many_processes_share_cells_and_nothing_is_lost(tmp_path):
    found = drawn(load(tmp_path, 130))
    trace = found["pairs-calls"].traces[0]
    assert len(trace["z"]) == len(trace["z"][0]) == 44
    assert "3 x 3" in found["pairs-calls"].note
    counts = [
        int(re.search(r"calls: (\d+)", cell)[1]) for row in trace["customdata"] for cell in row if "calls: " in cell
    ]
    assert sum(counts) == 1300


def test_sizes_are_stacked_by_routine(tmp_path):
    figure = drawn(load(tmp_path, 2))["sizes"]
    by_call = {trace["name"]: dict(zip(trace["x"], trace["y"], strict=True)) for trace in figure.traces}
    assert by_call == {
        "shmem_double_put": {"2 B": 8, "4 B": 12, "8 B": 0},
        "shmem_long_p": {"2 B": 0, "4 B": 0, "8 B": 6},
    }


def test_profiles_of_earlier_versions_have_no_such_figures(run_dir):
    assert traffic_figures.figures(profile.load(run_dir)) == []


def test_the_page_has_them(tmp_path, wattle):
    run = fakes.make_run(tmp_path / "run", [talking(pe, 2) for pe in range(2)])
    assert wattle("report", run).returncode == 0
    page = (run / "report.html").read_text()
    for words in ("Bytes by pair", "Waiting by pair", "Calls by size", "by uneven arrival"):
        assert words in page


@pytest.mark.parametrize(
    ("partners", "wrong"),
    [
        ({"pe": [2], "calls": [1], "bytes": [1], "wait_s": [0]}, "expected numbers of PEs below 2"),
        ({"pe": [1], "calls": [1, 1], "bytes": [1], "wait_s": [0]}, "expected lists of equal length"),
        ({"pe": [1], "calls": ["one"], "bytes": [1], "wait_s": [0]}, "partners.calls[0]: expected a whole number"),
        ({"pe": [1], "calls": [-1], "bytes": [1], "wait_s": [0]}, "partners.calls[0]: expected at least 0"),
    ],
)
def test_wrong_counts_are_named(tmp_path, wattle, partners, wrong):
    run = fakes.make_run(tmp_path / "run", [talking(0, 2, partners=partners), talking(1, 2)])
    assert wrong in " ".join(wattle("report", run).stderr.split())


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("MPI_Recv", "late sender"),
        ("MPI_Mprobe", "late sender"),
        ("shmem_long_wait_until", "late sender"),
        ("armci_msg_rcv", "late sender"),
        ("MPI_Ssend", "late receiver"),
        ("MPI_Send", "late receiver"),
        ("MPI_Sendrecv", "exchange"),
        ("MPI_Waitall", "requests"),
        ("MPI_Barrier", "barrier"),
        ("shmem_barrier_all", "barrier"),
        ("shmem_sync_all", "barrier"),
        ("MPI_Allreduce", "all to all"),
        ("MPI_Reduce_scatter", "all to all"),
        ("shmem_int_sum_reduce", "all to all"),
        ("armci_msg_dgop", "all to all"),
        ("MPI_Bcast", "one to all"),
        ("shmem_broadcastmem", "one to all"),
        ("MPI_Reduce", "all to one"),
        ("MPI_Gatherv", "all to one"),
        ("shmem_quiet", "memory of others"),
        ("MPI_Win_fence", "memory of others"),
        ("MPI_File_write_all", "files"),
        ("MPI_Comm_split", "other"),
    ],
)
def test_the_kind_of_a_wait_follows_from_the_routine(call, kind):
    assert waiting.kind_of(call)[0] == kind


def test_waiting_at_collectives_beyond_the_least_is_imbalance(tmp_path, wattle):
    found = load(tmp_path, 2)  # the barriers of PE 0 took 0.5 s, those of PE 1 0.6 s
    merged = sites.merge(found)
    (barrier,) = waiting.imbalances(merged, 2, "")
    assert (barrier.mean_s, barrier.least_s, barrier.most_s, barrier.uneven_s) == pytest.approx((0.55, 0.5, 0.6, 0.1))
    assert waiting.imbalances(merged, 3, "") == []  # a process did not reach it
    assert [(one.kind, round(one.seconds, 6)) for one in waiting.by_kind(merged)] == [("barrier", 1.1)]


def test_json_has_them(tmp_path):
    from wattle.run import summary

    found = load(tmp_path, 2)
    made = json.loads(json.dumps(summary.of_profile(found, sites.merge(found))))
    assert made["waiting"] == [{"kind": "barrier", "seconds": pytest.approx(1.1)}]
    assert made["imbalance"][0]["uneven_s"] == pytest.approx(0.1)
    assert made["pes"][0]["partners"]["bytes"] == [1000]
    assert made["pes"][0]["sizes"]["shmem_long_p"] == [0, 0, 0, 0, 3]
