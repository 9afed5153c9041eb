"""Assigns the work of PEs for others to the call sites that asked for it.

A PE counts the requests that it serves by the PE that asked and the mark of its call site. The seconds are CPU time of
the library's own threads there, and time in handlers of active messages. Requests that a thread serves while it waits
cost neither. The joules are a part of the serving PE's own. So a site has joules here, which are its own PE's, and
elsewhere, and all of them are parts of the PEs' joules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from wattle.record.pe import PE, Served, Site
from wattle.text.provenance import Joules, total

DOMAINS = ("cpu", "dram")
Figure = Callable[[PE, str], Joules]  # the figure of a PE that its sites have shares of


@dataclass
class Elsewhere:
    """Work in other PEs. `joules`: by domain, the parts of each serving PE."""

    requests: float = 0.0
    bytes: float = 0.0
    seconds: float = 0.0
    joules: dict[str, list[Joules]] = field(default_factory=lambda: defaultdict(list))

    def add(self, row: Served, server: PE, figure: Figure, share: float = 1.0) -> None:
        self.requests += share * row.requests
        self.bytes += share * row.bytes
        self.seconds += share * ((row.agents_s or 0.0) + (row.handlers_s or 0.0))
        for domain, joules in zip(DOMAINS, (row.cpu, row.dram), strict=True):
            if joules is not None:
                self.joules[domain].append(figure(server, domain).share(share * joules))

    def sums(self) -> list[Joules]:
        return [total(parts, domain=domain) for domain, parts in self.joules.items()]


@dataclass(frozen=True)
class Assigned:
    """`of_site`: by PE and the index of its site. `rest`: for no call site, such as barriers' messages."""

    of_site: dict[tuple[int, int], Elsewhere]
    rest: Elsewhere

    def of(self, members: Iterable[tuple[int, int]]) -> list[Elsewhere]:
        return [self.of_site[member] for member in members if member in self.of_site]


def assign(pes: list[PE], figure: Figure) -> Assigned:
    """Sites of a PE that share a mark share the work by their calls."""
    asked: dict[tuple[int, int], list[tuple[int, Site]]] = defaultdict(list)
    for pe in pes if any(pe.served for pe in pes) else ():
        for i, site in enumerate(pe.sites):
            if site.mark:
                asked[pe.pe, site.mark].append((i, site))
    of_site: dict[tuple[int, int], Elsewhere] = defaultdict(Elsewhere)
    rest = Elsewhere()
    for server in pes:
        for row in server.served.rows if server.served else ():
            if row.pe == server.pe:
                continue
            sites = asked.get((row.pe, row.mark), [])
            calls = sum(site.calls for _, site in sites)
            if not calls:
                rest.add(row, server, figure)
            for i, site in sites if calls else ():
                of_site[row.pe, i].add(row, server, figure, site.calls / calls)
    return Assigned(dict(of_site), rest)
