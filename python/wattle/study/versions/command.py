"""The command of a study of a mini-app: its options and its output."""

from __future__ import annotations

from collections.abc import Callable

from wattle.machine import info
from wattle.study.command import conduct, say_place
from wattle.study.options import AsJson, Link, On, Output, Pes, Quick, Rounds
from wattle.study.place import LOCAL, check_place
from wattle.study.versions import course
from wattle.study.versions.analysis import Analysis
from wattle.study.versions.family import App
from wattle.study.versions.figures import amount
from wattle.study.versions.plan import make_plan
from wattle.text import console, units
from wattle.text.tables import Table, table


def of(app: App) -> Callable[..., None]:
    """`wattle study NAME` of this mini-app."""

    def command(
        quick: Quick = False,
        output: Output = None,
        on: On = LOCAL,
        link: Link = None,
        pes: Pes = None,
        rounds: Rounds = None,
        as_json: AsJson = False,
    ) -> None:
        plan = make_plan(app, pes, rounds, quick, check_place(on, link, simulates=True))
        info.check_machine(info.ask())
        conduct(app, lambda: course.work(plan), _show, output, as_json)

    return command


def _show(analysis: Analysis) -> None:
    for k, given in enumerate(analysis.inputs):
        if k:
            console.out.print()
        console.out.print(_table(analysis, given))
    say_place(analysis)


def _table(a: Analysis, given: str) -> Table:
    """A table of the medians of time and CPU seconds of each version, by number of PEs."""
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
