"""`wattle study fragments`: each statement agrees with samples that are as published, and differs with others."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import bare_rows
import fakes
import pieces
import polars as pl
import pytest
import studies
from fakes import Wattle
from pieces import AS_PUBLISHED, World
from wattle.study.fragments.analysis import SCHEMA, Analysis, configurations, shown_at
from wattle.study.fragments.judges import ROWS
from wattle.study.fragments.plan import make_plan
from wattle.study.place import LOCAL, SIMULATED, TWO_NODES, Place
from wattle.study.published import Row, Verdict

IN_SIMULATION = Place(SIMULATED, None, "sandybridge-ib", 2)
PROFILE = "simulation, sandybridge-e5-2670-core"


def rows(world: World, place: Place | None = None, **more: str) -> dict[str, Row]:
    return {row.id: row for row in bare_rows.judge(ROWS, pieces.analysis(world, place, **more))}


@pytest.fixture(scope="module")
def as_published() -> dict[str, Row]:
    return rows(AS_PUBLISHED)


@pytest.mark.parametrize("row", [row.id for row in ROWS])
def test_each_row_has_samples_of_its_own_that_contradict_it(row, as_published):
    found = rows(pieces.CONTRARY[row])[row]
    assert found.verdict is Verdict.WORSE, found.ours
    assert row == "bandwidth-small-steady" or found.ours != as_published[row].ours


def test_two_statements_on_small_transfers_exclude_each_other(as_published):
    steady = rows(pieces.STEADY)
    verdicts = [
        (found["energy-small-flat"].verdict, found["bandwidth-small-steady"].verdict)
        for found in (as_published, steady)
    ]
    assert verdicts == [(Verdict.SAME, Verdict.WORSE), (Verdict.WORSE, Verdict.SAME)]


def test_watts_are_a_fit_with_the_profile_that_comes_from_them_and_judged_with_a_sensor(as_published):
    modelled = replace(AS_PUBLISHED, provenance="modelled", source=PROFILE, half_width=0.01)
    found = rows(modelled, IN_SIMULATION)
    fits = {"power-cpu-small", "power-cpu-bulk", "power-dram-small", "power-dram-bulk", "power-dram-more"}
    assert {name for name, row in found.items() if row.verdict is Verdict.FIT} == fits | {"power-both-small"}
    assert as_published["power-dram-more"].verdict is Verdict.SAME


def test_modelled_relations_are_judged_only_within_the_half_widths():
    narrow = replace(AS_PUBLISHED, provenance="modelled", source=PROFILE, half_width=0.1)
    assert rows(narrow, IN_SIMULATION)["energy-bulk-flat"].verdict is Verdict.SAME
    open_ones = rows(replace(narrow, half_width=0.5), IN_SIMULATION)["power-both-bulk"]
    assert open_ones.verdict is Verdict.NOT_TESTABLE
    assert "half-widths leave the verdict open" in open_ones.why


@pytest.mark.parametrize(
    ("world", "place", "name", "why"),
    [
        (replace(AS_PUBLISHED, repeats=2), None, "energy-bulk-flat", "n = 2 repeats; a median needs at least 3"),
        (replace(AS_PUBLISHED, instructions=None), None, "energy-instructions", "no counters in this virtual machine"),
        (replace(AS_PUBLISHED, instructions=None), None, "misses-rise", "no counters in this virtual machine"),
        (replace(AS_PUBLISHED, packets=None), None, "packets-sent-time", "no network interface of the sender"),
        (AS_PUBLISHED, Place(LOCAL), "packets-sent-time", "PEs of one node send no packets"),
        (
            replace(AS_PUBLISHED, packets=None),
            IN_SIMULATION,
            "packets-received-time",
            "the simulated network moves messages",
        ),
        (replace(AS_PUBLISHED, provenance="unavailable"), None, "power-cpu-small", "the meter is none"),
        (replace(AS_PUBLISHED, most=2), None, "energy-fragments-cpu", "needs at least 4 payloads"),
    ],
)
def test_what_cannot_be_judged_says_what_is_missing(world, place, name, why):
    row = rows(world, place)[name]
    assert row.verdict is Verdict.NOT_TESTABLE
    assert why in row.why


def test_relations_that_the_form_of_the_simulation_gives_are_no_agreement():
    modelled = replace(AS_PUBLISHED, provenance="modelled", source=PROFILE, half_width=0.01)
    simulated, measured = rows(modelled, IN_SIMULATION), rows(AS_PUBLISHED)
    for name in ("energy-fragments-cpu", "energy-fragments-dram", "energy-bulk-rises"):
        assert simulated[name].verdict is Verdict.CONSTRUCTION
        assert "In simulation each" in simulated[name].why
        assert measured[name].verdict is Verdict.SAME
    contrary = replace(modelled, seconds=pieces.CONTRARY["energy-bulk-rises"].seconds)
    assert rows(contrary, IN_SIMULATION)["energy-bulk-rises"].verdict is Verdict.WORSE


def test_joules_below_their_half_width_are_no_result():
    def loses_small(p: int, n: int) -> float:
        return -1.0 if n == 1 and p < 1024 else pieces.cpu_watts(p, n)

    frame = pieces.frame(replace(AS_PUBLISHED, cpu_watts=loses_small))
    frame = frame.with_columns(cpu_uncertainty_J=pl.lit(4e-6))
    a = Analysis(frame, (), Place(TWO_NODES), pieces.CACHES, "Xeon E5-2670")
    assert a.value("cpu", 1, 1) is a.value("cpu_power", 1, 1) is a.value("power", 1, 1) is None
    assert shown_at(a, "cpu", 1, 1) == "below 4.00 µJ"
    assert shown_at(a, "cpu_power", 1, 1) == "-"
    assert a.value("dram", 1, 1) and a.value("latency", 1, 1)
    assert (1, 1) not in a.values("cpu") and (2 << 20, 1) in a.values("cpu")
    assert {cell["cpu"] for cell in configurations(a) if (cell["payload"], cell["fragments"]) == (1, 1)} == {None}
    assert all(row.why or row.verdict is Verdict.SAME for row in bare_rows.judge(ROWS, a))


def test_one_repeat_of_a_simulation_is_enough():
    once = replace(AS_PUBLISHED, repeats=1, provenance="modelled", source=PROFILE, half_width=0.01)
    assert rows(once, IN_SIMULATION)["energy-bulk-flat"].verdict is Verdict.SAME


def test_watts_of_another_processor_are_not_compared_and_those_of_a_model_do_not_depend_on_the_payload():
    other = rows(AS_PUBLISHED, processor="AMD EPYC")["power-cpu-small"]
    assert (other.verdict, other.ours) == (Verdict.NOT_TESTABLE, "15.9 W")
    assert "AMD EPYC" in other.why
    assert rows(AS_PUBLISHED, processor="AMD EPYC")["power-cpu-more"].verdict is Verdict.SAME
    local = rows(replace(AS_PUBLISHED, provenance="modelled", source="model unknown"), Place(LOCAL))
    for name in ("power-cpu-more", "power-unfragmented", "power-small-least", "power-cache-steps"):
        assert local[name].verdict is Verdict.NOT_TESTABLE
    assert "bytes of puts, which fragments do not change" in local["energy-fragments-dram"].why


# ---- plan and command ----


@pytest.fixture
def bench(home: Path) -> Path:
    return fakes.script(home / "bin" / "wattle-bench-patterns", studies.BENCH)


def test_the_sweep_is_the_papers_and_quick_between_nodes_is_its_lower_part():
    full, quick = make_plan(None, None, None, False), make_plan(None, None, None, True)
    assert full.payloads == quick.payloads == [1 << k for k in range(22)]
    assert (full.most, quick.most) == (2 << 20, 2 << 20)
    assert full.cells == 22 * 23 // 2
    assert make_plan(None, None, None, True, Place(TWO_NODES)).most == 1024
    assert make_plan(None, None, None, False, IN_SIMULATION).place.alone


def test_a_study_leaves_samples_results_and_a_manifest(bench, wattle: Wattle, tmp_path):
    out = tmp_path / "out"
    done = wattle("study", "fragments", "--quick", "-o", out)
    assert done.returncode == 0, done.stderr
    found = pl.read_parquet(out / "samples.parquet")
    assert dict(found.schema) == SCHEMA
    assert found.height == 253 * 3
    assert (found["payload"] % found["fragments"] == 0).all()
    facts = json.loads((out / "manifest.json").read_text())["study"]
    assert (facts["name"], facts["samples"], facts["samples_planned"]) == ("fragments", 759, 759)
    text = " ".join(done.stdout.split())
    assert "Instructions: none here." in text
    assert "23 published figures" in text


def test_json_has_every_cell_and_every_row(bench, wattle: Wattle, tmp_path):
    done = wattle("study", "fragments", "--quick", "--most", 4, "--repeat", 1, "-o", tmp_path / "out", "--json")
    document = json.loads(done.stdout)
    assert len(document["configurations"]) == 1 + 2 + 20 * 3
    assert [row["id"] for row in document["published"]] == [row.id for row in ROWS]
    assert document["interface"] is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--most", "3"], ["--most 3", "powers of two from 1 to 2097152"]),
        (["--most", "4194304"], ["--most 4194304", "2097152"]),
        (["--repeat", "0"], ["--repeat 0", "1 to 1000"]),
        (["--min-time", "-1"], ["--min-time", "0 to 60"]),
        (["--on", "moon"], ["moon", "not a place"]),
    ],
)
def test_a_wrong_argument_is_named_with_what_is_allowed(bench, wattle: Wattle, tmp_path, arguments, words):
    done = wattle("study", "fragments", *arguments, "-o", tmp_path / "out")
    assert done.returncode == 2
    for word in words:
        assert word in done.stderr
    assert not (tmp_path / "out").exists()


# ---- page ----


def figures_of(page: str) -> dict[str, dict]:
    return json.loads(re.search(r'<script type="application/json" id="figures">(.*?)</script>', page, re.S).group(1))


def test_the_page_has_a_map_for_each_known_metric_and_the_reason_for_others(wattle: Wattle, tmp_path):
    made = pieces.make_study(tmp_path / "study", replace(AS_PUBLISHED, instructions=None, most=64))
    done = wattle("report", made)
    assert done.returncode == 0, done.stderr
    page = (made / "report.html").read_text()
    figures = figures_of(page)
    assert {"map-cpu", "map-dram", "map-bandwidth", "map-power", "map-sent", "map-received"} <= set(figures)
    assert "map-instructions" not in figures
    assert "Instructions: not known here, because no counters in this virtual machine." in page
    (trace,) = figures["map-cpu"]["data"]
    assert (trace["x"], trace["y"]) == (list(range(22)), list(range(7)))
    assert trace["z"][0][0] == pytest.approx(-4.4976, abs=1e-3)  # log10 of 15.9 W x 2 us
    assert trace["z"][6][5] is None  # 32 B cannot be in 64 fragments
    assert "64.0 KiB in 8" in trace["customdata"][3][16]
    for row in ROWS:
        assert f'id="row-{row.id}"' in page


def test_a_damaged_study_is_refused_with_the_reason(wattle: Wattle, tmp_path):
    made = pieces.make_study(tmp_path / "study", replace(AS_PUBLISHED, most=4))
    table = pl.read_parquet(made / "samples.parquet")
    table.with_columns(pl.lit(0, pl.Int64).alias("fragments")).write_parquet(made / "samples.parquet")
    done = wattle("report", made)
    assert (done.returncode, "of no fragments" in done.stderr) == (2, True)
    table.with_columns(pl.lit("[1]").alias("interfaces_json")).write_parquet(made / "samples.parquet")
    done = wattle("report", made)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
