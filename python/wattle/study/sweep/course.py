"""Runs a study of waiting and clocks: its jobs alternately."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wattle.base.errors import WattleError
from wattle.machine import paths
from wattle.machine.paths import Home
from wattle.sim import simulation
from wattle.sim.simulation import Simulation
from wattle.study import launch, measuring
from wattle.study.course import Gathered, Work
from wattle.study.site import Site, opened
from wattle.study.sweep import jobs as sweep_jobs
from wattle.study.sweep.analysis import of_job, row, thresholds_of, with_more
from wattle.study.sweep.family import Sweep
from wattle.study.sweep.plan import TURNS, Job, Plan
from wattle.text import console, units


def work(study: Sweep, plan: Plan) -> Work:
    """The jobs of a plan. Raises WattleError where none can run here."""
    jobs, left_out = _jobs(study, plan)
    planned = plan.rounds * sum(job.samples for job in jobs)
    machine = plan.machine.cluster.machine if plan.machine else ""

    def gather(gathered: Gathered) -> None:
        for program, reason in left_out.items():
            console.note(f"{program} is left out: {reason}")
        _gather(study.name, jobs, plan, gathered)

    told = _told(study, plan, jobs, left_out)
    return Work(max(job.pes for job in jobs), plan.simulated, planned, lambda gathered: told, gather, machine=machine)


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
        **({"simulated": simulation.as_dict(plan.machine.cluster, plan.machine.core.per_node)} if plan.machine else {}),
        **_others(jobs),
    }


def _others(jobs: Sequence[Job]) -> dict[str, Any]:
    """Simulated machines other than the study's own, by series."""
    found = {job.series: simulation.as_dict(job.machine.cluster) for job in jobs if job.machine}
    return {"simulated_by_series": found} if found else {}
