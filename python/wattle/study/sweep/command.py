"""The command of a study of waiting and clocks: its options and its output."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from wattle.machine import info
from wattle.study.command import conduct
from wattle.study.course import Work
from wattle.study.options import AsJson, Link, On, Output, Quick, Rounds
from wattle.study.place import LOCAL, SIMULATED, Place, check_place
from wattle.study.sweep import course
from wattle.study.sweep.analysis import Analysis
from wattle.study.sweep.family import Sweep
from wattle.study.sweep.plan import Plan, make_plan
from wattle.text import console
from wattle.text.tables import table


def of(made: Sweep) -> Callable[..., None]:
    """`wattle study NAME` with the usual options."""

    def command(
        quick: Quick = False,
        output: Output = None,
        on: On = LOCAL,
        link: Link = None,
        rounds: Rounds = None,
        as_json: AsJson = False,
    ) -> None:
        study(made, plan_of(quick, rounds, check_place(made.where(on), link, simulates=True)), output, as_json)

    return command


def plan_of(quick: bool, rounds: int | None, place: Place) -> Plan:
    """The plan for a place, with the knob that the runtime finds there."""
    info.check_machine(info.ask())
    on = f"{SIMULATED}:{place.cluster}" if place.simulated else place.name
    return make_plan(quick, rounds, on, place)


def study(made: Sweep, plan: Plan, output: Path | None, as_json: bool) -> None:
    """Runs a study and shows its results."""

    def work() -> Work:
        if not as_json:
            console.note(plan.knob.words)
        return course.work(made, plan)

    conduct(made, work, partial(_show, made), output, as_json)


def _show(made: Sweep, analysis: Analysis) -> None:
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
