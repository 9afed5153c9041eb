"""`wattle study patterns`: its options and its output."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from wattle.base.errors import WattleError
from wattle.machine import info
from wattle.study.command import conduct, say_place
from wattle.study.options import AsJson, Link, On, Output, Repeat
from wattle.study.patterns import study
from wattle.study.patterns.analysis import Analysis
from wattle.study.patterns.figures import shown
from wattle.study.patterns.plan import make_plan
from wattle.study.place import LOCAL, check_place
from wattle.text import console, units
from wattle.text.console import styled
from wattle.text.tables import Table, table

SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def command(
    quick: Annotated[bool, typer.Option("--quick", help="A sweep of about a minute, with fewer repeats.")] = False,
    output: Output = None,
    on: On = LOCAL,
    pes: Annotated[
        int | None, typer.Option("--pes", help="With --on sim: half of them send, each to one of the others (2).")
    ] = None,
    link: Link = None,
    payload: Annotated[str | None, typer.Option("--payload", help="Bytes to move, K and M allowed (512K).")] = None,
    repeat: Repeat = None,
    min_time: Annotated[
        float | None, typer.Option("--min-time", help="Shortest time of a measurement in seconds (0.2, quick 0.03).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """The command with the options of its own."""
    place = check_place(on, link, pes, simulates=True)
    plan = make_plan(None if payload is None else parse_size(payload), repeat, min_time, quick, place)
    info.check_machine(info.ask())
    conduct(study.STUDY, lambda: study.work(plan), _show, output, as_json, tells_tally=True)


def parse_size(text: str) -> int:
    """A size such as `512K` in bytes. Raises WattleError."""
    match = re.fullmatch(r"(\d{1,15})([KMG]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if not match:
        raise WattleError(f"--payload {text!r}: not a size; write bytes as 524288, 512K or 1M")
    return int(match.group(1)) * SIZES[match.group(2).upper()]


def _show(analysis: Analysis) -> None:
    console.out.print(_table(analysis))
    say_place(analysis)


def _table(analysis: Analysis) -> Table:
    """A table of time and joules of each pattern, in one piece and in the most pieces."""
    counts = list(dict.fromkeys((analysis.fragments[0], analysis.fragments[-1])))
    repeats = units.several(analysis.repeats, "repeat")
    result = table(title=f"Sender's cost of {units.size(analysis.payload)}, medians of {repeats}")
    result.add_column("pattern", no_wrap=True)
    for n in counts:
        result.add_column(
            styled("{} x {}\ntime", f"{n:,}", units.size(analysis.payload / n)), justify="right", no_wrap=True
        )
        result.add_column(styled("\njoules, {}", analysis.provenance("energy")), justify="right", no_wrap=True)
    for pattern in analysis.patterns:
        cells = [
            shown(metric, found.median) if (found := analysis.center(metric, pattern, n)) else units.UNKNOWN
            for n in counts
            for metric in ("latency", "energy")
        ]
        result.add_row(pattern, *cells)
    return result
