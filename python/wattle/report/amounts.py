"""Amounts as a report prints them."""

from __future__ import annotations

from collections.abc import Iterable

from wattle import units


def si_scale(values: Iterable[float | None], unit: str) -> units.Scale:
    """One for all of them."""
    steps = ((1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p"))
    return units.scale_for(values, [(factor, prefix + unit) for factor, prefix in steps])


def si(value: float, unit: str, scale: units.Scale | None = None) -> str:
    """`12.3 µJ`; in the unit of `scale`, where amounts that are compared share one."""
    factor, name = scale or si_scale([value], unit)
    return f"{units.significant(value / factor, 3)} {name}"


def in_unit(value: float | None, unit: str) -> str:
    """A value with its unit, scaled where the unit is one that scales."""
    if value is None:
        return units.UNKNOWN
    if unit == "s":
        return units.seconds(value)
    if unit == "B/s":
        return f"{units.size(value)}/s"
    if unit == "/s":
        return f"{units.count(value)}/s"
    if unit in ("J", "W", "J·s"):
        return si(value, unit)
    return f"{units.significant(value, 3)} {unit}".strip()
