"""The command `wattle sim`."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from wattle.base.errors import WattleError
from wattle.clocks.file import ranges
from wattle.machine import elf, stopping
from wattle.machine.symbols import resolve
from wattle.record import manifest, runs
from wattle.record.manifest import Manifest
from wattle.run import directory as directories
from wattle.run import job, target
from wattle.run.option_values import settings_of, with_budget
from wattle.run.options import Json, Output, PowerBudget, Profile, Settings
from wattle.run.show import show
from wattle.run.summary import document
from wattle.sim import simulation
from wattle.sim.simulation import Ready, Result, Simulation
from wattle.text import console, units


def sim(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="PROGRAM", help="Program built by `oshcc --sim`, and its arguments, best after --."),
    ] = None,
    n: Annotated[
        int | None, typer.Option("-n", "--np", metavar="N", help="Number of PEs, each on a core of its own.")
    ] = None,
    per_node: Annotated[
        int, typer.Option(metavar="N", help="PEs that share a node: its memory, sockets, card and link.")
    ] = 1,
    machine: Annotated[
        str, typer.Option(metavar="CLUSTER", help="A cluster of machines/clusters, or a file that ends in .toml.")
    ] = "sandybridge-ib",
    clock_domain: Annotated[
        int | None,
        typer.Option(metavar="N", help="Cores that share one clock, the highest that any of them requests."),
    ] = None,
    what_if: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Instead of a program: replay a recorded run with other clocks and waits."),
    ] = None,
    slowdown: Annotated[
        float | None,
        typer.Option(metavar="PERCENT", help="With --what-if: accepted slowdown (1).", show_default=False),
    ] = None,
    rank: Annotated[
        str | None,
        typer.Option(metavar="BY", help="With --what-if: order by energy (default), time or edp.", show_default=False),
    ] = None,
    network: Annotated[
        str | None, typer.Option(metavar="NAME", help="With --what-if and a simulated run: another network.")
    ] = None,
    power_budget: PowerBudget = None,
    output: Output = None,
    settings: Settings = None,
    profile: Profile = True,
    json: Json = False,
) -> int:
    """Run a program on a simulated cluster with any number of PEs, clocks and joules.

    Time is simulated. Computation is counted in basic blocks, so the same arguments always give the same result. The
    directory has the format of `wattle run`.
    """
    if what_if is not None:
        if command:
            raise WattleError("--what-if replays a recorded run: it takes no program")
        of_runs = {
            "-n": n,
            "--per-node": per_node if per_node != 1 else None,
            "--clock-domain": clock_domain,
            "--power-budget": power_budget,
            "--output": output,
            "--set": settings or None,
        }
        _refuse(of_runs, "is only for a program that is run, not for --what-if")
        from wattle.sim import what_if as asked  # imported late, because it needs the extra `lab`

        answer = asked.ask(what_if, machine, 1.0 if slowdown is None else slowdown, rank or "energy", network)
        if json:
            console.print_json(asked.document(answer))
        else:
            asked.show(answer)
        return 0
    _refuse({"--slowdown": slowdown, "--rank": rank, "--network": network}, "is only for --what-if")
    if not command:
        raise WattleError("wattle sim needs a program to run, or --what-if DIR")
    if n is None:
        raise WattleError("wattle sim needs the number of PEs: -n N")
    target.find(command[0])
    planned = simulation.plan(
        machine, n, with_budget(settings_of(settings), power_budget), profile, clock_domain, per_node
    )
    where = directories.prepare(output, command[0])
    with console.lenient():  # the program's exit code counts, even if no process reads this output
        code, began = _simulated(planned, command, where, json)
    if not began and output is None:
        directories.drop(where)
    return code


def _simulated(planned: Simulation, command: list[str], where: Path, json: bool) -> tuple[int, bool]:
    """Runs a simulated job and shows its figures. Returns its exit code, and whether the simulator could begin."""
    ready = planned.write(where)
    in_force = planned.in_force
    record = manifest.start(
        "run", command, planned.pes, settings=planned.known.values | in_force, machine=planned.cluster.machine
    )
    record.meter = {"name": "simgrid", "why": ""}
    cluster = simulation.as_dict(planned.cluster, planned.core.per_node)
    record.extra = {"profile": planned.profile, "set": in_force, "simulated": cluster}
    manifest.write(where, record)
    with stopping.held() as blocked:  # until the result is kept
        output = 2 if json else None
        words = [*ready.command, *command]
        outcome = job.run(words, ready.environment, None, output, console.note, blocked=blocked)
        record.exit_code = outcome.exit_code
        found = _result(ready)
        record.wall_s = found.simulated_s if found else None
        record.extra["simulated"] |= {"simulating_s": outcome.wall_s, "messages": found and found.messages}
        manifest.keep(where, record)
    if found and found.waits:
        _show_deadlock(found, command[0])
        return outcome.exit_code, True
    by_signal = outcome.exit_code == 128 + signal.SIGINT  # the simulator may receive the signal first
    if stopped := outcome.interrupts or by_signal:
        console.note(f"interrupted; the results in {where} are incomplete")
    if outcome.exit_code == 0:
        _present(where, record, json)
    return outcome.exit_code, bool(found or stopped)


def _result(ready: Ready) -> Result | None:
    """The simulator's result. If it was cut off, this is reported; the exit code stays the program's."""
    try:
        return ready.result
    except WattleError as error:
        console.error(str(error))
        return None


def _refuse(options: Mapping[str, object], why: str) -> None:
    for option, value in options.items():
        if value is not None:
            raise WattleError(f"{option}: {why}")


def _show_deadlock(found: Result, program: str) -> None:
    """Shows the PEs of a deadlock by where they wait, and the exit codes of those that have ended."""
    path = str(Path(program).resolve())
    build_id = elf.build_id(path) or ""
    places = resolve((path, build_id, offset) for _, _, offset in found.waits)
    together: dict[tuple[str, str], list[int]] = {}
    for pe, call, offset in found.waits:
        label = places[path, build_id, offset].label if offset else "-"
        together.setdefault((call, label), []).append(pe)
    of_mpi = bool(found.waits) and all(call.startswith("MPI_") for _, call, _ in found.waits)
    noun = "rank" if of_mpi else "PE"
    console.error(f"deadlock: no {noun} can continue")
    for (call, label), pes in together.items():
        console.err.print(f"  {call} at {label}: {noun} {ranges(pes)}", soft_wrap=True)
    for status in sorted({status for _, status in found.ended}):
        pes = [pe for pe, its in found.ended if its == status]
        console.err.print(f"  ended, with exit code {status}: {noun} {ranges(pes)}", soft_wrap=True)


def _present(where: Path, record: Manifest, json: bool) -> None:
    if not record.extra["profile"]:
        return
    found = runs.load(where, allow_damaged=True)
    if json:
        console.print_json(document(found))
        return
    show(found, console.err)
    simulated = record.extra["simulated"]
    took = units.seconds(simulated["simulating_s"])
    words = f"Simulated {units.seconds(record.wall_s)} on {simulated['cluster']} in {took}"
    console.err.print()
    console.err.print(f"{words}, {simulated['messages']:,} messages.", soft_wrap=True)
