"""`wattle study am`: its options and its output."""

from __future__ import annotations

from typing import Annotated

import typer

from wattle.machine import info
from wattle.study.am import study
from wattle.study.am.analysis import Analysis
from wattle.study.am.figures import NAMES
from wattle.study.am.plan import make_plan
from wattle.study.command import conduct
from wattle.study.options import AsJson, Link, On, Output, Repeat
from wattle.study.place import LOCAL, check_place
from wattle.text import console, units
from wattle.text.console import plain
from wattle.text.tables import Table, table


def command(
    quick: Annotated[bool, typer.Option("--quick", help="A shorter sweep, with fewer repeats.")] = False,
    output: Output = None,
    on: On = LOCAL,
    link: Link = None,
    repeat: Repeat = None,
    min_time: Annotated[
        float | None, typer.Option("--min-time", help="Shortest time of a measurement in seconds (0.05, quick 0.004).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """The command with the options of its own."""
    plan = make_plan(repeat, min_time, quick, check_place(on, link, simulates=True))
    info.check_machine(info.ask())
    conduct(study.STUDY, lambda: study.work(plan), _show, output, as_json, tells_tally=True)


def _show(analysis: Analysis) -> None:
    console.out.print(_table(analysis))
    for words in analysis.left_out:
        console.out.print(plain(f"Left out: {words}.", "faint"))


def _table(analysis: Analysis) -> Table:
    """A table of the time a message by way: one at a time, many in flight, and a hop of the smallest and the largest
    ring.
    """
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
        at = {w: case.sent_by(w) if case.in_flight == most else case for w in ways}  # UCX's own test has many in flight
        cells = [units.seconds(c.median) if (c := analysis.center("time", at[w], w)) else units.UNKNOWN for w in ways]
        result.add_row(what, *cells)
    return result
