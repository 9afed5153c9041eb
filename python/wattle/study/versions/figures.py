"""Figures of a study of a mini-app: box plots by number of PEs, and the waiting of each version's PEs by stage."""

from __future__ import annotations

import re
from functools import partial

from wattle.html.figures import Figure, Look, Trace, amounts_axis, hover_text
from wattle.study.medians import hover_lines
from wattle.study.versions.analysis import METRICS, STAGES, Analysis
from wattle.text import units
from wattle.text.units import si

LOOKS = {
    "mpi": Look("--first", "circle"),
    "bucket": Look("--second", "square-open"),
    "am": Look("--third", "diamond"),
    "steal": Look("--fourth", "circle-open"),
}
STAGE_COLOURS = {"active": "--compute", "spin": "--spin", "yield": "--yield", "asleep": "--asleep"}
LEGEND_PX = 26


def figure_id(*parts: str) -> str:
    return "-".join(re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts)


def metric_figures(a: Analysis, given: str) -> list[Figure]:
    """Time, CPU seconds and joules of one input."""
    return [_boxes(a, metric, given) for metric in METRICS]


def amount(metric: str, value: float | None, scale: units.Scale | None = None) -> str:
    if value is None:
        return units.UNKNOWN
    return si(value, METRICS[metric].unit, scale)


def _boxes(a: Analysis, metric: str, given: str) -> Figure:
    kind = METRICS[metric]
    traces = [trace for version in a.versions if (trace := _box(a, metric, version, given))["y"]]
    note = a.provenance(metric) if kind.energy else "lower is better"
    return Figure(
        id=figure_id(metric, given),
        title=kind.label,
        label=f"{kind.label} of {given}: a box of all runs for each version and number of PEs",
        traces=traces,
        layout={
            "boxmode": "group",
            "boxgap": 0.25,
            "boxgroupgap": 0.15,
            "xaxis": {"type": "category", "title": {"text": "PEs"}, "categoryarray": [str(n) for n in a.pes]},
            "yaxis": amounts_axis(traces, kind.unit),
        },
        note=note,
    )


def _box(a: Analysis, metric: str, version: str, given: str) -> Trace:
    x: list[str] = []
    y: list[float] = []
    hover: list[str] = []
    for n in a.pes:
        values = [v for v in a.values(metric, version, given, n) if v is not None]
        found = a.center(metric, version, given, n)
        if found is None:
            continue
        x += [str(n)] * len(values)
        y += values
        text = hover_text(
            f"{version}, {units.several(n, 'PE')}",
            [
                *hover_lines("median", found, partial(amount, metric)),
                ("lowest, highest", f"{amount(metric, min(values))}, {amount(metric, max(values))}"),
                ("runs", str(found.n)),
            ],
        )
        hover += [text] * len(values)
    look = LOOKS[version]
    return {
        "type": "box",
        "name": version,
        "x": x,
        "y": y,
        "text": hover,
        "customdata": hover,
        "hoverinfo": "text",
        "hoveron": "points",
        "hovertemplate": "%{customdata}<extra></extra>",
        "boxpoints": "all",
        "jitter": 0.5,
        "pointpos": 0,
        "offsetgroup": version,
        "line": {"color": look.colour, "width": 1.4},
        "fillcolor": "rgba(0,0,0,0)",
        "marker": {"color": look.colour, "size": 3.5, "opacity": 0.55, "symbol": look.symbol},
    }


def waits_figure(a: Analysis) -> Figure | None:
    """PE-seconds by stage, version and number of PEs. None where no version counted them."""
    points = [(v, n, shares) for n in a.pes for v in a.versions if (shares := a.waits(v, n))]
    if not points:
        return None
    # Two rows of labels: the versions, and below them the numbers of PEs.
    x = [[units.several(n, "PE") for _, n, _ in points], [v for v, _, _ in points]]
    return Figure(
        id="waits",
        title="PE-seconds from init to finalize, by state of the PE",
        label="Shares of all PE-seconds: active, spinning, yielding, asleep; a bar for each version and number of PEs",
        traces=[
            {
                "type": "bar",
                "name": stage,
                "x": x,
                "y": [shares[stage] * 100 for _, _, shares in points],
                "marker": {"color": STAGE_COLOURS[stage]},
                "customdata": [
                    hover_text(f"{v}, {units.several(n, 'PE')}", [(stage, f"{shares[stage] * 100:.1f} %")])
                    for v, n, shares in points
                ],
                "hovertemplate": "%{customdata}<extra></extra>",
            }
            for stage in STAGES
        ],
        layout={
            "barmode": "stack",
            "bargap": 0.25,
            "showlegend": True,
            "xaxis": {"type": "multicategory"},
            "yaxis": {"ticksuffix": " %", "range": [0, 100]},
            "margin": {"l": 8, "r": 14, "t": 12 + LEGEND_PX, "b": 8},
        },
        height=360,
        note="counted by the runtime; MPI's own waits are not",
    )
