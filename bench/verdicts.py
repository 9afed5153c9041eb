"""The bars: every bar of the project with its verdict from this run, in one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict

from wattle.report.bench_file import Bar
from wattle.text import tables
from wattle.text.console import Text, plain
from wattle.text.tables import Table

from bench.pairs import Comparison
from bench.show import ratio, shown, shown_seconds


def of_comparisons(section: str, other_name: str, comparisons: Iterable[Comparison]) -> list[Bar]:
    """The bars of all rows that have one. With too few pairs they have no verdict, so that --quick still shows the
    ratios.
    """
    return [of_comparison(section, other_name, c) for c in comparisons if c.row.bar is not None]


def of_comparison(section: str, other_name: str, c: Comparison) -> Bar:
    assert c.row.bar is not None
    return Bar(
        section=section,
        label=c.row.label,
        other_name=other_name,
        ours=shown(c.row, c.first),
        other=shown(c.row, c.second),
        value=c.median,
        low=c.quartiles[0],
        high=c.quartiles[1],
        best=c.best,
        bar=c.row.bar,
        verdict=c.verdict,
        beyond=max(0.0, c.median / c.row.bar - 1),
        no_slower=None if c.row.lenient is None else c.median <= c.row.lenient,
        disturbed=c.disturbed,
    )


def of_cpu_seconds(
    section: str,
    label: str,
    values: list[float],
    bar: float,
    disturbed: bool,
    judge: bool,
    text: Callable[[float], str] = shown_seconds,
) -> Bar:
    """A bar of CPU seconds, or of their share, which the worst run must meet. `judge`: whether there are enough runs
    for a verdict.
    """
    worst = max(values)
    return Bar(
        section=section,
        label=label,
        other_name="",
        ours=text(worst),
        other="",
        value=worst,
        low=min(values),
        high=worst,
        best=None,
        bar=bar,
        verdict="" if not judge else "met" if worst <= bar else "not met",
        beyond=max(0.0, worst / bar - 1),
        disturbed=disturbed,
    )


def said(v: Bar) -> Text:
    """The verdict as text: `met`, `not met by 12 %`, with a ~ where another run may have another verdict. In
    parentheses where there are too few pairs.
    """
    word = "met" if v.met else f"not met by {max(1, round(100 * v.beyond))} %"
    style = "" if not v.verdict else "good" if v.met else "bad"
    close = "~" if v.close else ""
    older = {None: "", True: "; no slower", False: "; slower"}[v.no_slower if v.beyond else None]
    return plain(f"{word}{close}{older}" if v.verdict else f"({word}{older})", style)


def table_of(verdicts: list[Bar]) -> Table:
    """One row a bar. `!`: other work ran meanwhile."""
    table = tables.table()
    table.add_column("promise")
    table.add_column("ratio", justify="right", no_wrap=True)
    table.add_column("bar", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    section = ""
    for v in verdicts:
        if v.section != section:
            section = v.section
            table.add_row(plain(section, "title"), "", "", "")
        value = ratio(v.value) if v.other_name else v.ours
        mark = "!" if v.disturbed else ""
        beside = f" : {v.other_name}" if v.other_name not in ("", "peer") else ""
        table.add_row(f"  {v.label}{beside}", value + mark, ratio_bar(v), said(v))
    return table


def ratio_bar(v: Bar) -> str:
    return f"{v.bar:.3g}" if v.other_name else f"{v.bar:.3g} s"


def as_data(verdicts: list[Bar]) -> list[dict]:
    """Bars for the JSON file."""
    return [asdict(v) for v in verdicts]
