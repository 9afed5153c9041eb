"""Figures of a run: time by PE in stacked bars, joules by PE with their uncertainty, and the costliest call sites."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import Any

from wattle.figures.call_paths import Row
from wattle.html.figures import Figure, Trace, hover_text
from wattle.record.pe import PE
from wattle.run.view import View
from wattle.text import units
from wattle.text.provenance import Joules, total

# (words, colour, column of the view)
STACK = (
    ("compute", "--compute", 1),
    ("transfer", "--transfer", 2),
    ("wait: spin", "--spin", 3),
    ("wait: yield", "--yield", 4),
    ("wait: asleep", "--asleep", 5),
    ("no core", "--no-core", 6),
)
DOMAIN_COLOURS = ("--first", "--second", "--third", "--fourth")
SITES_DRAWN = 12
SEEN = 30  # a bar shorter than this part of the longest one is hard to see


def figures(view: View) -> list[Figure]:
    if not view.lines:
        return []
    found = [_time(view)]
    if any(figure.known for line in view.lines for figure in line.pe.joules):
        found += _joules(view)
    return found


def _names(view: View) -> list[str]:
    """The names of the processes: `PE 0`, or `PE 0, node1` with several nodes, in order of nodes."""
    return [f"{view.noun} {line.name}" + (f", {line.node}" if view.nodes else "") for line in view.lines]


def height(n: int) -> int:
    return 130 + 34 * n if n <= 40 else 130 + 12 * n


def bars(mode: str, unit: str) -> dict[str, Any]:
    """The layout of horizontal bars, the first on top. Their lengths are amounts of `unit`."""
    return {
        "barmode": mode,
        "xaxis": {"tickformat": "~s", "ticksuffix": unit, "rangemode": "tozero"},
        "yaxis": {"autorange": "reversed", "type": "category"},
        "showlegend": True,
    }


def _time(view: View) -> Figure:
    traces: list[Trace] = []
    for key, colour, k in STACK:
        name = "compute or no core" if key == "compute" and view.unknown_cores else key
        hover = [_time_hover(line.pe, view.noun, name, line.seconds[k]) for line in view.lines]
        traces.append(bar(name, _names(view), [line.seconds[k] for line in view.lines], colour, hover))
    return Figure(
        id="time",
        title="Where the time went",
        label=f"Stacked bars, one a {view.noun}: compute, transfer, waiting by stage, and time without a core",
        traces=traces,
        layout=bars("stack", "s"),
        height=height(len(view.lines)),
    )


def _time_hover(pe: PE, noun: str, name: str, value: float | None) -> str:
    share = f"{value / pe.wall_s * 100:.1f} % of its time" if value is not None and pe.wall_s else ""
    return hover_text(f"{noun} {pe.pe} on {pe.host}", [(name, units.seconds(value)), ("share", share), ("n", "1 run")])


def bar(name: str, y: list[str], x: list[float | None], colour: str, hover: Sequence[str]) -> Trace:
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


def _joules(view: View) -> list[Figure]:
    """Joules by process. Domains of other orders of magnitude have figures of their own, so that all bars are seen."""
    alike: list[list[int]] = []
    for k in sorted(range(len(view.domains)), key=lambda k: -_longest(view, k)):
        if not alike or _longest(view, k) * SEEN < _longest(view, alike[-1][0]):
            alike.append([])
        alike[-1].append(k)
    return [_joules_of(view, sorted(domains), number) for number, domains in enumerate(sorted(map(sorted, alike)))]


def _longest(view: View, k: int) -> float:
    return max((line.joules[k].joules or 0.0 for line in view.lines), default=0.0)


def _joules_of(view: View, domains: list[int], number: int) -> Figure:
    traces: list[Trace] = []
    colours = dict(zip(range(len(view.domains)), cycle(DOMAIN_COLOURS), strict=False))
    for k in domains:
        found = [line.joules[k] for line in view.lines]
        hover = [_joules_hover(name, figure) for name, figure in zip(_names(view), found, strict=True)]
        trace = bar(view.domains[k], _names(view), [f.joules for f in found], colours[k], hover)
        trace["error_x"] = {
            "type": "data",
            "array": [f.uncertainty for f in found],
            "arrayminus": [_below(f) for f in found],  # whiskers end at zero, because joules are not negative
            "symmetric": False,
            "color": "--ink",
            "thickness": 1.2,
            "width": 4,
        }
        traces.append(trace)
    names = "" if len(domains) == len(view.domains) else f": {', '.join(view.domains[k] for k in domains)}"
    return Figure(
        id="joules-by-pe" + (f"-{number + 1}" if number else ""),
        title=f"Joules by {view.noun}{names}",
        label=f"Bars, one a {view.noun} and domain, with whiskers for the uncertainty",
        traces=traces,
        layout=bars("group", "J"),
        height=height(len(view.lines) * max(1, len(domains)) * 2 // 3),
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


def site_figures(rows: list[Row], noun: str) -> list[Figure]:
    """Time in the costliest call sites, divided into waiting and the rest."""
    rows = [row for row in rows[:SITES_DRAWN] if row.site.time_s is not None]
    shown = [row.site for row in rows]
    if not shown:
        return []
    # Several calls and paths may have the same place. The number keeps rows of one line apart.
    names = [f"{i + 1}. {row.place.label} {row.site.call}" for i, row in enumerate(rows)]
    waiting = [min(site.waiting_s or 0.0, site.time_s or 0.0) for site in shown]
    working = [(site.time_s or 0.0) - w for site, w in zip(shown, waiting, strict=True)]
    hover = [_site_hover(row, noun) for row in rows]
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


def _site_hover(row: Row, noun: str) -> str:
    site = row.site
    cost = total(site.joules)
    return hover_text(
        f"{site.call} at {row.place.label}",
        [
            *(("called from", caller) for caller in row.callers),
            (
                "calls",
                f"{units.count(site.calls)} by {units.several(site.pes, noun)}, {units.count(site.timed_calls)} timed",
            ),
            ("time", units.seconds(site.time_s)),
            ("waiting", units.seconds(site.waiting_s)),
            ("bytes", units.size(site.bytes)),
            ("joules", str(cost)),
        ],
    )
