"""Amounts as a report prints them."""

from __future__ import annotations

from collections.abc import Iterable

from wattle import units
from wattle.study.patterns_analysis import METRICS


def si_scale(values: Iterable[float | None], unit: str) -> units.Scale:
    """One for all of them."""
    return units.scale_for(values, ((1.0, unit), (1e-3, f"m{unit}"), (1e-6, f"µ{unit}"), (1e-9, f"n{unit}")))


def si(value: float, unit: str, scale: units.Scale | None = None) -> str:
    """`12.3 µJ`; in the unit of `scale`, where amounts that are compared share one."""
    factor, name = scale or si_scale([value], unit)
    return f"{units.significant(value / factor, 3)} {name}"


def of_metric(metric: str, value: float | None) -> str:
    """A metric's value with its unit."""
    if value is None:
        return units.UNKNOWN
    unit = METRICS[metric].unit
    if unit == "s":
        return units.seconds(value)
    if unit == "B/s":
        return f"{units.size(value)}/s"
    if unit == "/s":
        return f"{units.count(value)}/s"
    if unit == "J·s":
        scale = units.scale_for(
            [value], ((1.0, "J·s"), (1e-3, "mJ·s"), (1e-6, "µJ·s"), (1e-9, "nJ·s"), (1e-12, "pJ·s"))
        )
        return f"{units.significant(value / scale[0], 3)} {scale[1]}"
    return si(value, unit)
