"""The page of `make bench`: every bar with its measured value, as figures and tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wattle.html.page import Page
from wattle.report import bench_figures as drawn
from wattle.report import bench_file
from wattle.report.bench_file import Bar, Bench, Limit
from wattle.text import units


@dataclass(frozen=True)
class Row:
    """A line of the table, as text. `badge` is a class of the style sheet."""

    label: str
    ours: str
    other: str
    ratio: str
    spread: str
    best: str
    bar: str
    verdict: str
    badge: str
    disturbed: bool


def build(path: Path) -> Page:
    """Reads and checks the file and makes its page."""
    bench = bench_file.read(path)
    figures = drawn.figures(bench)
    return Page(
        template=Path(__file__).with_suffix(".html.j2"),
        title="The benchmarks",
        subtitle=f"Wattle and {bench.peer or 'no peer'}, alternating in one run; {units.several(bench.pairs, 'pair')}",
        summary=summary(bench),
        record=bench.record,
        nav=[
            ("summary", "Summary"),
            *((drawn.section_id(name) + "-s", name) for name in bench.sections),
            *([("limits-s", "limits")] if bench.limits else []),
        ],
        figures=figures,
        content={
            "cards": [],
            "sections": [
                (drawn.section_id(name), name, [row_of(bar) for bar in bench.bars if bar.section == name])
                for name in bench.sections
            ],
            "limits": [(limit.label, limit_text(limit)) for limit in bench.limits],
        },
    )


def summary(bench: Bench) -> str:
    """One paragraph: how many bars are met, which are missed, and how reliable the figures are."""
    missed = [bar for bar in bench.bars if not bar.met]
    words = [f"{len(bench.bars) - len(missed)} of {units.several(len(bench.bars), 'promise')} are met."]
    if missed:
        worst = max(missed, key=lambda bar: bar.beyond)
        words.append(f"The furthest from its bar is {worst.label} ({worst.section}), by {percent(worst.beyond)}.")
    if disturbed := sum(bar.disturbed for bar in bench.bars):
        words.append(f"Other work ran during {disturbed} of the rows (open marks): measure those again.")
    if open_ := sum(not bar.verdict for bar in bench.bars):
        words.append(f"{'All' if open_ == len(bench.bars) else 'Some'} rows had too few pairs for a verdict.")
    return " ".join(words)


def percent(part: float) -> str:
    return f"{max(1, round(100 * part))} %"


def row_of(bar: Bar) -> Row:
    ratio = bool(bar.other_name)
    return Row(
        label=bar.label,
        ours=bar.ours,
        other=f"{bar.other} {'' if bar.other_name == 'peer' else bar.other_name}".strip(),
        ratio=f"{bar.value:.2g}" if ratio else "",
        spread=f"{bar.low:.2g} - {bar.high:.2g}",
        best="" if bar.best is None else f"{bar.best:.2g}",
        bar=f"{bar.bar:.3g}" + ("" if ratio else " s"),
        verdict=verdict(bar),
        badge="not-testable" if not bar.verdict else "same" if bar.met else "unavailable",
        disturbed=bar.disturbed,
    )


def verdict(bar: Bar) -> str:
    """The verdict, such as `met` or `not met by 12 %`; for an older bar also whether that one holds."""
    if bar.met:
        return "met" + (", close" if bar.close else "")
    older = {None: "", True: "; no slower", False: "; slower"}[bar.no_slower]
    return f"not met by {percent(bar.beyond)}{', close' if bar.close else ''}{older}"


def limit_text(limit: Limit) -> str:
    if not limit.bytes:
        return units.seconds(limit.median_s)
    return f"{limit.bytes / limit.median_s / 1e9:.3g} GB/s"
