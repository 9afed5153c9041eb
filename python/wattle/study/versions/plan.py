"""The plan of a study of a mini-app: its versions, numbers of PEs and inputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from wattle.base.errors import WattleError
from wattle.machine import paths
from wattle.study.options import check_times
from wattle.study.place import TWO_NODES, Place
from wattle.study.versions import jobs as versions_jobs
from wattle.study.versions.family import App, Case, Size

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
