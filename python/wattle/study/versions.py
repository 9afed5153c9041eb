"""A study of a mini-app: its versions side by side, by number of PEs. tsp.py and mst.py say what is particular to
theirs."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from wattle import console, manifest, paths, units
from wattle.errors import DamagedFile, WattleError
from wattle.manifest import Manifest
from wattle.paths import Home
from wattle.study import kept, published, samples, versions_jobs
from wattle.study.course import Course, Gathered
from wattle.study.place import Place, of_study
from wattle.study.published import Published
from wattle.study.site import opened
from wattle.study.versions_analysis import METRICS, Analysis
from wattle.study.versions_samples import SCHEMA, row, with_waits

RESULTS = "results.json"
RESULTS_SCHEMA = 1
MOST_PES = 512
FIRST = "first"  # the series of a job's first solution of an input


@dataclass(frozen=True)
class Case:
    """What one job does. `inputs`: how many different ones it solves."""

    arguments: Callable[[Home], list[str]]
    inputs: int = 1
    series: str = "runs"
    pes: tuple[int, ...] | None = None  # None: as many as the plan says


@dataclass(frozen=True)
class Size:
    """How much is done: rounds of a job of each version, and counted solutions of each input in a job."""

    pes: tuple[int, ...]
    rounds: int
    each: int
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class App:
    """A mini-app. `input_of`: the name of what a sample's line was about. `held`: of its cases."""

    name: str
    title: str
    question: str
    versions: tuple[str, ...]  # in the order they are shown
    words: dict[str, str]  # what each version is, in a sentence
    full: Size
    quick: Size
    input_of: Callable[[dict[str, Any]], str]
    held: tuple[Case, ...]
    simulated: Size  # what --on sim does: each run is the same again, so one round says all
    rows: Sequence[Published[Analysis]]
    bars: Sequence[Published[Analysis]]


@dataclass(frozen=True)
class Plan:
    """What to run."""

    app: App
    size: Size
    quick: bool
    place: Place = field(default_factory=Place)
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def versions(self) -> list[str]:
        return [v for v in self.app.versions if v not in self.left_out]

    @property
    def jobs(self) -> Iterator[tuple[int, str, int, Case, int]]:
        """(round, version, PEs, case, solutions of each input, the first included); versions take turns, and another
        begins in each round."""
        for r in range(self.size.rounds):
            names = self.versions[r % len(self.versions) :] + self.versions[: r % len(self.versions)]
            for case in self.size.cases:
                for n in case.pes or self.size.pes:
                    for version in names:
                        yield r, version, n, case, self.size.each + 1
        for case in self.app.held:
            for n in case.pes or self.size.pes:
                for version in self.versions:
                    yield 0, version, n, case, 1

    @property
    def samples(self) -> int:
        return sum(case.inputs * repeats for _, _, _, case, repeats in self.jobs)


def make_plan(app: App, pes: str | None, rounds: int | None, quick: bool, place: Place) -> Plan:
    """The plan with its defaults; a version that cannot run here is left out, with the reason."""
    size = app.quick if quick else app.full
    if place.simulated:
        size = replace(app.simulated, pes=size.pes) if quick else app.simulated
    if rounds is not None and not 1 <= rounds <= 1000:
        raise WattleError(f"--rounds {rounds}: allowed are 1 to 1000")
    wanted = size.pes if pes is None else parse_pes(pes, place)
    size = Size(wanted, size.rounds if rounds is None else rounds, size.each, size.cases)
    place = replace(place, pes=max(wanted)) if place.simulated else place
    home = paths.find_home()
    reasons = {v: reason for v in app.versions if (reason := versions_jobs.missing(home, app.name, v, place))}
    if len(reasons) == len(app.versions):
        raise WattleError(next(iter(reasons.values())))
    return Plan(app, size, quick, place, reasons)


def parse_pes(text: str, place: Place) -> tuple[int, ...]:
    """`2,4,8` as numbers."""
    found = [int(part) if re.fullmatch(r"\s*[0-9]{1,9}\s*", part) else 0 for part in text.split(",")]
    if any(not 2 <= n <= MOST_PES for n in found):
        raise WattleError(f"--pes {text}: write numbers from 2 to {MOST_PES} as in 2,4,8")
    if place.across and not place.simulated and any(n % 2 for n in found):
        raise WattleError(f"--pes {text}: two nodes have as many PEs each; write even numbers")
    return tuple(sorted(set(found)))


# ---- running ----


def run(plan: Plan, directory: Path, command: list[str]) -> Manifest:
    """Runs the sweep and writes samples.parquet, results.json and manifest.json into the directory (course.py)."""
    record = kept.begin(command, max(plan.size.pes), plan.place.simulated)
    for version, reason in plan.left_out.items():
        console.note(f"version {version} is left out: {reason}")
    course = Course(directory, record, SCHEMA, plan.samples, lambda gathered: _told(plan))
    course.run(lambda gathered: _gather(plan, gathered), Gathered())
    write_results(directory, plan.app, load(plan.app, directory, record))
    return record


def _gather(plan: Plan, gathered: Gathered) -> None:
    home = paths.find_home()
    launches = {version: versions_jobs.find(home, plan.app.name, version, plan.place) for version in plan.versions}
    with (
        console.progress(plan.app.name, plan.samples) as steps,
        tempfile.TemporaryDirectory() as scratch,
        opened(plan.place) as there,
    ):
        for number, (r, version, n, case, repeats) in enumerate(plan.jobs):
            folder = Path(scratch) / str(number)
            at = {"version": version, "pes": n, "round": r, "job": number}
            arguments = ["--json", "--repeat", str(repeats), *case.arguments(home)]
            rows = []
            for line in versions_jobs.run(home, there, launches[version], arguments, n, folder):
                if line.get("kind") == "setup":
                    gathered.setup = gathered.setup or line
                elif line.get("kind") == "sample":
                    series = FIRST if repeats > 1 and line.get("repeat") == 0 else case.series
                    rows.append(row(line, at | {"input": plan.app.input_of(line), "series": series}))
                    steps.advance(now=f"{version}, {n} PEs")
            if len(rows) != case.inputs * repeats:
                raise WattleError(
                    f"{launches[version].program.name} gave {units.several(len(rows), 'sample')} where "
                    f"{case.inputs * repeats} were asked for"
                )
            waits = versions_jobs.waits(folder, n)
            gathered.rows += [with_waits(found, waits) for found in rows]


def _told(plan: Plan) -> dict[str, Any]:
    """How the study is run."""
    return {
        "study": {
            "name": plan.app.name,
            "on": plan.place.name,
            "place": plan.place.as_dict(),
            "quick": plan.quick,
            "pes": list(plan.size.pes),
            "rounds": plan.size.rounds,
            "each": plan.size.each,
            "versions": plan.versions,
            "left_out": plan.left_out,
        }
    }


# ---- reading back ----


def load(app: App, directory: Path, record: Manifest) -> Analysis:
    """Reads a study directory's samples. A damaged one is an error that names the file and what is wrong."""
    study = manifest.study(directory, record)
    kept.check_finished(directory, record, study)
    frame = samples.read(directory, SCHEMA)
    path = directory / samples.FILE
    if frame.filter(~pl.col("version").is_in(app.versions)).height:
        raise DamagedFile(path, f"holds a sample of a version that {app.name} does not have")
    needed = ("version", "pes", "input", "series", "round", "job", "repeat", "seconds", "cpu_s")
    if frame.select(pl.col(needed).null_count()).sum_horizontal()[0]:
        raise DamagedFile(path, "holds a sample without its version, PEs, input, repeat or time")
    if frame.filter(pl.col("series") == "runs").is_empty():
        raise DamagedFile(path, "holds no run")
    left_out = study.get("left_out").object() if study.has("left_out") else {}
    return Analysis(frame, app.versions, {str(k): str(v) for k, v in left_out.items()}, of_study(study))


def write_results(directory: Path, app: App, analysis: Analysis) -> Path:
    """DIR/results.json: every point, every published row and bar, for other programs to read."""
    return kept.write_results(directory / RESULTS, results(app, analysis))


def results(app: App, analysis: Analysis) -> dict[str, Any]:
    rows = published.judge(app.rows, analysis)
    return {
        "schema": RESULTS_SCHEMA,
        "study": app.name,
        "place": analysis.place.as_dict(),
        "repeats": analysis.repeats,
        "verified": analysis.wrong == 0,
        "left_out": analysis.left_out,
        "provenance": {name: analysis.provenance(name) for name in METRICS if METRICS[name].energy},
        **published.table(rows),
        "bars": [r.as_dict() for r in published.judge(app.bars, analysis)],
        "points": [_point(analysis, v, i, n) for i in analysis.inputs for n in analysis.pes for v in analysis.versions],
        "held": [
            {"version": h.version, "pes": h.pes, "wait_s": h.wait_s, "wait_cpu_s": h.wait_cpu_s, "share": h.share}
            for h in analysis.held
        ],
    }


def _point(a: Analysis, version: str, given: str, pes: int) -> dict[str, Any]:
    centers = {metric: a.center(metric, version, given, pes) for metric in METRICS}
    return {
        "version": version,
        "input": given,
        "pes": pes,
        **{metric: found.as_dict() if found else None for metric, found in centers.items()},
        "waits": a.waits(version, pes),
    }
