"""Merges the call sites of all PEs of a run and finds their file and line."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from wattle import symbols
from wattle.pe import CUT, OTHER, PE, SIGNAL, STAGES, Numbers, Site, add, find
from wattle.profile import RunProfile
from wattle.provenance import Joules, total, unavailable

CUT_WORDS = "(deeper callers)"
ENDS = {CUT: CUT_WORDS, OTHER: "(other paths)", SIGNAL: "(signal handler)"}


@dataclass(frozen=True)
class MergedSite:
    """One place, path and call, summed over the PEs that executed it."""

    place: symbols.Place
    call: str
    kind: str
    pes: int
    calls: int
    bytes: int
    timed_calls: int
    time_s: float | None
    wait_s: Numbers
    waits: int
    joules: list[Joules]  # "cpu" and "dram", even if the meter has finer domains
    path: tuple[symbols.Place, ...] = ()  # the callers above `place`, the nearest first, inlined ones included
    path_end: str = ""  # the reason why the path ends before the program's start; empty where it does not
    waits_of: dict[int, float] = field(default_factory=dict)  # seconds of waiting by process, where all are known

    @property
    def frames(self) -> tuple[symbols.Place, ...]:
        """The call and its callers, the nearest first."""
        return (self.place, *self.path)

    @property
    def waiting_s(self) -> float | None:
        return add(self.wait_s.values())

    @property
    def cost(self) -> tuple[float, float]:
        """A sort key: joules of all domains, then time."""
        all_joules = total(self.joules)
        return (all_joules.joules if all_joules.joules is not None else -1.0, self.time_s or 0.0)

    def as_dict(self) -> dict[str, object]:
        return {
            **self.place.as_dict(),
            "path": [frame.words for frame in self.path],
            "path_end": self.path_end or None,
            "call": self.call,
            "kind": self.kind,
            "pes": self.pes,
            "calls": self.calls,
            "bytes": self.bytes,
            "timed_calls": self.timed_calls,
            "time_s": self.time_s,
            "wait_s": self.wait_s,
            "waits": self.waits,
            "joules": [j.as_dict() for j in self.joules],
        }


def merge(profile: RunProfile) -> list[MergedSite]:
    """All call sites of the run, those with the most joules first."""
    groups: dict[tuple[tuple[symbols.Key, ...], str, str], list[tuple[PE, Site]]] = defaultdict(list)
    for pe in profile.pes:
        for site in pe.sites:
            groups[*_keys(pe, site), site.call].append((pe, site))
    places = symbols.resolve(key for keys, _, _ in groups for key in keys)
    merged = []
    for (keys, end, _), members in groups.items():
        first, *callers = [places[key] for key in keys]
        path = [*first.around, *(frame for caller in callers for frame in (caller, *caller.around))]
        merged.append(_merged((first, tuple(path), end), members, profile.counted_twice))
    return sorted(merged, key=lambda site: site.cost, reverse=True)


def key_of(pe: PE, module: int, offset: int) -> symbols.Key:
    """The key of a place in the program, for `symbols.resolve`."""
    found = pe.modules[module] if 0 <= module < len(pe.modules) else None
    return (found.path, found.build_id, offset) if found else ("", "", offset)


def _keys(pe: PE, site: Site) -> tuple[tuple[symbols.Key, ...], str]:
    """The places of a call and its callers, and the reason why the callers above are not known."""
    nodes = pe.callers_of(site)
    end = ENDS.get(nodes[-1].module, "") if nodes else ""
    callers = nodes[:-1] if end else nodes
    return (key_of(pe, site.module, site.offset), *(key_of(pe, n.module, n.offset) for n in callers)), end


def key_of_wait(pe: PE) -> symbols.Key | None:
    """The call site of the wait in which a process was. None where it was in none, or its file is not known."""
    wait = pe.ended.wait if pe.ended else None
    if wait is None or not 0 <= wait.module < len(pe.modules):
        return None
    module = pe.modules[wait.module]
    return module.path, module.build_id, wait.offset


def _merged(
    where: tuple[symbols.Place, tuple[symbols.Place, ...], str], members: list[tuple[PE, Site]], counted_twice: bool
) -> MergedSite:
    sites = [site for _, site in members]
    domains = dict.fromkeys(domain for site in sites for domain in site.joules)
    return MergedSite(
        place=where[0],
        path=where[1],
        path_end=where[2],
        call=sites[0].call,
        kind=sites[0].kind,
        pes=len({pe.pe for pe, _ in members}),
        calls=sum(s.calls for s in sites),
        bytes=sum(s.bytes for s in sites),
        timed_calls=sum(s.timed_calls for s in sites),
        time_s=add(s.time_s for s in sites),
        wait_s={stage: add(s.wait_s[stage] for s in sites) for stage in STAGES},
        waits=sum(s.waits for s in sites),
        joules=[_sum(members, d) if not counted_twice else unavailable(d) for d in domains],
        waits_of=_waits_of(members),
    )


def _waits_of(members: list[tuple[PE, Site]]) -> dict[int, float]:
    found: dict[int, float] = {}
    for pe, site in members:
        waited = add(site.wait_s.values())
        if waited is None:
            return {}
        found[pe.pe] = found.get(pe.pe, 0.0) + waited
    return found


def _sum(members: list[tuple[PE, Site]], domain: str) -> Joules:
    return total((_share(pe, site, domain) for pe, site in members), domain=domain)


def _share(pe: PE, site: Site, domain: str) -> Joules:
    joules, whole = site.joules.get(domain), pe_figure(pe, domain)
    if joules is None and whole.joules == 0:
        joules = 0.0  # a share of zero joules
    return unavailable(domain) if joules is None else whole.share(joules)


def pe_figure(pe: PE, domain: str) -> Joules:
    """The figure that a site's joules are a share of: the PE's figure of the domain, or the sum of a sensor's finer
    domains. Accelerators are not divided among sites.
    """
    exact = find(pe.joules, domain)
    if exact.known:
        return exact
    parts = (j for j in pe.joules if j.scope != "device" and _is_dram(j) == (domain == "dram"))
    return total(parts, domain=domain)


def _is_dram(figure: Joules) -> bool:
    return figure.scope == "dram" or figure.domain.startswith("dram")
