"""Verdicts on simulated figures must hold with the times of network and core at both ends of their half-widths."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
import sweeps
from wattle.record import manifest
from wattle.sim import cluster
from wattle.study import measuring, published, samples
from wattle.study.barrier.judges import ROWS
from wattle.study.measuring import Asked
from wattle.study.published import Verdict
from wattle.study.sweep.analysis import SCHEMA


def test_a_slow_cluster_has_longer_times_and_less_bandwidth():
    usual = cluster.read("sandybridge-ib")
    assert cluster.in_force(usual) is usual
    found = {}
    for end in cluster.ENDS:
        with cluster.times_at(end):
            found[end] = cluster.in_force(usual)
    for key in (
        "latency",
        "message",
        "byte",
        "post",
        "register",
        "copy",
        "copy_memory",
        "copy_socket",
        "memory_clock",
        "wake",
        "clock_change",
        "block",
    ):
        number = usual.numbers[key]
        assert found["slow"].value(key) == pytest.approx(number.value + number.plus_minus)
        assert 0 < found["fast"].value(key) < number.value
    bandwidth = usual.numbers["bandwidth"]
    assert found["slow"].value("bandwidth") == pytest.approx(bandwidth.value - bandwidth.plus_minus)
    assert found["fast"].value("bandwidth") == pytest.approx(bandwidth.value + bandwidth.plus_minus)
    for key in ("eager", "turbo", "step", "domain", "nic"):
        assert found["slow"].numbers[key] == usual.numbers[key], "no clock, limit or power changes"
    copies = usual.with_value("copy_clock", 0.9, "a share near its limit")
    wide = replace(
        copies, numbers=copies.numbers | {"copy_clock": replace(copies.numbers["copy_clock"], plus_minus=0.4)}
    )
    with cluster.times_at("slow"):
        assert cluster.in_force(wide).value("copy_clock") == 1, "a share is at most 1"
    assert cluster.in_force(usual) is usual


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study in whose main samples power is constant, and a slow network on which it may not be."""
    directory = tmp_path / "study"
    sweeps.make_study(directory, "barrier", sweeps.as_published)
    return directory


def verdict(directory: Path) -> published.Row:
    analysis = sweeps.SWEEPS["barrier"].load(directory, manifest.read(directory))
    return {row.id: row for row in published.judge(ROWS, analysis)}["power-constant"]


def add(directory: Path, end: str, power: pl.Expr) -> None:
    frame = samples.read(directory, SCHEMA).with_columns((pl.col("cpu_J") * power).alias("cpu_J"))
    (directory / f"network-{end}").mkdir()
    samples.write(directory / f"network-{end}", frame.to_dicts(), SCHEMA)


def test_a_verdict_that_one_end_turns_is_not_testable(study: Path):
    assert verdict(study).verdict is Verdict.SAME
    add(study, "fast", pl.lit(1.1))
    assert verdict(study).verdict is Verdict.SAME
    add(study, "slow", pl.col("x"))
    row = verdict(study)
    assert row.verdict is Verdict.NOT_TESTABLE
    assert "The cluster's half-widths leave the verdict open" in row.why


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


class Simulated(published.Evidence):
    """Samples of one number, which a judge compares with 5."""

    simulated = True

    def __init__(self, number: float, *ends: float) -> None:
        self.number, self.networks = number, [pl.DataFrame({"number": [end]}) for end in ends]

    def with_frame(self, frame: pl.DataFrame) -> Simulated:
        return Simulated(frame["number"][0])


def test_a_figure_by_construction_must_agree_at_both_ends() -> None:
    def large(a: Simulated) -> published.Outcome:
        return published.Outcome(f"{a.number:g}", published.verdict_of(a.number > 5))

    figure = published.Published("id", "a", "D", "c", "p", "t", large, "here", construction="By its form.")
    verdicts = [published.judge([figure], a)[0].verdict for a in (Simulated(9, 6, 12), Simulated(9, 4, 12))]
    assert verdicts == [Verdict.CONSTRUCTION, Verdict.NOT_TESTABLE]
