"""The command `wattle plan`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wattle.base import files
from wattle.base.errors import WattleError
from wattle.clocks import file
from wattle.clocks.choice import check_slowdown, choose
from wattle.clocks.file import Cluster, Plan
from wattle.figures import no_core
from wattle.machine import info
from wattle.plan import machine
from wattle.plan.machine import Clock, Clocks
from wattle.plan.predict import Prediction, active_s, predict, saved, waiting_s
from wattle.record import jobs, runs
from wattle.record.pe import PE
from wattle.record.pe import noun as noun_of
from wattle.record.profile import RunProfile
from wattle.text import console, units
from wattle.text.console import styled
from wattle.text.provenance import Joules, Provenance, significant
from wattle.text.tables import table

if TYPE_CHECKING:
    from wattle.plan import by_sim
    from wattle.sim.replay import Outcome

OTHER_FILE = "give another file with -o"
LEAST = 0.05  # percent below which a difference is called none


def plan(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A directory of `wattle run`.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="File to write; default: DIR/plan.yaml.")
    ] = None,
    profile: Annotated[
        str | None, typer.Option("--machine", metavar="PROFILE", help="Machine profile; default: the run's.")
    ] = None,
    by: Annotated[
        str, typer.Option("--by", metavar="HOW", help="model: from the profile's sums; sim: from a replay of the run.")
    ] = "model",
    cluster: Annotated[
        str, typer.Option(metavar="CLUSTER", help="With --by sim: the simulated cluster, as for `wattle sim`.")
    ] = "sandybridge-ib",
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Make a plan although processes had no core for a part of the run, or were ended."
        ),
    ] = False,
    slowdown: Annotated[float, typer.Option(metavar="PERCENT", help="With --by sim: accepted slowdown.")] = 1.0,
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Compute a clock for each PE at which it still arrives in time, from its waiting in a run.

    PEs with similar waits get the same clock. The plan also has the predicted joules and the longest predicted time: at
    the base clock (standard), with all PEs at the plan's lowest clock (reduced), and as planned (hybrid). `wattle run
    --plan FILE` applies it.
    """
    if by not in ("model", "sim"):
        raise WattleError(f"--by {by}: expected model or sim")
    check_slowdown(slowdown)
    found = runs.load(directory)
    jobs.note(found)
    sample = found.middle.profile
    if sample is None or not sample.complete:
        which = sample.noun if sample is not None and sample.pes else found.manifest.noun
        raise WattleError(f"{directory}: {which}s left no profile, so nothing is known of their waiting")
    _check_cores(directory, sample, force)
    if by == "sim":
        from wattle.plan import by_sim  # imported late, because it needs the extra `lab`

        _by_sim(directory, by_sim.best(sample, cluster, slowdown), output or directory / "plan.yaml", json)
        return
    chosen = profile or found.manifest.machine
    known = info.ask({**os.environ, **({"WATTLE_MACHINE": chosen} if chosen else {})})
    info.check_machine(known)
    clocks = machine.read(known.machine)
    wall_s = sample.wall_s or 0.0
    made = make(sample.pes, clocks, wall_s)
    predictions = predict_all(made, sample.pes, clocks, wall_s, max(1, len(sample.nodes)))
    where = output or directory / "plan.yaml"
    files.write(where, file.text(made, remarks(directory, predictions)), OTHER_FILE)
    if json:
        console.print_json(document(made, predictions, where))
    else:
        _show(made, sample.pes, clocks, predictions, where)


def _check_cores(directory: Path, sample: RunProfile, force: bool) -> None:
    """Refuses a run whose waits do not come from the program."""
    short = no_core.shortage(sample)
    words = short.words if short is not None and short.is_too_much else no_core.unknown(sample)
    if not words:
        return
    if not force:
        raise WattleError(f"{directory}: {words} Its waits are no base for a plan; --force makes one")
    console.note(f"{words} The plan is made from such waits nevertheless.")


def _by_sim(directory: Path, found: by_sim.Found, where: Path, json: bool) -> None:
    ways = {"standard": found.standard, "reduced": found.reduced, "hybrid": found.hybrid, "oracle": found.oracle}
    made = Plan(len(found.ghz), found.profile, _clusters(range(len(found.ghz)), found.ghz))
    lines = [f"From a replay of the run in {directory}. `wattle run --plan THIS-FILE` applies it.", "Predicted:"]
    lines += [f"  {name}: {units.seconds(o.seconds)}, {_amount(o)}" for name, o in ways.items()]
    files.write(where, file.text(made, lines), OTHER_FILE)
    if json:
        predicted = {name: {"time_s": o.seconds, "joules": _joules(o).as_dict()} for name, o in ways.items()}
        clusters = [{"clock_ghz": c.clock_ghz, "pes": c.pes} for c in made.clusters]
        console.print_json({"file": str(where), "trace": found.how, "clusters": clusters, "predicted": predicted})
        return
    costs = table()
    for name in ("mode", "time", "joules", "against standard"):
        costs.add_column(name)
    for name, o in ways.items():
        saved, longer = (100 * (1 - o.joules / found.standard.joules), 100 * (o.seconds / found.standard.seconds - 1))
        words = "" if name == "standard" else f"{_than(-saved, 'energy')}, {_than(longer, 'time')}"
        costs.add_row(name, units.seconds(o.seconds), _amount(o), words)
    console.out.print(costs)
    console.out.print(styled("[faint]{}. The oracle knows how long each wait will be.[/faint]", found.how))
    console.out.print(f"Written to {where}.", soft_wrap=True)


def _joules(o: Outcome) -> Joules:
    return Joules(o.joules, o.doubt, Provenance.MODELLED, "replay", "job", "cpu+dram", o.seconds, o.seconds)


def _amount(o: Outcome) -> str:
    return str(_joules(o))


def _clusters(pes: Iterable[int], ghz: Iterable[float]) -> list[Cluster]:
    chosen: dict[float, list[int]] = {}
    for pe, clock in zip(pes, ghz, strict=True):
        chosen.setdefault(clock, []).append(pe)
    return [Cluster(clock, sorted(chosen[clock])) for clock in sorted(chosen)]


def make(pes: list[PE], clocks: Clocks, wall_s: float) -> Plan:
    """A plan: each cluster's slowest clock at which its busiest PE is in time, and the base clock for the last."""
    waits, active = ([of(pe) for pe in pes] for of in (waiting_s, active_s))
    by_pe = choose(waits, active, wall_s, clocks.base.ghz, lambda ghz: clocks.at_least(ghz).ghz)
    return Plan(len(pes), clocks.profile, _clusters((pe.pe for pe in pes), by_pe))


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


def _show(made: Plan, pes: list[PE], clocks: Clocks, predictions: list[Prediction], where: Path) -> None:
    noun = noun_of(pes)
    waits = {pe.pe: waiting_s(pe) for pe in pes}
    clusters = table()
    for name in ("clock", f"{noun}s", "waited"):
        clusters.add_column(name, overflow="fold")
    for c in made.clusters:
        low, high = min(waits[pe] for pe in c.pes), max(waits[pe] for pe in c.pes)
        clusters.add_row(f"{c.clock_ghz:g} GHz", file.ranges(c.pes), units.seconds_between(low, high))
    console.out.print(clusters)
    if len(made.clusters) == 1:
        console.out.print(f"No {noun} waits enough longer than the others to run at a lower clock.")
    costs = table()
    for name in ("mode", "time at most", "joules", "against standard"):
        costs.add_column(name)
    standard = predictions[0]
    for p in predictions:
        words = "" if p is standard else _against(standard, p, clocks)
        costs.add_row(p.name, units.seconds(p.time_s), str(p.joules), words)
    console.out.print(costs)
    console.out.print(f"Written to {where}.", soft_wrap=True)


def _against(standard: Prediction, p: Prediction, clocks: Clocks) -> str:
    """The difference of a prediction from the standard; of joules only where it exceeds the uncertainty."""
    less = saved(standard, p, clocks)
    whole = standard.joules.joules or 0.0
    if not whole or abs(less.value) <= less.plus_minus:
        energy = "no difference of energy beyond the uncertainty"
    else:
        energy = _than(-100 * less.value / whole, "energy")
    longer = 100 * (p.time_s / standard.time_s - 1) if standard.time_s else 0.0
    return f"{energy}, {_than(longer, 'time')}"


def _than(percent: float, what: str) -> str:
    """A comparison such as `25.1 % less energy`."""
    text = significant(abs(percent), 3)
    return f"as much {what}" if abs(percent) < LEAST else f"{text} % {'more' if percent > 0 else 'less'} {what}"
