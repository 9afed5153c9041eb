"""The page of the study of two-sided protocols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from wattle.html.figures import Figure, Look, Trace, hover_text, line, spans_a_decade, value_axis
from wattle.study.protocols.configurations import Configuration
from wattle.study.protocols.judges import bytes_of, efficiency, per_joule, power, present, senders
from wattle.study.sweep.analysis import Analysis, Point
from wattle.study.sweep.page import Section, at_x, sizes_axis
from wattle.text import units

LOOKS = (
    Look("--first"),
    Look("--second", "square"),
    Look("--third", "diamond", "dashdot"),
    Look("--fourth", "circle-open", "dash"),
)
Value = Callable[[Analysis, Point], float | None]


def sections(a: Analysis) -> list[Section]:
    payload = max(p.x or 0 for p in a.points)
    whole, cut = (lambda p: p.y == 1), (lambda p: p.x == payload)
    size = units.size(payload)
    legend: list[str | tuple[str, Look]] = [(c.name, look) for c, look in zip(present(a), LOOKS, strict=False)]
    bare = a.provenance == "modelled" and not a.simulated
    idle = "without the idle draw of their socket" if bare else "including idle"
    ends = [
        _figure(a, f"{who}-{metric}", f"{whose} {what}", "W", _power(who, metric), cut, bytes_of, "bytes of a message")
        for who, whose in (("sender", "Sender's"), ("receiver", "Receiver's"))
        for metric, what in (("cpu", "CPU power"), ("dram", "DRAM power"))
    ]
    return [
        Section(
            "efficiency",
            "Bytes per joule",
            "The payload divided by the joules of sender and receiver, CPU and DRAM, each for the duration of its "
            f"calls (equation 7.1), spinning: by payload, and for {size} by the size of its messages.",
            [
                _figure(a, "whole", "A payload in one message", "B/J", efficiency, whole, at_x, "payload, bytes"),
                _figure(a, "cut", f"{size} in messages", "B/J", efficiency, cut, bytes_of, "bytes of a message"),
            ],
            legend,
        ),
        Section(
            "power",
            "Power at both ends",
            f"{size} in several messages, spinning: watts of the rank's socket and of its memory during its calls, "
            f"{idle}.",
            ends,
            legend,
        ),
        Section(
            "asleep",
            "Where ranks sleep",
            "The runtime's own way to wait (adaptive: it polls for a while, then sleeps) over spinning: above 1 a "
            "joule moves more bytes.",
            [
                _figure(a, "slept", "A payload in one message", "", _over_spin, whole, at_x, "payload, bytes"),
            ],
            legend,
        ),
    ]


def _power(who: str, metric: str) -> Value:
    return lambda a, p: power(a, p, who, metric)


def _over_spin(a: Analysis, p: Point) -> float | None:
    slept = a.like(p, wait="adaptive")
    here, there = efficiency(a, p), efficiency(a, slept) if slept else None
    return there / here if here and there else None


def _figure(
    a: Analysis,
    id: str,
    title: str,
    unit: str,
    value: Value,
    of: Callable[[Point], bool],
    x: Callable[[Point], float],
    swept: str,
) -> Figure:
    traces = [
        t
        for c, look in zip(present(a), LOOKS, strict=False)
        if (t := _trace(a, c, look, unit, value, sorted(filter(of, senders(a, c)), key=x), x))
    ]
    sizes = sorted({int(v) for t in traces for v in t["x"]})
    axis = sizes_axis(sizes, swept)
    values: dict[str, Any] = value_axis(unit, log=spans_a_decade(traces)) if unit else {"rangemode": "tozero"}
    better = "higher" if unit != "W" else "lower"
    label = f"{title}: {unit or 'ratio'} against {swept}, a line for each transport and protocol"
    return Figure(
        id, title, label, traces, {"xaxis": axis, "yaxis": values}, 340, f"{a.provenance}; {better} is better"
    )


def _trace(
    a: Analysis,
    of: Configuration,
    look: Look,
    unit: str,
    value: Value,
    points: Sequence[Point],
    x: Callable[[Point], float],
) -> Trace | None:
    found = [(p, v) for p in points if (v := value(a, p)) is not None]
    if not found:
        return None
    hover = [
        hover_text(
            of.name,
            [
                ("payload", units.size(p.x or 0)),
                ("messages", f"{p.y or 1:,.0f}"),
                ("", per_joule(v)) if unit == "B/J" else (unit or "over spinning", f"{v:.3g}"),
            ],
        )
        for p, v in found
    ]
    values = [v for _, v in found]
    return line([x(p) for p, _ in found], values, values, values, look, of.name, hover)
