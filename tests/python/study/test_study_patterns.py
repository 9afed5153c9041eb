"""`wattle study patterns`, with a benchmark that only prints given figures."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import fakes
import polars as pl
import pytest
import studies
from fakes import Wattle
from wattle.study.patterns.analysis import SCHEMA, row
from wattle.study.patterns.study import make_plan
from wattle.study.stats import FEWEST


@pytest.fixture
def bench(home: Path) -> Path:
    """The benchmark of the made-up home. The made-up oshrun takes `-n N --`, as the real one does."""
    return fakes.script(home / "bin" / "wattle-bench-patterns", studies.BENCH)


def test_a_study_leaves_samples_results_and_a_manifest(bench, wattle: Wattle, tmp_path):
    out = tmp_path / "out"
    done = wattle("study", "patterns", "--quick", "-o", out)
    assert done.returncode == 0, done.stderr
    frame = pl.read_parquet(out / "samples.parquet")
    assert dict(frame.schema) == SCHEMA
    main = frame.filter(pl.col("series") == "patterns")
    assert main.height == 5 * 18 * 7
    assert set(main["fragments"]) == {1 << k for k in range(18)}
    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest["kind"], manifest["n_pes"], manifest["study"]["name"]) == ("study", 2, "patterns")
    results = json.loads((out / "results.json").read_text())
    assert results["verified"] is True
    assert "published figures" in done.stdout


def test_quick_and_full_sweep_the_papers_counts_and_differ_in_repeats():
    quick, full = make_plan(None, None, None, True), make_plan(None, None, None, False)
    assert quick.fragments == full.fragments == [1 << k for k in range(18)]
    assert quick.payload == full.payload == 512 * 1024
    assert quick.repeats < full.repeats


def test_json_is_one_document_with_every_published_row(bench, wattle: Wattle, tmp_path):
    done = wattle("study", "patterns", "--quick", "--repeat", 1, "-o", tmp_path / "out", "--json")
    document = json.loads(done.stdout)
    assert {"published", "configurations", "savings", "manifest", "directory"} <= set(document)
    assert all(r["verdict"] in ("same", "worse", "not testable") for r in document["published"])


def test_a_smaller_payload_is_cut_only_as_far_as_it_goes(bench, wattle: Wattle, tmp_path):
    out = tmp_path / "out"
    done = wattle("study", "patterns", "--quick", "--payload", "64K", "--repeat", 1, "-o", out)
    assert done.returncode == 0, done.stderr
    main = pl.read_parquet(out / "samples.parquet").filter(pl.col("series") == "patterns")
    assert main["fragments"].max() == 65536
    assert set(main["payload"]) == {65536}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--on", "sim:"], ["sim:", "not a place", "local, two-nodes, hosts:A,B, sim:CLUSTER"]),
        (["--pes", "4"], ["--pes 4", "--on sim:CLUSTER"]),
        (["--on", "moon"], ["moon", "not a place", "local, two-nodes"]),
        (["--on", "two-nodes", "--link", "fast"], ["--link fast", "not a bandwidth", "1gbit"]),
        (["--link", "1gbit"], ["--link 1gbit", "--on two-nodes"]),
        (["--payload", "much"], ["much", "512K"]),
        (["--payload", "0"], ["0", "1 byte"]),
        (["--payload", "9G"], ["64.0 MiB"]),
        (["--repeat", "0"], ["--repeat 0", "1 to 1000"]),
        (["--min-time", "-1"], ["--min-time", "0 to 60"]),
        (["--nonsense"], ["--nonsense"]),
    ],
)
def test_a_wrong_argument_is_named_with_the_allowed_values(bench, wattle: Wattle, tmp_path, arguments, words):
    done = wattle("study", "patterns", *arguments, "-o", tmp_path / "out")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr, word
    assert not (tmp_path / "out").exists()


def test_a_study_that_does_not_exist_is_refused(bench, wattle: Wattle):
    done = wattle("study", "nonsense")
    assert done.returncode == 2
    assert "nonsense" in done.stderr


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("fails", ["exit code 1", "no space for 9 bytes"]),
        ("babbles", ["not a JSON object", "hello"]),
        ("silent", ["without a sample"]),
        ("wrong", ["pattern", "'PQ'"]),
    ],
)
def test_a_benchmark_that_misbehaves_ends_the_study_with_its_own_words(bench, wattle: Wattle, tmp_path, mode, words):
    done = wattle("study", "patterns", "--quick", "-o", tmp_path / "out", env={"FAKE_BENCH": mode})
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr, word
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["exit_code"] == 2


@pytest.mark.parametrize("samples", [0, 12])
def test_an_interrupted_study_keeps_its_samples_and_says_so(bench, interrupted, wattle: Wattle, tmp_path, samples):
    out = tmp_path / "out"
    done = interrupted("patterns", out, FAKE_BENCH=f"stops {samples}")
    assert done.returncode == 130
    planned = 5 * 18 * 7 + 2 * 18 * 7  # five patterns, then one at two payloads; 18 counts, 7 repeats
    assert f"wattle: interrupted after {samples} of {planned} samples; kept in {out}\n" in done.stderr
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["exit_code"] == 130
    assert manifest["study"]["samples"] == samples
    assert manifest["study"]["samples_planned"] == planned
    if samples:
        assert pl.read_parquet(out / "samples.parquet").height == samples
    report = wattle("report", out)
    assert report.returncode == 2
    assert f"was interrupted after {samples} of" in report.stderr
    assert len(report.stderr.strip().splitlines()) == 1


def test_a_study_that_is_asked_to_end_keeps_its_samples_too(bench, interrupted, wattle: Wattle, tmp_path):
    out = tmp_path / "out"
    done = interrupted("patterns", out, signal.SIGTERM, FAKE_BENCH="stops 12")
    assert done.returncode == 128 + signal.SIGTERM
    assert "wattle: ended by SIGTERM after 12 of" in done.stderr
    assert pl.read_parquet(out / "samples.parquet").height == 12
    assert "was ended by SIGTERM after 12 of" in wattle("report", out).stderr


def test_samples_are_kept_without_a_reader(bench, unheard, tmp_path):
    unheard("study", "patterns", "--quick", "--repeat", 1, "-o", tmp_path / "out")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["exit_code"] == 0
    assert pl.read_parquet(tmp_path / "out" / "samples.parquet").height > 0


def test_one_repeat_gives_figures_and_no_verdict(bench, wattle: Wattle, tmp_path):
    out = tmp_path / "out"
    done = wattle("study", "patterns", "--quick", "--repeat", 1, "-o", out)
    assert "medians of 1 repeat" in " ".join(done.stdout.split())
    rows = json.loads((out / "results.json").read_text())["published"]
    assert {row["verdict"] for row in rows} == {"not testable"}
    reason = "n = 1 repeat; a 95 % statement needs at least six."
    assert sum(row["why"].startswith(reason) for row in rows) >= len(rows) - 2
    page = wattle("report", out)
    assert page.returncode == 0
    text = (out / "report.html").read_text()
    assert "1 pair, one for each repeat" in " ".join(text.split())
    assert text.count(reason) == 1


def test_a_quick_study_has_the_repeats_to_judge_by():
    assert make_plan(None, None, None, True).repeats >= FEWEST


def test_a_machine_profile_that_is_not_there_is_reported_before_anything_is_made(bench, home, wattle: Wattle, tmp_path):
    broken = fakes.INFO | {"machine": {"error": 'no machine profile "bogus"'}}
    (home / "bin" / "info.json").write_text(json.dumps(broken))
    done = wattle("study", "patterns", "-o", tmp_path / "out")
    assert (done.returncode, done.stderr) == (2, 'wattle: no machine profile "bogus"\n')
    assert not (tmp_path / "out").exists()


def test_a_benchmark_that_is_not_built_is_built_once_with_the_homes_compiler(home, wattle: Wattle, tmp_path):
    source = home / "share" / "wattle" / "bench" / "patterns.c"
    source.parent.mkdir(parents=True)
    source.write_text("int main(void) { return 0; }\n")
    (home / "bench.py").write_text(studies.BENCH)
    compiler = f'#!/bin/sh\necho "$*" >> {home}/calls\nwhile [ "$1" != -o ]; do shift; done\ncp {home}/bench.py "$2"\n'
    fakes.script(home / "bin" / "oshcc", compiler + 'chmod +x "$2"\n')
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    for i in range(2):
        done = wattle("study", "patterns", "--quick", "--repeat", 1, "-o", tmp_path / f"out{i}", env=env)
        assert done.returncode == 0, done.stderr
    calls = (home / "calls").read_text().splitlines()
    assert len(calls) == 1
    assert "-DUSE_WATTLE" in calls[0]


def test_joules_of_sensors_are_summed_by_scope_and_psys_is_left_out():
    def figure(domain: str, scope: str, joules: float) -> dict[str, object]:
        return fakes.figure(domain, joules, "measured", 0.1) | {"scope": scope}

    energy = [
        figure("package-0", "package", 2.0),
        figure("package-1", "package", 3.0),
        figure("core-0", "core", 1.0),
        figure("dram-0", "dram", 0.5),
        figure("psys", "node", 50.0),
    ]
    latency = dict.fromkeys(("median", "p25", "p75", "mean", "min"), 1e-3)
    document = {"pattern": "PPQ", "payload": 8, "fragments": 1, "fragment_bytes": 8, "repeat": 0, "turn": 0}
    document |= {"iterations": 5, "block_s": 1.0, "latency_s": latency, "unpack_s": None, "bandwidth_Bps": 1.0}
    document |= {"message_rate_per_s": 1.0, "clear": "none", "verified": True, "energy": energy, "energy_why": None}
    found = row(document, "patterns")
    assert (found["cpu_J"], found["cpu_provenance"]) == (5.0, "measured")
    assert found["dram_J"] == 0.5
