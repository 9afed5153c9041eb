"""Runs a study of a mini-app: jobs of its versions alternately, then the analysis of its directory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from wattle import console, manifest, paths, units
from wattle.errors import DamagedFile, WattleError
from wattle.manifest import Manifest
from wattle.study import kept, published, samples
from wattle.study.course import Course, Gathered
from wattle.study.place import of_study
from wattle.study.site import opened
from wattle.study.versions import jobs as versions_jobs
from wattle.study.versions.analysis import METRICS, Analysis
from wattle.study.versions.plan import App, Plan
from wattle.study.versions.samples import SCHEMA, row, with_waits

RESULTS_SCHEMA = 1
FIRST = "first"  # the series of a job's first solution of an input


def run(plan: Plan, directory: Path, command: list[str]) -> Manifest:
    """Runs the sweep and writes samples.parquet, results.json and manifest.json into the directory."""
    record = kept.begin(command, max(plan.size.pes), plan.place.simulated)
    for version, reason in plan.left_out.items():
        console.note(f"version {version} is left out: {reason}")
    course = Course(directory, record, SCHEMA, plan.samples, lambda gathered: _told(plan))
    course.run(lambda gathered: _gather(plan, gathered), Gathered())
    kept.write_results(directory / kept.RESULTS, judged(plan.app, directory, record))
    return record


def _gather(plan: Plan, gathered: Gathered) -> None:
    home = paths.find_home()
    simulated = plan.place if plan.place.simulated else None
    launches = {version: versions_jobs.find(home, plan.app.name, version, plan.place) for version in plan.versions}
    with (
        console.progress(plan.app.name, plan.samples) as steps,
        opened(plan.place) as there,
        there.ours.folder() as scratch,
    ):
        for number, (r, version, n, case, repeats) in enumerate(plan.jobs):
            folder = Path(scratch) / str(number)
            at = {"version": version, "pes": n, "round": r, "job": number}
            arguments = ["--json", "--repeat", str(repeats), *case.arguments(home)]
            rows = []
            for line in versions_jobs.run(home, there, launches[version], arguments, n, folder, simulated):
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
    """The settings of the study."""
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
    """Reads a study directory's samples. Raises DamagedFile with the reason for a damaged file."""
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
    found = Analysis(frame, app.versions, {str(k): str(v) for k, v in left_out.items()}, of_study(study))
    found.networks = samples.of_networks(directory, SCHEMA)
    return found


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


def judged(app: App, directory: Path, record: Manifest) -> dict[str, Any]:
    """The results of a study directory."""
    return results(app, load(app, directory, record))


def _point(a: Analysis, version: str, given: str, pes: int) -> dict[str, Any]:
    centers = {metric: a.center(metric, version, given, pes) for metric in METRICS}
    return {
        "version": version,
        "input": given,
        "pes": pes,
        **{metric: found.as_dict() if found else None for metric, found in centers.items()},
        "waits": a.waits(version, pes),
    }
