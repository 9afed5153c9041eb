"""Advises on a run: applies the rules and ranks their findings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wattle.advise.evidence import Evidence
from wattle.advise.finding import Finding, Sure
from wattle.advise.rules.table import CAUSES, RULES
from wattle.base import extras
from wattle.base.documents import fields
from wattle.base.errors import WattleError
from wattle.figures import no_core
from wattle.record import jobs, runs
from wattle.record.profile import folder_of
from wattle.record.runs import Run
from wattle.text import units
from wattle.text.provenance import Joules

UNCERTAIN = "So findings are not sure, and shares are of the time with a core."


@dataclass(frozen=True)
class Given:
    """The findings of a run, the most joules first. `missing`: sentences on what could not be looked at. `notes`: on
    the machine, which is no finding on the program.
    """

    run: Run
    evidence: Evidence
    findings: list[Finding]
    missing: list[str]
    notes: list[str]

    @property
    def whole(self) -> Joules:
        return self.evidence.whole_joules

    def as_dict(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "kind": "advice",
            "run": str(self.run.directory),
            "wall_s": self.evidence.wall_s,
            "joules": self.whole.as_dict(),
            **fields(self, "missing notes"),
            "findings": [finding.as_dict(i) for i, finding in enumerate(self.findings, 1)],
        }


def advise(directory: Path) -> Given:
    """Reads a run and advises on the repeat with the median time."""
    return of_run(runs.load(directory))


def of_run(run: Run) -> Given:
    """The advice on a run that was read. Raises WattleError where it has no profile."""
    profile = run.middle.profile
    if profile is None:
        raise WattleError(f"{run.directory}: was run without a profile; run it again without --no-profile")
    wait = run.middle.manifest.settings.get("WATTLE_WAIT", "")
    evidence = Evidence(profile, profile.pes[0].program if profile.pes else "", wait)
    notes = [words for words in (jobs.words(run.middle.directory), *_notes(evidence)) if words]
    findings, without_line = _ranked(evidence)
    return Given(run, evidence, findings, _missing(evidence, without_line), notes)


def _ranked(evidence: Evidence) -> tuple[list[Finding], int]:
    """The findings that are sure, the most joules first, and the number of those that would be, had they a line."""
    found: list[Finding] = []
    claimed: set[int] = set()
    rules: set[str] = set()
    confirm = _replay(evidence)
    without_line = 0
    for name, find in RULES.items():
        for finding in find(evidence) if CAUSES.get(name) not in rules else ():
            rules.add(name)
            own = {id(spot) for spot in finding.saved.spots}
            shown = confirm(finding)
            if not shown.is_worth(evidence.whole_joules.joules) or own & claimed:
                continue
            if not shown.has_line:
                without_line += 1
                continue
            claimed |= own
            found.append(_unsure(shown) if evidence.is_starved else shown)
    return sorted(found, key=lambda finding: finding.rank, reverse=True), without_line


def _replay(evidence: Evidence) -> Callable[[Finding], Finding]:
    """A function that replays a finding, where the run has timelines and the replay's packages are there."""
    folder = folder_of(Path(evidence.profile.directory))
    if not any(folder.glob("timeline-*.bin")) or not extras.has("numpy"):
        return lambda finding: finding
    from wattle.advise import replayed  # imported late, because it needs the extra `lab`

    return replayed.by_timelines(evidence)


def _unsure(finding: Finding) -> Finding:
    return replace(finding, advice=replace(finding.advice, sure=Sure.LOW))


def _notes(evidence: Evidence) -> list[str]:
    if evidence.shortage is None:
        return []
    words = evidence.shortage.words
    return [f"{words} {UNCERTAIN}" if evidence.is_starved else words]


def _missing(evidence: Evidence, without_line: int) -> list[str]:
    found = []
    if without_line:
        found.append(
            f"{units.several(without_line, 'finding')} without a source line: compile the program with -g to see more."
        )
    profile = evidence.profile
    lost = sum(pe.sequence.lost for pe in profile.pes if pe.sequence is not None)
    if not evidence.has_order:
        found.append(
            "The order of calls is not known: an earlier version of Wattle wrote the profile, or a kill ended it."
        )
    elif lost:
        found.append(f"{lost} noted calls were between too many pairs of places, and are left out.")
    if words := no_core.unknown(profile):
        found.append(f"{words} So no imbalance is looked for.")
    if not profile.complete:
        n = len(profile.missing) + len(profile.damaged)
        found.append(f"{n} of {profile.n_pes} {profile.noun}s left no profile that can be read.")
    return found
