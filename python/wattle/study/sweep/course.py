"""Runs a study of waiting and clocks: its jobs alternately, then the analysis of its directory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from wattle import console, manifest, paths, units
from wattle.errors import DamagedFile, WattleError
from wattle.manifest import Manifest
from wattle.paths import Home
from wattle.sim import simulation
from wattle.sim.simulation import Simulation
from wattle.study import kept, launch, measuring, published, samples
from wattle.study.course import Course, Gathered
from wattle.study.place import Place, of_study
from wattle.study.published import Row
from wattle.study.site import Site, opened
from wattle.study.sweep import jobs as sweep_jobs
from wattle.study.sweep import knob
from wattle.study.sweep.analysis import METRICS, Analysis, Point
from wattle.study.sweep.plan import TURNS, Job, Plan, Sweep
from wattle.study.sweep.samples import SCHEMA, WAITS, WHO, of_job, row, thresholds_of, with_more

RESULTS_SCHEMA = 1


def run(study: Sweep, plan: Plan, directory: Path, command: list[str]) -> Manifest:
    """Runs the sweep and writes samples.parquet, results.json and manifest.json into the directory."""
    jobs, left_out = _jobs(study, plan)
    record = kept.begin(command, max(job.pes for job in jobs), plan.simulated)
    for program, reason in left_out.items():
        console.note(f"{program} is left out: {reason}")
    machine = plan.machine.cluster.machine if plan.machine else ""
    planned = plan.rounds * sum(job.samples for job in jobs)
    course = Course(directory, record, SCHEMA, planned, lambda gathered: _told(study, plan, jobs, left_out), machine)
    course.run(lambda gathered: _gather(study.name, jobs, plan, gathered), Gathered())
    kept.write_results(directory / kept.RESULTS, judged(study, directory, record))
    return record


def _jobs(study: Sweep, plan: Plan) -> tuple[list[Job], dict[str, str]]:
    """The jobs that can run here, and the optional programs that are missing, with the reasons."""
    found, left_out = [], {}
    for job in study.jobs(plan):
        try:
            _check(job, plan)
        except WattleError as error:
            if not job.optional:
                raise
            left_out[job.program] = str(error)
        else:
            found.append(job)
    if not found:
        raise WattleError(next(iter(left_out.values())))
    return found, left_out


def _check(job: Job, plan: Plan) -> None:
    """Raises WattleError with the reason where a job cannot run here."""
    home, simulated = paths.find_home(), bool(job.machine or plan.machine)
    path = launch.find(home, job.program, simulated)
    if not simulated and plan.place.hosts:
        launch.check_hosts(launch.of_program(home, path), plan.place)


def _gather(name: str, jobs: Sequence[Job], plan: Plan, gathered: Gathered) -> None:
    home = paths.find_home()
    planned = plan.rounds * sum(job.samples for job in jobs)
    with (
        console.progress(name, planned) as steps,
        opened(plan.place) as site,
        site.ours.folder() as scratch,
    ):
        turns = _turns(home, plan.machine, site) if any(TURNS in job.arguments for job in jobs) else ""
        number = 0
        for r in range(plan.rounds):
            for k in range(len(jobs)):
                job = jobs[(k + r * (len(jobs) // plan.rounds)) % len(jobs)]
                number += 1
                for left in reversed(range(job.tries)):
                    folder = Path(scratch) / f"{number}-{left}"
                    try:
                        _run_job(home, job, plan, turns, folder, (r, number), gathered, steps, site)
                        break
                    except WattleError as error:
                        if not left:
                            raise
                        console.note(f"{job.program} is started again: {error}")


def _run_job(
    home: Home,
    job: Job,
    plan: Plan,
    turns: str,
    folder: Path,
    place: tuple[int, int],
    gathered: Gathered,
    steps: console.Steps,
    site: Site,
) -> None:
    keys = ("series", "wait", "mode", "scaling", "clock", "pes")
    at = {key: getattr(job, key) for key in keys} | {"round": place[0], "job": place[1]}
    arguments = job.words(turns, measuring.least_s())
    found: list[dict[str, Any]] = []
    settings = job.environment(plan.knob.acts) | (job.planned(gathered.rows) if job.planned else {})
    machine = job.machine or plan.machine
    for document in sweep_jobs.run(home, job.program, arguments, job.pes, settings, folder, machine, site):
        if document.get("kind") == "setup":
            gathered.setup = gathered.setup or document
        elif document.get("kind") == "sample":
            found.append(row(document, at, job.program))
            steps.advance(now=f"{job.series}: {job.program}, {job.wait} {job.mode}, {job.pes} PEs")
    if len(found) != job.samples:
        raise WattleError(f"{job.program} gave {units.several(len(found), 'sample')} where {job.samples} were expected")
    facts, more = of_job(folder, job.pes), (job.keep or thresholds_of)(folder, job.pes)
    nodes = len(plan.place.share(job.pes))  # only PE 0's samples have the node's idle joules
    for entry in found:
        idle = entry["idle_J"]
        gathered.rows.append(with_more(entry | facts | {"idle_J": None if idle is None else nodes * idle}, more))


def _turns(home: Home, machine: Simulation | None, site: Site) -> str:
    """Units of work in a millisecond at the current clock. Later jobs use this fixed amount."""
    with site.ours.folder() as scratch:
        arguments = ["--instances", "1", "--warm", "0", "1"]
        lines = list(sweep_jobs.run(home, "slack", arguments, 1, {}, Path(scratch) / "job", machine, site))
    turns = next((line.get("turns") for line in lines if line.get("kind") == "setup"), None)
    if not isinstance(turns, int | float) or turns <= 0:
        raise WattleError("the program slack did not report its work in a millisecond")
    return f"{turns:.6g}"


def _told(study: Sweep, plan: Plan, jobs: Sequence[Job], left_out: dict[str, str]) -> dict[str, Any]:
    """The settings of the study."""
    return {
        "study": {
            "name": study.name,
            "on": plan.on,
            **({} if plan.machine else {"place": plan.place.as_dict()}),
            "quick": plan.quick,
            "rounds": plan.rounds,
            "knob": plan.knob.as_dict(),
            **({"program": list(study.program)} if study.program else {}),
            **({"left_out": left_out} if left_out else {}),
        },
        **({"simulated": simulation.as_dict(plan.machine.cluster)} if plan.machine else {}),
        **_others(jobs),
    }


def _others(jobs: Sequence[Job]) -> dict[str, Any]:
    """Simulated machines other than the study's own, by series."""
    found = {job.series: simulation.as_dict(job.machine.cluster) for job in jobs if job.machine}
    return {"simulated_by_series": found} if found else {}


# ---- reading back ----


def load(study: Sweep, directory: Path, record: Manifest) -> Analysis:
    """Reads a study directory's samples. Raises DamagedFile with the reason for a damaged file."""
    facts = manifest.study(directory, record)
    kept.check_finished(directory, record, facts)
    frame = samples.read(directory, SCHEMA)
    path = directory / samples.FILE
    if frame.filter(~pl.col("wait").is_in(WAITS) | ~pl.col("who").is_in(WHO)).height:
        raise DamagedFile(path, "holds a sample of a wait policy or of a PE that this study does not have")
    needed = ("series", "name", "who", "wait", "mode", "scaling", "pes", "round", "job", "repeat", "seconds", "cpu_s")
    if frame.select(pl.col(*needed, "verified", "more_json").null_count()).sum_horizontal()[0]:
        raise DamagedFile(path, "holds a sample without its series, policy, PEs, repeat or time")
    if frame.filter(pl.col("seconds") <= 0).height:
        raise DamagedFile(path, "holds a sample of no time")
    found = Analysis(frame, knob.of_study(facts), of_study(facts) if facts.has("place") else Place())
    found.networks = samples.of_networks(directory, SCHEMA)
    return found


def judge(study: Sweep, analysis: Analysis) -> list[Row]:
    """The rows of all published figures for these samples."""
    return published.judge(study.rows, analysis)


def judge_bars(study: Sweep, analysis: Analysis) -> list[Row]:
    """The rows of the project's own bars for these samples."""
    return published.judge(study.bars, analysis)


def results(study: Sweep, analysis: Analysis) -> dict[str, Any]:
    rows = judge(study, analysis)
    return {
        "schema": RESULTS_SCHEMA,
        "study": study.name,
        "repeats": analysis.repeats,
        "verified": analysis.wrong == 0,
        "provenance": analysis.provenance,
        "knob": analysis.knob.as_dict(),
        **({} if analysis.knob.simulated else {"place": analysis.place.as_dict()}),
        **published.table(rows),
        **({"bars": [bar.as_dict() for bar in judge_bars(study, analysis)]} if study.bars else {}),
        "fits": [fit.__dict__ for fit in study.fits(analysis)],
        "points": [_point(analysis, point) for point in analysis.points],
    }


def judged(study: Sweep, directory: Path, record: Manifest) -> dict[str, Any]:
    """The results of a study directory."""
    return results(study, load(study, directory, record))


def _point(a: Analysis, point: Point) -> dict[str, Any]:
    centers = {name: c.as_dict() if (c := a.center(name, point)) else None for name in METRICS}
    return {**point.__dict__, **centers, "job_changes": a.changes(point)}
