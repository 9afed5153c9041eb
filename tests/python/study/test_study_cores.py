"""Rows are not judged by jobs whose PEs lacked cores while they ran."""

from __future__ import annotations

import made_rows
import polars as pl
import pytest
import sweeps
from wattle.figures.no_core import TOO_MUCH
from wattle.study import published
from wattle.study.course import Gathered
from wattle.study.published import JUDGED, Verdict
from wattle.study.sweep.analysis import Analysis

LACKED = pl.lit(4 * TOO_MUCH, pl.Float64)


def barrier(**columns: pl.Expr) -> dict[str, published.Row]:
    a = sweeps.analysis("barrier", sweeps.as_published, quick=False, source="powercap package-0")
    return made_rows.judged("barrier", Analysis(a.frame.with_columns(**columns), a.knob, a.place))


def test_a_row_is_not_judged_where_the_jobs_lacked_cores_and_says_how_much():
    with_cores, without = barrier(), barrier(no_core=LACKED)
    judged = [id for id, row in with_cores.items() if row.verdict in JUDGED]
    assert "time-linear" in judged and "scale-linear" in judged
    for id in judged:
        assert without[id].verdict is Verdict.NOT_TESTABLE
        assert "had no core for up to 20.0 % of their time" in without[id].why


def test_a_row_that_uses_no_such_job_is_judged():
    found = barrier(no_core=pl.when(pl.col("series") == "scale").then(LACKED))
    assert found["time-linear"].verdict is Verdict.SAME
    assert found["scale-linear"].verdict is Verdict.NOT_TESTABLE


def test_a_little_time_without_a_core_is_judged():
    assert barrier(no_core=pl.lit(TOO_MUCH / 2)) == barrier()


@pytest.mark.parametrize("name", sorted(made_rows.MADE))
def test_any_job_may_lack_cores(name):
    made = made_rows.MADE[name].nothing()
    some = pl.when(pl.int_range(pl.len()) % 3 == 0).then(LACKED)
    for lacked in (LACKED, some):
        for row in made_rows.judged(name, made.with_frame(made.frame.with_columns(no_core=lacked))).values():
            assert row.verdict not in JUDGED or "had no core" not in row.why


def test_a_jobs_last_line_completes_its_own_samples_only():
    gathered = Gathered()
    for line in ({"n": 1}, {"kind": "job", "no_core": 0.25}, {"n": 2}, {"n": 3}, {"kind": "job", "no_core": None}):
        gathered.take(line, dict)
    assert [(row["n"], row["no_core"]) for row in gathered.rows] == [(1, 0.25), (2, None), (3, None)]
