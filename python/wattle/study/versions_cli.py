"""What `wattle study tsp` and `wattle study mst` have in common on the command line."""

from __future__ import annotations

import sys
from pathlib import Path

from wattle import console, info, stopping, units
from wattle.console import styled
from wattle.report import versions as page
from wattle.report.versions_figures import amount
from wattle.run import directory as directories
from wattle.study import kept, published, registry, versions
from wattle.study.versions import App
from wattle.study.versions_analysis import Analysis
from wattle.tables import Table, table


def study(
    app: App,
    quick: bool,
    output: Path | None,
    on: str,
    link: str | None,
    pes: str | None,
    rounds: int | None,
    as_json: bool,
) -> None:
    """Runs it and shows what it found."""
    plan = versions.make_plan(app, pes, rounds, quick, registry.check_place(on, link, simulates=True))
    info.check_machine(info.ask())
    directory = directories.prepare(output, f"study-{app.name}")
    with stopping.measuring():
        record = versions.run(plan, directory, ["wattle", *sys.argv[1:]])
    analysis = versions.load(app, directory, record)
    if as_json:
        kept.print_results(directory, record, versions.results(app, analysis))
        return
    rows, bars = published.judge(app.rows, analysis), published.judge(app.bars, analysis)
    console.out.print()
    console.out.print(page.summary(app, analysis, rows, bars, record))
    for given in analysis.inputs:
        console.out.print()
        console.out.print(_table(analysis, given))
    if analysis.place.across:
        console.out.print(styled("\n[faint]{}[/faint]", analysis.place.sentence))
    console.out.print()
    kept.say_where(directory)


def _table(a: Analysis, given: str) -> Table:
    """Medians of the time and the CPU seconds of each version, by number of PEs."""
    result = table(title=f"{given}: time and CPU seconds, medians of {units.several(a.repeats, 'run')}")
    result.add_column("PEs", justify="right", no_wrap=True)
    for version in a.versions:
        result.add_column(version, justify="right", no_wrap=True)
        result.add_column("CPU", justify="right", no_wrap=True)
    for n in a.pes:
        cells = [
            amount(metric, found.median) if (found := a.center(metric, version, given, n)) else units.UNKNOWN
            for version in a.versions
            for metric in ("seconds", "cpu_s")
        ]
        result.add_row(str(n), *cells)
    return result
