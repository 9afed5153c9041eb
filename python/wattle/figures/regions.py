"""Merges the regions of all PEs of a run, with their place and their joules.

A region is the program between a barrier and the next one. The governor keeps its times. A PE's joules outside waits
are divided in proportion to its computing time, and those of its waits in proportion to its slack. So the joules of a
region are always modelled, and clocks of regions are taken to be equal.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from wattle.base.documents import fields
from wattle.figures.sites import key_of, pe_figure
from wattle.machine import symbols
from wattle.record.pe import NO_CORE, PE, CpuOrDram, Region, add
from wattle.record.profile import RunProfile
from wattle.text.provenance import Joules, total, unavailable

DOMAINS: tuple[CpuOrDram, ...] = ("cpu", "dram")


@dataclass(frozen=True)
class MergedRegion:
    """A region, summed over the PEs that executed it. `call`: the barrier at which it begins. Times in s."""

    place: symbols.Place
    call: str
    pes: int
    instances: int
    compute_s: float | None
    slack_s: float | None
    joules: list[Joules]  # "cpu" and "dram", even if the meter has finer domains

    def as_dict(self) -> dict[str, object]:
        return self.place.as_dict() | fields(self, "call pes instances compute_s slack_s joules")


def merge(profile: RunProfile) -> list[MergedRegion]:
    """The regions of the run, those with the longest time first. Empty without a governor or without barriers."""
    groups: dict[tuple[symbols.Key, str], list[tuple[PE, Region]]] = defaultdict(list)
    for pe in profile.pes:
        known = {site.addr: (key_of(pe, site.module, site.offset), site.call) for site in pe.sites}
        for region in pe.clocks.regions if pe.clocks else ():
            groups[known.get(region.addr, (("", "", region.addr), ""))].append((pe, region))
    places = symbols.resolve(key for key, _ in groups)
    found = [
        MergedRegion(
            places[key],
            call,
            len({pe.pe for pe, _ in members}),
            sum(region.instances for _, region in members),
            add(region.compute_s for _, region in members),
            add(region.slack_s for _, region in members),
            [
                unavailable(d) if profile.counted_twice else total((_share(*m, d) for m in members), domain=d)
                for d in DOMAINS
            ],
        )
        for (key, call), members in groups.items()
    ]
    return sorted(found, key=lambda one: -((one.compute_s or 0.0) + (one.slack_s or 0.0)))


def _share(pe: PE, region: Region, domain: CpuOrDram) -> Joules:
    """The joules of a PE in a region. Those of all its regions never exceed the PE's."""
    figure, waited = pe_figure(pe, domain), pe.wait_joules[domain]
    computed_s = add([pe.time_s["compute"], pe.time_s["transfer"]])
    waited_s, lost_s = pe.time_s["wait"], pe.time_s[NO_CORE] or 0.0
    if (
        figure.joules is None
        or waited is None
        or computed_s is None
        or waited_s is None
        or region.compute_s is None
        or region.slack_s is None
    ):
        return unavailable(domain, figure.source, figure.scope)
    waited = min(waited, figure.joules)
    parts = ((figure.joules - waited, region.compute_s, computed_s + lost_s), (waited, region.slack_s, waited_s))
    return figure.share(sum(joules * min(1.0, of / whole_s) for joules, of, whole_s in parts if whole_s > 0))
