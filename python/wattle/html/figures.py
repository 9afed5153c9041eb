"""Figures as plain data for Plotly.

A colour "--name" is a property of the style sheet, which the browser looks up, so that one figure serves light and
dark mode. The page's script adds fonts, grids and margins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from markupsafe import Markup

from wattle.text.units import in_unit, si, si_scale
from wattle.text.visible import visible

Trace = dict[str, Any]
LONGEST = 200  # characters of a label
TEMPLATES = ("hovertemplate",)  # keys whose values are templates from the source


@dataclass
class Figure:
    """One figure. `title` is shown above it, `label` describes it for screen readers. `height` is in pixels."""

    id: str
    title: str
    label: str
    traces: list[Trace]
    layout: dict[str, Any] = field(default_factory=dict)
    height: int = 320
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        shown: dict[str, Any] = _shown({"data": self.traces, "layout": {**self.layout, "height": self.height}})
        return shown


def _shown(value: Any) -> Any:
    """Escapes text for Plotly, which takes it for HTML. Only `hover_text` makes HTML; names from files are none."""
    if isinstance(value, dict):
        return {key: entry if key in TEMPLATES else _shown(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(entry) for entry in value]
    return _label(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _label(text: str) -> Markup:
    shown = visible(text)
    return Markup(escape(shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}…", quote=False))


@dataclass(frozen=True)
class Look:
    """The look of a line: colour, marker and dash, so that no reader depends on one of them alone."""

    colour: str
    symbol: str = "circle"
    dash: str = "solid"


def fragments_axis(counts: Sequence[int], dense: bool) -> dict[str, Any]:
    """A logarithmic axis of powers of two, labelled at every second or fourth."""
    if not counts:
        return {}
    step = 4 if dense else 16
    ticks = [step**k for k in range(12) if counts[0] <= step**k <= counts[-1]] or [counts[0]]
    return {
        "type": "log",
        "tickmode": "array",
        "tickvals": ticks,
        "ticktext": [short_count(t) for t in ticks],
        "title": {"text": "fragments"},
    }


def value_axis(unit: str, log: bool) -> dict[str, Any]:
    """An axis of amounts with SI prefixes: 20 µJ, 1.5 GB/s. A linear axis begins at zero."""
    axis: dict[str, Any] = {"tickformat": "~s", "ticksuffix": unit}
    return {**axis, "type": "log", "dtick": 1} if log else {**axis, "type": "linear", "rangemode": "tozero"}


def fine_axis(values: Sequence[float], unit: str = "") -> dict[str, Any]:
    """A logarithmic axis of few decades around `values`, with labels at 1, 2 and 5. With one label a decade there might
    be a single one. Plotly's own labels would have a unit only at 1, and show 5 for 0.5.
    """
    first, end = math.floor(math.log10(min(values))) - 1, math.ceil(math.log10(max(values))) + 2
    ticks = [float(f"{digit}e{k}") for k in range(first, end) for digit in (1, 2, 5)]
    scales = [si_scale([t], unit) if unit else (1.0, "") for t in ticks]
    texts = [f"{t / factor:g}{name}" for t, (factor, name) in zip(ticks, scales, strict=True)]
    return {"type": "log", "tickmode": "array", "tickvals": ticks, "ticktext": texts}


def amounts_axis(traces: Sequence[Trace], unit: str) -> dict[str, Any]:
    """The axis for the amounts of `traces`: logarithmic where they span a decade."""
    values = [v for trace in traces for v in trace["y"] if v is not None and v > 0]
    log = spans_a_decade(traces)
    return fine_axis(values, unit) if log and max(values) < 300 * min(values) else value_axis(unit, log)


def spans_a_decade(traces: Sequence[Trace]) -> bool:
    """Whether the values span a decade, so that a logarithmic axis is better."""
    values = [v for trace in traces for v in trace["y"] if v is not None and v > 0]
    return bool(values) and max(values) >= 10 * min(values)


def short_count(n: int) -> str:
    return f"{n >> 10} Ki" if n >= 1024 and n % 1024 == 0 else str(n)


def line(
    x: Sequence[float],
    middle: Sequence[float | None],
    lo: Sequence[float | None],
    hi: Sequence[float | None],
    look: Look,
    name: str,
    hover: Sequence[str],
) -> Trace:
    """A line through medians with whiskers from lo to hi. An unknown value is a gap in it."""
    up = [None if m is None or h is None else max(h - m, 0.0) for m, h in zip(middle, hi, strict=True)]
    down = [None if m is None or low is None else max(m - low, 0.0) for m, low in zip(middle, lo, strict=True)]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": list(x),
        "y": list(middle),
        "line": {"color": look.colour, "width": 1.8, "dash": look.dash},
        "marker": {
            "color": look.colour,
            "size": 6,
            "symbol": look.symbol,
            "line": {"color": look.colour, "width": 1.4},
        },
        "error_y": {
            "type": "data",
            "array": up,
            "arrayminus": down,
            "symmetric": False,
            "color": look.colour,
            "thickness": 1,
            "width": 2,
        },
        "customdata": list(hover),
        "hovertemplate": "%{customdata}<extra></extra>",
        "connectgaps": False,
    }


def published_band(first: float, last: float, lo: float, hi: float, words: str) -> Trace:
    """A published value as a dashed line, or as a band where it is a range."""
    hover = Markup("<b>published</b><br>{}").format(_label(words))
    band = lo != hi
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "published",
        "x": [first, last, last, first, first] if band else [first, last],
        "y": [lo, lo, hi, hi, lo] if band else [lo, hi],
        "fill": "toself" if band else "none",
        "fillcolor": "--published-fill",
        "line": {"color": "--published", "width": 2.2, "dash": "dash"},
        "hoveron": "points+fills" if band else "points",
        "text": hover,
        "customdata": [hover] * (5 if band else 2),
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def percent_range(traces: Sequence[Trace]) -> list[float]:
    """The range of an axis with every point and zero, wide enough that noise does not look like a trend."""
    values = [0.0, *(v for trace in traces for v in trace["y"] if v is not None)]
    lo, hi = min(values), max(values)
    margin = max(0.12 * (hi - lo), (20 - (hi - lo)) / 2, 2.0)
    return [lo - margin, hi + margin]


def powers_axis(exponents: Sequence[int], title: str, words: Callable[[int], str]) -> dict[str, Any]:
    """An axis of powers of two, by their exponents, labelled at every fifth. `words`: a power as text."""
    ticks = [k for k in exponents if k % 5 == 0]
    return {
        "title": {"text": title},
        "tickmode": "array",
        "tickvals": ticks,
        "ticktext": [words(1 << k) for k in ticks],
        "showgrid": False,
    }


def heat_map(
    x: Sequence[int], y: Sequence[int], z: Sequence[Sequence[float | None]], unit: str, hover: Sequence[Sequence[str]]
) -> Trace:
    """A map of amounts: a row for each y, a column for each x. An unknown value is a hole. The scale of colours is
    logarithmic where the amounts span a decade; it has the same order of lightness in light and dark mode.
    """
    known = [v for row in z for v in row if v is not None]
    log = bool(known) and min(known) > 0 and max(known) >= 10 * min(known)
    ticks = _steps(known, 32 if unit in ("B", "B/s") else 10) if log else _even(known)
    scale = si_scale(known, unit) if unit in ("J", "W") and not log else None
    return {
        "type": "heatmap",
        "x": list(x),
        "y": list(y),
        "z": [[None if v is None else math.log10(v) if log else v for v in row] for row in z],
        "customdata": [list(row) for row in hover],
        "hovertemplate": "%{customdata}<extra></extra>",
        "hoverongaps": False,
        "colorscale": "Viridis",
        "colorbar": {
            "thickness": 10,
            "len": 0.94,  # so that the label at its end is not cut
            "outlinewidth": 0,
            "tickmode": "array",
            "tickvals": [math.log10(v) if log else v for v in ticks],
            "ticktext": [si(v, unit, scale) if scale else in_unit(v, unit) for v in ticks],
        },
    }


def _steps(values: Sequence[float], base: int) -> list[float]:
    """At most six powers of `base` within the values."""
    first, last = math.ceil(math.log(min(values), base) - 1e-9), math.floor(math.log(max(values), base) + 1e-9)
    step = max(1, math.ceil((last - first + 1) / 6))
    return [float(base) ** k for k in range(first, last + 1, step)]


def _even(values: Sequence[float]) -> list[float]:
    """Five values from the least to the most."""
    if not values:
        return []
    lo, hi = min(values), max(values)
    return [lo + (hi - lo) * k / 4 for k in range(5)] if hi > lo else [lo]


def hover_text(head: str, lines: Sequence[tuple[str, str]]) -> Markup:
    """The box that appears over a point: a heading and lines of name and value."""
    body = Markup("<br>").join(Markup("{}: {}").format(_label(name), _label(value)) for name, value in lines if value)
    return Markup("<b>{}</b><br>{}").format(_label(head), body)
