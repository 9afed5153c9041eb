"""Formats numbers for people: a fitting unit, three significant digits, `-` for an unknown value."""

from __future__ import annotations

from collections.abc import Iterable

from wattle.text.provenance import UNKNOWN as UNKNOWN
from wattle.text.provenance import joule_unit
from wattle.text.provenance import significant as significant

LEAST = 0.01  # the smallest number shown of the smallest unit: digits below it are rounding
SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
BYTES = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))
COUNTS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))

Scale = tuple[float, str]


def scale_for(values: Iterable[float | None], scales: Iterable[Scale]) -> Scale:
    """One unit for a column: the largest in which the largest number is at least 1."""
    ordered = list(scales)
    size = max((abs(v) for v in values if v is not None), default=0.0)
    if size == 0:
        return next((s for s in ordered if s[0] == 1.0), ordered[0])
    return next((s for s in ordered if size >= s[0]), ordered[-1])


def seconds(value: float | None) -> str:
    """`12.3 ms`."""
    return _in_unit(value, SECONDS)


def size(value: float | None) -> str:
    """Bytes: `1.5 MiB`."""
    if value is not None and value < 1024:
        return f"{value:.0f} B"
    return _in_unit(value, BYTES)


def joules(value: float | None) -> str:
    """Joules without an uncertainty, beside a figure that has one: `12.3 mJ`."""
    if value is None:
        return UNKNOWN
    factor, unit = joule_unit(value)
    return f"{significant(value / factor, 3)} {unit}"


def count(value: float | None) -> str:
    """`9,876`, from ten thousand on `12.3 k`."""
    if value is None:
        return UNKNOWN
    if value < 1e4:
        return f"{value:,.0f}"
    factor, unit = scale_for([value], COUNTS)
    return f"{significant(value / factor, 3)} {unit}"


def scaled(value: float | None, scale: Scale) -> str:
    """A number in the unit of its column. A number that is tiny in this unit is `0.00`, and zero is `0`."""
    if value is None:
        return UNKNOWN
    if value == 0:
        return "0"
    number = value / scale[0]
    if abs(number) >= 1000:
        return significant(number, 3)
    return f"{number:.2f}" if abs(number) < 100 else f"{number:.1f}"


def percent(value: float | None) -> str:
    """`+12.3 %`, always with its sign."""
    if value is None:
        return UNKNOWN
    return f"{value:+.0f} %" if abs(value) >= 100 else f"{value:+.1f} %"


def share(fraction: float) -> str:
    """A share such as `12.3 %`, without a sign because it is never negative."""
    return percent(100 * fraction).removeprefix("+")


def doubt(relative: float | None) -> str | None:
    """A relative uncertainty: `± 25 %`, or `-100 to +120 %`, because no amount is negative."""
    if relative is None:
        return None
    return f"± {relative * 100:.0f} %" if relative <= 1 else f"-100 to +{relative * 100:.0f} %"


def several(n: int, what: str) -> str:
    """`1 repeat`, `7 repeats`, `7 processes`, `7 entries`."""
    if n == 1:
        return f"{n:,} {what}"
    if what.endswith("ry"):
        return f"{n:,} {what[:-1]}ies"
    return f"{n:,} {what}" + ("es" if what.endswith("s") else "s")


def _in_unit(value: float | None, scales: Iterable[Scale]) -> str:
    if value is None:
        return UNKNOWN
    return _of(value, scale_for([value], scales))


def _of(value: float, scale: Scale) -> str:
    number = value / scale[0]
    if 0 < abs(number) < LEAST:
        return f"< {LEAST} {scale[1]}" if number > 0 else f"> -{LEAST} {scale[1]}"
    return f"{significant(number, 3)} {scale[1]}"


def ranges(numbers: list[int]) -> str:
    """`0, 2-5, 9`."""
    parts: list[list[int]] = []
    for n in numbers:
        if parts and parts[-1][-1] == n - 1:
            parts[-1].append(n)
        else:
            parts.append([n])
    return ", ".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts)


def numbered(noun: str, numbers: list[int]) -> str:
    """`rank 3`, `ranks 0 and 1`, `ranks 0-4, 7`."""
    if len(numbers) == 1:
        return f"{noun} {numbers[0]}"
    return f"{noun}s " + (f"{numbers[0]} and {numbers[1]}" if len(numbers) == 2 else ranges(numbers))


def seconds_between(low: float, high: float) -> str:
    """`0.36 to 5.37 ms`: a range in one unit, or one amount where both ends look alike."""
    scale = scale_for([low, high], SECONDS)
    ends = dict.fromkeys(_of(value, scale).removesuffix(f" {scale[1]}") for value in (low, high))
    return f"{' to '.join(ends)} {scale[1]}"


def si_scale(values: Iterable[float | None], unit: str) -> Scale:
    """The SI scale of a column of values."""
    steps = ((1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p"))
    return scale_for(values, [(factor, prefix + unit) for factor, prefix in steps])


def si(value: float, unit: str, scale: Scale | None = None) -> str:
    """A value such as `12.3 µJ`. With `scale`, the unit of that scale, so that compared amounts share one."""
    if scale:
        return f"{significant(value / scale[0], 3)} {scale[1]}"
    return _of(value, si_scale([value], unit))


def in_unit(value: float | None, unit: str) -> str:
    """A value with its unit, scaled where the unit is one that scales."""
    if value is None:
        return UNKNOWN
    if unit == "s":
        return seconds(value)
    if unit == "B":
        return size(value)
    if unit == "B/s":
        return f"{size(value)}/s"
    if unit == "/s":
        return f"{count(value)}/s"
    if unit in ("J", "W", "J·s"):
        return si(value, unit)
    return f"{significant(value, 3)} {unit}".strip()
