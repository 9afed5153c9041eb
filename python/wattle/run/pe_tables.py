"""The tables by PE: time, waiting by stage, CPU time, joules."""

from __future__ import annotations

import math
from collections.abc import Callable

from wattle import units
from wattle.by_node import group
from wattle.console import styled
from wattle.pe import PE, add, find
from wattle.profile import RunProfile
from wattle.provenance import Joules, joule_unit, reaches_below_zero
from wattle.run.node_table import labels
from wattle.tables import Table, joules_cell, provenance_words, table

PES_SHOWN = 24
TOO_LONG = 10000.0
TimeOf = Callable[[PE], float | None]
COLUMNS: tuple[tuple[tuple[str, str], TimeOf], ...] = (
    (("", "time"), lambda pe: pe.wall_s),
    (("", "compute"), lambda pe: pe.time_s["compute"]),
    (("", "transfer"), lambda pe: pe.time_s["transfer"]),
    (("wait:", "spin"), lambda pe: pe.state_s["spin"]),
    (("wait:", "yield"), lambda pe: pe.state_s["yield"]),
    (("wait:", "asleep"), lambda pe: pe.state_s["asleep"]),
    (("CPU", "time"), lambda pe: pe.cpu_s),
)


def pe_table(profile: RunProfile) -> Table:
    """One row a PE: time, compute, transfer, waiting by stage, CPU seconds, joules (where they fit)."""
    domains = shown_domains(profile) if joules_fit(profile) else []
    times = [of(pe) for pe in profile.pes for _, of in COLUMNS]
    scale = units.scale_for(times, units.SECONDS)
    shown = _shown(profile.pes)
    result = table(title=f"By PE, times in {scale[1]}")
    where = _Where(profile)
    where.add_to(result)
    for name, _ in COLUMNS:
        result.add_column(styled("{}\n{}", *name), justify="right", no_wrap=True)
    joules = _JoulesColumns(profile, domains)
    joules.add_to(result)
    for pe in shown:
        result.add_row(*where.of_pe(pe), *_times(pe, scale), *joules.of_pe(pe))
    result.add_section()
    sums = [units.scaled(add(of(pe) for pe in profile.pes), scale) for _, of in COLUMNS]
    # Joules have a rule of their own: a PE without a profile makes their sum unknown.
    name = "all" if profile.complete else "these"
    result.add_row(*where.of_sum(name), *sums, *joules.of(profile.joules), style="bold")
    if len(shown) < len(profile.pes):
        result.caption = f"{len(shown)} of {len(profile.pes)} PEs: those that waited most and least; --json has all"
    return result


def joules_table(profile: RunProfile) -> Table:
    """Joules by PE, where they do not fit into the table above."""
    result = table(title="Joules by PE")
    where = _Where(profile)
    where.add_to(result)
    joules = _JoulesColumns(profile, profile.domains)
    joules.add_to(result)
    for pe in _shown(profile.pes):
        result.add_row(*where.of_pe(pe), *joules.of_pe(pe))
    result.add_section()
    result.add_row(*where.of_sum("all"), *joules.of(profile.joules), style="bold")
    return result


class _Where:
    """The column of the PE, and before it that of its node where there are several."""

    def __init__(self, profile: RunProfile) -> None:
        several = len(profile.nodes) > 1
        names = zip(profile.nodes, labels(profile.nodes), strict=True)
        self.nodes = {pe.pe: name for node, name in names for pe in node.pes} if several else {}

    def add_to(self, to: Table) -> None:
        for name in ("node", "PE") if self.nodes else ("PE",):
            to.add_column(styled("\n{}", name), no_wrap=True)

    def of_pe(self, pe: PE) -> list[str]:
        return [self.nodes[pe.pe], str(pe.pe)] if self.nodes else [str(pe.pe)]

    def of_sum(self, name: str) -> list[str]:
        return [name, ""] if self.nodes else [name]


class _JoulesColumns:
    """A column for each domain, in a unit of its own, its provenance in the header; where a column mixes provenances,
    modelled figures are marked."""

    def __init__(self, profile: RunProfile, domains: list[str]) -> None:
        self.domains = domains
        columns = {d: [find(pe.joules, d) for pe in profile.pes] for d in domains}
        self.units = {d: _unit(column, profile.joules(d)) for d, column in columns.items()}
        self.words = {d: provenance_words(column) for d, column in columns.items()}

    def add_to(self, to: Table) -> None:
        for domain in self.domains:
            name = styled("{}, {}\n{}", domain, self.units[domain][1], self.words[domain])
            to.add_column(name, justify="right", no_wrap=True)

    def of_pe(self, pe: PE) -> list[object]:
        return self.of(lambda domain: find(pe.joules, domain))

    def of(self, figure: Callable[[str], Joules]) -> list:
        return [joules_cell(figure(d), self.units[d][0], self.words[d] == "mixed") for d in self.domains]


def joules_fit(profile: RunProfile) -> bool:
    """Whether joules have room beside the times: two domains at most, none given as a range (`12.3 (0–28.3)`), and no
    column for the node."""
    domains = shown_domains(profile)
    if domains and len(profile.nodes) > 1:
        return False
    figures = [j for d in domains for j in (profile.joules(d), *(find(pe.joules, d) for pe in profile.pes))]
    wide = any(j.joules is not None and reaches_below_zero(j.joules, j.uncertainty) for j in figures)
    return len(domains) <= 2 and not wide


def shown_domains(profile: RunProfile) -> list[str]:
    """Those with figures to show; where no domain has any, a line below the table says so."""
    return profile.domains if any(j.known for pe in profile.pes for j in pe.joules) else []


def _unit(figures: list[Joules], whole: Joules) -> tuple[float, str]:
    """The unit that suits the largest PE, or the next where the sum would get too long in it."""
    factor, unit = joule_unit(max(abs(j.joules or 0.0) for j in figures))
    return joule_unit(whole.joules) if whole.joules and abs(whole.joules) >= TOO_LONG * factor else (factor, unit)


def _times(pe: PE, scale: units.Scale) -> list[str]:
    return [units.scaled(of(pe), scale) for _, of in COLUMNS]


def _shown(pes: list[PE]) -> list[PE]:
    """All PEs, or those that waited most and least where they are too many to read. By node, in order of number."""
    pes = [pe for node in group(pes) for pe in node.pes]
    if len(pes) <= PES_SHOWN:
        return pes
    by_wait = sorted(pes, key=lambda pe: math.inf if pe.time_s["wait"] is None else pe.time_s["wait"])
    chosen = by_wait[: PES_SHOWN // 2] + by_wait[-PES_SHOWN // 2 :]
    return sorted(chosen, key=pes.index)
