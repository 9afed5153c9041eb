"""Advises on a run: applies the rules and ranks their findings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wattle.advise.evidence import Evidence
from wattle.advise.finding import LEAST, Finding, Sure
from wattle.advise.rules.table import RULES
from wattle.base.documents import fields
from wattle.base.errors import WattleError
from wattle.figures import no_core
from wattle.record import jobs, runs
from wattle.record.runs import Run
from wattle.text.provenance import Joules

UNCERTAIN = "So shares of the run are uncertain: the least counts all waits as the program's, the most none."


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
    return Given(run, evidence, _ranked(evidence), _missing(evidence), notes)


def _ranked(evidence: Evidence) -> list[Finding]:
    found: list[Finding] = []
    claimed: set[int] = set()
    for find in RULES.values():
        for finding in find(evidence):
            own = {id(spot) for spot in finding.saved.spots}
            if _saved(finding, evidence) < LEAST or own & claimed:
                continue
            claimed |= own
            found.append(_unsure(finding) if evidence.is_starved else finding)
    return sorted(found, key=lambda finding: finding.rank, reverse=True)


def _saved(finding: Finding, evidence: Evidence) -> float:
    """The share of the run's time that a finding saves, or of its joules where it saves no time."""
    saved, whole = finding.saved, evidence.whole_joules.joules
    if saved.seconds.hi > 0 or saved.joules is None or not whole:
        return saved.share.middle
    return saved.joules.middle / whole


def _unsure(finding: Finding) -> Finding:
    return replace(finding, advice=replace(finding.advice, sure=Sure.LOW))


def _notes(evidence: Evidence) -> list[str]:
    if evidence.shortage is None:
        return []
    words = evidence.shortage.words
    return [f"{words} {UNCERTAIN}" if evidence.is_starved else words]


def _missing(evidence: Evidence) -> list[str]:
    found = []
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
