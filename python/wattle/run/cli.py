"""The options of the command `wattle run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wattle.meter_log.options import MeterLog, MeterSet
from wattle.run import command as commands
from wattle.run.options import (
    Intensity,
    Json,
    MachineProfile,
    Meter,
    MetricsFile,
    Output,
    PowerBudget,
    Profile,
    Settings,
    StreamEvery,
    StreamFile,
)


def run(
    command: Annotated[
        list[str],
        typer.Argument(metavar="PROGRAM", help="The program and its arguments, best after --.", show_default=False),
    ],
    n: Annotated[
        int | None,
        typer.Option("-n", "--np", metavar="N", help="Number of PEs; default: 1, or the slots of the hosts."),
    ] = None,
    hosts: Annotated[
        str | None, typer.Option(metavar="A,B", help="Hosts to run on, one PE each; A:2,B:2 for two PEs each.")
    ] = None,
    hostfile: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File with one host on each line: `A slots=2`.")
    ] = None,
    output: Output = None,
    repeat: Annotated[int, typer.Option(metavar="K", help="Run K times; show median and spread.")] = 1,
    label: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A name for this run, which `wattle history` shows.")
    ] = None,
    mpi: Annotated[
        bool,
        typer.Option("--mpi", help="PROGRAM starts an MPI launcher. Implied by names such as mpirun and srun."),
    ] = False,
    settings: Settings = None,
    meter: Meter = None,
    machine: MachineProfile = None,
    plan: Annotated[Path | None, typer.Option(metavar="FILE", help="Clock of each PE, from `wattle plan`.")] = None,
    power_budget: PowerBudget = None,
    meter_log: MeterLog = None,
    meter_set: MeterSet = None,
    carbon: Intensity = None,
    metrics: MetricsFile = None,
    stream: StreamFile = None,
    stream_every: StreamEvery = "1s",
    timeline: Annotated[bool, typer.Option("--timeline", help="Record a timeline for Perfetto and in OTF2.")] = False,
    depth: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Callers of a call that the profile keeps and the table shows; 0: none. Default: 16, and few.",
        ),
    ] = None,
    profile: Profile = True,
    json: Json = False,
) -> int:
    """Run a program and show where its time and joules went.

    Standard input, output and error, signals and the exit code are those of the program. The tables go to standard
    error. With --repeat, each run reads standard input from its start if it is a file, and gets none otherwise.

    An MPI program is not compiled again. PROGRAM is then the launcher of its MPI, with its own options:
    `wattle run --mpi -- mpirun -n 4 ./program`. With a launcher's name as PROGRAM, --mpi may be left out.

    On several hosts the run's directory must be on a shared file system, because every PE writes to it.
    """
    return commands.run(commands.Asked(**locals()))
