"""PEs that compute longer than the others, which wait for them."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from wattle.advise.evidence import Evidence, Interval
from wattle.advise.finding import Advice, Effort, Finding, Sure, saved_of_pes
from wattle.advise.rules import late_receiver
from wattle.figures.no_core import unknown
from wattle.figures.waited import Late
from wattle.text import units
from wattle.text.units import share

NAME = "imbalance"
FROM = 0.1  # of the run's time without the time for which PEs had no core
LONG = 1.1  # a PE that computes so many times the mean is named
SAVED = Interval(0.35, 1.0)  # of the time that perfect balance would save

CHANGE = """\
/* give the named processes less work; or, where the work cannot move, slow the others: */
wattle plan DIR && wattle run --plan DIR/plan.yaml ..."""


def lateness(noun: str, late: Late) -> str:
    """The lateness at a call site, by its histogram."""
    often = f"{noun} {late.pe} was late at {share(late.share)} of its calls"
    return f"{often}; a call of the others waited {late.others.words()} in the median, {late.others.words(1.0)} at most"


def find(evidence: Evidence) -> Iterator[Finding]:
    profile = evidence.profile
    if unknown(profile):  # a PE without a core would seem to compute longer
        return
    busy = {pe.pe: pe.time_s["compute"] for pe in profile.pes}
    times = {pe: s for pe, s in busy.items() if s is not None}
    if len(times) < 2 or len(times) < len(busy):
        return
    mean, longest = statistics.fmean(times.values()), max(times.values())
    if longest - mean < FROM * evidence.least_ran_s:
        return
    waited = statistics.fmean(map(evidence.waited_s, profile.pes))
    if waited < (longest - mean) / 2:
        return
    named = [pe for pe, s in times.items() if s > LONG * mean]
    where = sorted(
        (s for s in evidence.spots if s.place.line), key=lambda s: sum(o.wait_s for o in s.of.values()), reverse=True
    )[:1]
    noun = profile.noun
    title = (
        f"{noun}{'s' * (len(named) > 1)} {units.ranges(named)} compute{'s' * (len(named) == 1)} longer than the others"
    )
    seen = [
        f"computing: {units.seconds(longest)} at most, {units.seconds(mean)} on average",
        *(f"{spot.words}: the others wait here" for spot in where),
        *(lateness(noun, spot.late) for spot in where if spot.late),
        *(f"{spot.words}: waits for the same reason" for spot in late_receiver.sends(evidence) if spot not in where),
    ]
    rests = f"The computing times of the {noun}s. The most is perfect balance."
    advice = Advice(title, seen, CHANGE, rests, Effort.DESIGN, Sure.MEDIUM)
    above = {pe: SAVED.scaled(s - mean) for pe, s in times.items() if s > mean}
    yield Finding(NAME, where, advice, saved_of_pes(evidence, above))
