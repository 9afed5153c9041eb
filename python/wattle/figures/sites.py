"""Merges the call sites of all PEs of a run and finds their file and line."""

from __future__ import annotations

import math
from collections import defaultdict

import msgspec
from msgspec.structs import replace

from wattle.base.documents import fields
from wattle.figures import served, waited
from wattle.figures.waited import Waits
from wattle.machine import symbols
from wattle.record.pe import CUT, OTHER, PE, PYTHON, REGION, SIGNAL, STAGES, Numbers, PathNode, Site, add, find
from wattle.record.profile import RunProfile
from wattle.text.provenance import Joules, Provenance, total, unavailable

CUT_WORDS = "(deeper callers)"
Key = symbols.Key | symbols.Place  # a Python frame is its own key
Wholes = dict[tuple[int, str], Joules]  # the figures that sites have shares of, by PE and domain
ENDS = {CUT: CUT_WORDS, OTHER: "(other paths)", SIGNAL: "(signal handler)"}


class MergedSite(msgspec.Struct, frozen=True):
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
    region: tuple[str, ...] = ()  # that the program marks: names from the outermost; empty outside all regions
    elsewhere: list[Joules] = []  # of other PEs for this site; empty where there are none
    elsewhere_s: float = 0.0  # their time for it
    members: list[tuple[PE, Site]] = []  # the sites of the PEs of which this is the sum

    @property
    def frames(self) -> tuple[symbols.Place, ...]:
        """The call and its callers, the nearest first."""
        return (self.place, *self.path)

    @property
    def waiting_s(self) -> float | None:
        return add(self.wait_s.values())

    @property
    def waits_of(self) -> dict[int, float]:
        """The seconds of waiting by process; empty where they are not known of each."""
        found: dict[int, float] = {}
        for pe, site in self.members:
            seconds = site.waiting_s
            if seconds is None:
                return {}
            found[pe.pe] = found.get(pe.pe, 0.0) + seconds
        return found

    @property
    def lengths_of(self) -> dict[int, Waits]:
        """The calls by the time that each waited, by process, as far as they are known."""
        found: dict[int, Waits] = {}
        for pe, site in self.members:
            waits = waited.of_site(pe, site)
            if waits is not None:
                found[pe.pe] = waited.sum_of([found[pe.pe], waits]) if pe.pe in found else waits
        return found

    @property
    def cost(self) -> tuple[float, float]:
        """A sort key: joules of all domains, here and elsewhere, then time."""
        all_joules = self.all_joules
        return (all_joules.joules if all_joules.joules is not None else -1.0, self.time_s or 0.0)

    @property
    def all_joules(self) -> Joules:
        """Here and elsewhere."""
        return total([*self.joules, *self.elsewhere])

    def as_dict(self) -> dict[str, object]:
        return {
            **self.place.as_dict(),
            "path": [frame.words for frame in self.path],
            "path_end": self.path_end or None,
            **fields(self, "region call kind pes calls bytes timed_calls time_s wait_s waits joules"),
            "elsewhere": {"time_s": self.elsewhere_s, "joules": [j.as_dict() for j in self.elsewhere]},
        }


class Callers:
    """The places of the callers of a PE's sites. Sites share most of their callers, so each node is looked at once."""

    def __init__(self, pe: PE) -> None:
        self.pe = pe
        self._modules = [(module.path, module.build_id) for module in pe.modules]
        self._above: dict[int, tuple[tuple[Key, ...], str, tuple[str, ...]]] = {-1: ((), "", ())}

    def key_of(self, module: int, offset: int) -> symbols.Key:
        return (*(self._modules[module] if 0 <= module < len(self._modules) else ("", "")), offset)

    def above(self, at: int) -> tuple[tuple[Key, ...], str, tuple[str, ...]]:
        """The places from a node outwards, the reason why those above them are not known, and the region."""
        found = self._above.get(at)
        if found is None:
            node = self.pe.paths[at]
            if node.module == REGION:
                found = ((), "", region_names(self.pe, node.offset))
            else:
                keys, end, region = self.above(node.parent)
                if node.module in ENDS:
                    found = ((), ENDS[node.module], region)
                else:
                    found = ((self._key(node), *keys), end, region)
            self._above[at] = found
        return found

    def _key(self, node: PathNode) -> Key:
        """A Python frame is its own key, with the function's name as `step.<genexpr>`."""
        if node.module != PYTHON:
            return self.key_of(node.module, node.offset)
        found = self.pe.python[node.offset]
        return symbols.Place("", 0, found.file, found.line, found.function.replace(".<locals>", ""), is_python=True)


def region_names(pe: PE, number: int) -> tuple[str, ...]:
    """The names of a region that the program marks, from the outermost."""
    names = []
    while number >= 0:
        names.append(pe.user_regions[number].name)
        number = pe.user_regions[number].outer
    return tuple(reversed(names))


def merge(profile: RunProfile) -> list[MergedSite]:
    """All call sites of the run, those with the most joules first."""
    groups: dict[tuple[tuple[Key, ...], str, tuple[str, ...], str], list[tuple[PE, Site]]] = defaultdict(list)
    for pe in profile.pes:
        callers = Callers(pe)
        for site in pe.sites:
            keys, end, region = callers.above(site.path)
            groups[(callers.key_of(site.module, site.offset), *keys), end, region, site.call].append((pe, site))
    places = symbols.resolve(key for keys, *_ in groups for key in keys if isinstance(key, tuple))
    domains = {domain for pe in profile.pes for site in pe.sites for domain in site.joules}
    wholes = {(pe.pe, domain): pe_figure(pe, domain) for pe in profile.pes for domain in domains}
    assigned = assigned_of(profile)
    several = profile.pes if assigned.of_site else []
    place_of = {(pe.pe, id(site)): i for pe in several for i, site in enumerate(pe.sites)}
    merged = []
    for (keys, end, region, _), members in groups.items():
        first, *above = [places[key] if isinstance(key, tuple) else key for key in keys]
        path = [*first.around, *(frame for caller in above for frame in (caller, *caller.around))]
        whole = _merged((first, tuple(path), end), members, None if profile.counted_twice else wholes)
        if place_of:
            whole = _with_elsewhere(whole, assigned.of((pe.pe, place_of[pe.pe, id(s)]) for pe, s in members))
        merged.append(replace(whole, region=region))
    return sorted(merged, key=lambda site: site.cost, reverse=True)


def assigned_of(profile: RunProfile) -> served.Assigned:
    """The work of PEs for the call sites of others."""
    unknown = profile.counted_twice
    return served.assign(profile.pes, lambda pe, domain: unavailable(domain) if unknown else pe_figure(pe, domain))


def _with_elsewhere(site: MergedSite, parts: list[served.Elsewhere]) -> MergedSite:
    if not parts:
        return site
    joules = [total((j for p in parts for j in p.joules[d]), domain=d) for d in served.DOMAINS]
    known = [j for j in joules if j.known]
    return replace(site, elsewhere=known, elsewhere_s=sum(p.seconds for p in parts))


def key_of(pe: PE, module: int, offset: int) -> symbols.Key:
    """The key of a place in the program, for `symbols.resolve`."""
    found = pe.modules[module] if 0 <= module < len(pe.modules) else None
    return (found.path, found.build_id, offset) if found else ("", "", offset)


def key_of_wait(pe: PE) -> symbols.Key | None:
    """The call site of the wait in which a process was. None where it was in none, or its file is not known."""
    wait = pe.ended.wait if pe.ended else None
    if wait is None or not 0 <= wait.module < len(pe.modules):
        return None
    module = pe.modules[wait.module]
    return module.path, module.build_id, wait.offset


def _merged(
    where: tuple[symbols.Place, tuple[symbols.Place, ...], str], members: list[tuple[PE, Site]], wholes: Wholes | None
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
        joules=[unavailable(d) if wholes is None else _sum(members, d, wholes) for d in domains],
        members=members,
    )


def _sum(members: list[tuple[PE, Site]], domain: str, wholes: Wholes) -> Joules:
    """The sum of the sites' shares of their PEs' figures, as `provenance.total` adds `Joules.share`. It is computed in
    one step, because a large job has a million of them.
    """
    joules, doubts = [], []
    sources: dict[str, None] = {}
    scopes: dict[str, None] = {}
    for pe, site in members:
        whole, own = wholes[pe.pe, domain], site.joules.get(domain)
        own = 0.0 if own is None and whole.joules == 0 else own  # a share of zero joules
        sources[whole.source if own is not None else ""] = scopes[whole.scope if own is not None else ""] = None
        if own is not None and whole.joules is not None:
            joules.append(own)
            if whole.uncertainty is not None:
                doubts.append(whole.uncertainty * abs(own / whole.joules) if whole.joules else whole.uncertainty)
    source, scope = " + ".join(filter(None, sources)), next(iter(scopes)) if len(scopes) == 1 else ""
    if len(joules) < len(members):
        return unavailable(domain, source, scope)
    doubt = math.fsum(doubts) if len(doubts) == len(joules) else None
    return Joules(math.fsum(joules), doubt, Provenance.MODELLED, source, scope, domain)


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
