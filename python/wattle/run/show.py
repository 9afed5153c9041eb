"""The tables of a finished run."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wattle import units
from wattle.metrics import Spread, metrics, spread
from wattle.profile import PE, RunProfile, add, find
from wattle.provenance import Joules, Provenance, joule_unit, total
from wattle.run.summary import node_domains
from wattle.runs import Run
from wattle.sites import MergedSite, merge
from wattle.tables import joules_cell, provenance_words, table

SITES_SHOWN = 10
PES_SHOWN = 24
TOLERATED = 1.2  # sampled times of a PE's call sites against its own time
TOO_LONG = 10000.0
WIDE = 110

TimeOf = Callable[[PE], float | None]
COLUMNS: tuple[tuple[str, TimeOf], ...] = (
    ("\ntime", lambda pe: pe.wall_s),
    ("\ncompute", lambda pe: pe.time_s["compute"]),
    ("\ntransfer", lambda pe: pe.time_s["transfer"]),
    ("wait:\nspin", lambda pe: pe.state_s["spin"]),
    ("wait:\nyield", lambda pe: pe.state_s["yield"]),
    ("wait:\nasleep", lambda pe: pe.state_s["asleep"]),
    ("CPU\ntime", lambda pe: pe.cpu_s),
)


def show(run: Run, console: Console) -> None:
    """Everything a person wants to see after a run."""
    console.print()
    console.print(_headline(run), soft_wrap=True)
    if run.manifest.repeats:
        _show_repeats(run, console)
    profile = run.middle.profile
    if profile is None:
        console.print("No profile was asked for, so there is nothing to show by PE or call site.")
        return
    _show_lost(profile, run.manifest.exit_code, console)
    if not profile.pes:
        return
    console.print()
    console.print(pe_table(profile, console.width))
    if len(_domains(profile)) > 2:
        console.print()
        console.print(joules_table(profile))
    for domain in node_domains(profile) if _domains(profile) else []:
        node, idle = profile.node_joules(domain), profile.idle_joules(domain)
        console.print(f"Node, {escape(domain)}: {node}; of that idle: {idle}")
    console.print(_joules_words(profile))
    sites = merge(profile)
    if sites:
        console.print()
        console.print(site_table(sites, console.width))
    _show_unresolved(sites[:SITES_SHOWN], console)
    _show_overrun(profile, console)


def _headline(run: Run) -> str:
    manifest = run.manifest
    what = escape(shlex.join(manifest.command))
    pes = f"{manifest.n_pes} PE" + ("s" if manifest.n_pes != 1 else "")
    times = f", {len(run.samples)} repeats" if manifest.repeats else ""
    ended = "" if not manifest.exit_code else f", exit code {manifest.exit_code}"
    return f"[title]{what}[/title] on {pes}{times}: {units.seconds(manifest.wall_s)} from start to end{ended}"


def _show_lost(profile: RunProfile, exit_code: int | None, console: Console) -> None:
    """Names the PEs whose figures are not there, so that nobody takes the table for the whole job."""
    if profile.damaged:
        for pe, wrong in sorted(profile.damaged.items()):
            console.print(f"[bad]PE {pe}'s profile is damaged[/bad]: {escape(wrong)}")
    if not profile.missing:
        return
    killed = "killed, aborted" if exit_code else "ended without finalize"
    if len(profile.missing) == profile.n_pes:
        console.print(f"[bad]No PE left a profile[/bad] ({killed}, or never initialised): nothing to show by PE.")
    else:
        console.print(f"[bad]No profile from PE {_ranges(profile.missing)}[/bad] ({killed}, or never initialised).")


def _ranges(numbers: list[int]) -> str:
    """`0, 2-5, 9`."""
    parts: list[list[int]] = []
    for n in numbers:
        if parts and parts[-1][-1] == n - 1:
            parts[-1].append(n)
        else:
            parts.append([n])
    return ", ".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts)


def _domains(profile: RunProfile) -> list[str]:
    """Those with figures to show; where no domain has any, a line below the table says so."""
    return profile.domains if any(j.known for pe in profile.pes for j in pe.joules) else []


def pe_table(profile: RunProfile, width: int) -> Table:
    """One row a PE: time, compute, transfer, waiting by stage, CPU seconds, joules (where two domains or fewer)."""
    domains = _domains(profile) if len(_domains(profile)) <= 2 else []
    times = [of(pe) for pe in profile.pes for _, of in COLUMNS]
    scale = units.scale_for(times, units.SECONDS)
    shown = _shown(profile.pes)
    result = table(title=f"By PE, times in {scale[1]}")
    result.add_column("\nPE", no_wrap=True)
    for name, _ in COLUMNS:
        result.add_column(name, justify="right", no_wrap=True)
    joules = _JoulesColumns(profile, domains)
    joules.add_to(result)
    for pe in shown:
        result.add_row(str(pe.pe), *_times(pe, scale), *joules.of_pe(pe))
    result.add_section()
    sums = [units.scaled(add(of(pe) for pe in profile.pes), scale) for _, of in COLUMNS]
    result.add_row("all", *sums, *joules.of(profile.joules), style="bold")
    if len(shown) < len(profile.pes):
        result.caption = f"{len(shown)} of {len(profile.pes)} PEs: those that waited most and least; --json has all"
    return result


def joules_table(profile: RunProfile) -> Table:
    """Joules by PE, where there are too many domains for the table above."""
    result = table(title="Joules by PE")
    result.add_column("\nPE", no_wrap=True)
    joules = _JoulesColumns(profile, profile.domains)
    joules.add_to(result)
    for pe in _shown(profile.pes):
        result.add_row(str(pe.pe), *joules.of_pe(pe))
    result.add_section()
    result.add_row("all", *joules.of(profile.joules), style="bold")
    return result


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
            to.add_column(f"{domain}, {self.units[domain][1]}\n{self.words[domain]}", justify="right", no_wrap=True)

    def of_pe(self, pe: PE) -> list[object]:
        return self.of(lambda domain: find(pe.joules, domain))

    def of(self, figure: Callable[[str], Joules]) -> list:
        return [joules_cell(figure(d), self.units[d][0], self.words[d] == "mixed") for d in self.domains]


def _unit(figures: list[Joules], whole: Joules) -> tuple[float, str]:
    """The unit that suits the largest PE, or the next where the sum would get too long in it."""
    factor, unit = joule_unit(max(abs(j.joules or 0.0) for j in figures))
    return joule_unit(whole.joules) if whole.joules and abs(whole.joules) >= TOO_LONG * factor else (factor, unit)


def _times(pe: PE, scale: units.Scale) -> list[str]:
    return [units.scaled(of(pe), scale) for _, of in COLUMNS]


def _shown(pes: list[PE]) -> list[PE]:
    """All PEs, or those that waited most and least where they are too many to read."""
    if len(pes) <= PES_SHOWN:
        return pes
    by_wait = sorted(pes, key=lambda pe: pe.time_s["wait"] or math.inf)
    chosen = by_wait[: PES_SHOWN // 2] + by_wait[-PES_SHOWN // 2 :]
    return sorted(chosen, key=lambda pe: pe.pe)


def _joules_words(profile: RunProfile) -> str:
    """One line on where the joules come from."""
    meter = profile.meter
    name = escape(meter["name"] or "unknown: its reader left no profile")
    why = f" ({escape(meter['why'].rstrip('.'))})" if meter["why"] else ""
    source = escape(_sources(j for pe in profile.pes for j in pe.joules))
    words = provenance_words(j for pe in profile.pes for j in pe.joules)
    if words == Provenance.UNAVAILABLE:
        return f"[faint]Joules are unavailable: meter {name}{why}.[/faint]"
    return f"[faint]Joules are {words}{source}; meter {name}{why}. ± holds the truth at about 95 %.[/faint]"


def _sources(figures: Iterable[Joules]) -> str:
    """` by model x`, or ` by powercap a, powercap b, split by model x`."""
    heads, splits = {}, {}
    for figure in figures:
        head, _, split = figure.source.partition(" split by ")
        heads[head] = splits[split] = True
    text = ", ".join(filter(None, heads)) + "".join(f", split by {split}" for split in splits if split)
    return f" by {text}" if text else ""


def site_table(sites: list[MergedSite], width: int) -> Table:
    """The costliest call sites, summed over the PEs."""
    shown = sites[:SITES_SHOWN]
    known = total([total(s.joules) for s in shown]).known
    result = table(title=f"Costliest call sites, by {'joules' if known else 'time'}, sum over PEs")
    if len(sites) > len(shown):
        result.caption = f"{len(shown)} of {len(sites)} sites; --json has all"
    wide = width >= WIDE
    result.add_column("\ncall site", overflow="fold")
    for name in ("calls", "bytes", "time"):
        result.add_column(f"\n{name}", justify="right", no_wrap=True)
    for name in ("wait:\nspin", "wait:\nyield", "wait:\nasleep") if wide else ("\nwaiting",):
        result.add_column(name, justify="right", no_wrap=True)
    words = provenance_words(total(s.joules) for s in shown)
    if words != Provenance.UNAVAILABLE:
        result.add_column(f"joules\n{words}", justify="right", no_wrap=True)
    for site in shown:
        result.add_row(*_site_cells(site, wide)[: len(result.columns)])
    return result


def _site_cells(site: MergedSite, wide: bool) -> list[str]:
    function = f" {escape(site.place.function)}()" if site.place.function else ""
    waits = list(site.wait_s.values()) if wide else [site.waiting_s]
    joules = total(site.joules)
    figure = str(joules).removesuffix(f" {joules.provenance}") if joules.known else units.UNKNOWN
    return [
        f"{escape(site.place.label)}[faint]{function}[/faint]\n  {escape(site.call)}",
        units.count(site.calls),
        units.size(site.bytes) if site.bytes else "",
        units.seconds(site.time_s),
        *(units.seconds(w) if w != 0 else "" for w in waits),
        figure.replace(" ± ", "±"),
    ]


def _show_unresolved(sites: list[MergedSite], console: Console) -> None:
    """Why some sites have no file:line, each reason once."""
    reasons = dict.fromkeys((s.place.module, s.place.why) for s in sites if s.place.why)
    for module, why in reasons:
        console.print(f"[faint]No lines of {escape(module or '?')}: {escape(why)}.[/faint]")


def _show_overrun(profile: RunProfile, console: Console) -> None:
    """Short calls are timed by sample. One during which its PE lost the core stands for many calls that did not."""
    over = []
    for pe in profile.pes:
        in_calls = add(site.time_s for site in pe.sites)
        if in_calls is not None and pe.wall_s is not None and in_calls > TOLERATED * pe.wall_s:
            over.append(pe.pe)
    if over:
        console.print(
            f"[partly]Call sites of PE {_ranges(over)} add up to more than its time: short calls are timed by sample, "
            "and a sample was interrupted. Take their time and joules for an order of magnitude.[/partly]"
        )


def _show_repeats(run: Run, console: Console) -> None:
    """Median and spread of the totals over all repeats."""
    profiles = [s.profile for s in run.samples if s.profile is not None]
    result = table(title=f"Over {len(run.samples)} repeats")
    result.add_column("\nsum over PEs", no_wrap=True)
    for name in ("\nmedian", "quartile\nrange", "\nleast", "\nmost"):
        result.add_column(name, justify="right", no_wrap=True)
    for metric in metrics(profiles):
        result.add_row(metric.label, *_spread_cells(spread(metric, run.samples)))
    console.print()
    console.print(result)
    console.print(f"[faint]Below: repeat {run.middle.directory.name}, the one with the median time.[/faint]")


def _spread_cells(figure: Spread) -> list[str]:
    if figure.joules is not None:
        plain = [_plain_joules(v) for v in (figure.iqr, figure.lo, figure.hi)]
        return [str(figure.joules), *plain]
    return [units.seconds(v) for v in (figure.median, figure.iqr, figure.lo, figure.hi)]


def _plain_joules(value: float | None) -> str:
    """Beside a figure that has its provenance in the same row."""
    if value is None:
        return units.UNKNOWN
    factor, unit = joule_unit(value)
    return f"{units.significant(value / factor, 3)} {unit}"
