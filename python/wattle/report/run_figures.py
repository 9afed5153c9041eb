"""Figures of a run: time by PE in stacked bars, joules by PE with their uncertainty, the costliest call sites."""

from __future__ import annotations

from typing import Any

from wattle import units
from wattle.html.figures import Figure, Trace, hover_text
from wattle.pe import PE, find
from wattle.profile import RunProfile
from wattle.provenance import Joules, total
from wattle.run.node_table import labels
from wattle.sites import MergedSite

# (words, colour, where it is in a PE)
STACK = (
    ("compute", "--compute", lambda pe: pe.time_s["compute"]),
    ("transfer", "--transfer", lambda pe: pe.time_s["transfer"]),
    ("wait: spin", "--spin", lambda pe: pe.state_s["spin"]),
    ("wait: yield", "--yield", lambda pe: pe.state_s["yield"]),
    ("wait: asleep", "--asleep", lambda pe: pe.state_s["asleep"]),
)
DOMAIN_COLOURS = ("--first", "--second", "--third", "--fourth")
SITES_DRAWN = 12


def figures(profile: RunProfile) -> list[Figure]:
    found = [_time(profile)]
    if any(figure.known for pe in profile.pes for figure in pe.joules):
        found.append(_joules(profile))
    return found


def _by_node(profile: RunProfile) -> list[PE]:
    return [pe for node in profile.nodes for pe in node.pes]


def _names(profile: RunProfile) -> list[str]:
    """`PE 0`, or `PE 0, node1` on several nodes; in order of nodes."""
    if len(profile.nodes) < 2:
        return [f"PE {pe.pe}" for pe in profile.pes]
    pairs = zip(profile.nodes, labels(profile.nodes), strict=True)
    return [f"PE {pe.pe}, {name}" for node, name in pairs for pe in node.pes]


def height(n: int) -> int:
    return 130 + 34 * n if n <= 40 else 130 + 12 * n


def bars(mode: str, unit: str) -> dict[str, Any]:
    """Layout of horizontal bars, the first on top, whose lengths are amounts of `unit`."""
    return {
        "barmode": mode,
        "xaxis": {"tickformat": "~s", "ticksuffix": unit, "rangemode": "tozero"},
        "yaxis": {"autorange": "reversed", "type": "category"},
        "showlegend": True,
    }


def _time(profile: RunProfile) -> Figure:
    traces: list[Trace] = []
    for name, colour, of in STACK:
        hover = [_time_hover(pe, name, of(pe)) for pe in _by_node(profile)]
        traces.append(bar(name, _names(profile), [of(pe) for pe in _by_node(profile)], colour, hover))
    return Figure(
        id="time",
        title="Where the time went",
        label="Stacked bars, one a PE: compute, transfer, and waiting by stage",
        traces=traces,
        layout=bars("stack", "s"),
        height=height(len(profile.pes)),
    )


def _time_hover(pe: PE, name: str, value: float | None) -> str:
    share = f"{value / pe.wall_s * 100:.1f} % of its time" if value is not None and pe.wall_s else ""
    return hover_text(f"PE {pe.pe} on {pe.host}", [(name, units.seconds(value)), ("share", share), ("n", "1 run")])


def bar(name: str, y: list[str], x: list[float | None], colour: str, hover: list[str]) -> Trace:
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "y": y,
        "x": x,
        "marker": {"color": colour, "line": {"color": "--panel", "width": 1}},
        "customdata": hover,
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _joules(profile: RunProfile) -> Figure:
    traces: list[Trace] = []
    for domain, colour in zip(profile.domains, DOMAIN_COLOURS * len(profile.domains), strict=False):
        found = [find(pe.joules, domain) for pe in _by_node(profile)]
        hover = [_joules_hover(name, figure) for name, figure in zip(_names(profile), found, strict=True)]
        trace = bar(domain, _names(profile), [f.joules for f in found], colour, hover)
        trace["error_x"] = {
            "type": "data",
            "array": [f.uncertainty for f in found],
            "arrayminus": [_below(f) for f in found],  # joules below nothing would be no joules
            "symmetric": False,
            "color": "--ink",
            "thickness": 1.2,
            "width": 4,
        }
        traces.append(trace)
    return Figure(
        id="joules-by-pe",
        title="Joules by PE",
        label="Bars, one a PE and domain, with whiskers for the uncertainty",
        traces=traces,
        layout=bars("group", "J"),
        height=height(len(profile.pes) * max(1, len(profile.domains)) * 2 // 3),
        note="whiskers: uncertainty, about 95 %",
    )


def _below(figure: Joules) -> float | None:
    if figure.joules is None or figure.uncertainty is None:
        return None
    return min(figure.uncertainty, max(figure.joules, 0.0))


def _joules_hover(name: str, figure: Joules) -> str:
    return hover_text(
        name,
        [
            (figure.domain, str(figure)),
            ("source", figure.source),
            ("scope", figure.scope),
            ("n", "1 run"),
        ],
    )


def site_figures(sites: list[MergedSite]) -> list[Figure]:
    """Time in the costliest call sites, apart from and in waiting."""
    shown = [site for site in sites[:SITES_DRAWN] if site.time_s is not None]
    if not shown:
        return []
    # the place alone may be called by several names; the number keeps two sites of one line apart
    names = [f"{i + 1}. {site.place.label} {site.call}" for i, site in enumerate(shown)]
    waiting = [min(site.waiting_s or 0.0, site.time_s or 0.0) for site in shown]
    working = [(site.time_s or 0.0) - w for site, w in zip(shown, waiting, strict=True)]
    hover = [_site_hover(site) for site in shown]
    traces = [
        bar("in the call", names, list(working), "--transfer", hover),
        bar("waiting", names, list(waiting), "--asleep", hover),
    ]
    return [
        Figure(
            id="sites-time",
            title="Time in the costliest call sites",
            label="Stacked bars, one a call site: time in the call, and waiting in it",
            traces=traces,
            layout=bars("stack", "s"),
            height=height(len(shown)),
        )
    ]


def _site_hover(site: MergedSite) -> str:
    cost = total(site.joules)
    return hover_text(
        f"{site.call} at {site.place.label}",
        [
            (
                "calls",
                f"{units.count(site.calls)} by {units.several(site.pes, 'PE')}, {units.count(site.timed_calls)} timed",
            ),
            ("time", units.seconds(site.time_s)),
            ("waiting", units.seconds(site.waiting_s)),
            ("bytes", units.size(site.bytes)),
            ("joules", str(cost)),
        ],
    )
