"""Sums the regions that a program marks over all PEs: time, calls, waiting and joules of each.

The figures of a region leave out its inner regions, so that they add up to those of the run. A PE's joules in the calls
of a region are those of its call sites. Its other joules are divided in proportion to the time outside calls. So the
joules of a region are shares, and modelled.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from wattle.base.documents import fields
from wattle.figures.sites import merge as merged_sites
from wattle.figures.sites import pe_figure, region_names
from wattle.record.pe import Site, add
from wattle.record.profile import RunProfile
from wattle.text import units
from wattle.text.provenance import Joules, total, unavailable

DOMAINS = ("cpu", "dram")
MOST = 1024  # that a process tells apart, as WTL_USER_REGIONS in src/profile
Name = tuple[str, ...]  # from the outermost region; empty outside all


@dataclass(frozen=True)
class UserRegion:
    """A region of a run. `name`: from the outermost one; empty for the time outside all regions. Times in s."""

    name: Name
    pes: int
    times: int | None  # begins of all processes; None outside regions, and where a process was killed
    time_s: float | None
    calls_s: float | None  # the part in calls, with their waits
    waiting_s: float | None
    joules: list[Joules]  # "cpu" and "dram", even if the meter has finer domains

    def as_dict(self) -> dict[str, object]:
        return fields(self, "name pes times time_s calls_s waiting_s joules")


@dataclass
class _Part:
    """A region in one PE. `joules`: of its calls, by domain; None where they are not known."""

    time_s: float | None = None
    times: int | None = None
    sites: list[Site] = field(default_factory=list)

    @property
    def calls_s(self) -> float:
        """A call that has not returned, such as the last one, has the time of its waits."""
        return sum(s.time_s if s.time_s is not None else s.waiting_s or 0.0 for s in self.sites)

    @property
    def waiting_s(self) -> float | None:
        return add(s.waiting_s for s in self.sites)

    def rest_s(self) -> float | None:
        return None if self.time_s is None else max(0.0, self.time_s - self.calls_s)

    def joules(self, domain: str) -> float | None:
        return add(s.joules.get(domain) for s in self.sites)


def merge(profile: RunProfile) -> list[UserRegion]:
    """The regions of the run, longest first, and the time outside them. Empty if the program marks none."""
    if not any(pe.user_regions for pe in profile.pes):
        return []
    parts = _parts(profile)
    names = dict.fromkeys(name for pe_parts in parts.values() for name in pe_parts)
    figures = {(pe.pe, d): pe_figure(pe, d) for pe in profile.pes for d in DOMAINS}
    found = []
    for name in names:
        members = [(pe, parts[pe.pe][name]) for pe in profile.pes if name in parts[pe.pe]]
        times = [part.times for _, part in members]
        found.append(
            UserRegion(
                name=name,
                pes=len(members),
                times=None if not name or None in times else sum(t for t in times if t is not None),
                time_s=add(part.time_s for _, part in members),
                calls_s=add(part.calls_s for _, part in members),
                waiting_s=add(part.waiting_s for _, part in members),
                joules=[
                    unavailable(d)
                    if profile.counted_twice
                    else total((_share(figures[pe.pe, d], parts[pe.pe], name, d) for pe, _ in members), domain=d)
                    for d in DOMAINS
                ],
            )
        )
    return sorted(found, key=lambda region: -(region.time_s or region.calls_s or 0.0))


def shares(found: Sequence[UserRegion]) -> list[str]:
    """The share of each region in the time of all, such as `12.5 %`. They add up to 100 %."""
    whole = add(region.time_s for region in found)
    return [
        f"{100 * region.time_s / whole:.1f} %" if whole and region.time_s is not None else units.UNKNOWN
        for region in found
    ]


def limit_words(profile: RunProfile) -> list[str]:
    """A sentence where processes had as many regions as one tells apart; else empty."""
    full = [pe.pe for pe in profile.pes if len(pe.user_regions) >= MOST]
    if not full:
        return []
    of = f"{profile.noun} {full[0]}" if len(full) == 1 else units.several(len(full), profile.noun)
    return [f"{of} marked {MOST} regions or more; each further one counts as the region around it"]


def _parts(profile: RunProfile) -> dict[int, dict[Name, _Part]]:
    """The regions of each PE that it was in, with its call sites there. A region that never began has no part."""
    found: dict[int, dict[Name, _Part]] = {}
    for pe in profile.pes:
        mine: dict[Name, _Part] = defaultdict(_Part)
        times = [region.time_s for region in pe.user_regions]
        inside = add(times)
        outside = None if inside is None or pe.wall_s is None else max(0.0, pe.wall_s - inside)
        mine[()] = _Part(outside)
        for i, region in enumerate(pe.user_regions):
            if region.times != 0 or region.time_s:
                mine[region_names(pe, i)] = _Part(region.time_s, region.times)
        found[pe.pe] = mine
    for site in merged_sites(profile):
        for pe, own in site.members:
            found[pe.pe][site.region].sites.append(own)
    return found


def _share(whole: Joules, parts: dict[Name, _Part], name: Name, domain: str) -> Joules:
    """The joules of a PE in a region. Those of all its regions are the PE's."""
    in_calls = add(part.joules(domain) for part in parts.values())
    rests = [part.rest_s() for part in parts.values()]
    mine, rest_s, all_s = parts[name].joules(domain), parts[name].rest_s(), add(rests)
    if whole.joules is None or in_calls is None or mine is None or rest_s is None or all_s is None:
        return unavailable(domain, whole.source, whole.scope)
    left = max(0.0, whole.joules - in_calls)
    return whole.share(mine + (left * rest_s / all_s if all_s > 0 else 0.0))
