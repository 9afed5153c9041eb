"""What the studies of waiting and clocks have in common on the command line."""

from __future__ import annotations

import sys
from pathlib import Path

from wattle import console, info, stopping
from wattle.report.sweep import summary
from wattle.run import directory as directories
from wattle.study import kept, sweep
from wattle.study.place import LOCAL, Place
from wattle.study.sweep import Sweep
from wattle.tables import table


def study(
    made: Sweep,
    quick: bool,
    output: Path | None,
    rounds: int | None,
    as_json: bool,
    on: str = LOCAL,
    place: Place | None = None,
) -> None:
    """Runs it and shows what it found."""
    info.check_machine(info.ask())
    plan = sweep.make_plan(quick, rounds, on, place)
    directory = directories.prepare(output, f"study-{made.name}")
    with stopping.measuring():
        if not as_json:
            console.note(plan.knob.words)
        record = sweep.run(made, plan, directory, ["wattle", *sys.argv[1:]])
    analysis = sweep.load(made, directory, record)
    if as_json:
        kept.print_results(directory, record, sweep.results(made, analysis))
        return
    rows = sweep.judge(made, analysis)
    console.out.print()
    console.out.print(summary(made, analysis, rows, record, reasons="in the report"))
    console.out.print()
    title, heads, lines = made.table(analysis)
    shown = table(title=title)
    for k, head in enumerate(heads):
        shown.add_column(head, justify="left" if k == 0 else "right", overflow="fold")
    for line in lines:
        shown.add_row(*line)
    console.out.print(shown)
    if fits := made.fits(analysis):
        console.out.print()
        console.out.print(f"Straight lines by least squares, joules {analysis.provenance}")
        for fit in fits:
            console.out.print(f"  {fit.policy}: {fit.words}", soft_wrap=True)
    console.out.print()
    kept.say_where(directory)
