"""`wattle study fragments`: its options and its output."""

from __future__ import annotations

from typing import Annotated

import typer

from wattle.machine import info
from wattle.study.command import conduct, say_place
from wattle.study.fragments import study
from wattle.study.fragments.analysis import METRICS, Analysis
from wattle.study.fragments.figures import missing, shown_at
from wattle.study.fragments.plan import make_plan
from wattle.study.options import AsJson, Link, On, Output
from wattle.study.place import LOCAL, check_place
from wattle.text import console, units
from wattle.text.console import styled
from wattle.text.tables import Table, table

CORNERS = ("latency", "cpu", "dram", "instructions", "misses", "sent")


def command(
    quick: Annotated[bool, typer.Option("--quick", help="A sweep of about a minute, with fewer repeats.")] = False,
    output: Output = None,
    on: On = LOCAL,
    link: Link = None,
    most: Annotated[
        int | None,
        typer.Option("--most", help="The most fragments, a power of two (2097152; two nodes 131072, quick 1024)."),
    ] = None,
    repeat: Annotated[int | None, typer.Option("--repeat", help="Repeats of every case (7, quick 3).")] = None,
    min_time: Annotated[
        float | None, typer.Option("--min-time", help="Shortest time of a measurement in seconds (0.1, quick 0.005).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """The command with the options of its own."""
    place = check_place(on, link, None, simulates=True)
    plan = make_plan(most, repeat, min_time, quick, place)
    info.check_machine(info.ask())
    conduct(study.STUDY, lambda: study.work(plan), _show, output, as_json, tells_tally=True)


def _show(analysis: Analysis) -> None:
    console.out.print(_table(analysis))
    for label, reason in missing(analysis):
        console.out.print(styled("[faint]{}: {}.[/faint]", label, reason))
    say_place(analysis)


def _table(a: Analysis) -> Table:
    """A table of some payloads, in one piece and in the most pieces."""
    result = table(title=f"Sender's cost of a payload, medians of {units.several(a.repeats, 'repeat')}")
    names = [name for name in CORNERS if a.values(name)]
    result.add_column("payload", no_wrap=True)
    result.add_column("fragments", justify="right", no_wrap=True)
    for name in names:
        words = "time" if name == "latency" else METRICS[name].label
        result.add_column(words, justify="right", overflow="fold")
    for payload in (p for p in a.payloads if (p.bit_length() - 1) % 7 == 0):
        counts = [n for n, _ in a.along_fragments("latency", payload)]
        for n in dict.fromkeys((counts[0], counts[-1])):
            cells = [shown_at(a, name, payload, n) for name in names]
            result.add_row(units.size(payload), f"{n:,}", *cells)
    return result
