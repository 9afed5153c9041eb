"""The page of a run: where its time and its joules went, by PE and by call site."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from wattle import balance, runs, units
from wattle.html.figures import Figure
from wattle.html.page import Page
from wattle.manifest import Manifest
from wattle.metrics import Spread, metrics, spread
from wattle.pe import PE, add
from wattle.profile import RunProfile
from wattle.provenance import Joules, Provenance, amount, joule_unit, significant, total
from wattle.report import run_figures as drawn
from wattle.report.run_nodes import network_rows, node_figures, node_rows
from wattle.run.lost import dropped_words, readers_words, silent_hosts_words
from wattle.run.node_table import one_machine_words
from wattle.run.summary import node_domains
from wattle.runs import Run
from wattle.sites import MergedSite, merge

SITES_SHOWN = 25
PES_SHOWN = 64


def build(directory: Path) -> Page:
    """Reads and checks the run directory and makes its page. A damaged profile is an error; a missing one is said."""
    run = runs.load(directory)
    profile = run.middle.profile
    has_pes = profile is not None and bool(profile.pes)
    sites = merge(profile) if profile is not None and has_pes else []
    figures = _figures(profile, sites) if profile is not None and has_pes else []
    return Page(
        template=Path(__file__).with_suffix(".html.j2"),
        title=shlex.join(run.manifest.command) or "a run",
        subtitle=f"{_how_many(run.manifest)}{_on_nodes(profile)}{run.manifest.on_cluster}{_repeated(run)}, "
        f"{units.seconds(run.manifest.wall_s)} from start to end",
        summary=summary(run, profile, sites),
        record=run.manifest,
        nav=_nav(run, profile, sites),
        figures=figures,
        content={
            "run": run,
            "profile": profile if has_pes else None,
            "lost": _lost(profile, run.middle.manifest),
            "one_machine": one_machine_words(profile) if profile is not None else "",
            "nodes": node_rows(profile) if profile is not None else [],
            "network": network_rows(profile) if profile is not None else [],
            "cards": _cards(profile) if profile is not None and has_pes else [],
            "pes": _pe_rows(profile) if profile is not None and has_pes else [],
            "hidden_pes": max(0, len(profile.pes) - PES_SHOWN) if profile is not None else 0,
            "joules": _joules_rows(profile) if profile is not None and has_pes else [],
            "balance": _balance_rows(profile) if profile is not None and has_pes else [],
            "governed": _governed(profile) if profile is not None and has_pes else [],
            "domains": profile.domains if profile is not None else [],
            "sites": _site_rows(sites[:SITES_SHOWN]),
            "hidden_sites": max(0, len(sites) - SITES_SHOWN),
            "repeats": _repeats(run),
            "meters": profile.meters if profile is not None and profile.meters else [(run.manifest.meter, [])],
        },
    )


def _figures(profile: RunProfile, sites: list[MergedSite]) -> list[Figure]:
    return [*drawn.figures(profile), *node_figures(profile), *drawn.site_figures(sites)]


def _on_nodes(profile: RunProfile | None) -> str:
    return f" on {len(profile.nodes)} nodes" if profile is not None and len(profile.nodes) > 1 else ""


def _repeated(run: Run) -> str:
    return f", {units.several(len(run.samples), 'repeat')}" if run.manifest.repeats else ""


def _share(part: float, whole: float) -> str:
    return f"{part / whole * 100:.0f} %"


def _nav(run: Run, profile: RunProfile | None, sites: list[MergedSite]) -> list[tuple[str, str]]:
    nav = [("summary", "Summary")]
    if profile is not None and profile.pes:
        nav += [("pes", "By PE"), ("joules", "Joules"), ("balance", "Balance")]
        nav += [("nodes", "By node")] if len(profile.nodes) > 1 else []
        nav += [("network", "Network")] if profile.network is not None else []
    if sites:
        nav.append(("sites", "Call sites"))
    if run.manifest.repeats:
        nav.append(("repeats", "Repeats"))
    return [*nav, ("settings", "Settings"), ("method", "How measured"), ("manifest", "Manifest")]


# ---- words ----


def summary(run: Run, profile: RunProfile | None, sites: list[MergedSite]) -> str:
    """One paragraph, every number of it from the profiles."""
    manifest = run.manifest
    ended = f"It ended with exit code {manifest.exit_code}." if manifest.exit_code else ""
    if profile is None:
        return f"The program ran for {units.seconds(manifest.wall_s)}; no profile was asked for. {ended}".strip()
    if not profile.pes:
        return f"The program ran for {units.seconds(manifest.wall_s)}, but no PE left a profile. {ended}".strip()
    parts = [_time_words(profile), _joules_words(profile), _site_words(sites), ended]
    return " ".join(p for p in parts if p)


def _time_words(profile: RunProfile) -> str:
    wall = profile.sum("state_s", "active")
    parts = {key: profile.sum("time_s", key) for key in ("compute", "transfer", "wait")}
    whole = add(parts.values())
    text = f"{units.several(len(profile.pes), 'PE')}{_on_nodes(profile)} ran for {units.seconds(profile.wall_s)}"
    if whole is None or whole == 0 or wall is None:
        return f"{text}; how that divides is not known."
    shares = ", ".join(f"{_share(value or 0, whole)} {key}" for key, value in parts.items())
    asleep, waited = profile.sum("state_s", "asleep"), parts["wait"]
    sleep = f"; of the waiting {_share(asleep, waited)} was spent asleep" if asleep is not None and waited else ""
    return f"{text}: {shares} of their time together{sleep}."


def _joules_words(profile: RunProfile) -> str:
    figures = [profile.joules(d) for d in profile.domains]
    if not figures or any(not f.known for f in figures):
        why = profile.meter["why"]
        return "Joules are not known" + (f": {why.rstrip('.')}." if why else ".")
    whole = total(figures)
    why = profile.meter["why"]
    reason = f" ({why.rstrip('.')})" if why and whole.provenance is not Provenance.MEASURED else ""
    return f"The PEs' share comes to {whole}{reason}, over {', '.join(profile.domains)}."


def _site_words(sites: list[MergedSite]) -> str:
    if not sites:
        return ""
    first = sites[0]
    cost = total(first.joules)
    what = str(cost) if cost.known else units.seconds(first.time_s)
    return f"The costliest call is {first.call} at {first.place.label}, {units.count(first.calls)} calls, {what}."


def _how_many(manifest: Manifest) -> str:
    return units.several(manifest.n_pes, "PE") if manifest.knows_n_pes else "unknown number of PEs"


def _lost(profile: RunProfile | None, manifest: Manifest) -> list[str]:
    if profile is None:
        return []
    interrupted = bool(manifest.extra.get("interrupted"))
    lost = [f"PE {pe}: its profile is damaged ({wrong})" for pe, wrong in sorted(profile.damaged.items())]
    why = "interrupted" if interrupted else "killed, aborted, or never initialised"
    if manifest.knows_n_pes:
        lost += [f"PE {pe} left no profile ({why})" for pe in profile.missing]
    else:
        lost.append(f"no PE left a profile ({why})")
    said = (silent_hosts_words(profile, manifest), readers_words(profile), dropped_words(profile))
    return lost + [words for words in said if words]


# ---- tables ----


def _cards(profile: RunProfile) -> list[tuple[str, str, str]]:
    """(value, what, how)."""
    cards = [(units.seconds(profile.wall_s), "longest PE", "from init to finalize")]
    cards.append((units.seconds(add(pe.cpu_s for pe in profile.pes)), "CPU time", "all PEs"))
    waited, whole = (
        profile.sum("time_s", "wait"),
        add(profile.sum("time_s", k) for k in ("compute", "transfer", "wait")),
    )
    if waited is not None and whole:
        cards.append((_share(waited, whole), "of the PEs' time is waiting", units.seconds(waited)))
    for domain in profile.domains[:2]:
        figure = profile.joules(domain)
        cards.append((_joules_cell(figure), f"{domain}, all PEs", str(figure.provenance)))
    return cards


def _pe_rows(profile: RunProfile) -> list[dict[str, Any]]:
    return [_pe_row(pe) for node in profile.nodes for pe in node.pes][:PES_SHOWN]


def _pe_row(pe: PE) -> dict[str, Any]:
    times = (pe.wall_s, pe.time_s["compute"], pe.time_s["transfer"])
    waits = (pe.state_s["spin"], pe.state_s["yield"], pe.state_s["asleep"])
    moved = (pe.bytes["put"], pe.bytes["get"], pe.bytes["amo"])
    return {
        "pe": pe.pe,
        "host": pe.host,
        "cells": [units.seconds(v) for v in (*times, *waits, pe.cpu_s)] + [units.size(v) for v in moved],
        "sleeps": units.count(pe.sleeps),
        "rescues": pe.rescues or 0,
    }


def _joules_rows(profile: RunProfile) -> list[dict[str, Any]]:
    """Joules by PE, then all PEs, idle and node."""
    rows = [_joules_row(f"PE {pe.pe}", pe.joules, profile.domains) for pe in profile.pes[:PES_SHOWN]]
    rows.append(_joules_row("all PEs", [profile.joules(d) for d in profile.domains], profile.domains))
    node = list(dict.fromkeys(j.domain for pe in profile.pes for j in pe.node))
    several = len(profile.nodes) > 1
    if node:
        idle, whole = ("idle, all nodes", "all nodes") if several else ("idle", "node")
        rows.append(_joules_row(idle, [profile.idle_joules(d) for d in node], profile.domains))
        rows.append(_joules_row(whole, [profile.node_joules(d) for d in node], profile.domains))
    return rows


def _joules_row(name: str, figures: list[Joules], domains: list[str]) -> dict[str, Any]:
    by_domain = {figure.domain: figure for figure in figures}
    cells = [by_domain.get(domain) for domain in domains]
    return {"name": name, "cells": [(_joules_cell(f), f) if f is not None else (units.UNKNOWN, None) for f in cells]}


def _joules_cell(figure: Joules) -> str:
    if figure.joules is None:
        return units.UNKNOWN
    factor, unit = joule_unit(figure.joules)
    return f"{amount(figure.joules, figure.uncertainty, factor)} {unit}"


def _balance_rows(profile: RunProfile) -> list[tuple[str, str, str, str]]:
    """(what, value, what it says, provenance), in the dissertation's words."""
    found, intensity = balance.balance(profile), balance.intensity(profile)
    alone = "one PE waits for nobody" if profile.n_pes == 1 else "PEs left no profile"
    slack, ratio, early = (found.slack_ratio, found.compute_ratio, found.early_cores) if found else (None, None, None)
    rows = [
        ("slack ratio", None if slack is None else f"{significant(100 * slack, 3)} %", "of all PEs' time is waited"),
        ("CR, compute ratio", _plain(ratio), "time that the PE computes that does most, over the one that does least"),
        ("EC, early cores", _plain(early), "PEs that wait, on average"),
    ]
    said = [(name, value or units.UNKNOWN, what if value else alone, "") for name, value, what in rows]
    counted = "arithmetic for each load and store, by instructions counted" if intensity.value else intensity.why
    said.append(("CI, compute intensity", _plain(intensity.value) or units.UNKNOWN, counted, ""))
    joules = balance.of_nodes(profile, node_domains(profile))
    for product in balance.products(joules, profile.wall_s):
        value = units.UNKNOWN
        if product.value is not None:
            value = f"{amount(product.value, product.uncertainty)} {product.unit}"
        what = {"edp": "E t", "ed2p": "E t²", "e2dp": "E² t"}[product.name]
        said.append((product.name.upper(), value, f"{what}, joules of the nodes", str(joules.provenance)))
    return said


def _plain(value: float | None) -> str | None:
    return None if value is None else significant(value, 3)


def _governed(profile: RunProfile) -> list[str]:
    """What the governor did, or in a dry run would have done."""
    dry = balance.dry_run(profile)
    return [words for words in (balance.governor_words(profile.pes), dry.words if dry else "") if words]


def _site_rows(sites: list[MergedSite]) -> list[dict[str, Any]]:
    return [
        {
            "place": site.place.label,
            "full": f"{site.place.file}:{site.place.line}" if site.place.file else site.place.why,
            "function": site.place.function,
            "call": site.call,
            "kind": site.kind,
            "pes": site.pes,
            "calls": units.count(site.calls),
            "bytes": units.size(site.bytes),
            "time": units.seconds(site.time_s),
            "waiting": units.seconds(site.waiting_s),
            "joules": _joules_cell(total(site.joules)),
            "provenance": str(total(site.joules).provenance),
        }
        for site in sites
    ]


def _repeats(run: Run) -> list[dict[str, str]]:
    """Every figure over the repeats; empty where the program ran once."""
    if not run.manifest.repeats:
        return []
    profiles = [s.profile for s in run.samples if s.profile is not None]
    return [_repeat_row(m.label, spread(m, run.samples)) for m in metrics(profiles)]


def _repeat_row(label: str, found: Spread) -> dict[str, str]:
    if found.joules is not None:
        low, high = _joules_only(found.lo), _joules_only(found.hi)
        return {"label": label, "median": _joules_cell(found.joules), "range": f"{low} to {high}", "n": str(found.n)}
    low, high = units.seconds(found.lo), units.seconds(found.hi)
    return {"label": label, "median": units.seconds(found.median), "range": f"{low} to {high}", "n": str(found.n)}


def _joules_only(value: float | None) -> str:
    if value is None:
        return units.UNKNOWN
    factor, unit = joule_unit(value)
    return f"{significant(value / factor, 3)} {unit}"
