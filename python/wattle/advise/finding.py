"""A finding: the lines, what was seen, the change, and the time and joules that it saves as intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from wattle.advise.evidence import Evidence, Spot
from wattle.text.provenance import Provenance

LEAST = 0.01  # share of the run's time, or of its joules: a finding that saves less is not shown


class Effort(StrEnum):
    LINE = "one line"
    LINES = "a few lines"
    DESIGN = "a part of the program"


class Sure(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True)
class Interval:
    """From the least to the most that is expected."""

    lo: float
    hi: float

    @property
    def middle(self) -> float:
        return (self.lo + self.hi) / 2

    def scaled(self, by: float) -> Interval:
        return Interval(self.lo * by, self.hi * by)

    def as_list(self) -> list[float]:
        return [self.lo, self.hi]


@dataclass(frozen=True)
class Part:
    """The part of a spot's time that a change saves."""

    spot: Spot
    share: Interval


@dataclass(frozen=True)
class Saved:
    """Seconds and joules that a change saves. `of_pe`: seconds by PE. `joules`: None where they are not known."""

    seconds: Interval
    share: Interval  # of the run's time
    of_pe: dict[int, Interval]
    joules: Interval | None
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
    """`not_replayed`: the reason why a replay of the run does not show the change; empty: it shows it."""

    rule: str
    spots: list[Spot]
    advice: Advice
    saved: Saved
    not_replayed: str = ""

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
                "provenance": str(saved.provenance),
                "source": saved.source,
                "scope": "nodes",
            },
            "rests_on": self.advice.rests_on,
            "effort": str(self.advice.effort),
            "sure": str(self.advice.sure),
        }


def saved_by(evidence: Evidence, parts: list[Part]) -> Saved:
    """The saving of the whole run by the parts that a change saves of some spots.

    The time of the run ends with the PE that sets the pace. So the least saving is that PE's, without the time of
    reading the clock, and the most is the largest of a PE. The joules are computed in two ways, and the interval holds
    both. One is the joules of the spots by the parts, and the idle joules by the share of time. The other is all
    joules by the share of time. The uncertainty of the run's joules widens it.
    """
    of_pe: dict[int, Interval] = {}
    for part in parts:
        for pe, one in part.spot.of.items():
            before = of_pe.get(pe, Interval(0.0, 0.0))
            of_pe[pe] = Interval(before.lo + part.share.lo * one.least_s, before.hi + part.share.hi * one.most_s)
    return saved_of_pes(evidence, of_pe, parts)


def saved_of_pes(evidence: Evidence, of_pe: dict[int, Interval], parts: Sequence[Part] = ()) -> Saved:
    """The saving of the whole run by the seconds of each PE. `parts`: the call sites that have them, if any."""
    pace = evidence.pace([part.spot for part in parts])
    most = min(max((one.hi for one in of_pe.values()), default=0.0), evidence.ran_s)
    seconds = Interval(min(of_pe.get(pace, Interval(0.0, 0.0)).lo, most), most)
    # Time without a core may stay, or shrink with the work. It costs no joules.
    most_share = _with_waits(evidence, of_pe, parts) if evidence.waits_shrink else seconds.hi / evidence.ran_s
    share = Interval(seconds.lo / evidence.wall_s, min(1.0, most_share))
    joules = _joules(evidence, parts, Interval(seconds.lo / evidence.ran_s, share.hi))
    whole = evidence.whole_joules
    provenance = Provenance.MODELLED if joules else Provenance.UNAVAILABLE
    return Saved(seconds, share, of_pe, joules, provenance, whole.source, [part.spot for part in parts])


def _with_waits(evidence: Evidence, of_pe: dict[int, Interval], parts: Sequence[Part]) -> float:
    """The most of a saving as a share of its PE's time with a core, with waits that go away beside it: those elsewhere
    than at its call sites shrink in proportion to the work outside waits. Of the PE that saves most.
    """
    pe = max(evidence.profile.pes, key=lambda pe: of_pe.get(pe.pe, Interval(0.0, 0.0)).hi)
    saved = of_pe.get(pe.pe, Interval(0.0, 0.0)).hi
    at = sum(part.share.hi * part.spot.of[pe.pe].wait_s for part in parts if pe.pe in part.spot.of)
    active, waited = pe.state_s["active"] or 0.0, evidence.waited_s(pe)
    if active + waited <= 0:
        return 1.0
    part = min(1.0, max(0.0, saved - at) / active) if active > 0 else 0.0
    return (saved + max(0.0, waited - at) * part) / (active + waited)


def _joules(evidence: Evidence, parts: Sequence[Part], share: Interval) -> Interval | None:
    whole = evidence.whole_joules
    if whole.joules is None or whole.joules <= 0 or whole.uncertainty is None:
        return None
    ways = [share.scaled(whole.joules)]
    own = [(part.spot.all_joules, part.share) for part in parts]
    if own and all(joules is not None for joules, _ in own):
        idle = share.scaled(evidence.idle_joules)
        ends = [sum((j or 0.0) * getattr(s, end) for j, s in own) + getattr(idle, end) for end in ("lo", "hi")]
        ways.append(Interval(*ends))
    doubt = whole.uncertainty / whole.joules
    return Interval(
        max(0.0, min(way.lo for way in ways) * (1 - min(1.0, doubt))), max(way.hi for way in ways) * (1 + doubt)
    )
