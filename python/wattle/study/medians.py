"""Medians with their spread, as text for tables and as lines of figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from wattle.html.figures import Look, Trace, line
from wattle.study.stats import Center
from wattle.text import units

Cell = str | tuple[str, str]  # of a table: a text, or a value with its spread
Shown = Callable[[float], str]  # an amount with its unit


def middle_half(found: Center, shown: Shown) -> str:
    return f"{shown(found.p25)} to {shown(found.p75)}"


def cell(found: Center | None, shown: Shown) -> tuple[str, str]:
    """A median and its middle half, for a table."""
    return (units.UNKNOWN, "") if found is None else (shown(found.median), middle_half(found, shown))


def hover_lines(label: str, found: Center, shown: Shown) -> list[tuple[str, str]]:
    """The first lines of a point's hover text."""
    return [(label, shown(found.median)), ("middle half", middle_half(found, shown))]


def through(
    found: Sequence[tuple[float, Center]], look: Look, name: str, hover: Callable[[float, Center], Markup]
) -> Trace | None:
    """A line through medians, with whiskers over their middle halves; None without any."""
    if not found:
        return None
    x = [at for at, _ in found]
    middle, lo, hi = ([getattr(c, key) for _, c in found] for key in ("median", "p25", "p75"))
    return line(x, middle, lo, hi, look, name, [hover(at, c) for at, c in found])
