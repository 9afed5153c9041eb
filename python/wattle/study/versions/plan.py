"""The plan of a study of a mini-app: its versions, numbers of PEs and inputs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from wattle import paths
from wattle.errors import WattleError
from wattle.paths import Home
from wattle.study.place import TWO_NODES, Place
from wattle.study.published import Published
from wattle.study.versions import jobs as versions_jobs
from wattle.study.versions.analysis import Analysis

MOST_PES = 512


@dataclass(frozen=True)
class Case:
    """The work of one job. `inputs`: the number of different inputs that it solves."""

    arguments: Callable[[Home], list[str]]
    inputs: int = 1
    series: str = "runs"
    pes: tuple[int, ...] | None = None  # None: those of the plan


@dataclass(frozen=True)
class Size:
    """The amount of work: rounds of a job of each version, and counted solutions of each input in a job."""

    pes: tuple[int, ...]
    rounds: int
    each: int
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class App:
    """A mini-app. `input_of`: the name of the input of a sample's line. `held`: cases in which work is held back."""

    name: str
    title: str
    question: str
    versions: tuple[str, ...]  # in the order of the report
    words: dict[str, str]  # a description of each version
    full: Size
    quick: Size
    input_of: Callable[[dict[str, Any]], str]
    held: tuple[Case, ...]
    simulated: Size  # for --on sim: runs do not differ, so one round is enough
    rows: Sequence[Published[Analysis]]
    bars: Sequence[Published[Analysis]]


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
    """Numbers of PEs from a text such as `2,4,8`. Raises WattleError."""
    found = [int(part) if re.fullmatch(r"\s*[0-9]{1,9}\s*", part) else 0 for part in text.split(",")]
    if any(not 2 <= n <= MOST_PES for n in found):
        raise WattleError(f"--pes {text}: write numbers from 2 to {MOST_PES} as in 2,4,8")
    if place.name == TWO_NODES and any(n % 2 for n in found):
        raise WattleError(f"--pes {text}: two nodes have the same number of PEs each; write even numbers")
    return tuple(sorted(set(found)))
