"""`wattle study lsms`: its jobs, its rows, and the step that its timelines show."""

from __future__ import annotations

import json
from pathlib import Path

import bare_rows
import fakes
import polars as pl
import pytest
import sweeps
from fakes import Wattle
from made_lsms import (
    alike,
    modes_save_nothing,
    one_blocks_cheaply,
    packing_costs_as_much,
    power_is_constant,
    waiting_is_free,
    where,
)
from wattle.study.lsms import judges, recorded
from wattle.study.lsms.study import STUDY
from wattle.study.place import TWO_NODES, Place
from wattle.study.published import Verdict
from wattle.study.sweep.analysis import WAITS, Analysis
from wattle.study.sweep.plan import MODES, SCALINGS, Job, Plan
from wattle.timeline import rows as timelines
from wattle.timeline.rows import Row, Slice


def verdicts(physics: sweeps.Physics, **keywords: object) -> dict[str, Verdict]:
    made = sweeps.analysis("lsms", physics, **keywords)
    return {row.id: row.verdict for row in bare_rows.judge(STUDY.rows, made)}


@pytest.mark.parametrize(
    ("rows", "changed"),
    [
        (("pattern-saves",), alike),
        (("blocking-energy", "blocking-time"), one_blocks_cheaply),
        (("aggregation-energy", "aggregation-time"), packing_costs_as_much),
        (("waiting-costs", "energy-by-time"), waiting_is_free),
        (("power-by-pes",), power_is_constant),
        (("nullified",), modes_save_nothing),
    ],
)
def test_each_row_differs_where_its_effect_is_missing(rows, changed):
    usual, found = verdicts(sweeps.as_published), verdicts(where(changed))
    for version in judges.VERSIONS:
        for row in rows:
            assert usual[f"{row}-{version}"] is Verdict.SAME
            assert found[f"{row}-{version}"] is Verdict.WORSE


def test_rows_about_waiting_differ_where_it_does_not_grow_and_where_no_mode_shortens_it():
    found = verdicts(sweeps.backwards)
    for version in judges.VERSIONS:
        assert found[f"waiting-grows-{version}"] is found[f"together-{version}"] is Verdict.WORSE


def test_every_row_that_differs_has_a_reason():
    for physics in (sweeps.backwards, where(alike), where(power_is_constant), where(modes_save_nothing)):
        rows = bare_rows.judge(STUDY.rows, sweeps.analysis("lsms", physics))
        assert all(row.why for row in rows if row.verdict is Verdict.WORSE)


def test_a_study_without_transfers_judges_the_others():
    whole = sweeps.analysis("lsms", sweeps.as_published)
    a = Analysis(whole.frame.filter(pl.col("series") != judges.TRANSFER), whole.knob, whole.place)
    rows = {row.id: row for row in bare_rows.judge(STUDY.rows, a)}
    assert rows["pattern-saves-mpi"].why == "mpi PQPQ was not measured."
    assert STUDY.table(a)[2]
    assert STUDY.says(a) == ""
    assert rows["waiting-costs-mpi"].verdict is Verdict.SAME


def test_effects_within_the_margin_do_not_agree():
    def hardly(job: Job, pattern: str, x: float, y: float) -> tuple[float, float]:
        cost = sweeps.LSMS_COSTS[pattern]
        factor = (1 + 0.004 * cost) / cost if job.series == judges.TRANSFER else 1.0
        return factor, factor

    found = verdicts(where(hardly))
    assert not {k: v for k, v in found.items() if k.startswith(("pattern", "block", "aggre")) and v is Verdict.SAME}


def test_repeats_that_spread_too_far_leave_a_row_open():
    turns = iter(range(10**6))

    def now_and_then(job: Job, pattern: str, x: float, y: float) -> tuple[float, float]:
        factor = 5.0 if job.series == judges.TRANSFER and next(turns) % 3 == 0 else 1.0
        return factor, factor

    found = verdicts(where(now_and_then))
    assert found["blocking-time-shmem"] is Verdict.NOT_TESTABLE


def test_few_repeats_judge_no_measured_figure():
    made = sweeps.analysis("lsms", sweeps.as_published, rounds=1)
    rows = {row.id: row for row in bare_rows.judge(STUDY.rows, made)}
    assert rows["pattern-saves-shmem"].verdict is Verdict.NOT_TESTABLE
    assert "3 repeats are too few" in rows["pattern-saves-shmem"].why


def test_pes_that_share_cores_sleep_and_judge_no_row_about_spinning(monkeypatch):
    monkeypatch.setattr(sweeps, "CORES", 2)
    made = sweeps.analysis("lsms", sweeps.as_published)
    rows = {row.id: row for row in bare_rows.judge(STUDY.rows, made)}
    assert "spin" not in {p.wait for p in made.points}
    for name in ("waiting-costs", "energy-by-time", "power-by-pes"):
        assert rows[f"{name}-mpi"].verdict is Verdict.NOT_TESTABLE
        assert "here PEs share cores" in rows[f"{name}-mpi"].why


def test_jobs_have_all_patterns_and_modes_and_even_numbers_of_pes():
    for place in (Place(), Place(TWO_NODES)):
        jobs = STUDY.jobs(Plan(False, 1, sweeps.KNOB, sweeps.CORES, place=place))
        for program in ("lsms-shmem", "lsms-mpi"):
            mine = [job for job in jobs if job.program == program]
            patterns = {j.arguments[j.arguments.index("--pattern") + 1] for j in mine if j.series == judges.TRANSFER}
            assert patterns == set(judges.PATTERNS)
            governed = {(j.mode, j.scaling) for j in mine if j.mode != "off"}
            assert governed == {(mode, scaling) for mode in MODES for scaling in SCALINGS}
            waits = {j.wait for j in mine if j.series == judges.SYNC and j.mode == "off"}
            assert waits == (set(WAITS) - {"spin"} if place.across else set(WAITS))
            assert {job.optional for job in mine} == {program == "lsms-mpi"}
        assert all(job.pes % 2 == 0 for job in jobs)


def test_without_mpi_its_version_is_left_out_and_said(home: Path, environment, wattle: Wattle, tmp_path):
    sweeps.programs(home)
    environment["FAKE_TEMPLATE"] = json.dumps(
        fakes.pe_profile(clocks={"mode": "baseline", "scaling": "reactive", "knob": "none", "why": "none here"})
    )
    environment["FAKE_SAYS"] = str(tmp_path / "says")
    out = tmp_path / "out"
    done = wattle("study", "lsms", "--quick", "--rounds", 1, "-o", out)
    assert done.returncode == 0, done.stderr
    assert "lsms-mpi is left out" in done.stderr
    assert set(pl.read_parquet(out / "samples.parquet")["name"].str.split(" ").list.first()) == {"shmem"}
    assert "libopenmpi-dev" in json.loads((out / "manifest.json").read_text())["study"]["left_out"]["lsms-mpi"]
    rows = {row["id"]: row for row in json.loads((out / "results.json").read_text())["published"]}
    assert rows["pattern-saves-mpi"]["why"] == "the version mpi did not run here."
    report = wattle("report", out)
    assert report.returncode == 0, report.stderr
    assert "lsms-mpi" in (out / "report.html").read_text()


# ---- timelines ----


def test_the_step_of_a_timeline_has_stages_and_the_waits_within_it():
    made = sweeps.analysis("lsms", sweeps.as_published)
    (point,) = [p for p in made.select(series=judges.TIMELINE) if p.name.startswith("mpi")]
    step = recorded.last_step(made, point)
    assert step is not None
    assert step.roles == ["root", "master", "worker", "master", "worker", "worker"]
    for spans in step.stages:
        assert [span.kind for span in spans] == list(recorded.STAGES)
        assert [(round(s.begin, 6), round(s.end, 6)) for s in spans] == [(0.001 * k, 0.001 * (k + 1)) for k in range(4)]
    (first, second) = step.waits[0]  # one is cut at the beginning of the step, at 5 s
    assert (first.kind, first.begin, round(first.end, 6)) == ("spin", 0.0, 0.0005)
    assert (second.kind, round(second.begin, 6), round(second.end, 6)) == ("asleep", 0.002, 0.003)
    other = next(p for p in made.points if p.series == judges.SCALE)
    assert recorded.last_step(made, other) is None


@pytest.mark.parametrize(("pes", "groups", "masters"), [(2, 2, [1]), (6, 2, [1, 3]), (9, 4, [1, 3, 5, 7])])
def test_roles_are_those_of_the_program(pes, groups, masters):
    roles = recorded.roles_of(pes, groups)
    assert roles[0] == "root"
    assert [pe for pe, role in enumerate(roles) if role == "master"] == masters


def test_the_last_waits_are_kept_and_those_of_the_end_are_not():
    slices = [Slice(10 * k, 10 * k + 5, "spin", "wait", "", 0) for k in range(recorded.MOST + 3)]
    slices += [Slice(10**6, 10**6 + 1, "asleep", "finish", "", 0), Slice(0, 10, timelines.COMPUTE, "", "", 0)]
    kept = recorded._last(Row(0, "a", slices, 0, 10**6), 10**9)
    assert len(kept) == 3 * recorded.MOST
    assert kept[:3] == pytest.approx([1 + 30e-9, 1 + 35e-9, 0])
    assert len(set(kept[2::3])) == 1


def test_a_job_without_timelines_keeps_none(tmp_path):
    (tmp_path / "profile").mkdir()
    assert recorded.keep(tmp_path, 2) == {}
