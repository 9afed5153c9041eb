"""The tables of `wattle top`: rates of the PEs, and the call sites in which they spend most time."""

from __future__ import annotations

from wattle.figures import call_paths
from wattle.figures.call_paths import Row
from wattle.figures.sites import MergedSite, merge
from wattle.record.pe import MOVES, NO_CORE, PE, Time, add
from wattle.text import units
from wattle.text.console import Text, styled
from wattle.text.provenance import Joules, amount, total
from wattle.text.tables import Table, table
from wattle.top.rates import Job

PES_SHOWN = 64
SITES_SHOWN = 8
SHARES: tuple[Time, ...] = ("compute", NO_CORE, "transfer", "wait")


def rates_table(job: Job, title: str) -> Table:
    """How each PE spent its time, and its calls, bytes and joules a second."""
    pes, noun = job.profile.pes, job.profile.noun
    result = table(title=title)
    result.add_column(styled("\n{}", noun), no_wrap=True)
    for over, name in (("", "compute"), ("no", "core"), ("", "transfer"), ("", "wait")):
        result.add_column(styled("{}\n{}", over, name), justify="right", no_wrap=True)
    for over, name in (("on", "a core"), ("", "calls/s"), ("", "bytes/s"), ("watts", "modelled")):
        result.add_column(styled("{}\n{}", over, name), justify="right", no_wrap=True)
    for pe in pes[:PES_SHOWN]:
        result.add_row(str(pe.pe), *_cells([pe]))
    if len(pes) > 1:
        result.add_section()
        result.add_row("all", *_cells(pes))
    if len(pes) > PES_SHOWN:
        result.caption = f"{PES_SHOWN} of {len(pes)} {noun}s"
    return result


def _cells(pes: list[PE]) -> list[str]:
    wall_s = add(pe.wall_s for pe in pes)
    if not wall_s:
        return [units.UNKNOWN] * 8
    longest_s = max(pe.wall_s or 0.0 for pe in pes)
    times = [add(pe.time_s[key] for pe in pes) for key in SHARES]
    calls = sum(site.calls for pe in pes for site in pe.sites)
    moved = add(pe.bytes[key] for pe in pes for key in MOVES)
    joules = total(figure for pe in pes for figure in pe.joules)
    return [
        *(_share(seconds, wall_s) for seconds in (*times, add(pe.cpu_s for pe in pes))),
        units.count(round(calls / longest_s)),
        units.UNKNOWN if moved is None else units.size(moved / longest_s),
        _watts(joules, longest_s),
    ]


def _share(seconds: float | None, whole_s: float) -> str:
    return units.UNKNOWN if seconds is None else units.share(seconds / whole_s)


def _watts(joules: Joules, seconds: float) -> str:
    if joules.joules is None:
        return units.UNKNOWN
    doubt = None if joules.uncertainty is None else joules.uncertainty / seconds
    return amount(joules.joules / seconds, doubt)


def sites_table(job: Job) -> Table | None:
    """The call sites with the longest time, waiting included. None where there are none."""
    noun = job.profile.noun
    rows = call_paths.rows(merge(job.profile), job.profile.program)
    rows.sort(key=lambda row: _time(row.site), reverse=True)
    whole_s = add(pe.wall_s for pe in job.profile.pes)
    if not rows or not whole_s:
        return None
    result = table(title=f"Call sites, by share of the {noun}s' time")
    result.add_column(styled("{}", "call site"), overflow="fold")
    for name in ("calls", "bytes", "time", "share", "waiting"):
        result.add_column(styled("{}", name), justify="right", no_wrap=True)
    for row in rows[:SITES_SHOWN]:
        result.add_row(*_site_cells(row, whole_s))
    return result


def _time(site: MergedSite) -> float:
    return site.time_s if site.time_s is not None else site.waiting_s or 0.0


def _site_cells(row: Row, whole_s: float) -> list[str | Text]:
    site, place = row.site, row.place
    function = f" {place.function}()" if place.function else ""
    callers = [styled("[faint]  < {}[/faint]", caller) for caller in row.callers]
    return [
        Text("\n").join([styled("{}[faint]{}[/faint] {}", place.label, function, site.call), *callers]),
        units.count(site.calls),
        units.size(site.bytes) if site.bytes else "",
        units.seconds(_time(site)),
        units.share(_time(site) / whole_s),
        units.seconds(site.waiting_s),
    ]
