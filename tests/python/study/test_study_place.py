"""`wattle study patterns --on two-nodes`: its nodes are made, recorded, and removed in every case."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import fakes
import polars as pl
import pytest
import studies
from fakes import Wattle
from wattle.base.checked import Checked
from wattle.base.errors import DamagedFile, WattleError
from wattle.machine.nodes import unavailable
from wattle.sim import simulation
from wattle.study import place as module
from wattle.study import registry
from wattle.study.patterns.study import make_plan
from wattle.study.place import Place, check_place

WHY_NOT = unavailable() or ("two cores are needed" if len(os.sched_getaffinity(0)) < 2 else None)
needs_two_nodes = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))

TWO_NODES = Place("two-nodes")


@pytest.fixture
def bench(home: Path) -> Path:
    return fakes.script(home / "bin" / "wattle-bench-patterns", studies.BENCH)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MiB."""
    place = tmp_path / "small"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)], check=False).returncode:
        pytest.skip("may not mount a small disk here")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def left_of(process: subprocess.Popen[str]) -> list[str]:
    """Namespaces of a process's nodes."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout.split()
    return [name for name in listed if name.startswith(f"wtl{process.pid}x")]


def start(environment: dict[str, str], out: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "wattle", "study", "patterns", "--quick", "--on", "two-nodes", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "preexec_fn": fakes.heed_signals}
    return subprocess.Popen([*command, "-o", str(out)], env=environment, text=True, **pipes)


def until(holds, limit_s: float = 300.0) -> None:
    end = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


# ---- made, recorded, taken down ----


@needs_two_nodes
def test_the_study_runs_on_a_node_with_a_core_of_its_own_and_records_the_place(bench, environment, tmp_path):
    out, says = tmp_path / "out", tmp_path / "says"
    process = start(environment | {"FAKE_SAYS_HOST": str(says)}, out, "--link", "1gbit")
    said, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    host, core = says.read_text().split()[:2]
    assert host.startswith(f"wtl{process.pid}x0n0-")
    assert core == f"[{host.rpartition('-')[2]}]"
    assert left_of(process) == []
    assert "Two nodes made of network namespaces on one machine" in " ".join(said.split())
    study = json.loads((out / "manifest.json").read_text())["study"]
    assert study["on"] == "two-nodes"
    assert (study["place"]["nodes"], study["place"]["one_machine"], study["place"]["link"]) == (2, True, "1gbit")
    assert json.loads((out / "results.json").read_text())["place"]["name"] == "two-nodes"
    counts = pl.read_parquet(out / "samples.parquet").filter(pl.col("series") == "patterns")["fragments"]
    assert counts.max() == 8192


@needs_two_nodes
@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("SIGINT", 130, "interrupted"),
        ("SIGTERM", 143, "ended by SIGTERM"),
        ("SIGHUP", 129, "ended by SIGHUP"),
    ],
)
def test_a_study_that_is_stopped_keeps_its_samples_and_leaves_no_node(bench, environment, tmp_path, name, code, words):
    out, ready = tmp_path / "out", tmp_path / "ready"
    process = start(environment | {"FAKE_BENCH": "stops 12", "FAKE_READY": str(ready)}, out)
    fakes.until_there(ready, process)
    assert left_of(process)
    process.send_signal(getattr(signal, name))
    _, err = process.communicate(timeout=300)
    assert process.returncode == code, err
    assert f"wattle: {words} after 12 of" in err
    assert "Traceback" not in err
    assert left_of(process) == []
    assert json.loads((out / "manifest.json").read_text())["exit_code"] == code
    assert pl.read_parquet(out / "samples.parquet").height == 12


@needs_two_nodes
def test_a_study_that_is_killed_outright_leaves_no_node_and_no_process(bench, environment, tmp_path):
    ready = tmp_path / "ready"
    process = start(environment | {"FAKE_BENCH": "stops 3", "FAKE_READY": str(ready)}, tmp_path / "out")
    fakes.until_there(ready, process)
    node = left_of(process)[0]
    process.kill()
    process.communicate(timeout=300)
    until(lambda: left_of(process) == [])
    assert subprocess.run(["ip", "netns", "pids", node], capture_output=True, text=True, check=False).stdout == ""


@needs_two_nodes
def test_a_disk_that_fills_up_meanwhile_is_reported_and_leaves_no_node(bench, environment, small_disk):
    environment |= {"FAKE_BENCH": "fills", "FAKE_FILL": str(small_disk / "fill")}
    process = start(environment, small_disk / "out")
    _, err = process.communicate(timeout=300)
    assert process.returncode == 2
    assert "No space left on device" in err
    assert "Traceback" not in err.splitlines()[-1]
    assert left_of(process) == []


@needs_two_nodes
def test_a_benchmark_that_fails_there_ends_the_study_and_leaves_no_node(bench, environment, tmp_path):
    process = start(environment | {"FAKE_BENCH": "fails"}, tmp_path / "out")
    _, err = process.communicate(timeout=300)
    assert process.returncode == 2
    assert "no space for 9 bytes" in err
    assert left_of(process) == []


def test_where_nodes_cannot_be_made_the_reason_is_reported_before_anything_is_made(
    bench, wattle: Wattle, tmp_path, monkeypatch
):
    monkeypatch.setattr(module.nodes, "unavailable", lambda: "network namespaces need root")
    with pytest.raises(WattleError, match="--on two-nodes: network namespaces need root; --on local needs none"):
        check_place("two-nodes")
    monkeypatch.setattr(module.nodes, "unavailable", lambda: None)
    monkeypatch.setattr(module.os, "sched_getaffinity", lambda _: {0})
    with pytest.raises(WattleError, match="each node needs a core of its own, and this process may use 1"):
        check_place("two-nodes")
    assert check_place("local") == Place()
    done = wattle("study", "patterns", "--on", "two-nodes", "-o", tmp_path / "out", env={"PATH": str(tmp_path)})
    assert done.returncode == 2
    assert "--on two-nodes: " in done.stderr
    assert "not found (Debian: apt install iproute2 util-linux)" in done.stderr or "need root" in done.stderr
    assert not (tmp_path / "out").exists()


def test_between_nodes_a_quick_sweep_is_shorter_and_a_full_one_is_the_papers():
    quick, full = (make_plan(None, None, None, quick, TWO_NODES) for quick in (True, False))
    assert quick.fragments[-1] < full.fragments[-1] == 131072
    assert sum(n > 1024 for n in quick.fragments) >= 3  # a trend beyond 1024 needs as many
    assert full.payload_fragments == make_plan(None, None, None, False).payload_fragments


# ---- read back ----


def test_a_study_from_before_there_were_places_is_a_local_one(tmp_path):
    from wattle.record import manifest
    from wattle.study.patterns import study as patterns

    directory = studies.make_study(tmp_path / "s")
    assert patterns.STUDY.load(directory, manifest.read(directory)).place == Place()


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        ("here", "study.place: expected an object"),
        ({"name": "moon"}, "study.place.name: expected one of local, two-nodes"),
        ({"name": "two-nodes", "link": 1}, "study.place.link: expected text"),
    ],
)
def test_a_place_that_is_none_is_named(tmp_path, place, wrong):
    from wattle.record import manifest
    from wattle.study.patterns import study as patterns

    directory = studies.make_study(tmp_path / "s", place=TWO_NODES)
    document = json.loads((directory / "manifest.json").read_text())
    document["study"]["place"] = place
    (directory / "manifest.json").write_text(json.dumps(document))
    with pytest.raises(DamagedFile, match=wrong):
        patterns.STUDY.load(directory, manifest.read(directory))


def test_sim_is_the_system_of_a_study_s_chapter_and_other_clusters_stay_as_named() -> None:
    systems = {name: registry.study(name).where("sim") for name in registry.commands()}
    others = {"am": "opteron-ddr", "tsp": "opteron-ddr", "mst": "opteron-ddr", "pascol": "nw-ice-ib"}
    others["receiver"] = "sandybridge-fdr"
    assert systems == {name: f"sim:{others.get(name, 'sandybridge-ib')}" for name in systems}
    assert registry.study("am").where("sim:sandybridge-ndr") == "sim:sandybridge-ndr"
    assert registry.study("am").where("local") == "local"


@pytest.mark.skipif(simulation.unavailable() is not None, reason="built without SimGrid (libsimgrid-dev)")
def test_simulated_jobs_wait_as_the_papers_libraries_unless_the_user_sets_a_wait(monkeypatch, tmp_path) -> None:
    monkeypatch.delenv("WATTLE_WAIT", raising=False)
    usual = check_place("sim:sandybridge-fdr", simulates=True)
    assert "WATTLE_WAIT=spin" in usual.simulated_job(tmp_path, 2, False)
    assert "(System-C: " in usual.words and "WATTLE_WAIT=spin, as in the papers' libraries" in usual.words
    entry = {"name": "am", "place": usual.as_dict()}
    assert module.of_study(Checked("manifest.json", entry)).words == usual.words
    monkeypatch.setenv("WATTLE_WAIT", "sleep")
    chosen = check_place("sim:sandybridge-fdr", simulates=True)
    assert "WATTLE_WAIT=sleep" in chosen.simulated_job(tmp_path, 2, False) and "libraries" not in chosen.words
