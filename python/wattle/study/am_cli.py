"""`wattle study am`: its options, and what it says at its end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from wattle import console, info, stopping, units
from wattle.console import plain
from wattle.manifest import Manifest
from wattle.report import am as page
from wattle.report.am_figures import NAMES
from wattle.run import directory as directories
from wattle.study import am as study
from wattle.study import kept, published, registry
from wattle.study.am_analysis import Analysis
from wattle.study.am_published import ROWS
from wattle.study.options import AsJson, Link, On, Output, Repeat
from wattle.study.place import LOCAL
from wattle.tables import Table, table


def am(
    quick: Annotated[bool, typer.Option("--quick", help="A shorter sweep, with fewer repeats.")] = False,
    output: Output = None,
    on: On = LOCAL,
    link: Link = None,
    repeat: Repeat = None,
    min_time: Annotated[
        float | None, typer.Option("--min-time", help="Seconds a measurement lasts at least (0.05, quick 0.004).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Active messages beside puts, MPI and UCX: bandwidth, message rate, a token ring, energy a message."""
    place = registry.check_place(on, link, simulates=True)
    plan = study.make_plan(repeat, min_time, quick, place)
    info.check_machine(info.ask())
    directory = directories.prepare(output, "study-am")
    with stopping.measuring():
        record = study.run(plan, directory, ["wattle", *sys.argv[1:]])
    analysis = study.load(directory, record)
    if as_json:
        kept.print_results(directory, record, study.results(analysis))
        return
    _show(directory, record, analysis)


def _show(directory: Path, record: Manifest, analysis: Analysis) -> None:
    rows = published.judge(ROWS, analysis)
    console.out.print()
    console.out.print(page.summary(analysis, rows, record))
    console.out.print()
    console.out.print(_table(analysis))
    for words in analysis.left_out:
        console.out.print(plain(f"Left out: {words}.", "faint"))
    kept.say_tally(rows)
    kept.say_where(directory)


def _table(analysis: Analysis) -> Table:
    """Time a message by way: one at a time, many in flight, and a hop of the smallest and the largest ring."""
    cases = []
    for series, test in (("rate", "uni"), ("ring", "ring")):
        found = analysis.cases(series, test)
        cases += list(dict.fromkeys((found[0], found[-1]))) if found else []
    ways = [w for w in NAMES if any(w in analysis.ways_of(case) for case in cases)]
    most = max((case.in_flight for case in cases), default=0)
    result = table(title=f"Time a message of 4 B, medians of {units.several(analysis.repeats, 'repeat')}")
    result.add_column("case")
    for way in ways:
        result.add_column(NAMES[way], justify="right")
    for case in cases:
        what = f"ring, {case.pes} PEs, a hop" if case.series == "ring" else f"{case.in_flight:,} in flight"
        at = {w: case.sent_by(w) if case.in_flight == most else case for w in ways}  # UCX's own has many in flight
        cells = [units.seconds(c.median) if (c := analysis.center("time", at[w], w)) else units.UNKNOWN for w in ways]
        result.add_row(what, *cells)
    return result
