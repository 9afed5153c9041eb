"""The page of a run: its time and joules, by PE and by call site."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from markupsafe import Markup

from wattle.figures import call_paths, regions, user_regions, waiting
from wattle.figures.call_paths import Row
from wattle.figures.metrics import Spread
from wattle.figures.pe_power import PEAK_S
from wattle.figures.sites import MergedSite, assigned_of
from wattle.figures.waited import Late
from wattle.html.figures import Figure
from wattle.html.page import Page, script_json
from wattle.machine.symbols import Place
from wattle.record import jobs, power_trace, runs
from wattle.record.manifest import machine_words
from wattle.record.pe import NO_CORE, add
from wattle.record.power_trace import PowerTrace
from wattle.record.profile import RunProfile, folder_of
from wattle.report import advice, flame, pe_watts, power_figures, traffic_figures
from wattle.report import run_figures as drawn
from wattle.report.run_nodes import network_rows, node_figures, node_rows
from wattle.run import counts, unfinished
from wattle.run.view import PELine, View
from wattle.run.view import view as view_of
from wattle.text import units
from wattle.text.provenance import Joules, Provenance, amount, significant, total, unavailable

SITES_SHOWN = 25
PES_SHOWN = 64
IMBALANCES_SHOWN = 10
REGIONS_SHOWN = 15


def build(directory: Path) -> Page:
    """Makes the page of a run directory, which names missing profiles. Raises DamagedFile for a damaged one."""
    view = view_of(runs.load(directory))
    profile = view.profile
    traffic = traffic_figures.figures(profile)
    rows = call_paths.rows(view.sites, view.program)
    paths = flame.weights(view.sites, view.program, view.noun)
    power = pe_watts.shown(view)
    return Page(
        template=Path(__file__).with_suffix(".html.j2"),
        title=view.title or "a run",
        subtitle=f"{view.pes or f'unknown number of {view.noun}s'}{view.extent}, {view.took}",
        summary=summary(view, rows),
        record=view.run.manifest,
        noun=view.noun,
        nav=_nav(view, bool(traffic), bool(paths)),
        figures=[
            *drawn.figures(view),
            *power.figures,
            *_power(view),
            *node_figures(view),
            *drawn.site_figures(rows, view.noun),
            *traffic,
        ],
        power=_power_words(view),
        content={
            "run": view.run,
            "view": view,
            "lost": _lost(view),
            "ended_heads": unfinished.HEADS,
            "jobs_heads": jobs.HEADS,
            "nodes": node_rows(view),
            "network": network_rows(profile) if profile is not None else [],
            "cards": _cards(view),
            "advice": advice.section(view.run) if view.lines else None,
            "pes": [_pe_row(line) for line in view.lines[:PES_SHOWN]],
            "hidden_pes": max(0, len(view.lines) - PES_SHOWN),
            "joules": _joules_rows(view),
            "watts": power.rows,
            "peak_s": f"{PEAK_S:g} s" if power.peaks else "",
            "regions": _region_rows(view),
            "user_regions": _user_region_rows(view),
            "region_limit": user_regions.limit_words(view.profile) if view.profile is not None else [],
            "balance": _balance_rows(view),
            "counts": counts,
            "counters": [(f"{view.noun} {pe.pe}", pe.host, cells) for pe, cells in counts.rows(view)[:PES_SHOWN]],
            "interfaces": counts.interface_rows(view),
            "not_counted": counts.reasons(view),
            "waiting": _waiting_rows(view),
            "imbalances": _imbalance_rows(view),
            "traffic": [figure.id for figure in traffic],
            "sites": [_site_row(row.place, row.callers, row.site) for row in rows[:SITES_SHOWN]],
            "elsewhere": any(row.site.elsewhere for row in rows[:SITES_SHOWN]),
            "unasked": _unasked(view),
            "hidden_sites": max(0, len(rows) - SITES_SHOWN),
            "paths": paths,
            "paths_json": Markup(script_json(paths)),
            "repeats": [_repeat_row(label, found) for label, found in view.repeats],
            "meters": view.meters or [(view.run.manifest.meter, [])],
        },
    )


def _share(part: float, whole: float) -> str:
    return f"{part / whole * 100:.0f} %"


def _nav(view: View, traffic: bool, paths: bool) -> list[tuple[str, str]]:
    nav = [("summary", "Summary")]
    nav += [("jobs", "Jobs")] if view.jobs else []
    nav += [("ended", "How it ended")] if view.ends else []
    if view.lines:
        nav.append(("advice", "Advice"))
        nav += [("pes", f"By {view.noun}"), ("joules", "Joules")]
        nav += [("regions", "By region")] if view.user_regions else []
        nav += [("balance", "Balance")]
        nav += [("counters", "Counters")] if counts.asked(view) else []
        nav += [("nodes", "By node")] if view.nodes else []
        nav += [("network", "Network")] if view.profile is not None and view.profile.network is not None else []
    nav += [("waiting", "Waiting")] if waiting.by_kind(view.sites) else []
    nav += [("traffic", "Communication")] if traffic else []
    if view.sites:
        nav.append(("sites", "Call sites"))
    nav += [("paths", "Call paths")] if paths else []
    if view.repeats:
        nav.append(("repeats", "Repeats"))
    nav += [("settings", "Settings"), ("method", "How measured")]
    nav += [("power", "Power")] if _power_words(view) else []
    return [*nav, ("manifest", "Manifest")]


# ---- text ----


def summary(view: View, rows: list[Row]) -> str:
    """One paragraph with numbers from the profiles."""
    end = f"It ended with exit code {view.exit_code}." if view.exit_code else ""
    end = f"{view.ended} {end}".strip()
    if view.profile is None or not view.lines:
        why = "no profile was asked for" if view.profile is None else f"but no {view.noun} left a profile"
        mark = ";" if view.profile is None else ","
        return f"The program ran for {units.seconds(view.run.manifest.wall_s)}{mark} {why}. {end}".strip()
    parts = [
        view.verdict,
        _time_words(view, view.profile),
        _joules_words(view, view.profile),
        *view.nested,
        _site_words(rows),
        end,
    ]
    return " ".join(p for p in parts if p)


def _time_words(view: View, profile: RunProfile) -> str:
    parts = {key: profile.sum("time_s", key) for key in ("compute", "transfer", "wait")}
    if lacked := profile.sum("time_s", NO_CORE):
        parts["no core"] = lacked
    whole = add(parts.values())
    nodes = f" on {len(view.nodes) - 1} nodes" if view.nodes else ""
    text = f"{units.several(len(view.lines), view.noun)}{nodes} ran for {units.seconds(profile.wall_s)}"
    if whole is None or whole == 0 or profile.sum("state_s", "active") is None:
        return f"{text}; the shares of that time are not known."
    names = {"compute": "compute or no core"} if view.unknown_cores else {}
    shares = ", ".join(f"{_share(value or 0, whole)} {names.get(key, key)}" for key, value in parts.items())
    asleep, waited = profile.sum("state_s", "asleep"), parts["wait"]
    sleep = f"; {_share(asleep, waited)} of the waiting was spent asleep" if asleep is not None and waited else ""
    return f"{text}: {shares} of their time together{sleep}."


def _joules_words(view: View, profile: RunProfile) -> str:
    figures, why = list(view.total.joules), profile.meter["why"]
    if not figures or any(not f.known for f in figures):
        return "Joules are not known" + (f": {why.rstrip('.')}." if why else ".")
    whole = total(figures)
    reason = f" ({why.rstrip('.')})" if why and whole.provenance is not Provenance.MEASURED else ""
    machine = machine_words(view.run.middle.manifest.extra) if whole.provenance is not Provenance.MEASURED else ""
    model = f" Model: {machine}." if machine else ""
    return f"The {view.noun}s' share comes to {whole}{reason}, over {', '.join(view.domains)}.{model}"


def _site_words(rows: list[Row]) -> str:
    if not rows:
        return ""
    first, place = rows[0].site, rows[0].place
    cost = total(first.joules)
    what = str(cost) if cost.known else units.seconds(first.time_s)
    return f"The costliest call is {first.call} at {place.label}, {units.count(first.calls)} calls, {what}."


def _lost(view: View) -> list[str]:
    if view.profile is None:
        return []
    lost = view.lost
    found = [f"{view.noun} {pe}: its profile is damaged ({wrong})" for pe, wrong in lost.damaged.items()]
    found += [f"{view.noun} {pe} left no profile ({lost.why})" for pe in lost.missing]
    if not view.profile.pes and not found:
        found.append(f"no {view.noun} left a profile ({lost.why})")
    return found + [words for words in (lost.hosts, lost.readers, lost.dropped) if words]


# ---- power over time ----


def _power(view: View) -> list[Figure]:
    """The figure of watts over time, from the start of the shown run."""
    external = view.external
    began = [one.begin_s for one in external.intervals if one.name == view.interval] if external else []
    return power_figures.figures([*_sensor(view), *(external.power if external else [])], began[0] if began else None)


def _sensor(view: View) -> list[PowerTrace]:
    """The watts of the nodes' sensors, which a run with a timeline has."""
    hosts = {pe.pe: pe.host for pe in view.profile.pes} if view.profile is not None else {}
    return power_trace.load(folder_of(view.run.middle.directory), hosts)


def _power_words(view: View) -> list[str]:
    """The joules of an external meter and the clock of its log; the mean and the highest reading of each sensor."""
    readings = "; ".join(power.mean_and_peak for power in _sensor(view) if power.at_s)
    found = [f"The sensor's readings while the job ran. {readings}."] if readings else []
    return [*view.external.words(view.interval), f"{view.external.meter_words}.", *found] if view.external else found


# ---- tables ----


def _cards(view: View) -> list[tuple[str, str, str]]:
    """(value, label, provenance or remark) of the cards at the top."""
    profile = view.profile
    if profile is None or not view.lines:
        return []
    cards = [(units.seconds(profile.wall_s), f"longest {view.noun}", "from init to finalize")]
    cards.append((units.seconds(view.total.seconds[-1]), "CPU time", f"all {view.noun}s"))
    waited = profile.sum("time_s", "wait")
    whole = add(
        [*(profile.sum("time_s", k) for k in ("compute", "transfer", "wait")), profile.sum("time_s", NO_CORE) or 0.0]
    )
    if waited is not None and whole:
        cards.append((_share(waited, whole), f"of the {view.noun}s' time is waiting", units.seconds(waited)))
    for domain, figure in list(zip(view.domains, view.total.joules, strict=True))[:2]:
        cards.append((figure.words, f"{domain}, all {view.noun}s", str(figure.provenance)))
    return cards


def _pe_row(line: PELine) -> dict[str, Any]:
    pe = line.pe
    moved = (pe.bytes["put"], pe.bytes["get"], pe.bytes["amo"])
    return {
        "pe": pe.pe,
        "host": pe.host,
        "cells": [*line.times(units.seconds), *map(units.size, moved)],
        "sleeps": units.count(pe.sleeps),
        "rescues": pe.rescues or 0,
    }


def _joules_rows(view: View) -> list[dict[str, Any]]:
    """Joules by PE, then all PEs, idle and node."""
    if not view.lines:
        return []
    by_number = sorted(view.lines, key=lambda line: line.pe.pe)
    rows = [_joules_row(f"{view.noun} {line.name}", line.joules, view.domains) for line in by_number[:PES_SHOWN]]
    rows.append(_joules_row(f"all {view.noun}s", view.total.joules, view.domains))
    if view.whole:
        idle, whole = ("idle, all nodes", "all nodes") if view.nodes else ("idle", "node")
        rows.append(_joules_row(idle, view.idle, view.domains))
        if any(figure is not None for figure in view.others):
            rows.append(_joules_row("other programs", [f or unavailable() for f in view.others], view.domains))
        rows.append(_joules_row(whole, view.whole, view.domains))
    return rows


def _joules_row(name: str, figures: Iterable[Joules], domains: list[str]) -> dict[str, Any]:
    by_domain = {figure.domain: figure for figure in figures}
    cells = [by_domain.get(domain) for domain in domains]
    return {"name": name, "cells": [(f.words, f) if f is not None else (units.UNKNOWN, None) for f in cells]}


def _region_rows(view: View) -> list[tuple[str, str, list[str], list[tuple[str, str]]]]:
    """(place, barrier, cells of numbers, joules with their provenance) of the longest regions."""
    found = regions.merge(view.profile) if view.profile is not None else []
    return [
        (
            one.place.label,
            one.call,
            [str(one.pes), units.count(one.instances), units.seconds(one.compute_s), units.seconds(one.slack_s)],
            [(figure.words, str(figure.provenance)) for figure in one.joules],
        )
        for one in found[:REGIONS_SHOWN]
    ]


def _user_region_rows(view: View) -> list[tuple[list[str], str, str]]:
    """The regions that the program marks: name, times, time, in calls, waiting, share; joules and their provenance."""
    found = []
    shares = user_regions.shares(view.user_regions)
    for region, share in zip(view.user_regions[:REGIONS_SHOWN], shares, strict=False):
        joules = total(region.joules)
        times = "" if not region.name else units.count(region.times)
        seconds = (region.time_s, region.calls_s, region.waiting_s)
        cells = [call_paths.region_words(region.name), times, *map(units.seconds, seconds), share]
        found.append((cells, joules.words, str(joules.provenance)))
    return found


def _balance_rows(view: View) -> list[tuple[str, str, str, str]]:
    """(name, value, explanation, provenance), in the dissertation's terms."""
    if view.profile is None or not view.lines:
        return []
    found, intensity = view.balance, view.intensity
    one, all_ = view.noun, f"{view.noun}s"
    alone = f"needs at least two {all_}" if view.profile.n_pes == 1 else f"{all_} left no profile"
    slack, ratio, early = (found.slack_ratio, found.compute_ratio, found.early_cores) if found else (None, None, None)
    rows = [
        (
            "slack ratio",
            None if slack is None else f"{significant(100 * slack, 3)} %",
            f"of all {all_}' time is waited",
        ),
        (
            "CR, compute ratio",
            _plain(ratio),
            f"time computed by the busiest {one}, divided by that of the least busy {one}",
        ),
        ("EC, early cores", _plain(early), f"{all_} that wait, on average"),
    ]
    why = view.unknown_cores if found and view.unknown_cores else alone
    said = [(name, value or units.UNKNOWN, what if value else why, "") for name, value, what in rows]
    said += _pop_rows(view)
    counted = "arithmetic for each load and store, by instructions counted" if intensity.value else intensity.why
    said.append(("CI, compute intensity", _plain(intensity.value) or units.UNKNOWN, counted, ""))
    for product in view.products:
        value = units.UNKNOWN
        if product.value is not None:
            value = f"{amount(product.value, product.uncertainty)} {product.unit}"
        what = {"edp": "E t", "ed2p": "E t²", "e2dp": "E² t"}[product.name]
        said.append((product.name.upper(), value, f"{what}, joules of the nodes", str(view.node_joules.provenance)))
    if view.carbon is not None:
        modelled = "modelled" if view.carbon.grams is not None else "unavailable"
        said.append(("Electricity", str(view.carbon), "of the nodes, at the carbon intensity given", modelled))
    return said


def _pop_rows(view: View) -> list[tuple[str, str, str, str]]:
    """The POP factors, each with its formula."""
    made, one = view.pop, view.noun
    if made is None:
        return []
    most, least = ("at most ", "at least ") if made.bounds else ("", "")
    factors = [
        ("parallel efficiency", made.parallel_efficiency, "", "load balance x communication efficiency (POP)"),
        ("load balance", made.load_balance, "", f"mean computing time of a {one}, divided by the longest"),
        ("communication efficiency", made.communication_efficiency, "", "longest computing time, divided by the run's"),
        ("serialisation", made.serialisation, most, "longest computing time / time on a network that takes none"),
        ("transfer", made.transfer, least, "time on a network that takes none, divided by the run's"),
    ]
    return [
        (name, units.UNKNOWN, made.why, "")
        if value is None
        else (name, f"{bound}{significant(100 * value, 3)} %", words, "")
        for name, value, bound, words in factors
    ]


def _waiting_rows(view: View) -> list[tuple[str, str, str, str]]:
    """(kind, seconds, share of all processes' time, meaning)."""
    wall = view.total.seconds[0]
    return [
        (found.kind, units.seconds(found.seconds), units.share(found.seconds / wall) if wall else "", found.meaning)
        for found in waiting.by_kind(view.sites)
    ]


def _imbalance_rows(view: View) -> list[tuple[str, ...]]:
    """(place, call, mean, least, longest waiting, uneven part, who was late most often, half of the others' waits)."""
    if view.profile is None:
        return []
    return [
        (
            found.place.label,
            found.call,
            *map(units.seconds, (found.mean_s, found.least_s, found.most_s, found.uneven_s)),
            *(late_words(view.noun, found.late) if found.late else (units.UNKNOWN, "")),
        )
        for found in waiting.imbalances(view.sites, view.profile.n_pes, view.program)[:IMBALANCES_SHOWN]
    ]


def late_words(noun: str, late: Late) -> tuple[str, str]:
    """`PE 0, at 98 %`, and the longest wait of half of the others' calls: `4.19 to 8.39 ms`."""
    return f"{noun} {late.pe}, at {100 * late.share:.0f} %", late.others.words()


def _plain(value: float | None) -> str | None:
    return None if value is None else significant(value, 3)


def _site_row(place: Place, callers: Iterable[str], site: MergedSite) -> dict[str, Any]:
    return {
        "place": place.label,
        "full": f"{place.file}:{place.line}" if place.file else place.why,
        "function": place.function,
        "callers": callers,
        "call": site.call,
        "pes": site.pes,
        "calls": units.count(site.calls),
        "bytes": units.size(site.bytes),
        "time": units.seconds(site.time_s),
        "waiting": units.seconds(site.waiting_s),
        "joules": total(site.joules).words,
        "elsewhere": total(site.elsewhere).words if site.elsewhere else "",
        "elsewhere_s": units.seconds(site.elsewhere_s) if site.elsewhere_s else "",
        "provenance": str(total(site.joules).provenance),
    }


def _unasked(view: View) -> str:
    """The joules that PEs spent for messages of no call site; empty where there are none."""
    found = total(assigned_of(view.profile).rest.sums()) if view.profile is not None else None
    return str(found) if found and found.joules else ""


def _repeat_row(label: str, found: Spread) -> dict[str, str]:
    words = units.seconds if found.joules is None else units.joules
    median = units.seconds(found.median) if found.joules is None else found.joules.words
    return {"label": label, "median": median, "range": f"{words(found.lo)} to {words(found.hi)}", "n": str(found.n)}
