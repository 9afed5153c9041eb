"""A user's program at each clock: time, energy and their products, and the clock of the least of each."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wattle.base.errors import WattleError
from wattle.study.place import SIMULATED
from wattle.study.race.judges import JOBS, at_clocks, best
from wattle.study.sweep.analysis import METRICS, Analysis, Point
from wattle.study.sweep.family import Sweep
from wattle.study.sweep.plan import Job, Plan
from wattle.text import units
from wattle.text.units import in_unit, si

if TYPE_CHECKING:
    from wattle.study.sweep.page import Section

SHOWN = (("seconds", "time"), ("node", "energy"), ("node_watts", "power"), ("edp", "EDP"), ("e2dp", "E2DP"))
LEAST = ("seconds", "node", "edp", "e2dp")  # the metrics of figures 4.1 and 4.2


class Own(Sweep):
    """The study of a user's program, which has no processes and no phases of ours."""

    def sections(self, a: Analysis) -> list[Section]:
        from wattle.study.race import page

        return [page.jobs(a)]


def sweep_of(command: Sequence[str], pes: int) -> Sweep:
    """The sweep of a program over the clocks, with `pes` PEs. `command`: the program and its arguments."""
    path = str(Path(shutil.which(command[0]) or command[0]).absolute())
    return Own(
        name="race",
        title=f"Race to halt: {Path(path).name}",
        question="At which clock does this program cost the least time, energy, and product of both?",
        jobs=lambda plan: _jobs(plan, path, tuple(command[1:]), pes),
        rows=[],
        table=_table,
        says=_least_words,
        program=(path, *command[1:]),
    )


def check_program(name: str) -> None:
    """Raises WattleError where no such program can be started."""
    if shutil.which(name) is None:
        raise WattleError(f"{name}: is not a program that can be started")


def check_clocks(plan: Plan) -> None:
    """Raises WattleError where no clock can be set."""
    if plan.knob.acts:
        return
    words = f"{plan.knob.words[0].upper()}{plan.knob.words[1:]}"
    raise WattleError(
        f"{words}. --on {SIMULATED}:CLUSTER simulates the clocks for a program of OpenSHMEM or MPI that "
        "`oshcc --sim` built"
    )


def _jobs(plan: Plan, path: str, arguments: tuple[str, ...], pes: int) -> list[Job]:
    """The program without a request for a clock, then at each clock, the same for all PEs."""
    top = {plan.knob.base} if plan.knob.base else set()
    found = [Job(JOBS, path, arguments, 1, pes)]
    for clock in sorted({*plan.clocks(), *top}):
        found.append(
            Job(JOBS, path, arguments, 1, pes, clock=clock, settings=(("WATTLE_CLOCKS", f"0-{pes - 1}={clock:g}"),))
        )
    return found


def _points(a: Analysis) -> list[Point]:
    return at_clocks(a, JOBS, next(iter(a.points)).name)


def _cell(a: Analysis, metric: str, point: Point, lowest: Point) -> str:
    """An amount, and the percent that it saves against the lowest clock, as figure 4.1 has it."""
    found, saved = a.center(metric, point), a.saving(metric, lowest, point)
    if found is None:
        return units.UNKNOWN
    unit = METRICS[metric].unit
    text = si(found.median, unit) if unit.startswith("J") else in_unit(found.median, unit)
    return text if saved is None or point is lowest else f"{text} ({units.percent(saved.median)})"


def _table(a: Analysis) -> tuple[str, list[str], list[list[str]]]:
    points = _points(a)
    others = a.select(series=JOBS, mode="off", clock=None)
    lines = [
        ["unchanged" if point.clock is None else f"{point.clock:g} GHz"]
        + [_cell(a, metric, point, points[0]) for metric, _ in SHOWN]
        for point in (*others, *points)
    ]
    title = f"{points[0].name} at each clock, {units.several(a.repeats, 'run')}; in brackets: saved against the lowest"
    return title, ["clock", *(words for _, words in SHOWN)], lines


def least(a: Analysis) -> dict[str, Point]:
    """The clock of the least of each metric that is known."""
    points = _points(a)
    return {m: best(a, m, points) for m in LEAST if all(a.center(m, p) for p in points)}


def _least_words(a: Analysis) -> str:
    words = dict(SHOWN)
    found = least(a)
    if not found:
        return ""
    said = ", ".join(f"{words[metric]} at {point.clock:g} GHz" for metric, point in found.items())
    missing = "" if "node" in found else " Joules are not known here, so only the time is compared."
    top = _points(a)[-1].clock or 0
    verdict = ""
    if "node" in found:
        right = found["node"].clock == top
        verdict = f" Race to halt is {'' if right else 'not '}right for it: its least energy is "
        verdict += f"{'' if right else 'not '}at the highest clock, {top:g} GHz."
    return f"{next(iter(found.values())).name} has its least {said}.{verdict}{missing}"
