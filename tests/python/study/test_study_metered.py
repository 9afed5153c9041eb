"""The joules of an external meter in samples and verdicts: `wattle external` on a made study with a made log."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import meter_logs
import numpy as np
import pytest
import sweeps
from fakes import Wattle
from wattle.meter_log import kept
from wattle.meter_log.clock import Clock
from wattle.meter_log.figures import Reader
from wattle.meter_log.kept import External
from wattle.meter_log.load import AFTER, BEFORE
from wattle.meter_log.log import Series
from wattle.meter_log.trace import Trace
from wattle.report.cli import write
from wattle.study import measuring, samples
from wattle.study.measuring import Asked
from wattle.study.patterns import study as patterns
from wattle.study.patterns.study import _sweeps
from wattle.study.sweep.plan import Job

EVERY_S, SAMPLE_S, OFFSET_S = 0.1, 2.0, 777.0
START = 1_800_000_000.0
IDLE_W = 80.0
Row = dict[str, Any]
Watts = Callable[[Row], float]


def study_with_log(directory: Path, study: str, watts: Watts, sample_s: float = SAMPLE_S) -> Path:
    """A study whose samples follow each other, and the log of a meter that drew `watts` in each. Gives the log."""
    sweeps.make_study(directory, study, sweeps.as_published, provenance="modelled", source="model made-up", rounds=1)
    rows = samples.read(directory, sweeps.SCHEMA).to_dicts()
    before = meter_logs.pattern(BEFORE, START, 0.25)
    at = before.end_s + 1.0
    edges, drawn = [START - 30.0], [IDLE_W]
    for begin, end in before.busy:
        edges += [begin, end]
        drawn += [200.0, IDLE_W]
    for row in rows:
        row["energy_json"] = json.dumps([own(domain, row[f"{domain}_J"]) for domain in ("cpu", "dram")])
        if row["who"] == "all":
            row["spans_json"] = json.dumps([[at, at + sample_s, row["seconds"] / sample_s]])
        edges += [at, at + sample_s]
        drawn += [watts(row), IDLE_W]
        at += sample_s + 0.5
    after = meter_logs.pattern(AFTER, at + 1.0, 0.25)
    for begin, end in after.busy:
        edges += [begin, end]
        drawn += [200.0, IDLE_W]
    samples.write(directory, rows, sweeps.SCHEMA)
    kept.write(directory, External("log.csv", [f"every={EVERY_S}"], [before, after], []))
    load = meter_logs.Load(np.array([*edges, after.end_s + 30.0]), np.array(drawn))
    log = directory.parent / "pdu.csv"
    meter_logs.write(log, meter_logs.readings(load, meter_logs.Clock(OFFSET_S, 0, START), EVERY_S, "mean"))
    return log


def own(domain: str, joules: float) -> dict[str, Any]:
    """Joules that the job itself found."""
    facts = {"domain": domain, "source": "model made-up", "provenance": "modelled", "scope": "process"}
    return facts | {"joules": joules, "uncertainty": joules / 10, "interval_s": 1.0, "covered_s": 1.0}


def steady(row: Row) -> float:
    return 110.0


def wait_costs_nothing(row: Row) -> float:
    """A long wait takes fewer joules than a short one."""
    return 4000.0 / row["x"] ** 1.5


def results(directory: Path) -> dict[str, Any]:
    return json.loads((directory / "results.json").read_text())


def published(directory: Path) -> dict[str, dict[str, str]]:
    return {row["id"]: row for row in results(directory)["published"]}


def test_samples_and_verdicts_use_the_joules_of_the_log(wattle: Wattle, tmp_path):
    directory = tmp_path / "study"
    log = study_with_log(directory, "barrier", steady)
    assert published(directory)["time-linear"]["verdict"] == "by construction"
    result = wattle("external", directory, log)
    assert result.returncode == 0, result.stderr
    assert "Samples and verdicts use its joules (node)" in result.stdout

    frame = samples.read(directory, sweeps.SCHEMA)
    assert set(frame["node_provenance"]) == {"measured"}
    assert set(frame["node_source"]) == {"pdu.csv power_W, node"}
    assert set(frame["cpu_provenance"]) == {"modelled"}, "the model's own joules stay"
    true = 110.0 * frame["seconds"]
    assert ((frame["node_J"] - true).abs() <= frame["node_uncertainty_J"]).all()

    assert results(directory)["provenance"] == "measured"
    row = published(directory)["time-linear"]
    assert (row["verdict"], row["provenance"]) == ("same", "measured")
    assert "the external meter (pdu.csv power_W, node)" in row["why"]
    page = write(directory, tmp_path / "r.html").read_text()
    assert "Samples and verdicts use its joules (node)." in page
    assert "pdu.csv power_W, node" in page


def test_a_log_with_other_watts_turns_the_verdict(wattle: Wattle, tmp_path):
    directory = tmp_path / "study"
    log = study_with_log(directory, "barrier", wait_costs_nothing)
    assert wattle("external", directory, log).returncode == 0
    row = published(directory)["time-linear"]
    assert (row["verdict"], row["provenance"]) == ("worse", "measured")


def test_columns_for_packages_and_memory_replace_the_models_joules(wattle: Wattle, tmp_path):
    directory = tmp_path / "study"
    log = study_with_log(directory, "barrier", steady)
    for scope in ("node", "package"):  # another description of the log begins anew
        assert wattle("external", directory, log, "--meter-set", f"{scope}=power_W").returncode == 0
    frame = samples.read(directory, sweeps.SCHEMA)
    assert set(frame["cpu_source"]) == {"pdu.csv power_W, package"}
    assert set(frame["cpu_provenance"]) == {"measured"}
    assert set(frame["node_provenance"]) == {"unavailable"}
    assert wattle("external", directory, log, "--meter-set", "wall=power_W").returncode == 0
    frame = samples.read(directory, sweeps.SCHEMA)
    assert set(frame["cpu_source"]) == {"model made-up"}
    assert set(frame["node_source"]) == {"pdu.csv power_W, wall"}


def test_rows_about_time_do_not_name_the_meter(wattle: Wattle, tmp_path):
    directory = tmp_path / "study"
    log = study_with_log(directory, "slack", steady)
    assert wattle("external", directory, log).returncode == 0
    judged = [row for row in published(directory).values() if row["verdict"] in ("same", "worse")]
    assert {"external meter" in row["why"] for row in judged if row["id"].endswith("-time")} <= {False}


@pytest.mark.parametrize(
    ("study", "sample_s", "reason"),
    [
        ("barrier", 0.5, "last less than 10 readings of the meter, 1 s"),
        ("receiver", SAMPLE_S, "its samples tell sender and receiver apart"),
    ],
)
def test_joules_that_do_not_fit_the_samples_are_not_used(wattle: Wattle, tmp_path, study, sample_s, reason):
    directory = tmp_path / "study"
    log = study_with_log(directory, study, steady, sample_s)
    before = samples.read(directory, sweeps.SCHEMA)
    verdicts = published(directory)
    result = wattle("external", directory, log)
    assert result.returncode == 0, result.stderr
    said = " ".join(result.stdout.split())
    assert f"do not use its joules (node): {'' if study == 'receiver' else str(before.height)}" in said
    assert reason in said
    assert samples.read(directory, sweeps.SCHEMA).equals(before)
    assert published(directory) == verdicts


def test_a_log_that_ends_too_early_is_not_used_for_a_part_of_the_samples(wattle: Wattle, tmp_path):
    directory = tmp_path / "study"
    log = study_with_log(directory, "barrier", steady)
    heading, *lines = log.read_text().splitlines()
    some = [line for k, line in enumerate(lines) if not len(lines) // 2 < k < len(lines) // 2 + 400]
    log.write_text("\n".join([heading, *some, ""]))
    result = wattle("external", directory, log)
    assert result.returncode == 0, result.stderr
    assert "the log does not cover" in " ".join(result.stdout.split())
    assert samples.read(directory, sweeps.SCHEMA)["node_J"].is_null().all()


def reader(watts: Sequence[float], error: float = 0.05) -> Reader:
    """A log of a reading each 0.1 s whose clock is ours."""
    at = [START + 0.1 * k for k in range(len(watts))]
    trace = Trace(Series("node", "log.csv W", at, list(watts), False, 0.1))
    return Reader([trace], Clock(START, 0.0, 1e-3, 0.0, 0.0, (1.0, 1.0), 0.0, 0.0, 1.0), error)


def test_a_second_span_is_subtracted_and_the_meters_error_counts_once():
    made = reader([100.0] * 200)
    (figure,) = made.of_spans([(START + 1, START + 5, 0.5), (START + 6, START + 10, -0.25)])
    assert figure.joules == pytest.approx(100.0)
    assert figure.provenance == "measured"
    assert 0.05 * 100 <= figure.uncertainty < 0.05 * 100 + 1


def test_a_span_of_few_readings_has_no_joules():
    (figure,) = reader([100.0] * 200).of_spans([(START + 1, START + 1.9, 1.0)])
    assert figure.provenance == "unavailable"


def asking(tmp_path: Path, every: float) -> Asked:
    from wattle.meter_log.given import given

    return Asked(log=given(tmp_path / "log.csv", [f"every={every}"]))


def test_samples_last_for_ten_readings_where_the_program_can(tmp_path):
    token = measuring._asked.set(asking(tmp_path, 0.5))
    try:
        assert patterns.make_plan(None, None, None, True).min_time_s == 5.0
        assert patterns.make_plan(None, None, 0.1, True).min_time_s == 0.1, "the user's own time counts"
        _, _, arguments = next(_sweeps(patterns.make_plan(None, None, None, True)))
        assert arguments[arguments.index("--interval") + 1] == "0.5"
        job = Job("s", "slack", ("--least", "0.02", "1"), 1, lasts=True)
        assert job.words("", measuring.least_s())[-2:] == ["--least", "5"]
        assert replace(job, lasts=False).words("", measuring.least_s()) == ["--least", "0.02", "1"]
        assert replace(job, arguments=("--least", "9", "1")).words("", 5.0) == ["--least", "9", "1"]
    finally:
        measuring._asked.reset(token)
    assert measuring.least_s() == 0
