"""Verdicts on simulated figures must hold with the network at both ends of its half-widths."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import sweeps
from wattle import manifest
from wattle.sim import cluster
from wattle.study import measuring, published, samples
from wattle.study.barrier.judges import ROWS
from wattle.study.measuring import Asked
from wattle.study.published import Verdict
from wattle.study.sweep import course
from wattle.study.sweep.samples import SCHEMA


def test_a_slow_network_has_longer_times_and_less_bandwidth():
    usual = cluster.read("sandybridge-ib")
    assert cluster.in_force(usual) is usual
    found = {}
    for end in cluster.ENDS:
        with cluster.network_at(end):
            found[end] = cluster.in_force(usual)
    for key in ("latency", "message", "byte", "post", "register"):
        number = usual.numbers[key]
        assert found["slow"].value(key) == pytest.approx(number.value + number.plus_minus)
        assert 0 < found["fast"].value(key) < number.value
    bandwidth = usual.numbers["bandwidth"]
    assert found["slow"].value("bandwidth") == pytest.approx(bandwidth.value - bandwidth.plus_minus)
    assert found["fast"].value("bandwidth") == pytest.approx(bandwidth.value + bandwidth.plus_minus)
    for key in ("eager", "copy", "wake", "clock_change"):
        assert found["slow"].numbers[key] == usual.numbers[key], "no number of the core changes"
    assert cluster.in_force(usual) is usual


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study in whose main samples power is constant, and a slow network on which it may not be."""
    directory = tmp_path / "study"
    sweeps.make_study(directory, "barrier", sweeps.as_published)
    return directory


def verdict(directory: Path) -> published.Row:
    analysis = course.load(sweeps.SWEEPS["barrier"], directory, manifest.read(directory))
    return {row.id: row for row in published.judge(ROWS, analysis)}["power-constant"]


def add(directory: Path, end: str, power: pl.Expr) -> None:
    frame = samples.read(directory, SCHEMA).with_columns((pl.col("cpu_J") * power).alias("cpu_J"))
    (directory / f"network-{end}").mkdir()
    samples.write(directory / f"network-{end}", frame.to_dicts(), SCHEMA)


def test_a_verdict_that_one_end_turns_is_not_testable(study: Path):
    assert verdict(study).verdict is Verdict.AGREES
    add(study, "fast", pl.lit(1.1))
    assert verdict(study).verdict is Verdict.AGREES
    add(study, "slow", pl.col("x"))
    row = verdict(study)
    assert row.verdict is Verdict.NOT_TESTABLE
    assert "The network's half-widths leave the verdict open" in row.why


@pytest.mark.parametrize(
    ("name", "asked", "varied"),
    [
        ("receiver", Asked(simulated=True, quick=True), True),
        ("race", Asked(simulated=True, quick=True), False),
        ("race", Asked(simulated=True), True),
        ("receiver", Asked(), False),
    ],
)
def test_simulated_studies_are_run_at_both_ends(name: str, asked: Asked, varied: bool):
    token = measuring._asked.set(asked)
    try:
        assert measuring.varies_network(name) is varied
    finally:
        measuring._asked.reset(token)
