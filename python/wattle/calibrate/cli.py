"""The command `wattle calibrate`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from wattle.base import files
from wattle.base.checked import Checked, read_json
from wattle.base.errors import WattleError
from wattle.calibrate import prices, tool, wall, watts
from wattle.calibrate.prices import Where
from wattle.calibrate.show import show, show_fit, show_network
from wattle.machine import processor as processors
from wattle.machine import stopping
from wattle.meter_log import options as external_options
from wattle.meter_log.given import Given
from wattle.meter_log.options import MeterLog, MeterSet
from wattle.run import directory as directories
from wattle.sim import simulation
from wattle.study.place import TWO_NODES, check_place
from wattle.text import console
from wattle.text.console import styled

WALL_SECONDS = 30.0  # of each phase whose watts come from a log


def calibrate(
    show_only: Annotated[bool, typer.Option("--show", help="Show the known costs and measure nothing.")] = False,
    profile: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Fit a machine profile to the node's meter instead, and write it to FILE."),
    ] = None,
    network: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Fit a network for `wattle sim` to two nodes made of this machine, and write it to FILE (root).",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="With --network: new directory for the measurements."),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="With --profile: time for each state at each clock (2).", show_default=False)
    ] = None,
    ghz: Annotated[float | None, typer.Option(help="With --profile: the clock, if none can be set.")] = None,
    plug: Annotated[
        bool, typer.Option("--plug", help="With --profile: type the watts of a plug meter at three prompts.")
    ] = False,
    meter_log: MeterLog = None,
    meter_set: MeterSet = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Measure what ways of waiting cost on this machine, and keep the result for later programs.

    It takes some seconds on two cores. Run it while nothing else runs; the result says if something did.

    With --profile: all cores do each kind of work at each clock that can be set, and the node's meter is read. The
    result is a machine profile (use it with WATTLE_MACHINE=FILE). This needs a readable sensor. Without one, --plug or
    --meter-log takes the watts at the wall socket while no core, one core and all cores compute.

    With --network: programs run on two nodes made of this machine's network namespaces, and in simulation. Latency,
    bandwidth and costs of a message are fitted to some of them. The others show the error of the simulation.
    """
    if profile is not None and network is not None:
        raise WattleError("--profile and --network measure different things: give one of them")
    if output is not None and network is None:
        raise WattleError(f"--output {output}: goes with --network only")
    logged = external_options.chosen(meter_log, meter_set)
    if plug and logged:
        raise WattleError("--plug and --meter-log: give one of them")
    if (plug or logged) and profile is None:
        raise WattleError(f"{'--plug' if plug else '--meter-log'}: goes with --profile only")
    if profile is not None and (plug or logged):
        _fit_wall(profile, seconds, ghz, logged)
        return
    if profile is not None:
        _fit(profile, 2.0 if seconds is None else seconds, ghz)
        return
    for option, value in (("--seconds", seconds), ("--ghz", ghz)):
        if value is not None:
            raise WattleError(f"{option} {value:g}: goes with --profile only")
    if network is not None:
        _fit_network(network, output, json)
        return
    where = prices.where()
    if show_only:
        _show_known(where, json)
    else:
        _measure(where, json)


def _fit_network(file: Path, output: Path | None, json: bool) -> None:
    from wattle.study import command
    from wattle.study.network import study as network  # imported late, because its libraries take a while to load

    if file.suffix != ".toml":
        raise WattleError(f"--network {file}: expected a name that ends in .toml")
    if why := simulation.unavailable():
        raise WattleError(f"--network {file}: {why}")
    check_place(TWO_NODES)
    directory = directories.prepare(output, "calibrate-network")
    with stopping.measuring():
        record, found = network.run(file, directory, ["wattle", *sys.argv[1:]])
    if json:
        command.print_results(directory, record, network.results(found))
        return
    show_network(found, console.out)
    console.out.print(styled("\nWritten to {}.", file), soft_wrap=True)
    command.say_where(directory)


def _fit(file: Path, seconds: float, ghz: float | None) -> None:
    _check_yaml(file)
    if not 0.1 <= seconds <= 10:
        raise WattleError(f"--seconds {seconds:g}: expected 0.1 to 10")
    processor = processors.read()
    words = ["watts", "--budget", str(round(1000 * seconds))]
    with _shown() as at:
        document, said = tool.run(words, at, "nothing is written, and clocks are put back")
    found = watts.fit(document, processor["sockets"], ghz or watts.seen_ghz(document) or processor["ghz"])
    _write_fit(file, found, processor, said)


def _fit_wall(file: Path, seconds: float | None, ghz: float | None, given: Given | None) -> None:
    """Fits a profile to watts at the wall socket, typed or from a log."""
    _check_yaml(file)
    processor = processors.read()
    if given is None:
        if seconds is not None:
            raise WattleError(f"--seconds {seconds:g}: does not go with --plug, whose phases last until you answer")
        measured = wall.typed(_ask)
    else:
        measured = wall.logged(given, WALL_SECONDS if seconds is None else seconds)
    cores = len(os.sched_getaffinity(0))
    found = wall.fit(measured, cores, processor, ghz or processor["ghz"])
    _write_fit(file, found, processor, [])


def _ask(prompt: str) -> str:
    """Asks on standard error and reads a line of standard input."""
    console.err.print(prompt, end="")
    line = sys.stdin.readline()
    if not line:
        raise WattleError("--plug: standard input ended before all watts were given")
    return line


def _check_yaml(file: Path) -> None:
    if file.suffix != ".yaml":
        raise WattleError(f"--profile {file}: expected a name that ends in .yaml")


def _write_fit(file: Path, found: watts.Fit, processor: dict[str, Any], remarks: list[str]) -> None:
    files.write(file, watts.text(found, file.stem, processor))
    show_fit(found, console.out)
    words = styled("\nFitted to {} on {} cores; written to {}.", found.meter, found.cores, file)
    console.out.print(words, soft_wrap=True)
    for remark in [*remarks, *found.doubts]:
        console.note(remark)


def _show_known(where: Where, json: bool) -> None:
    source = where.source or where.file
    if source is None or not source.exists():
        raise WattleError(f"no prices are known ({where.why or where.no_file}); `wattle calibrate` measures them")
    _print(read_json(source), json)
    if not where.known:
        console.note(f"programs do not use these: {where.why}")
    elif not json:
        console.out.print(f"Kept in {source}.", soft_wrap=True)


def _measure(where: Where, json: bool) -> None:
    document, unfit = _measured_at_rest()
    kept, failed = False, None
    try:
        kept = not unfit and _keep(document, where)
    except WattleError as error:  # the figures are shown even so
        failed = error
    _print(Checked("wattle-calibrate", document), json)
    if failed:
        raise failed
    if unfit:
        console.note(f"not kept: {unfit}; run `wattle calibrate` again while nothing else runs")
    elif not kept:
        console.note(f"not kept: this process may use one core, and {where.file} holds prices measured on two")
    elif not json:
        console.out.print(f"Kept in {where.file}.", soft_wrap=True)
    if where.source != where.file:
        console.note(f"programs read {where.source or 'none'}, because WATTLE_PRICES is set")


def _measured_at_rest() -> tuple[dict[str, Any], str]:
    """Measures until other programs did not disturb it, a few times at most. Returns the last measurement, and the
    reason why it must not be kept, or an empty text.
    """
    for left in reversed(range(prices.TRIES)):
        with _shown() as at:
            document = prices.measure(at)
        unfit = prices.read(Checked("wattle-calibrate", document)).unfit
        if not unfit or not left:
            break
        console.note(f"measuring again, because {unfit}")
    return document, unfit


@contextmanager
def _shown() -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar for the tool, which reports the number of steps when it begins."""
    with console.progress("calibrate", 1) as steps:

        def at(done: int, total: int, name: str) -> None:
            steps.resize(total)
            steps.advance(done - steps.done, name)

        yield at


def _keep(document: dict[str, Any], where: Where) -> bool:
    """Keeps the prices. False where the file holds prices of more cores than these."""
    if where.file is None:
        raise WattleError(f"the prices cannot be kept: {where.no_file}")
    try:
        if len(prices.load(where.file).used_cores) > len(document["how"]["cores"]):
            return False
    except WattleError:
        pass  # there is no valid file to keep
    prices.store(document, where.file)
    return True


def _print(document: Checked, json: bool) -> None:
    checked = prices.read(document)
    if json:
        console.print_json(document.value)
    else:
        show(checked, console.out)
