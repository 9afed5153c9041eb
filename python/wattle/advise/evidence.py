"""Collects what the rules look at: the places of a program that call the library, and which of them follow each other.

A spot is a call at one line of the program, of all PEs and call paths. A link is a pair of spots, of which the second
was the next call of the thread. The counts of a link come from samples (docs/profile.md, "Order of calls"), so the
rules use their shares, and take numbers of calls and times from the spots.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from wattle.base.errors import WattleError
from wattle.figures import call_paths, no_core
from wattle.figures.no_core import Shortage
from wattle.figures.sites import merge
from wattle.figures.waited import Late, Waits, late, of_site, sum_of
from wattle.machine.symbols import Place
from wattle.record.pe import NO_CORE, PE, STAGES, STEP_COUNTS, Site, Step, add
from wattle.record.profile import RunProfile
from wattle.text.provenance import Joules, total

OVERLAP = 0.3  # of a short call's time, during which other calls run, too. Readings of the clock bound it from above
FAR_FROM_S = 2e-6  # a blocking call that takes less is a copy within the node
STARVED = 0.1  # of a PE's time without a core, from which the waits of the run show the machine
WIDEST = 3.0  # the most of a saving over the least: a wider interval says too little to act on
FEWEST = 8  # noted calls of a link, below which no share is taken from it


@dataclass
class OfPE:
    """A spot's numbers in one PE. `most_s`: its time. `least_s`: the least that is saved if the call goes
    away. A processor works on several short calls at a time, so the others may take as long as before.
    """

    calls: int = 0
    bytes: int = 0
    least_s: float = 0.0
    most_s: float = 0.0
    wait_s: float = 0.0
    waits: list[Waits] = field(default_factory=list)  # its calls by the time that each waited, by call path


@dataclass
class Spot:
    """A call at one place of the program."""

    place: Place
    call: str
    kind: str
    of: dict[int, OfPE] = field(default_factory=dict)
    joules: list[Joules] = field(default_factory=list)
    callers: dict[str, None] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        return sum(one.calls for one in self.of.values())

    @property
    def bytes(self) -> int:
        return sum(one.bytes for one in self.of.values())

    @property
    def mean_bytes(self) -> float:
        return self.bytes / self.calls if self.calls else 0.0

    @property
    def most_calls(self) -> int:
        """The calls of the PE that made the most."""
        return max((one.calls for one in self.of.values()), default=0)

    @property
    def mean_s(self) -> float:
        """Seconds of a call, at least."""
        return sum(one.least_s for one in self.of.values()) / self.calls if self.calls else 0.0

    @property
    def is_far(self) -> bool:
        """Whether blocking calls here take as long as those to another node."""
        return self.mean_s >= FAR_FROM_S

    @property
    def all_joules(self) -> float | None:
        return total(self.joules).joules if self.joules else None

    @property
    def late(self) -> Late | None:
        """The PE that was late most often. None where a PE's waits are not known."""
        known = {pe: sum_of(one.waits) for pe, one in self.of.items() if one.waits}
        return late(known) if len(known) == len(self.of) else None

    @property
    def words(self) -> str:
        return f"{self.place.label} {self.call}"


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


class Link:
    """Counts of the noted calls at `to` that came next after a call at `origin`, over all PEs."""

    def __init__(self, origin: Spot, to: Spot, steps: list[Step]) -> None:
        self.origin, self.to = origin, to
        sums = Step(*map(sum, zip(*steps, strict=True)))
        self.counts: dict[str, int] = {name: getattr(sums, name) for name in STEP_COUNTS}
        self.bytes, self.time_s, self.gaps_s = sums.bytes, sums.time_s, sums.gap_s
        self.areas = {(s.area, s.low, s.high) for s in steps if s.area >= 0}  # area, low, high of a PE's calls

    @property
    def times(self) -> int:
        return self.counts["times"]

    def share(self, name: str) -> float:
        """A count as a share of the transfers after another transfer."""
        whole = self.counts["transfers"]
        return self.counts[name] / whole if whole >= FEWEST else 0.0

    @property
    def gap_s(self) -> float | None:
        """Seconds from the end of a call to the beginning of the next. None where too few were timed."""
        n = self.counts["gaps"]
        return self.gaps_s / n if n >= FEWEST else None

    @property
    def mean_burst(self) -> float | None:
        """Transfers in a row, without another call between them. None where too few were noted."""
        return self.counts["burst_calls"] / self.counts["bursts"] if self.counts["bursts"] >= FEWEST else None


class Evidence:
    """All facts of a run. `wait`: its wait policy, if one was set. Raises WattleError for a run without them."""

    def __init__(self, profile: RunProfile, program: str, wait: str = "") -> None:
        self.profile = profile
        self.wait = wait
        if not profile.pes or profile.wall_s is None or profile.wall_s <= 0:
            raise WattleError(
                f"{profile.directory}: no {profile.noun} left a profile with its time, so nothing is known"
            )
        self.wall_s = profile.wall_s
        self.spots, self._at = _spots(profile, program)
        self.links = self._links()
        self.out: dict[int, list[Link]] = defaultdict(list)
        self.into: dict[int, list[Link]] = defaultdict(list)
        for link in self.links:
            self.out[id(link.origin)].append(link)
            self.into[id(link.to)].append(link)

    @property
    def ran_s(self) -> float:
        """The time of the run without the time for which a PE had no core. It costs no joules."""
        without = [pe.state_s[NO_CORE] or 0.0 for pe in self.profile.pes]
        return max(self.wall_s - sum(without) / len(without), self.wall_s / 100)

    @property
    def least_ran_s(self) -> float:
        """The same of the PE that had no core for longest, in waits too. The others wait for it meanwhile."""
        in_waits = [pe.cores.in_waits_s or 0.0 for pe in self.profile.pes]
        without = [(pe.state_s[NO_CORE] or 0.0) + more for pe, more in zip(self.profile.pes, in_waits, strict=True)]
        return max(self.wall_s - max(without), self.wall_s / 100)

    @cached_property
    def shortage(self) -> Shortage | None:
        """The PEs that had no core for a part of the run, and the likely cause."""
        return no_core.shortage(self.profile)

    @property
    def is_starved(self) -> bool:
        """Whether a PE had no core for so long that the waits of the others say little about the program."""
        several = len(self.profile.pes) > 1
        return several and self.shortage is not None and max(map(no_core.lacked, self.profile.pes)) >= STARVED

    @property
    def is_between_nodes(self) -> bool:
        return len({pe.host for pe in self.profile.pes}) > 1

    @staticmethod
    def waited_s(pe: PE) -> float:
        """The seconds of all waits of a PE."""
        return add(pe.state_s[stage] for stage in STAGES) or 0.0

    def price(self, meeting: Spot) -> Interval | None:
        """Seconds of a call in which all PEs wait for each other, once all have come: lateness is in no price. The PE
        that comes last waits least. So of the waits of n PEs' calls, the one counts that 1 of 2 n does not exceed, the
        median of those that came last. None where a PE never called it.
        """
        each = [one for one in meeting.of.values() if one.calls]
        if len(each) < self.profile.n_pes:
            return None
        mean = min(one.most_s / one.calls for one in each)
        own = min((one.most_s - one.wait_s) / one.calls for one in each)
        waits = sum_of(w for one in each for w in one.waits) if any(one.waits for one in each) else None
        short = waits.ends(waits.at(1 / (2 * len(each)))) if waits is not None and waits.calls else (0.0, 0.0)
        most = min(mean, own + short[1])
        return Interval((1 - OVERLAP) * max(min(most, own + short[0]), most / 2), most) if most > 0 else None

    @property
    def has_order(self) -> bool:
        """Whether the order of calls is known of any PE."""
        return any(pe.sequence is not None for pe in self.profile.pes)

    def _links(self) -> list[Link]:
        found: dict[tuple[int, int], list[Step]] = defaultdict(list)
        spots = {id(spot): spot for spot in self.spots}
        for pe in self.profile.pes:
            at = [id(self._at[pe.pe, i]) for i in range(len(pe.sites))]
            for step in pe.sequence.steps if pe.sequence is not None else ():
                found[at[step.origin], at[step.to]].append(step)
        return [Link(spots[origin], spots[to], steps) for (origin, to), steps in found.items()]

    def share_out(self, link: Link) -> float:
        """The share of the calls after `link.origin` that were at `link.to`."""
        whole = sum(other.times for other in self.out[id(link.origin)])
        return link.times / whole if whole >= FEWEST else 0.0

    def share_in(self, link: Link) -> float:
        """The share of the calls before `link.to` that were at `link.origin`."""
        whole = sum(other.times for other in self.into[id(link.to)])
        return link.times / whole if whole >= FEWEST else 0.0

    def link(self, origin: Spot, to: Spot) -> Link | None:
        return next((found for found in self.out[id(origin)] if found.to is to), None)

    @cached_property
    def whole_joules(self) -> Joules:
        """The joules of the run."""
        return self.profile.whole_joules

    @cached_property
    def idle_joules(self) -> float:
        """The joules of the idle nodes; 0 where they are not known."""
        return sum(self.profile.idle_joules(d).joules or 0.0 for d in self.profile.node_domains)

    def pace(self, without: Iterable[Spot]) -> int:
        """The PE that waits least elsewhere than at these spots. It sets the pace of the others."""
        own = list(without)

        def waited(pe: PE) -> float:
            here = sum(spot.of[pe.pe].wait_s for spot in own if pe.pe in spot.of)
            return self.waited_s(pe) - here

        return min(self.profile.pes, key=waited).pe


def _spots(profile: RunProfile, program: str) -> tuple[list[Spot], dict[tuple[int, int], Spot]]:
    found: dict[tuple[str, str], Spot] = {}
    at: dict[tuple[int, int], Spot] = {}
    numbers = {(pe.pe, id(site)): i for pe in profile.pes for i, site in enumerate(pe.sites)}
    for site in merge(profile):
        place, above = call_paths.nearest(site, program)
        key = (f"{place.file}:{place.line}" if place.file else f"{place.module}+{place.offset}", site.call)
        spot = found.setdefault(key, Spot(place, site.call, site.kind))
        spot.joules += site.joules
        spot.callers |= dict.fromkeys([above[0].words] if above else [])
        for pe, one in site.members:
            at[pe.pe, numbers[pe.pe, id(one)]] = spot
            _add_site(spot.of.setdefault(pe.pe, OfPE()), pe, one)
    return list(found.values()), at


def _add_site(to: OfPE, pe: PE, site: Site) -> None:
    waited = site.waiting_s or 0.0
    own = max(0.0, (site.time_s or 0.0) - waited)
    timer = (pe.sequence.timer_s or 0.0) if pe.sequence is not None else 0.0
    to.calls += site.calls
    to.bytes += site.bytes
    to.wait_s += waited
    waits = of_site(pe, site)
    to.waits += [waits] if waits is not None else []
    to.least_s += waited + own - min(OVERLAP * own, site.calls * timer / 2)
    to.most_s += waited + own
