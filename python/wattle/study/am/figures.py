"""Figures of the study of messages: bandwidth, rate, rings and joules, a line for each way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from markupsafe import Markup

from wattle.html.figures import Figure, Look, Trace, hover_text, short_count, spans_a_decade, value_axis
from wattle.study.am.analysis import METRICS, Analysis, Case
from wattle.study.medians import by_unit, hover_lines, through
from wattle.study.stats import Center
from wattle.text.units import in_unit

NAMES = {"am": "AM", "put": "put", "nbi": "put_nbi", "mpi": "MPI", "ucx": "UCX's AM"}
LOOKS = {
    "am": Look("--first", "circle"),
    "put": Look("--second", "square-open", "dot"),
    "nbi": Look("--third", "diamond", "dashdot"),
    "mpi": Look("--fourth", "circle-open", "dash"),
    "ucx": Look("--yield", "square", "dot"),
}
DIRECTIONS = {"uni": "one direction", "bi": "both directions"}


def shown(metric: str, value: float | None) -> str:
    """An amount with its unit."""
    return in_unit(value, METRICS[metric].unit)


def bandwidth_figures(a: Analysis) -> list[Figure]:
    return [
        _figure(a, f"bandwidth-{test}", f"Bandwidth, {words}", "bandwidth", "bandwidth", test, _bytes, "bytes")
        for test, words in DIRECTIONS.items()
    ]


def rate_figures(a: Analysis) -> list[Figure]:
    return [
        _figure(a, f"rate-{test}", f"Message rate, {words}", "rate", "rate", test, _in_flight, "messages in flight")
        for test, words in DIRECTIONS.items()
    ]


def ring_figures(a: Analysis) -> list[Figure]:
    return [
        _figure(a, "ring-lap", "Token ring, round trip", "lap", "ring", "ring", _pes, "PEs"),
        _figure(a, "ring-hop", "Token ring, a hop", "time", "ring", "ring", _pes, "PEs"),
    ]


def energy_figures(a: Analysis) -> list[Figure]:
    """Joules a message by number in flight, by size, and by ring."""
    return [
        _figure(a, "energy-rate", "4 B, one direction", "energy", "rate", "uni", _in_flight, "messages in flight"),
        _figure(a, "energy-size", "By size, one direction", "energy", "bandwidth", "uni", _bytes, "bytes"),
        _figure(a, "energy-ring", "Token ring, a hop", "energy", "ring", "ring", _pes, "PEs"),
    ]


X = Callable[[Case], int]


def _bytes(case: Case) -> int:
    return case.bytes


def _in_flight(case: Case) -> int:
    return case.in_flight


def _pes(case: Case) -> int:
    return case.pes


def _figure(a: Analysis, id: str, title: str, metric: str, series: str, test: str, x: X, axis: str) -> Figure:
    cases = a.cases(series, test, ())
    counts = [x(case) for case in cases]
    traces = [t for way in NAMES if (t := _line(a, metric, series, test, way, x, cases))]
    lower = METRICS[metric].unit in ("s", "J")
    note = "lower is better" if lower else "higher is better"
    if metric == "energy":
        note += f"; {a.provenance()}" if traces else "; not known here"
    return Figure(
        id=id,
        title=title,
        label=f"{title}: {METRICS[metric].label} against {axis}, a line for each way of sending",
        traces=traces,
        layout={
            "xaxis": counted_axis(counts, axis),
            "yaxis": value_axis(METRICS[metric].unit, log=spans_a_decade(traces)),
        },
        note=note,
        height=280 if metric == "energy" else 320,
    )


def counted_axis(counts: Sequence[int], title: str) -> dict[str, Any]:
    """A logarithmic axis of powers of two with at most eight labels."""
    step = -(-len(counts) // 8) if counts else 1
    ticks = list(counts)[::step]
    return {
        "type": "log",
        "tickmode": "array",
        "tickvals": ticks,
        "ticktext": [short_count(t) if t < 1 << 20 else f"{t >> 20} Mi" for t in ticks],
        "title": {"text": title},
    }


def _line(a: Analysis, metric: str, series: str, test: str, way: str, x: X, cases: list[Case]) -> Trace | None:
    """A way's medians with their middle halves; None where it has none. UCX's rate has no number in flight, so it is a
    level.
    """
    level = a.only_case(series, test, way) if way == "ucx" and series == "rate" else None
    points = [(x(case), a.center(metric, level or case.sent_by(way), way)) for case in cases]
    found = [(at, c) for at, c in points if c]
    trace = through(found, LOOKS[way], NAMES[way], lambda at, c: _hover(a, metric, way, at, c))
    return {**trace, "mode": "lines"} if trace and level else trace


def _hover(a: Analysis, metric: str, way: str, at: float, c: Center) -> Markup:
    kind = METRICS[metric]
    return hover_text(
        NAMES[way],
        [
            ("at", f"{at:,}"),
            *hover_lines(kind.label, c, by_unit(kind.unit)),
            ("repeats", str(c.n)),
            ("provenance", a.provenance((way,)) if metric == "energy" else "measured"),
        ],
    )
