"""Amounts as a report prints them."""

from __future__ import annotations

from wattle import units
from wattle.study.patterns_analysis import METRICS


def si(value: float, unit: str) -> str:
    """`12.3 µJ`."""
    scale = units.scale_for([value], ((1.0, unit), (1e-3, f"m{unit}"), (1e-6, f"µ{unit}"), (1e-9, f"n{unit}")))
    return f"{units.significant(value / scale[0], 3)} {scale[1]}"


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
