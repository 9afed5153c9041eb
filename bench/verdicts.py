"""The bars: every bar of the project with its verdict from this run, in one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from wattle.report.bench_file import Bar
from wattle.text.console import Text, plain
from wattle.text.tables import Table

from bench.pairs import Comparison
from bench.show import columns, ratio, shown, shown_seconds


def bar(value: float, most: float, verdict: bool | str, **more: Any) -> Bar:
    """A bar that holds up to `most`. `verdict`: the words of the verdict, or whether there are enough runs for one.
    `more`: the other fields, without which the value has no range and no second side.
    """
    if not isinstance(verdict, str):
        verdict = "" if not verdict else "met" if value <= most else "not met"
    others: dict[str, Any] = {"other_name": "", "other": "", "low": value, "high": value, "best": None} | more
    return Bar(value=value, bar=most, verdict=verdict, beyond=max(0.0, value / most - 1), **others)


def of_comparisons(section: str, other_name: str, comparisons: Iterable[Comparison]) -> list[Bar]:
    """The bars of all rows that have one. With too few pairs they have no verdict, so that --quick still shows the
    ratios.
    """
    return [
        bar(
            c.median,
            c.row.bar,
            c.verdict,
            section=section,
            label=c.row.label,
            other_name=other_name,
            ours=shown(c.row, c.first),
            other=shown(c.row, c.second),
            low=c.quartiles[0],
            high=c.quartiles[1],
            best=c.best,
            no_slower=None if c.row.lenient is None else c.median <= c.row.lenient,
            disturbed=c.disturbed,
        )
        for c in comparisons
        if c.row.bar is not None
    ]


def of_cpu_seconds(
    section: str,
    label: str,
    values: list[float],
    most: float,
    disturbed: bool,
    judge: bool,
    text: Callable[[float], str] = shown_seconds,
) -> Bar:
    """A bar of CPU seconds, or of their share, which the worst run must meet. `judge`: whether there are enough runs
    for a verdict.
    """
    worst = max(values)
    more = {"section": section, "label": label, "low": min(values), "disturbed": disturbed}
    return bar(worst, most, judge, ours=text(worst), **more)


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
    table = columns("promise", "ratio", "bar")
    table.add_column("", no_wrap=True)
    section = ""
    for v in verdicts:
        if v.section != section:
            section = v.section
            table.add_row(plain(section, "title"), "", "", "")
        value = ratio(v.value) if v.other_name else v.ours
        mark = "!" if v.disturbed else ""
        beside = f" : {v.other_name}" if v.other_name not in ("", "peer") else ""
        limit = f"{v.bar:.3g}" if v.other_name else f"{v.bar:.3g} s"
        table.add_row(f"  {v.label}{beside}", value + mark, limit, said(v))
    return table


def as_data(verdicts: list[Bar]) -> list[dict[str, Any]]:
    """Bars for the JSON file."""
    return [asdict(v) for v in verdicts]
