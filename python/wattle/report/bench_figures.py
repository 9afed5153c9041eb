"""Figures of a benchmark: the distance of each measured value from its bar, and the machine's own limits."""

from __future__ import annotations

import math
import re

from wattle.html.figures import Figure, Trace, hover_text
from wattle.report.bench_file import Bar, Bench, Limit
from wattle.text import units

ROW_PX, FRAME_PX = 26, 68
LABELS_PX = 175  # the same in every figure, so that the bars are aligned
LOOKS = {True: ("--good", "circle"), False: ("--bad", "diamond")}  # met or not: colour and marker


def figures(bench: Bench) -> list[Figure]:
    """A figure for each section, all on the same scale, and one of the limits that are times."""
    found = [_section_figure(bench, name, _range(bench.bars)) for name in bench.sections]
    times = [limit for limit in bench.limits if not limit.bytes]
    return [*found, _limits_figure(times)] if times else found


def section_id(name: str) -> str:
    return "bars-" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _range(bars: list[Bar]) -> list[float]:
    """The range of the common axis in powers of ten. It holds every point and the bar itself."""
    logs = [math.log10(bar.value / bar.bar) for bar in bars if bar.value > 0]
    return [min([*logs, -0.3]) - 0.1, max([*logs, 0.3]) + 0.1]


def _section_figure(bench: Bench, name: str, limits: list[float]) -> Figure:
    bars = [bar for bar in bench.bars if bar.section == name]
    traces = [_points([bar for bar in bars if bar.met is met], met) for met in (True, False)]
    labels = [bar.label for bar in bars]
    return Figure(
        id=section_id(name),
        title="Measured, over the bar",
        label=f"{name}: each promise's value over its bar; left of 1 it is met",
        traces=[trace for trace in traces if trace["x"]],
        layout={
            "margin": {"l": LABELS_PX, "r": 14, "t": 12, "b": 8},
            "xaxis": {
                "type": "log",
                "range": limits,
                "tickvals": [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
                "ticktext": ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "bar", "2", "5", "10"],
            },
            "yaxis": {"type": "category", "categoryarray": labels[::-1], "categoryorder": "array"},
            "shapes": [
                {
                    "type": "line",
                    "x0": 1,
                    "x1": 1,
                    "y0": 0,
                    "y1": 1,
                    "yref": "paper",
                    "line": {"color": "--soft", "width": 1.5, "dash": "dash"},
                }
            ],
        },
        height=FRAME_PX + ROW_PX * len(bars),
        note="left of the dashed line: met; whiskers: quartiles",
    )


def _points(bars: list[Bar], met: bool) -> Trace:
    colour, form = LOOKS[met]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "met" if met else "not met",
        "x": [bar.value / bar.bar for bar in bars],
        "y": [bar.label for bar in bars],
        "marker": {
            "color": colour,
            "size": 9,
            "symbol": [f"{form}-open" if bar.disturbed else form for bar in bars],
            "line": {"color": colour, "width": 1.6},
        },
        "error_x": {
            "type": "data",
            "array": [max(0.0, (bar.high - bar.value) / bar.bar) for bar in bars],
            "arrayminus": [max(0.0, (bar.value - bar.low) / bar.bar) for bar in bars],
            "symmetric": False,
            "color": colour,
            "thickness": 1.2,
            "width": 3,
        },
        "customdata": [_hover(bar) for bar in bars],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _hover(bar: Bar) -> str:
    return hover_text(
        bar.label,
        [
            ("Wattle", bar.ours),
            (bar.other_name or "bar", bar.other or f"{bar.bar:g} s"),
            ("ratio" if bar.other_name else "CPU seconds at worst", f"{bar.value:.3g}"),
            ("quartiles" if bar.other_name else "range", f"{bar.low:.3g} to {bar.high:.3g}"),
            ("best batches", "" if bar.best is None else f"{bar.best:.3g}"),
            ("bar", f"{bar.bar:.3g}"),
            ("other work beside it", "yes" if bar.disturbed else ""),
        ],
    )


def _limits_figure(limits: list[Limit]) -> Figure:
    return Figure(
        id="limits",
        title="Times that no library can beat",
        label="times of the machine, its network and UCX alone, on a logarithmic axis",
        traces=[
            {
                "type": "scatter",
                "mode": "markers+text",
                "name": "limit",
                "x": [limit.median_s for limit in limits],
                "y": [limit.label for limit in limits],
                "text": [f"  {units.seconds(limit.median_s)}" for limit in limits],
                "textposition": "middle right",
                "marker": {"color": "--first", "size": 9, "symbol": "square"},
                "cliponaxis": False,
                "hovertemplate": "%{y}: %{text}<extra></extra>",
            }
        ],
        layout={
            "xaxis": {"type": "log", "tickformat": "~s", "ticksuffix": "s", "dtick": 1, "range": _time_range(limits)},
            "yaxis": {"type": "category", "categoryarray": [x.label for x in limits][::-1], "categoryorder": "array"},
        },
        height=FRAME_PX + ROW_PX * len(limits),
    )


def _time_range(limits: list[Limit]) -> list[float]:
    """The range of the axis, with space for the labels at the right."""
    logs = [math.log10(limit.median_s) for limit in limits]
    return [min(logs) - 0.3, max(logs) + 0.6]
