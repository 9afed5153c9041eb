"""Runs a study of a mini-app: jobs of its versions alternately."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from wattle.base.errors import WattleError
from wattle.machine import paths
from wattle.study import program
from wattle.study.course import Gathered, Work
from wattle.study.site import opened
from wattle.study.versions import jobs as versions_jobs
from wattle.study.versions.plan import Plan
from wattle.study.versions.samples import row
from wattle.text import console, units

FIRST = "first"  # the series of a job's first solution of an input


def work(plan: Plan) -> Work:
    """The jobs of a plan."""
    pes, simulated = max(plan.size.pes), plan.place.simulated
    return Work(pes, simulated, plan.samples, lambda gathered: _told(plan), partial(_gather, plan))


def _gather(plan: Plan, gathered: Gathered) -> None:
    for version, reason in plan.left_out.items():
        console.note(f"version {version} is left out: {reason}")
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
            states = program.states(program.profile_of(folder, n))
            gathered.rows += [found | states for found in rows]


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
