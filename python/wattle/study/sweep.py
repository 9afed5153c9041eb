"""A study of waiting and clocks: jobs under every wait policy, mode and clock there is, in turns. barrier.py, slack.py,
race.py and receiver.py say what is particular to theirs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from wattle import console, manifest, paths, units
from wattle.errors import DamagedFile, WattleError
from wattle.manifest import Manifest
from wattle.paths import Home
from wattle.sim import simulation
from wattle.sim.simulation import Simulation
from wattle.study import kept, knob, published, samples, sweep_jobs
from wattle.study.course import Course, Gathered
from wattle.study.knob import Knob
from wattle.study.place import LOCAL, Place, Start, of_study
from wattle.study.published import Published, Row
from wattle.study.registry import Study
from wattle.study.sweep_analysis import METRICS, Analysis, Point
from wattle.study.sweep_samples import SCHEMA, WAITS, WHO, of_job, row, thresholds_of, with_more

RESULTS = "results.json"
RESULTS_SCHEMA = 1
MOST_PES = 512
MODES = ("baseline", "performance", "energy", "hybrid")
SCALINGS = ("reactive", "proactive")
TURNS = "{turns}"  # among a job's arguments: turns of work in a millisecond, the same for all jobs
QUICK_ROUNDS, FULL_ROUNDS = 2, 5
SIM, DEFAULT_CLUSTER = "sim", "sandybridge-ib"


@dataclass(frozen=True)
class Job:
    """A run of one program. `samples`: lines it will print. `settings`: beyond those that wait, mode and scaling
    make. `clock`: GHz, for the reader; the setting that asks for it is among `settings`. `planned`: settings made of
    what jobs before it have found. `machine`: simulated, another one than the study's."""

    series: str
    program: str
    arguments: tuple[str, ...]
    samples: int
    pes: int = 2
    wait: str = "adaptive"
    mode: str = "off"
    scaling: str = ""
    clock: float | None = None
    settings: tuple[tuple[str, str], ...] = ()
    planned: Callable[[list[dict[str, Any]]], dict[str, str]] | None = None
    machine: Simulation | None = None

    def environment(self, acts: bool) -> dict[str, str]:
        found = {"WATTLE_WAIT": self.wait, "WATTLE_PROFILE": "on", **dict(self.settings)}
        if self.mode in MODES and self.scaling:  # a plan is a mode without one
            found |= {"WATTLE_GOVERN": self.mode, "WATTLE_SCALING": self.scaling}
            if not acts:
                found["WATTLE_KNOB"] = "record"
        return found


@dataclass(frozen=True)
class Sweep:
    """A study. `jobs`: those of a round. `shows`: (title, metric, points' values, what x is) of the tables that the
    command prints. `fits`: sentences with the straight lines it finds."""

    name: str
    title: str
    question: str
    jobs: Callable[[Plan], list[Job]]
    rows: Sequence[Published[Analysis]]
    fits: Callable[[Analysis], list[Fit]]
    table: Callable[[Analysis], tuple[str, list[str], list[list[str]]]]
    paper: str = "the dissertation (D: S. Jana, 2016)"
    says: Callable[[Analysis], str] = lambda a: ""  # sentences of its own, for the summary
    at: str = "{x}"  # what is swept in the first series, in words


@dataclass(frozen=True)
class Fit:
    """A straight line through samples, as a sentence and as numbers. `slope`, `intercept`: with their units."""

    what: str
    policy: str
    slope: float
    intercept: float
    r2: float
    words: str
    provenance: str


@dataclass(frozen=True)
class Plan:
    """What to run, on a machine with that knob. `pes`: that of the studies' small jobs."""

    quick: bool
    rounds: int
    knob: Knob
    cores: int = 2
    machine: Simulation | None = None
    place: Place = field(default_factory=Place)

    @property
    def simulated(self) -> bool:
        return self.machine is not None

    @property
    def on(self) -> str:
        return f"{SIM}:{self.machine.cluster.name}" if self.machine else self.place.name

    def repeats(self, n: int) -> int:
        """How often a case is measured: a simulation gives the same each time."""
        return 1 if self.machine else n

    def clocks(self) -> tuple[float, ...]:
        """Those to ask for; none where there is no knob."""
        return self.knob.some(knob.QUICK_CLOCKS if self.quick else knob.MOST_CLOCKS) if self.knob.acts else ()


def make_plan(quick: bool, rounds: int | None, on: str = LOCAL, place: Place | None = None) -> Plan:
    """`on`: local, sim, or sim:CLUSTER. `place`: of a study that knows others."""
    if rounds is not None and not 1 <= rounds <= 1000:
        raise WattleError(f"--rounds {rounds}: allowed are 1 to 1000")
    name, colon, cluster = on.partition(":")
    if name == SIM:
        machine = simulation.plan(cluster if colon else DEFAULT_CLUSTER, 1, {})
        return Plan(quick, rounds or 1, knob.of_machine(machine), machine=machine)
    if on != LOCAL:
        raise WattleError(f"--on {on}: this study runs on {LOCAL}, {SIM} or {SIM}:CLUSTER")
    cores = len(os.sched_getaffinity(0))
    some = QUICK_ROUNDS if quick else FULL_ROUNDS
    return Plan(quick, rounds or some, knob.find(paths.find_home(), 2), cores, place=place or Place())


def of_all_modes(base: Job, waits: Sequence[str], governed: Sequence[str]) -> Iterator[Job]:
    """The job under each wait policy, then under each mode and scaling with those of `governed`."""
    fields = {name: getattr(base, name) for name in base.__dataclass_fields__}
    for wait in waits:
        yield Job(**fields | {"wait": wait})
    for wait in governed:
        for scaling in SCALINGS:
            for mode in MODES:
                yield Job(**fields | {"wait": wait, "mode": mode, "scaling": scaling})


# ---- running ----


def planned(study: Sweep, plan: Plan) -> int:
    return plan.rounds * sum(job.samples for job in study.jobs(plan))


def run(study: Sweep, plan: Plan, directory: Path, command: list[str]) -> Manifest:
    """Runs the sweep and writes samples.parquet, results.json and manifest.json into the directory (course.py)."""
    record = kept.begin(command, max(job.pes for job in study.jobs(plan)), plan.simulated)
    machine = plan.machine.cluster.machine if plan.machine else ""
    course = Course(directory, record, SCHEMA, planned(study, plan), lambda gathered: _told(study, plan), machine)
    course.run(lambda gathered: _gather(study, plan, gathered), Gathered())
    kept.write_results(directory / RESULTS, results(study, load(study, directory, record)))
    return record


def _gather(study: Sweep, plan: Plan, gathered: Gathered) -> None:
    home = paths.find_home()
    jobs = study.jobs(plan)
    turns = _turns(home, plan.machine) if any(TURNS in job.arguments for job in jobs) else ""
    with (
        console.progress(study.name, planned(study, plan)) as steps,
        tempfile.TemporaryDirectory() as scratch,
        plan.place.open() as start,
    ):
        number = 0
        for r in range(plan.rounds):
            for k in range(len(jobs)):
                job = jobs[(k + r * (len(jobs) // plan.rounds)) % len(jobs)]
                number += 1
                _run_job(home, job, plan, turns, Path(scratch) / str(number), (r, number), gathered, steps, start)


def _run_job(
    home: Home,
    job: Job,
    plan: Plan,
    turns: str,
    folder: Path,
    place: tuple[int, int],
    gathered: Gathered,
    steps: console.Steps,
    start: Start,
) -> None:
    keys = ("series", "wait", "mode", "scaling", "clock", "pes")
    at = {key: getattr(job, key) for key in keys} | {"round": place[0], "job": place[1]}
    arguments = [turns if word == TURNS else word for word in job.arguments]
    found: list[dict[str, Any]] = []
    settings = job.environment(plan.knob.acts) | (job.planned(gathered.rows) if job.planned else {})
    machine = job.machine or plan.machine
    for document in sweep_jobs.run(home, job.program, arguments, job.pes, settings, folder, machine, start):
        if document.get("kind") == "setup":
            gathered.setup = gathered.setup or document
        elif document.get("kind") == "sample":
            found.append(row(document, at, job.program))
            steps.advance(now=f"{job.series}: {job.program}, {job.wait} {job.mode}, {job.pes} PEs")
    if len(found) != job.samples:
        raise WattleError(f"{job.program} gave {units.several(len(found), 'sample')} where {job.samples} were expected")
    told, more = of_job(folder, job.pes), thresholds_of(folder, job.pes)
    nodes = 2 if plan.place.across else 1  # what a node draws anyway is told of PE 0's alone
    for entry in found:
        idle = entry["idle_J"]
        gathered.rows.append(with_more(entry | told | {"idle_J": None if idle is None else nodes * idle}, more))


def _turns(home: Home, machine: Simulation | None) -> str:
    """Turns of work in a millisecond, at the clock as it is: from then on a fixed amount."""
    with tempfile.TemporaryDirectory() as scratch:
        arguments = ["--instances", "1", "--warm", "0", "1"]
        lines = list(sweep_jobs.run(home, "slack", arguments, 1, {}, Path(scratch) / "job", machine))
    turns = next((line.get("turns") for line in lines if line.get("kind") == "setup"), None)
    if not isinstance(turns, int | float) or turns <= 0:
        raise WattleError("slack did not say how much it computes in a millisecond")
    return f"{turns:.6g}"


def _told(study: Sweep, plan: Plan) -> dict[str, Any]:
    """How the study is run."""
    return {
        "study": {
            "name": study.name,
            "on": plan.on,
            **({} if plan.machine else {"place": plan.place.as_dict()}),
            "quick": plan.quick,
            "rounds": plan.rounds,
            "knob": plan.knob.as_dict(),
        },
        **({"simulated": simulation.as_dict(plan.machine.cluster)} if plan.machine else {}),
        **_others(study, plan),
    }


def _others(study: Sweep, plan: Plan) -> dict[str, Any]:
    """The machines that are not the study's one, by series."""
    found = {job.series: simulation.as_dict(job.machine.cluster) for job in study.jobs(plan) if job.machine}
    return {"simulated_by_series": found} if found else {}


# ---- reading back ----


def load(study: Sweep, directory: Path, record: Manifest) -> Analysis:
    """Reads a study directory's samples. A damaged one is an error that names the file and what is wrong."""
    told = manifest.study(directory, record)
    kept.check_finished(directory, record, told)
    frame = samples.read(directory, SCHEMA)
    path = directory / samples.FILE
    if frame.filter(~pl.col("wait").is_in(WAITS) | ~pl.col("who").is_in(WHO)).height:
        raise DamagedFile(path, "holds a sample of a wait policy or of a PE that this study does not have")
    needed = ("series", "name", "who", "wait", "mode", "scaling", "pes", "round", "job", "repeat", "seconds", "cpu_s")
    if frame.select(pl.col(*needed, "verified", "more_json").null_count()).sum_horizontal()[0]:
        raise DamagedFile(path, "holds a sample without its series, policy, PEs, repeat or time")
    if frame.filter(pl.col("seconds") <= 0).height:
        raise DamagedFile(path, "holds a sample of no time")
    return Analysis(frame, knob.of_study(told), of_study(told) if told.has("place") else Place())


def judge(study: Sweep, analysis: Analysis) -> list[Row]:
    """Every published figure, held against these samples. What is simulated is measured by nobody."""
    rows = published.judge(study.rows, analysis)
    if not analysis.knob.simulated:
        return rows
    return [replace(row, provenance="modelled") if row.provenance == "measured" else row for row in rows]


def results(study: Sweep, analysis: Analysis) -> dict[str, Any]:
    rows = judge(study, analysis)
    return {
        "schema": RESULTS_SCHEMA,
        "study": study.name,
        "repeats": analysis.repeats,
        "verified": analysis.wrong == 0,
        "provenance": analysis.provenance,
        "knob": analysis.knob.as_dict(),
        **published.table(rows),
        "fits": [fit.__dict__ for fit in study.fits(analysis)],
        "points": [_point(analysis, point) for point in analysis.points],
    }


def _point(a: Analysis, point: Point) -> dict[str, Any]:
    centers = {name: c.as_dict() if (c := a.center(name, point)) else None for name in METRICS}
    return {**point.__dict__, **centers, "job_changes": a.changes(point)}


def study_of(sweep: Sweep) -> Study:
    """What the report and other commands need to know of it; its page is the module of its name."""
    return Study(sweep.name, sweep.title, sweep.question, partial(load, sweep), f"wattle.report.{sweep.name}")
