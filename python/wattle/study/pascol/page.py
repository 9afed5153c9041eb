"""The page of the study of a power-aware one-sided library."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from wattle.html.figures import Figure, Look, Trace, fine_axis, hover_text
from wattle.study.medians import hover_lines, through
from wattle.study.pascol.judges import AWARE, OPS, RING, SCHEMES, Scheme, crossover, points, ratio, spread, waits
from wattle.study.stats import Center
from wattle.study.sweep.analysis import Analysis
from wattle.study.sweep.page import Section, only_records, sizes_axis
from wattle.text import units

LOOKS = (
    Look("--first"),
    Look("--first", "circle-open", "dash"),
    Look("--third", "diamond", "dashdot"),
    Look("--third", "diamond-open", "dot"),
    Look("--second", "square"),
)
WORDS = {
    "polling": "spins (WATTLE_WAIT=spin) at an unchanged clock: the base of all ratios.",
    "polling, scaled": "spins, with the clock lowered for every transfer (WATTLE_TRANSFERS=scale).",
    "sleeping": "sleeps at once (WATTLE_WAIT=sleep).",
    "sleeping, scaled": "sleeps at once, with the clock lowered for every transfer.",
    "power-aware": "polls below its threshold, and sleeps at a lower clock from it on (WATTLE_TRANSFERS=aware).",
}
TITLES = {"put": "Put", "get": "Get", "acc": "Accumulate", "strided": "Strided put"}


def _none_here(a: Analysis, op: str) -> str:
    if not waits(a):
        return "on one node there are no waits, so there is no crossover."
    if found := spread(a, op):
        return f"these samples do not show whether sleeping pays here: {found}."
    return "here sleeping pays at no size."


def sections(a: Analysis) -> list[Section]:
    acts = only_records(a, "the scaled schemes show the cost of the decisions, not the savings of the clocks")
    ways = " ".join(f"{name[0].upper()}{name[1:]}: {words}" for name, words in WORDS.items())
    found: list[Section] = []
    for op in OPS:
        here = crossover(a, op)
        words = f"The dashed line is the paper's crossover, {units.size(OPS[op])}; "
        words += f"the dotted one is ours, {units.size(here)}." if here else _none_here(a, op)
        first = f" {ways}{acts}" if not found else ""
        figures = [
            _figure(a, op, "node", "Energy per MB over polling's"),
            _figure(a, op, "seconds", "Latency over polling's"),
        ]
        found.append(Section(op, TITLES[op], f"{words}{first}", figures))
    return found


def _figure(a: Analysis, op: str, metric: str, title: str) -> Figure:
    traces = [
        t for scheme, look in zip((*SCHEMES, AWARE), LOOKS, strict=True) if (t := _trace(a, op, metric, scheme, look))
    ]
    values = [v for t in traces for v in t["y"]]
    if values:
        traces += _marks(a, op, min(values), max(values))
    note = f"{a.provenance}; lower is better" if metric == "node" else "lower is better"
    spread = max(values) / min(values) if values and min(values) > 0 else 1.0
    axis: dict[str, Any] = {"type": "log", "dtick": 1} if spread >= 100 else {"rangemode": "tozero"}
    if 4 <= spread < 100:
        axis = fine_axis(values)
    layout = {
        "xaxis": sizes_axis(sorted({p.x or 0 for p in a.select(series=RING)}), "bytes of an operation"),
        "yaxis": axis,
        "showlegend": True,
        "legend": {"orientation": "h", "y": -0.3},
    }
    label = f"{TITLES[op]}: {title.lower()} against bytes, a line for each scheme"
    return Figure(f"{op}-{metric}", title, label, traces, layout, 360, note)


def _trace(a: Analysis, op: str, metric: str, scheme: Scheme, look: Look) -> Trace | None:
    found = [(p.x or 0, c) for p in points(a, op, scheme) if (c := ratio(a, metric, op, scheme, p.x or 0))]

    def hover(at: float, c: Center) -> Markup:
        over = hover_lines("over polling", c, "{:.3f}".format)
        return hover_text(scheme.name, [*over, ("bytes", f"{at:,.0f}"), ("pairs", str(c.n))])

    return through(found, look, scheme.name, hover)


def _marks(a: Analysis, op: str, low: float, high: float) -> list[Trace]:
    """Vertical lines: the paper's crossover and the one found here."""
    marks = [
        ("the paper's crossover", OPS[op], "dash", "--published"),
        ("crossover here", crossover(a, op), "dot", "--ink"),
    ]
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "x": [size, size],
            "y": [low, high],
            "line": {"color": colour, "width": 1.8, "dash": dash},
            "customdata": [hover_text(name, [("bytes", f"{size:,}")])] * 2,
            "hovertemplate": "%{customdata}<extra></extra>",
        }
        for name, size, dash, colour in marks
        if size
    ]
