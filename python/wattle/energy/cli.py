"""The command `wattle energy`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from wattle.energy import meter as meters
from wattle.energy.cgroup import Group
from wattle.energy.division import PARTS
from wattle.energy.meter import Metered
from wattle.figures import carbon as carbons
from wattle.machine import info
from wattle.record import manifest
from wattle.run import stream as streams
from wattle.run import target
from wattle.run.option_values import STDOUT
from wattle.run.options import Intensity, Json, MachineProfile, Meter, MetricsFile, StreamEvery, StreamFile
from wattle.text import console, openmetrics, units
from wattle.text.console import styled
from wattle.text.openmetrics import Metric
from wattle.text.provenance import Joules, Provenance
from wattle.text.tables import table

WORDS = {"program": "this program", "others": "other programs", "idle": "idle node", "node": "node"}


def energy(
    command: Annotated[
        list[str],
        typer.Argument(metavar="PROGRAM", help="Any program and its arguments, best after --.", show_default=False),
    ],
    meter: Meter = None,
    machine: MachineProfile = None,
    cgroup: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Count the processes of this control group, too, such as the containers of a daemon.",
        ),
    ] = None,
    carbon: Intensity = None,
    metrics: MetricsFile = None,
    stream: StreamFile = None,
    stream_every: StreamEvery = "1s",
    json: Json = False,
) -> int:
    """Run any program and show the joules of its process tree.

    The program needs no MPI, no OpenSHMEM and no library of Wattle. Standard input, output and error, signals and the
    exit code are those of the program. The table goes to standard error.

    A sensor's joules are divided among this program, other programs and the idle node by their CPU time. Without a
    sensor, they are modelled from the CPU time. Processes that the program starts through a service, such as containers
    of a daemon, are other programs, unless --cgroup names their control group. It may not exist yet, and must not hold
    the program itself:

        wattle energy --cgroup jobs.slice -- docker run --rm --cgroup-parent=jobs.slice IMAGE
    """
    grams = carbons.intensity(carbon) if carbon is not None else None
    openmetrics.check(metrics)
    group = Group(cgroup) if cgroup is not None else None
    chosen = {
        name: value for name, value in (("WATTLE_METER", meter), ("WATTLE_MACHINE", machine)) if value is not None
    }
    environment = {**os.environ, **chosen}
    known = info.ask(environment)
    info.check_machine(known)
    target.find(command[0])
    lines = streams.opened(stream, stream_every, json, programs=True)
    with console.lenient():
        if lines:
            lines.begin(environment)
        try:
            found = meters.run(command, environment, 2 if json or stream == STDOUT else None, group)
        finally:
            if lines:
                lines.end()
        if lines:
            lines.total(_figures(found), found.outcome.exit_code, found.outcome.wall_s)
        emitted = None if grams is None else carbons.of(found.total("program"), grams)
        if metrics is not None:
            openmetrics.keep(metrics, _metrics(found, grams))
        if json:
            console.print_json(found.as_dict() | ({"carbon": emitted.as_dict()} if emitted else {}))
        else:
            numbers = {"machine_title": known.machine.get("title"), "machine_numbers": known.machine.get("numbers")}
            _show(found, manifest.machine_words(numbers), emitted)
    return found.outcome.exit_code


def _show(found: Metered, machine: str, emitted: carbons.Carbon | None) -> None:
    outcome = found.outcome
    console.err.print()
    words = f"{units.seconds(outcome.wall_s)} from start to end, {units.seconds(outcome.cpu_s)} of CPU time"
    if found.group:
        words += f", {units.seconds(found.group.cpu_s)} of it in control group {found.group.path}"
    console.err.print(styled("[title]{}[/title]: {}", shlex.join(found.command), words), soft_wrap=True)
    if found.group and not found.group.seen:
        console.note(f"--cgroup {found.group.path}: no such control group while the program ran")
    shown = table()
    shown.add_column("joules")
    for part in PARTS:
        if found.joules[part]:
            shown.add_column(WORDS[part], justify="right")
    for i, figure in enumerate(found.joules["node"]):
        cells = [_cell(part, found.joules[part][i]) for part in PARTS if found.joules[part]]
        shown.add_row(figure.domain, *cells)
    console.err.print(shown)
    is_modelled = any(figure.provenance is Provenance.MODELLED for part in PARTS for figure in found.joules[part])
    model = f" of {machine}" if machine and is_modelled else ""
    why = f" ({found.why.rstrip('.')})" if found.why else ""
    console.err.print(styled("[faint]Meter {}{}{}. ±: about 95 % confidence.[/faint]", found.meter, model, why))
    if emitted is not None:
        domains = found.total("program").domain
        console.err.print(f"Electricity of this program{f', {domains}' if domains else ''}: {emitted}")


def _cell(part: str, figure: Joules) -> str:
    """The figure. A profile whose idle memory is exactly 0 has it in the watts of the CPU."""
    is_in_cpu = part == "idle" and figure.domain == "dram" and (figure.joules, figure.uncertainty) == (0, 0)
    return "in cpu" if is_in_cpu else str(figure)


def _figures(found: Metered) -> Iterator[tuple[str, str, int | None, Joules]]:
    host = os.uname().nodename
    for part in PARTS:
        for figure in found.joules[part]:
            yield host, part, None, figure
    for figure in found.nested:
        yield host, "nested", None, figure


def _metrics(found: Metered, grams: float | None) -> list[Metric]:
    name = {"program": Path(found.command[0]).name}
    energy_, width = [], []
    for part in PARTS:
        for figure in found.joules[part]:
            labels = {**name, "part": part, **openmetrics.labels_of(figure)}
            energy_ += openmetrics.value(labels, figure.joules)
            width += openmetrics.value(labels, figure.uncertainty)
    made = [
        Metric("program_exit_code", "", "Exit code of the program.", [(name, float(found.outcome.exit_code))]),
        Metric("program_duration", "seconds", "Time from start to end.", [(name, found.outcome.wall_s)]),
        Metric("program_cpu", "seconds", "CPU time of the process tree.", [(name, found.outcome.cpu_s)]),
        Metric("program_energy", "joules", "Energy of the program, of others, of the idle node, and of all.", energy_),
        Metric("program_energy_half_width", "joules", "Half-width of the range of about 95 % confidence.", width),
    ]
    total: Joules = found.total("program")
    if grams is not None and total.joules is not None:
        labels = {**name, "provenance": "modelled"}
        emitted = total.joules / carbons.JOULES_PER_KWH * grams
        made.append(Metric("program_co2", "grams", f"CO2 at {grams:g} g/kWh, as given.", [(labels, emitted)]))
    return made
