"""Figures of the studies of waiting and clocks: lines by policy or mode, boxes of waiting, timelines of an instance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import Markup

from wattle.html.figures import Figure, Look, Trace, amounts_axis, hover_text
from wattle.study.medians import by_unit, hover_lines, through
from wattle.study.stats import Center
from wattle.study.sweep.analysis import METRICS, Analysis, Point
from wattle.text import units
from wattle.text.units import in_unit

LOOKS = {
    "spin": Look("--first", "circle"),
    "yield": Look("--second", "square-open", "dot"),
    "sleep": Look("--third", "diamond", "dashdot"),
    "adaptive": Look("--fourth", "circle-open", "dash"),
    "baseline": Look("--first", "circle"),
    "performance": Look("--second", "square-open", "dot"),
    "energy": Look("--third", "diamond", "dashdot"),
    "hybrid": Look("--fourth", "circle-open", "dash"),
}
OTHERS = (
    Look("--first"),
    Look("--second", "square-open", "dot"),
    Look("--third", "diamond", "dashdot"),
    Look("--fourth", "circle-open", "dash"),
    Look("--yield", "square", "dot"),
)

CLOSE = 0.03  # of the axis: ticks that are nearer to each other share a text


def look_of(policy: str) -> Look:
    return LOOKS.get(policy.split(",")[0], Look("--yield", "square", "dot"))


def shown(metric: str, value: float | None) -> str:
    """An amount with its unit."""
    return in_unit(value, METRICS[metric].unit)


def lines(
    a: Analysis,
    id: str,
    title: str,
    metric: str,
    series: Sequence[tuple[str, Look, Sequence[Point]]],
    x: Callable[[Point], float],
    axis: dict[str, Any],
    height: int = 320,
) -> Figure:
    """A metric against the swept value, with a line for each of `series` (name, look, points)."""
    traces = [t for name, look, points in series if (t := _trace(a, metric, name, look, points, x))]
    kind = METRICS[metric]
    note = f"{a.provenance}; lower is better" if kind.energy else "lower is better"
    if kind.energy and not traces:
        note = "not known here"
    return Figure(
        id=id,
        title=title,
        label=f"{title}: {kind.label} against {axis['title']['text']}, a line for each way",
        traces=traces,
        layout={"xaxis": axis, "yaxis": amounts_axis(traces, kind.unit)},
        note=note,
        height=height,
    )


def _trace(
    a: Analysis, metric: str, name: str, look: Look, points: Sequence[Point], x: Callable[[Point], float]
) -> Trace | None:
    kind = METRICS[metric]
    found = [(p, c) for p in points if (c := a.center(metric, p))]
    pes = {id(c): p.pes for p, c in found}

    def hover(at: float, c: Center) -> Markup:
        lines = hover_lines(kind.label, c, by_unit(kind.unit))
        return hover_text(
            f"{name}, {units.several(pes[id(c)], 'PE')}", [*lines, ("at", f"{at:,g}"), ("samples", str(c.n))]
        )

    return through([(x(p), c) for p, c in found], look, name, hover)


def plain_axis(title: str, log: bool = False, ticks: Sequence[float] = ()) -> dict[str, Any]:
    axis: dict[str, Any] = {"title": {"text": title}, "type": "log" if log else "linear"}
    if ticks:
        groups = [[t] for t in ticks] if log else _close(ticks)
        texts = [_text(group) for group in groups]
        axis |= {"tickmode": "array", "tickvals": [group[0] for group in groups], "ticktext": texts}
        if len(groups) < len(ticks):
            axis["tickangle"] = 0
    return axis


def _text(ticks: Sequence[float]) -> str:
    first, last = f"{ticks[0]:,g}", f"{ticks[-1]:,g}"
    return first if len(ticks) == 1 else f"{first}, {last}" if len(ticks) == 2 else f"{first} to {last}"


def _close(ticks: Sequence[float]) -> list[list[float]]:
    """Ticks in groups whose texts would cover each other, such as the base clock and the request for turbo."""
    groups: list[list[float]] = []
    for tick in sorted(ticks):
        if groups and tick - groups[-1][0] < CLOSE * (max(ticks) - min(ticks)):
            groups[-1].append(tick)
        else:
            groups.append([tick])
    return groups


def boxes(id: str, title: str, groups: Sequence[tuple[str, Look, Sequence[float]]], unit: str, note: str) -> Figure:
    """A box for each group of values. Every value is drawn."""
    traces: list[Trace] = [
        {
            "type": "box",
            "name": name,
            "x": [name] * len(values),
            "y": list(values),
            "boxpoints": "all",
            "jitter": 0.5,
            "pointpos": 0,
            "line": {"color": look.colour, "width": 1.4},
            "fillcolor": "rgba(0,0,0,0)",
            "marker": {"color": look.colour, "size": 4, "opacity": 0.6, "symbol": look.symbol},
            "customdata": [hover_text(name, [("value", f"{v:.1f} {unit}")]) for v in values],
            "hoverinfo": "text",
            "hoveron": "points",
            "hovertemplate": "%{customdata}<extra></extra>",
        }
        for name, look, values in groups
        if values
    ]
    layout = {"xaxis": {"type": "category"}, "yaxis": {"ticksuffix": f" {unit}", "rangemode": "tozero"}}
    return Figure(id, title, f"{title}: a box for each", traces, layout, 320, note)


def bars(
    id: str,
    title: str,
    heads: Sequence[str],
    parts: Sequence[tuple[str, str, Sequence[float]]],
    axis: str,
    note: str,
    height: int = 320,
) -> Figure:
    """Horizontal bars, one for each heading, of parts in sequence: (name, colour, a value for each heading). `axis`:
    the values' unit.
    """
    traces: list[Trace] = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": list(heads),
            "x": list(values),
            "marker": {"color": colour},
            "customdata": [
                hover_text(head, [(name, f"{v:.3g} {axis}")]) for head, v in zip(heads, values, strict=True)
            ],
            "hovertemplate": "%{customdata}<extra></extra>",
        }
        for name, colour, values in parts
    ]
    layout = {
        "barmode": "stack",
        "bargap": 0.3,
        "showlegend": True,
        "xaxis": {"title": {"text": axis}, "rangemode": "tozero"},
        "yaxis": {"type": "category", "autorange": "reversed", "automargin": True},
        "margin": {"l": 8, "r": 14, "t": 56, "b": 8},  # the legend is below the buttons
    }
    return Figure(
        id, title, f"{title}: bars of {', '.join(name for name, _, _ in parts)}", traces, layout, height, note
    )
