"""The command `wattle plan`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from wattle import console, info, runs, units
from wattle.errors import WattleError
from wattle.pe import PE
from wattle.plan import file, machine
from wattle.plan.clusters import cluster
from wattle.plan.file import Cluster, Plan
from wattle.plan.machine import Clock, Clocks
from wattle.plan.predict import Prediction, active_s, predict, waiting_s
from wattle.provenance import significant
from wattle.tables import table

SPARE = 1 / 16  # of the run's time that stays unused: no two runs are alike


def plan(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A directory of `wattle run`.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where to write it; default: DIR/plan.yaml.")
    ] = None,
    profile: Annotated[
        str | None, typer.Option("--machine", metavar="PROFILE", help="Machine profile; default: the run's.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Give each PE a clock at which it still arrives in time, from what it waited in a run.

    PEs that wait alike get the same clock. Beside the plan stands what it should cost by the model, at most in time: at
    the base clock (standard), with all PEs at the plan's lowest clock (reduced), and as planned (hybrid). `wattle run
    --plan FILE` applies it.
    """
    found = runs.load(directory)
    sample = found.middle.profile
    if sample is None or not sample.complete:
        raise WattleError(f"{directory}: PEs left no profile, so nothing is known of their waiting")
    chosen = profile or found.manifest.machine
    clocks = machine.read(info.ask({**os.environ, **({"WATTLE_MACHINE": chosen} if chosen else {})}).machine)
    wall_s = sample.wall_s or 0.0
    made = make(sample.pes, clocks, wall_s)
    predictions = predict_all(made, sample.pes, clocks, wall_s, max(1, len(sample.nodes)))
    where = output or directory / "plan.yaml"
    where.write_text(file.text(made, remarks(directory, predictions)), encoding="utf-8")
    if json:
        console.print_json(document(made, predictions, where))
    else:
        _show(made, sample.pes, predictions, where)


def make(pes: list[PE], clocks: Clocks, wall_s: float) -> Plan:
    """Each cluster gets the slowest clock at which its busiest PE still ends in time; that which waits least the base
    clock."""
    groups = cluster([waiting_s(pe) for pe in pes], wall_s)
    room_s = wall_s * (1 - SPARE)
    chosen: dict[float, list[int]] = {}
    for rank, group in enumerate(groups):
        busiest = max(active_s(pes[i]) for i in group)
        clock = clocks.base
        if rank > 0 and room_s > 0:
            clock = clocks.at_least(min(1.0, busiest / room_s) * clocks.base.ghz)
            clock = clock if clock.ghz < clocks.base.ghz else clocks.base
        chosen.setdefault(clock.ghz, []).extend(pes[i].pe for i in group)
    return Plan(len(pes), clocks.profile, [Cluster(ghz, sorted(chosen[ghz])) for ghz in sorted(chosen)])


def predict_all(made: Plan, pes: list[PE], clocks: Clocks, wall_s: float, nodes: int) -> list[Prediction]:
    by_pe: dict[int, Clock] = {pe: clocks.at_least(c.clock_ghz) for c in made.clusters for pe in c.pes}
    lowest = min(by_pe.values(), key=lambda c: c.ghz)
    ways = {
        "standard": {pe.pe: clocks.base for pe in pes},
        "reduced": {pe.pe: lowest for pe in pes},
        "hybrid": by_pe,
    }
    return [predict(name, pes, clock_of, clocks, wall_s, nodes) for name, clock_of in ways.items()]


def remarks(directory: Path, predictions: list[Prediction]) -> list[str]:
    lines = [f"From the run in {directory}. `wattle run --plan THIS-FILE` applies it.", "Predicted, time at most:"]
    return lines + [f"  {p.name}: {units.seconds(p.time_s)}, {p.joules} ({p.joules.source})" for p in predictions]


def document(made: Plan, predictions: list[Prediction], where: Path) -> dict[str, object]:
    return {
        "file": str(where),
        "n_pes": made.n_pes,
        "machine": made.machine,
        "clusters": [{"clock_ghz": c.clock_ghz, "pes": c.pes} for c in made.clusters],
        "predicted": {p.name: {"time_at_most_s": p.time_s, "joules": p.joules.as_dict()} for p in predictions},
    }


def _show(made: Plan, pes: list[PE], predictions: list[Prediction], where: Path) -> None:
    waits = {pe.pe: waiting_s(pe) for pe in pes}
    clusters = table()
    for name in ("clock", "PEs", "waited"):
        clusters.add_column(name, overflow="fold")
    for c in made.clusters:
        low, high = min(waits[pe] for pe in c.pes), max(waits[pe] for pe in c.pes)
        clusters.add_row(f"{c.clock_ghz:g} GHz", file.ranges(c.pes), f"{units.seconds(low)} to {units.seconds(high)}")
    console.out.print(clusters)
    costs = table()
    for name in ("mode", "time at most", "joules", "against standard"):
        costs.add_column(name)
    standard = predictions[0]
    for p in predictions:
        saved = 100 * (1 - (p.joules.joules or 0) / standard.joules.joules) if standard.joules.joules else None
        longer = 100 * (p.time_s / standard.time_s - 1) if standard.time_s else None
        words = "" if p is standard else f"{_percent(saved)} energy saved, {_percent(longer)} time"
        costs.add_row(p.name, units.seconds(p.time_s), str(p.joules), words)
    console.out.print(costs)
    console.out.print(f"Written to {escape(str(where))}.", soft_wrap=True)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{significant(value, 3)} %"
