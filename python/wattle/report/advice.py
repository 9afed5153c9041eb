"""The section "Advice" of a run's page: the findings of `wattle advise`, or the reason why there are none."""

from __future__ import annotations

from typing import Any

from wattle.advise import words
from wattle.advise.finding import Finding
from wattle.advise.given import of_run
from wattle.base.errors import WattleError
from wattle.record.runs import Run


def section(run: Run) -> dict[str, Any]:
    """`findings` for the template, `none` in their place where there are none, and `missing`: sentences on evidence
    that the run lacks, and `notes`: on the machine.
    """
    try:
        given = of_run(run)
    except WattleError as why:
        return {"findings": [], "none": f"No advice can be given: {why}.", "missing": [], "notes": []}
    findings = [_finding(number, finding) for number, finding in enumerate(given.findings, 1)]
    none = words.NONE if not findings else ""
    return {"findings": findings, "none": none, "missing": given.missing, "notes": words.notes(given)}


def _finding(number: int, finding: Finding) -> dict[str, Any]:
    advice, saved = finding.advice, finding.saved
    return {
        "number": number,
        "rule": finding.rule,
        "title": f"{finding.spots[0].place.label}: {advice.title}" if finding.spots else advice.title,
        "saved": words.time(finding),
        "joules": words.joules(finding).partition(",")[0],
        "known": saved.joules is not None,
        "provenance": str(saved.provenance),
        "source": saved.source,
        "places": words.places(finding),
        "seen": advice.seen,
        "change": advice.change,
        "effort": str(advice.effort),
        "sure": str(advice.sure),
        "rests_on": f"{advice.rests_on} {finding.replayed}".rstrip(),
    }
