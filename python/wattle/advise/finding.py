"""A finding: the lines, what was seen, the change, and the time and joules that it saves as intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from wattle.advise.evidence import WIDEST, Evidence, Interval, Spot
from wattle.text.provenance import Provenance

LEAST = 0.01  # share of the run's time, or of its joules: a finding that saves less at least is not shown
ONCE = 2  # calls of a PE at a site, below which a change there is not worth its while


class Effort(StrEnum):
    LINE = "one line"
    LINES = "a few lines"
    DESIGN = "a part of the program"


class Sure(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True)
class Part:
    """The part of a spot's time that a change saves."""

    spot: Spot
    share: Interval


@dataclass(frozen=True)
class Saved:
    """Seconds and joules that a change saves. `of_pe`: seconds by PE. `joules`: None where they are not known. `doubt`:
    the uncertainty of the run's joules, relative to them.
    """

    seconds: Interval
    share: Interval  # of the time for which the PEs had a core
    of_pe: dict[int, Interval]
    joules: Interval | None
    doubt: float
    provenance: Provenance
    source: str
    spots: list[Spot]  # those whose time is saved


@dataclass(frozen=True)
class Advice:
    """The text of a finding. `title`: the pattern, in one sentence. `seen`: the numbers. `change`: lines of code."""

    title: str
    seen: list[str]
    change: str
    rests_on: str
    effort: Effort
    sure: Sure


@dataclass(frozen=True)
class Finding:
    """`not_replayed`: the reason why a replay of the run does not show the change; empty: it shows it. `replayed`: the
    result of a replay of the timelines; empty: there was none.
    """

    rule: str
    spots: list[Spot]
    advice: Advice
    saved: Saved
    not_replayed: str = ""
    replayed: str = ""

    @property
    def has_line(self) -> bool:
        return bool(self.spots) and all(spot.place.file and spot.place.line for spot in self.spots)

    def is_worth(self, joules: float | None) -> bool:
        """Whether its least saving counts, its interval is narrow, and its lines are called again and again. `joules`:
        of the run, for a finding that saves no time.
        """
        share = self.saved.share
        if share.hi == 0 and self.saved.joules is not None and joules:
            share = self.saved.joules.scaled(1 / joules)
        often = all(spot.most_calls >= ONCE for spot in self.spots)
        return often and share.lo >= LEAST and share.hi <= WIDEST * share.lo

    @property
    def rank(self) -> tuple[float, float]:
        """A sort key: joules, then time."""
        return (self.saved.joules.middle if self.saved.joules else 0.0, self.saved.seconds.middle)

    def as_dict(self, number: int) -> dict[str, Any]:
        saved = self.saved
        return {
            "number": number,
            "rule": self.rule,
            "title": self.advice.title,
            "sites": [
                {**spot.place.as_dict(), "call": spot.call, "calls": spot.calls, "pes": len(spot.of)}
                for spot in self.spots
            ],
            "seen": self.advice.seen,
            "change": self.advice.change,
            "saved_s": saved.seconds.as_list(),
            "saved_percent": saved.share.scaled(100).as_list(),
            "saved_joules": {
                "range": saved.joules.as_list() if saved.joules else None,
                "relative_uncertainty": saved.doubt if saved.joules else None,
                "provenance": str(saved.provenance),
                "source": saved.source,
                "scope": "nodes",
            },
            "rests_on": self.advice.rests_on,
            "replayed": self.replayed,
            "effort": str(self.advice.effort),
            "sure": str(self.advice.sure),
        }


def saved_by(evidence: Evidence, parts: list[Part]) -> Saved:
    """The saving of the whole run by the parts that a change saves of some spots. The least is without the time of
    reading the clock.
    """
    of_pe: dict[int, Interval] = {}
    for part in parts:
        for pe, one in part.spot.of.items():
            before = of_pe.get(pe, Interval(0.0, 0.0))
            of_pe[pe] = Interval(before.lo + part.share.lo * one.least_s, before.hi + part.share.hi * one.most_s)
    return saved_of_pes(evidence, of_pe, parts)


def saved_of_calls(evidence: Evidence, spot: Spot, a_call: Interval) -> Saved:
    """The saving of the whole run by seconds of each call of a spot."""
    of_pe = {pe: a_call.scaled(one.calls) for pe, one in spot.of.items()}
    whole = sum(one.most_s for one in spot.of.values())
    part = a_call.scaled(spot.calls / whole) if whole else a_call
    return saved_of_pes(evidence, of_pe, [Part(spot, part)])


def saved_of_pes(evidence: Evidence, of_pe: dict[int, Interval], parts: Sequence[Part] = ()) -> Saved:
    """The saving of the whole run by the seconds of each PE. `parts`: the call sites that have them, if any.

    The time of the run ends with the PE that sets the pace, so its seconds count. The time for which PEs had no core is
    not the program's, and the shares are without it.
    """
    one = of_pe.get(evidence.pace([part.spot for part in parts]), Interval(0.0, 0.0))
    seconds = Interval(*(min(end, evidence.ran_s) for end in (one.lo, one.hi)))
    share = seconds.scaled(1 / evidence.ran_s)
    joules = _joules(evidence, parts, share)
    whole = evidence.whole_joules
    doubt = (whole.uncertainty or 0.0) / whole.joules if whole.joules else 0.0
    provenance = Provenance.MODELLED if joules else Provenance.UNAVAILABLE
    return Saved(seconds, share, of_pe, joules, doubt, provenance, whole.source, [part.spot for part in parts])


def _joules(evidence: Evidence, parts: Sequence[Part], share: Interval) -> Interval | None:
    """Those of the call sites, where they are known, with the idle joules of the saved time; else the run's by time."""
    whole = evidence.whole_joules
    if whole.joules is None or whole.joules <= 0 or whole.uncertainty is None:
        return None
    own = [(part.spot.all_joules, part.share) for part in parts]
    if not own or any(joules is None for joules, _ in own):
        return share.scaled(whole.joules)
    idle = share.scaled(evidence.idle_joules)
    lo, hi = (sum((j or 0.0) * getattr(s, end) for j, s in own) + getattr(idle, end) for end in ("lo", "hi"))
    return Interval(lo, min(hi, whole.joules))
