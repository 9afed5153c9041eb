"""Formats figures for people: units, and tables that fit 80 columns."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from wattle.report.bench_file import Bar
from wattle.text import tables
from wattle.text.console import Text, out, plain
from wattle.text.tables import Table

from bench.jobs import Figures
from bench.pairs import Comparison, Row


def duration(seconds: float) -> str:
    """A duration with three digits and a unit."""
    for limit, unit, factor in ((1e-6, "ns", 1e9), (1e-3, "us", 1e6), (1, "ms", 1e3)):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def shown_seconds(seconds: float) -> str:
    """CPU seconds of a wait."""
    return f"{seconds:.4f} s"


def shown(row: Row, seconds: float) -> str:
    """A figure of a row: a time or a bandwidth."""
    if not row.bytes:
        return duration(seconds)
    rate = row.bytes / seconds
    return f"{rate / 1e9:.3g} GB/s" if rate >= 1e9 else f"{rate / 1e6:.3g} MB/s"


def judged(bar: str, verdict: str) -> Text:
    """A bar with its verdict, such as `1.5 met`, in colour on a terminal, with a ~ where it is close. Without a verdict
    only the bar.
    """
    style = "" if not verdict else "good" if verdict.startswith("met") else "bad"
    word = verdict.replace("not met", "missed").replace(" (close)", "~")
    return plain(f"{bar} {word}".strip(), style)


def ratio(value: float) -> str:
    """A ratio with two decimals, or more for small ratios."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}" if value >= 0.01 else f"{value:.1g}"


def say_skipped(words: str) -> None:
    """Prints a part that is not measured here, with the reason."""
    out.print(plain(words, "partly"))
    out.print()


def section(title: str, table: Table) -> None:
    """Prints a table under its title, which may be wider than the table."""
    out.print(title, style="title")
    out.print(table)
    out.print()


def columns(words: str, *numbers: str, wrap: bool = False) -> Table:
    """An empty table: a column of words, and columns of numbers. The headings must be short, or `wrap`."""
    table = tables.table()
    table.add_column(words)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=not wrap)
    return table


def comparison_table(first: str, second: str, comparisons: list[Comparison], *, best: bool = False) -> Table:
    """A comparison as a table. `best`: with the ratio of the best batches of both runs, which other work on the machine
    affects less.
    """
    table = columns("operation", first, second, "ratio", "quartiles", *(["best"] if best else []))
    barred = any(c.row.bar is not None for c in comparisons)
    if barred:
        table.add_column("bar", no_wrap=True)
    for c in comparisons:
        low, high = c.quartiles
        cells = [c.row.label, shown(c.row, c.first), shown(c.row, c.second), ratio(c.median) + "!" * c.disturbed]
        cells.append(f"{ratio(low)}-{ratio(high)}")
        if best:
            cells.append(ratio(c.best) if c.best else "")
        bar = f"{c.row.bar:.2f}".rstrip("0").rstrip(".") if c.row.bar is not None else ""
        table.add_row(*cells, *([judged(bar, c.verdict)] if barred else []))
    return table


def own_table(rows: Iterable[Row], figures: list[Figures]) -> Table:
    """Medians of one side alone, where there is no peer."""
    table = columns("operation", "median")
    for row in rows:
        values = [f[row.key] for f in figures if row.key in f]
        if values:
            table.add_row(row.label, shown(row, statistics.median(values)))
    return table


def side_table(bars: list[Bar], ours: str, other: str, value: str) -> Table:
    """Bars as figures side by side, under these headings."""
    table = columns("operation", ours, other, value)
    for bar in bars:
        table.add_row(bar.label, bar.ours, bar.other, ratio(bar.value))
    return table
