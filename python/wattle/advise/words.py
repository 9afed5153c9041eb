"""The words of findings, for the terminal, Markdown and the report's page."""

from __future__ import annotations

from wattle.advise import language as languages
from wattle.advise.evidence import Interval
from wattle.advise.finding import Finding
from wattle.advise.given import Given
from wattle.text import units
from wattle.text.provenance import joule_unit, significant

NONE = "No advice: no rule found a change that surely saves 1 % of the run or more."


def percents(share: Interval) -> str:
    """`31 to 44 %`."""
    lo, hi = (significant(value * 100, 2) for value in (share.lo, share.hi))
    return f"{lo} %" if lo == hi else f"{lo} to {hi} %"


def joules(finding: Finding) -> str:
    """`9.1 to 13 J (uncertain by 25 %), modelled`, or `joules unavailable`. The uncertainty is that of all joules."""
    found = finding.saved.joules
    if found is None:
        return "joules unavailable"
    factor, unit = joule_unit(found.hi)
    lo, hi = (significant(value / factor, 2) for value in (found.lo, found.hi))
    return (
        f"{lo} to {hi} {unit} (uncertain by {significant(finding.saved.doubt * 100, 2)} %), {finding.saved.provenance}"
    )


def time(finding: Finding) -> str:
    """`31 to 44 % of the time`, or `no time`."""
    return f"{percents(finding.saved.share)} of the time" if finding.saved.seconds.hi > 0 else "no time"


def saving(finding: Finding) -> str:
    return f"saves {time(finding)} and {joules(finding)}"


def headline(finding: Finding) -> str:
    """`halo.c:212: 40,000 puts ...; saves 31 to 44 % of the time and 9.1 to 13 J, modelled.`"""
    where = f"{finding.spots[0].place.label}: " if finding.spots else ""
    return f"{where}{finding.advice.title}; {saving(finding)}"


def places(finding: Finding) -> list[str]:
    """Each place of a finding with its function and its callers."""
    found = []
    for spot in finding.spots:
        callers = ", ".join(list(spot.callers)[:3])
        found.append(f"{spot.place.words}, {spot.call}" + (f", called from {callers}" if callers else ""))
    return found


def basis(finding: Finding) -> str:
    """The last lines of a finding: effort, sureness, what it rests on, and a replay."""
    advice = finding.advice
    words = f"Effort: {advice.effort}. Sure: {advice.sure}. {advice.rests_on}"
    return f"{words} {finding.replayed}".rstrip()


def notes(given: Given) -> list[str]:
    return [f"Note: {words}" for words in given.notes]


def markdown(given: Given) -> str:
    """The findings as Markdown, for a pull request."""
    lines = [f"### Advice of Wattle on `{given.run.directory.name}`", ""]
    took = f"The run took {units.seconds(given.evidence.wall_s)} and {given.whole}."
    lines += [took, *given.missing, ""]
    lines += [line for words in notes(given) for line in (words, "")]
    if not given.findings:
        return "\n".join([*lines, NONE, ""])
    for number, finding in enumerate(given.findings, 1):
        lines += [f"{number}. **{headline(finding)}**", ""]
        lines += [f"   - {words}" for words in (*places(finding), *finding.advice.seen)]
        lines += [
            "",
            f"   ```{language(finding)}",
            *(f"   {line}" for line in finding.advice.change.splitlines()),
            "   ```",
        ]
        lines += ["", f"   {basis(finding)}", ""]
    return "\n".join(lines)


def language(finding: Finding) -> str:
    """The language of the change, as a code block names it."""
    if "wattle " in finding.advice.change:
        return "sh"
    return languages.of(finding.spots[0].place) if finding.spots else "c"
