"""`wattle export` writes a run for other tools, with all its numbers and none of its own."""

from __future__ import annotations

import json
import math
from pathlib import Path

import fakes
import made_paths
import polars as pl
import pytest
import wattle as api
from fakes import Wattle

RECORDED = Path(__file__).parents[1] / "api/recorded/halo-0.1.0"


@pytest.fixture
def phases(tmp_path: Path) -> Path:
    """A run of two processes with three call paths."""
    return fakes.make_run(tmp_path / "phases", [made_paths.phases(0), made_paths.phases(1)])


def caliper(wattle: Wattle, run: Path, target: Path) -> dict:
    done = wattle("export", run, "--to", "caliper", "-o", target)
    assert done.returncode == 0, done.stderr
    return json.loads(target.read_text())


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_tables_are_those_of_python(wattle: Wattle, tmp_path: Path, kind: str) -> None:
    done = wattle("export", RECORDED, "--to", kind, "-o", tmp_path / "tables")
    assert done.returncode == 0, done.stderr
    run = api.open(RECORDED)
    files = {path.stem: path for path in (tmp_path / "tables").iterdir()}
    assert {"processes", "sites", "paths", "by_domain", "timeline", "repeats"} <= files.keys()
    for name, path in files.items():
        expected = getattr(run, name)
        read = pl.read_parquet(path) if kind == "parquet" else pl.read_csv(path, schema=expected.schema)
        assert read.equals(expected), name


def test_a_chrome_trace_has_the_spans_of_the_timeline(wattle: Wattle, tmp_path: Path) -> None:
    done = wattle("export", RECORDED, "--to", "chrome", "-o", tmp_path / "trace.json")
    assert done.returncode == 0, done.stderr
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    spans, rows = [event for event in events if event["ph"] == "X"], api.open(RECORDED).timeline
    assert len(spans) == rows.height
    assert {event["pid"] for event in spans} == {0, 1}
    assert sum(event["dur"] for event in spans) * 1e-6 == pytest.approx((rows["end_s"] - rows["begin_s"]).sum())
    assert {"process_name", "thread_name"} == {event["name"] for event in events if event["ph"] == "M"}


def test_calipers_tree_adds_up_to_the_call_sites(wattle: Wattle, tmp_path: Path, phases: Path) -> None:
    found = caliper(wattle, phases, tmp_path / "caliper.json")
    columns = {name: [row[k] for row in found["data"]] for k, name in enumerate(found["columns"])}
    sites = api.open(phases).sites
    for ours, theirs in (
        ("sum#time.duration", "time_s"),
        ("wait_s", "wait_s"),
        ("calls", "calls"),
        ("joules", "joules"),
    ):
        assert math.fsum(columns[ours]) == pytest.approx(sites[theirs].sum())
    nodes = found["nodes"]
    assert [row[0] for row in found["data"]][: len(nodes) - 2] == list(range(len(nodes) - 2))
    assert all(node.get("parent", -1) < k for k, node in enumerate(nodes))
    assert {nodes[k]["label"] for k in columns["provenance"]} == {"modelled"}
    assert found["joules_provenance"] == "modelled"


def test_joules_that_are_not_known_are_null(wattle: Wattle, tmp_path: Path) -> None:
    site = fakes.site(joules={"cpu": None, "dram": None})
    found = caliper(wattle, fakes.make_run(tmp_path / "r", [fakes.pe_profile(0, 1, sites=[site])]), tmp_path / "c.json")
    calls = [row for row in found["data"] if row[found["columns"].index("calls")]]
    assert [row[found["columns"].index("joules")] for row in calls] == [None]
    assert found["nodes"][calls[0][-1]]["label"] == "unavailable"


def test_hatchet_reads_a_run(phases: Path) -> None:
    pytest.importorskip("hatchet", reason="llnl-hatchet is not installed")
    graph = api.open(phases).to_hatchet()
    sites = api.open(phases).sites
    for ours, theirs in (("time", "time_s"), ("joules", "joules"), ("calls", "calls")):
        assert graph.dataframe[ours].sum() == pytest.approx(sites[theirs].sum())
    assert graph.dataframe.index.names == ["node", "rank"]
    assert "Node order" not in graph.exc_metrics
    assert {"MPI_Recv"} == {node.frame["name"] for node in graph.graph.traverse() if not node.children}


def test_errors_name_the_format_and_what_is_missing(wattle: Wattle, run_dir: Path, tmp_path: Path) -> None:
    done = wattle("export", run_dir, "--to", "excel")
    assert done.returncode == 2
    assert "csv" in done.stderr and "caliper" in done.stderr
    done = wattle("export", run_dir, "--to", "chrome")
    assert (done.returncode, "left no timeline; run it with `wattle run --timeline`" in done.stderr) == (2, True)
    done = wattle("export", fakes.make_run(tmp_path / "n", profile=False), "--to", "caliper")
    assert (done.returncode, "was run without a profile" in done.stderr) == (2, True)
    done = wattle("export", run_dir, "--to", "caliper", "-o", tmp_path)
    assert (done.returncode, "is a directory; give a file with -o" in done.stderr) == (2, True)
