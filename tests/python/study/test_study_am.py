"""`wattle study am`, with benchmarks that only print given figures; its rows and its page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import am_studies
import bare_rows
import fakes
import polars as pl
import pytest
from fakes import Wattle
from wattle.base.errors import WattleError
from wattle.record import manifest as manifests
from wattle.report.cli import write
from wattle.study.am import study as am
from wattle.study.am.analysis import SCHEMA, Analysis, Case
from wattle.study.am.judges import ROWS
from wattle.study.am.study import jobs_of, left_out_of, make_plan, planned
from wattle.study.place import Place
from wattle.study.published import Row, Verdict
from wattle.study.stats import FEWEST


@pytest.fixture
def bench(home: Path) -> Path:
    """The benchmark of the made-up home. The made-up oshrun takes `-n N --`, as the real one does."""
    return fakes.script(home / "bin" / "wattle-bench-am", am_studies.BENCH)


@pytest.fixture
def others(home: Path, tmp_path: Path) -> dict[str, str]:
    """MPI and UCX that are made up: the environment in which they are found."""
    tools = tmp_path / "tools"
    (home / "bench.py").write_text(am_studies.BENCH)
    copy = 'while [ "$1" != -o ]; do shift; done\n'
    fakes.script(tools / "mpicc.openmpi", f'#!/bin/sh\n{copy}cp {home}/bench.py "$2"\nchmod +x "$2"\n')
    fakes.script(tools / "mpirun.openmpi", am_studies.MPIRUN)
    fakes.script(tools / "ucx_perftest", am_studies.PERFTEST)
    folder = home / "share" / "wattle" / "bench"
    folder.mkdir(parents=True)
    for name in ("am_mpi.c", "am_cases.h", "clocks.h", "joules.h"):
        (folder / name).write_text("/* made up */\n")
    (home / "lib").mkdir()
    (home / "lib" / "libwattle-shmem.so").touch()
    path = {"PATH": f"{tools}:/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    return path | {"FAKE_MPIRUN": str(tmp_path / "mpirun")}


NOTHING = {"PATH": "/nowhere"}  # no MPI, no UCX


@pytest.mark.soak  # by the engine of all studies: test_study_patterns.py
def test_samples_are_kept_without_a_reader(bench, unheard, tmp_path):
    unheard("study", "am", "--quick", "--repeat", 1, "-o", tmp_path / "out", **NOTHING)
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["exit_code"] == 0
    assert pl.read_parquet(tmp_path / "out" / "samples.parquet").height > 0


def test_a_study_leaves_samples_results_and_a_manifest_with_all_four_ways(bench, others, wattle: Wattle, tmp_path):
    out = tmp_path / "out"
    done = wattle("study", "am", "--quick", "-o", out, env=others)
    assert done.returncode == 0, done.stderr
    frame = pl.read_parquet(out / "samples.parquet")
    assert dict(frame.schema) == SCHEMA
    assert set(frame["way"]) == {"am", "put", "nbi", "mpi", "ucx", "own", "shared"}
    assert set(frame["series"]) == {"bandwidth", "rate", "ring", "handlers"}
    assert frame.height == planned(make_plan(None, None, True))
    ucx = frame.filter(pl.col("way") == "ucx")
    assert ucx["message_s"].to_list() == pytest.approx([1 / 5000000] * ucx.height)
    assert set(ucx["cpu_provenance"]) == {"unavailable"}
    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest["kind"], manifest["study"]["name"]) == ("study", "am")
    assert json.loads((out / "results.json").read_text())["verified"] is True
    assert "published figures" in done.stdout
    assert wattle("report", out).returncode == 0


def test_mpi_yields_where_processes_outnumber_cores_and_only_there(bench, others, wattle: Wattle, tmp_path):
    done = wattle("study", "am", "--quick", "--repeat", 1, "-o", tmp_path / "out", env=others)
    assert done.returncode == 0, done.stderr
    calls = Path(others["FAKE_MPIRUN"]).read_text().splitlines()
    assert len(calls) == 2 + 4
    assert "mpi_yield_when_idle 1" in next(c for c in calls if c.endswith("-n 16"))
    assert all("yield" not in c for c in calls if c.endswith("-n 1"))


def test_without_mpi_and_ucx_the_rest_is_measured_and_the_omissions_reported(bench, wattle: Wattle, tmp_path):
    out = tmp_path / "out"
    done = wattle("study", "am", "--quick", "--repeat", 1, "-o", out, env=NOTHING)
    assert done.returncode == 0, done.stderr
    left_out = " ".join(json.loads((out / "manifest.json").read_text())["study"]["left_out"])
    assert "libopenmpi-dev" in left_out and "ucx-utils" in left_out
    assert set(pl.read_parquet(out / "samples.parquet")["way"]) == {"am", "put", "nbi", "own", "shared"}
    assert "Left out: MPI: mpicc and mpirun are missing" in " ".join(done.stdout.split())


def test_a_ring_that_the_machine_does_not_carry_is_left_out_with_its_reason(bench, wattle: Wattle, tmp_path):
    out = tmp_path / "out"
    env = NOTHING | {"FAKE_BENCH": "no large rings"}
    done = wattle("study", "am", "--quick", "--repeat", 1, "-o", out, env=env)
    assert done.returncode == 0, done.stderr
    left_out = json.loads((out / "manifest.json").read_text())["study"]["left_out"]
    assert sum("no room" in words for words in left_out) == 3  # of 4, 8 and 16 PEs
    assert pl.read_parquet(out / "samples.parquet").filter(pl.col("series") == "ring").height == 2


def test_quick_and_full_sweep_the_papers_ranges():
    quick, full = make_plan(None, None, True), make_plan(None, None, False)
    assert full.sizes == [1 << k for k in range(12)]
    assert full.in_flight(False) == full.in_flight(True) == [1 << k for k in range(21)]
    assert full.rings == [2, 4, 8, 16, 32, 64, 128, 256, 512]
    assert FEWEST <= quick.repeats < full.repeats
    assert set(quick.sizes) <= set(full.sizes) and {1, 2048} <= set(quick.sizes)


def test_what_a_plan_leaves_out_is_reported():
    across = make_plan(None, None, False, Place("two-nodes"))
    words = " ".join(left_out_of(across))
    assert "blocking puts and MPI with more messages in flight than 16,384" in words
    assert all(max(job.in_flight) <= 16384 for job in jobs_of(across) if job.by == "mpi" or "put" in job.ways)
    assert "rings of more than 16 PEs (--quick)" in " ".join(left_out_of(make_plan(None, None, True)))


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("fails", ["exit code 1", "no room"]),
        ("babbles", ["not a JSON object", "hello"]),
        ("wrong", ["way", "'pigeon'"]),
        ("loses", ["messages were lost"]),
    ],
)
def test_a_benchmark_that_misbehaves_ends_the_study_with_its_own_words(bench, wattle: Wattle, tmp_path, mode, words):
    done = wattle("study", "am", "--quick", "-o", tmp_path / "out", env=NOTHING | {"FAKE_BENCH": mode})
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr, word
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["exit_code"] == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--on", "moon"], ["moon", "not a place"]),
        (["--link", "1gbit"], ["--link 1gbit", "--on two-nodes"]),
        (["--repeat", "0"], ["--repeat 0", "1 to 1000"]),
        (["--min-time", "-1"], ["--min-time", "0 to 60"]),
    ],
)
def test_a_wrong_argument_is_named_with_the_allowed_values(bench, wattle: Wattle, tmp_path, arguments, words):
    done = wattle("study", "am", *arguments, "-o", tmp_path / "out")
    assert done.returncode == 2
    for word in words:
        assert word in done.stderr, word
    assert not (tmp_path / "out").exists()


@pytest.mark.soak  # by the engine of all studies: test_study_patterns.py
def test_an_interrupted_study_keeps_its_samples_and_says_so(bench, interrupted, wattle: Wattle, tmp_path):
    out = tmp_path / "out"
    done = interrupted("am", out, **NOTHING, FAKE_BENCH="stops 12")
    assert done.returncode == 130
    assert "interrupted after 12 of" in done.stderr
    assert pl.read_parquet(out / "samples.parquet").height == 12
    assert "was interrupted after 12 of" in wattle("report", out).stderr


# ---- the published rows ----


def rows_of(analysis: Analysis) -> dict[str, Row]:
    return {row.id: row for row in bare_rows.judge(ROWS, analysis)}


def test_samples_that_are_as_published_agree_with_every_row():
    rows = rows_of(am_studies.analysis())
    assert {row.id: row.verdict for row in rows.values()} == dict.fromkeys(rows, Verdict.SAME)


def times(am_over_put: float) -> am_studies.Cost:
    return lambda case, way: (am_over_put if way == "am" else 1.0) * 1e-6


@pytest.mark.parametrize(
    ("factor", "agreeing"),
    [
        (0.5, {"ring-linear"}),
        (1.0, {"ring-alike", "ring-linear"}),
        (1.1, {"bandwidth-uni", "bandwidth-bi", "ring-alike", "ring-linear"}),
        (3.0, {"bandwidth-uni", "bandwidth-bi", "rate-uni", "ring-linear"}),
        (5.0, {"bandwidth-uni", "bandwidth-bi", "rate-bi", "ring-linear"}),
    ],
)
def test_a_row_agrees_only_where_the_loss_is_the_published_one(factor, agreeing):
    rows = rows_of(am_studies.analysis(times(factor)))
    assert {row.id for row in rows.values() if row.verdict is Verdict.SAME} == agreeing


def test_a_ring_whose_hops_take_longer_the_more_there_are_is_not_linear():
    rows = rows_of(am_studies.analysis(lambda case, way: 1e-7 * case.pes))
    assert rows["ring-linear"].verdict is Verdict.WORSE
    assert "power of 2.00" in rows["ring-linear"].ours


def test_a_ring_on_two_nodes_grows_little_because_two_hops_cross_whatever_its_size():
    def hop(case, way):  # two hops of 10 us between the nodes, all others of 0.1 us
        return (20e-6 + (case.pes - 2) * 1e-7) / case.pes if case.series == "ring" else 1e-6

    across = rows_of(am_studies.analysis(hop, place=Place("two-nodes")))["ring-linear"]
    assert across.verdict is Verdict.WORSE
    assert "With 2 PEs such a hop took 10.0 µs; each of the" in across.why
    assert "added 100 ns" in across.why
    here = rows_of(am_studies.analysis(hop))["ring-linear"]
    assert "the cores of one machine" in here.why


def test_notes_of_a_row_stand_in_their_order(tmp_path):
    text = write(am_studies.make_study(tmp_path / "dir", am_studies.frame(times(0.5)))).read_text()
    cells = re.findall(r'data-label="why">(.*?)</td>', text, re.DOTALL)
    numbers = [[int(n) for n in re.findall(r">Note (\d+)\.<", cell)] for cell in cells]
    assert any(len(found) > 1 for found in numbers)
    assert all(found == sorted(found) for found in numbers)


def test_a_row_that_differs_says_why_with_a_number_from_these_samples():
    for row in rows_of(am_studies.analysis(times(0.5))).values():
        if row.verdict is Verdict.WORSE:
            assert any(character.isdigit() for character in row.why), row.id


def test_fewer_than_six_repeats_are_no_verdict():
    rows = rows_of(am_studies.analysis(repeats=5))
    assert {row.verdict for row in rows.values()} == {Verdict.NOT_TESTABLE}
    assert rows["rate-uni"].why == "n = 5 repeats; a 95 % statement needs at least six."


def test_reasons_are_those_of_the_place():
    here, across = (rows_of(am_studies.analysis(times(0.5), place=p)) for p in (Place(), Place("two-nodes")))
    assert "On one node a put is a copy" in here["rate-uni"].why
    assert "batched and sent together" in across["rate-uni"].why


def test_ratios_are_taken_within_repeats():
    drifting = am_studies.frame(times(2.0)).with_columns(pl.col("message_s") * (1 + pl.col("repeat")))
    found = Analysis(drifting).ratio("rate", Case("rate", "uni", 4, 64, 2), "put", "am")
    assert (found.lo, found.median, found.hi) == (pytest.approx(2.0),) * 3


# ---- the page ----


def test_the_page_has_every_row_way_and_what_was_left_out(tmp_path):
    directory = am_studies.make_study(tmp_path / "dir")
    text = write(directory).read_text()
    for row in ROWS:
        assert f'id="row-{row.id}"' in text
    for words in ("UCX&#39;s AM", "put_nbi", "rings of &lt;a million&gt; PEs", "no sensor &lt;here&gt;"):
        assert words in text, words
    drawn = json.loads(
        re.search(r'<script type="application/json" id="figures">(.*?)</script>', text, re.DOTALL).group(1)
    )
    assert len(drawn) == 9
    assert {t["name"] for t in drawn["rate-uni"]["data"]} == {"AM", "put", "put_nbi", "MPI", "UCX's AM"}
    assert "UCX's AM" not in {t["name"] for t in drawn["energy-rate"]["data"]}


def test_joules_on_the_page_carry_their_provenance(tmp_path):
    known = write(am_studies.make_study(tmp_path / "known")).read_text()
    none = write(am_studies.make_study(tmp_path / "none", am_studies.frame(provenance="unavailable"))).read_text()
    assert "Joules are PE 0&#39;s, modelled (model made-up)" in known
    assert "Joules are not known here: the meter is none." in none


@pytest.mark.parametrize("column", ["way", "test", "series"])
def test_samples_of_nothing_known_are_an_error_that_names_the_file(tmp_path, column):
    directory = am_studies.make_study(tmp_path / "dir")
    broken = am_studies.frame().with_columns(pl.lit("pigeon").alias(column))
    broken.write_parquet(directory / "samples.parquet")
    with pytest.raises(WattleError, match=r"samples\.parquet: holds a sample of no series, no test or no way"):
        am.STUDY.load(directory, manifests.read(directory))


def test_two_studies_of_messages_can_be_compared(wattle: Wattle, tmp_path):
    for name in ("before", "after"):
        am_studies.make_study(tmp_path / name)
    done = wattle("compare", tmp_path / "before", tmp_path / "after")
    assert done.returncode == 0, done.stderr
