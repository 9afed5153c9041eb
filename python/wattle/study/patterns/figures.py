"""Figures of the pattern study: six metrics by pattern, and the savings of each transformation beside published
ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from wattle.html.figures import (
    Figure,
    Look,
    Trace,
    fragments_axis,
    hover_text,
    line,
    percent_range,
    published_band,
    spans_a_decade,
    value_axis,
)
from wattle.study.medians import by_unit, hover_lines
from wattle.study.patterns.analysis import IMPACT_METRICS, METRICS, TRANSFORMATIONS, Analysis
from wattle.study.patterns.judges import PAPERS
from wattle.study.stats import Center
from wattle.text import units
from wattle.text.units import in_unit

SHOWN = ("cpu", "dram", "latency", "bandwidth", "rate", "edp")

# Filled markers and solid lines: the source is copied (M). Open markers and dashed lines: it is pinned. The colour
# shows how often a quiet is called.
LOOKS = {
    "MPQMPQ": Look("--mpqmpq", "circle"),
    "PQPQ": Look("--pqpq", "circle-open", "dot"),
    "MPMPQ": Look("--mpmpq", "square"),
    "PPQ": Look("--ppq", "square-open", "dot"),
    "MMPQAMM": Look("--mmpqamm", "diamond"),
}
FORM_LOOKS = (Look("--first", "circle"), Look("--second", "square-open", "dot"), Look("--third", "diamond", "dashdot"))


def shown(metric: str, value: float | None) -> str:
    """An amount with its unit."""
    return in_unit(value, METRICS[metric].unit)


def metric_figures(a: Analysis) -> list[Figure]:
    return [_metric_figure(a, name) for name in SHOWN]


def _metric_figure(a: Analysis, name: str) -> Figure:
    metric = METRICS[name]
    traces = [_pattern_line(a, name, p) for p in a.patterns]
    better = "lower is better" if metric.lower_is_better else "higher is better"
    return Figure(
        id=f"metric-{name}",
        title=metric.label,
        label=f"{metric.label} against the number of fragments, a line for each pattern",
        traces=traces,
        layout={
            "xaxis": fragments_axis(a.fragments, dense=True),
            "yaxis": value_axis(metric.unit, log=spans_a_decade(traces)),
        },
        note=better + (f"; {a.provenance(name)}" if metric.energy else ""),
    )


def _pattern_line(a: Analysis, name: str, pattern: str) -> Trace:
    found = [a.center(name, pattern, n) for n in a.fragments]
    hover = [_value_hover(a, name, pattern, n, c) for n, c in zip(a.fragments, found, strict=True)]
    quartiles = [c.p25 if c else None for c in found], [c.p75 if c else None for c in found]
    return line(a.fragments, [c.median if c else None for c in found], *quartiles, LOOKS[pattern], pattern, hover)


def _value_hover(a: Analysis, name: str, pattern: str, n: int, found: Center | None) -> str:
    if found is None:
        return ""
    return hover_text(
        pattern,
        [
            ("fragments", f"{n:,} of {units.size(a.payload / n)}"),
            *hover_lines(METRICS[name].label, found, by_unit(METRICS[name].unit)),
            ("repeats", str(found.n)),
            ("provenance", a.provenance(name)),
        ],
    )


# ---- savings ----


def saving_figures(a: Analysis) -> dict[str, list[Figure]]:
    """By transformation, one small figure for each metric."""
    found = {name: [_transformation_figure(a, name, m) for m in IMPACT_METRICS] for name in TRANSFORMATIONS}
    found["payload"] = [_payload_figure(a, m) for m in IMPACT_METRICS]
    return found


def _transformation_figure(a: Analysis, name: str, metric: str) -> Figure:
    forms = TRANSFORMATIONS[name].forms
    traces = [
        _saving_line(a, metric, label, look, a.fragments, [a.saving(metric, before, after, n) for n in a.fragments])
        for (label, before, after), look in zip(forms, FORM_LOOKS, strict=False)
    ]
    return _saving_figure(a, name, metric, a.fragments, [*_published(a, name, metric), *traces])


def _payload_figure(a: Analysis, metric: str) -> Figure:
    counts = a.payload_fragments()
    traces = [
        _saving_line(a, metric, label, look, counts, [a.payload_saving(metric, before, after, n) for n in counts])
        for (label, before, after), look in zip(_halvings(a), FORM_LOOKS, strict=False)
    ]
    return _saving_figure(a, "payload", metric, counts, traces)


def _halvings(a: Analysis) -> list[tuple[str, int, int]]:
    pairs = pairwise(a.payloads)
    return [(f"{units.size(before)} → {units.size(after)}", before, after) for before, after in pairs]


def _published(a: Analysis, name: str, metric: str) -> list[Trace]:
    if not a.fragments:
        return []
    end = a.fragments[-1]
    found = [m for m in PAPERS.marks if (m["change"], m["metric"]) == (name, metric) and m["first"] <= end]
    return [published_band(m["first"], min(m["last"], end), m["lo"], m["hi"], m["words"]) for m in found]


def _saving_figure(a: Analysis, name: str, metric: str, counts: Sequence[int], traces: list[Trace]) -> Figure:
    label = METRICS[metric].label
    title = "EDP" if metric == "edp" else label
    known = any(value is not None for trace in traces if trace["name"] != "published" for value in trace["y"])
    return Figure(
        id=f"saving-{name}-{metric}",
        title=title,
        label=f"Percent of {label} saved against the number of fragments, with the published values",
        traces=traces,
        layout={
            "xaxis": fragments_axis(counts, dense=False),
            "yaxis": {"ticksuffix": " %", "zeroline": True, "zerolinewidth": 1.5, "range": percent_range(traces)},
        },
        height=240,
        note=a.provenance(metric) if known else "not known here",
    )


def _saving_line(
    a: Analysis, metric: str, label: str, look: Look, counts: Sequence[int], found: list[Center | None]
) -> Trace:
    hover = [_saving_hover(a, metric, label, n, c) for n, c in zip(counts, found, strict=True)]
    interval = [c.lo if c else None for c in found], [c.hi if c else None for c in found]
    return line(counts, [c.median if c else None for c in found], *interval, look, label, hover)


def _saving_hover(a: Analysis, metric: str, label: str, n: int, found: Center | None) -> str:
    if found is None:
        return ""
    return hover_text(
        label,
        [
            ("fragments", f"{n:,}"),
            (f"{METRICS[metric].label} saved", units.percent(found.median)),
            (f"{found.confidence * 100:.0f} % interval", f"{units.percent(found.lo)} to {units.percent(found.hi)}"),
            ("pairs", str(found.n)),
            ("provenance", a.provenance(metric)),
        ],
    )


def legends(a: Analysis) -> dict[str, list[tuple[str, Look]]]:
    """The lines of each transformation with their looks."""
    found = {
        t.name: [(label, look) for (label, _, _), look in zip(t.forms, FORM_LOOKS, strict=False)]
        for t in TRANSFORMATIONS.values()
    }
    found["payload"] = [(label, look) for (label, _, _), look in zip(_halvings(a), FORM_LOOKS, strict=False)]
    return found
