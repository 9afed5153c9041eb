"""The plan of a study of a mini-app, and its jobs: those of the versions, alternately."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from wattle.base.errors import WattleError
from wattle.machine import paths
from wattle.machine.paths import Home
from wattle.study import program
from wattle.study.course import Gathered, Work, told
from wattle.study.launch import Launch
from wattle.study.options import check_times
from wattle.study.place import TWO_NODES, Place, Start
from wattle.study.site import Site, opened
from wattle.study.versions.analysis import row
from wattle.study.versions.family import App, Case, Size
from wattle.study.versions.launches import launch_of
from wattle.text import console, units

MOST_PES = 512


@dataclass(frozen=True)
class Plan:
    """The sweep of a study."""

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
        """(round, version, PEs, case, solutions of each input including the first). Versions alternate, and each round
        begins with another one.
        """
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
    """The plan with its defaults. A version that cannot run here is left out, with the reason."""
    size = app.quick if quick else app.full
    if place.simulated:
        size = replace(app.simulated, pes=size.pes) if quick else app.simulated
    check_times("--rounds", rounds)
    wanted = size.pes if pes is None else parse_pes(pes, place)
    size = Size(wanted, size.rounds if rounds is None else rounds, size.each, size.cases)
    place = replace(place, pes=max(wanted)) if place.simulated else place
    home = paths.find_home()
    reasons = {v: reason for v in app.versions if (reason := missing(home, app.name, v, place))}
    if len(reasons) == len(app.versions):
        raise WattleError(next(iter(reasons.values())))
    return Plan(app, size, quick, place, reasons)


def parse_pes(text: str, place: Place) -> tuple[int, ...]:
    """Numbers of PEs from a text such as `2,4,8`. Raises WattleError."""
    found = [int(part) if re.fullmatch(r"\s*[0-9]{1,9}\s*", part) else 0 for part in text.split(",")]
    if any(not 2 <= n <= MOST_PES for n in found):
        raise WattleError(f"--pes {text}: write numbers from 2 to {MOST_PES} as in 2,4,8")
    if place.name == TWO_NODES and any(n % 2 for n in found):
        raise WattleError(f"--pes {text}: two nodes have the same number of PEs each; write even numbers")
    return tuple(sorted(set(found)))


def missing(home: Home, app: str, version: str, place: Place) -> str | None:
    """The reason why a version cannot run at a place; None where it can."""
    try:
        launch_of(home, app, version, place)
    except WattleError as error:
        return str(error)
    return None


def run_job(
    home: Home, site: Site, how: Launch, arguments: list[str], n: int, folder: Path, simulated: Place | None
) -> Iterator[dict[str, Any]]:
    """Runs a job and yields the objects that it prints. The profiles of its PEs go to FOLDER/profile, which must not
    exist; MPI jobs leave none, except in simulation. `simulated`: the place of a simulated job.
    """
    start = how.start(site, {})
    if simulated:
        folder.mkdir(parents=True)
        start = Start(lambda _, n: simulated.simulated_job(folder, n, True))
    with closing(program.run(home, how.program, arguments, n, start, folder)) as lines:
        yield from lines


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
    launches = {version: launch_of(home, plan.app.name, version, plan.place) for version in plan.versions}
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
            for line in run_job(home, there, launches[version], arguments, n, folder, simulated):
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
    return told(
        plan.app.name,
        plan,
        pes=list(plan.size.pes),
        rounds=plan.size.rounds,
        each=plan.size.each,
        versions=plan.versions,
        left_out=plan.left_out,
    )
