"""`wattle study NAME`: runs a study, keeps every sample, and holds the published figures against them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from wattle import console, info, stopping, units
from wattle.console import styled
from wattle.errors import WattleError
from wattle.manifest import Manifest
from wattle.report import patterns as patterns_page
from wattle.report.patterns_figures import shown
from wattle.run import directory as directories
from wattle.study import barrier as barrier_study
from wattle.study import kept, published, registry, sweep_cli, versions_cli
from wattle.study import mst as mst_study
from wattle.study import pascol as pascol_study
from wattle.study import patterns as patterns_study
from wattle.study import protocols as protocols_study
from wattle.study import race as race_study
from wattle.study import receiver as receiver_study
from wattle.study import slack as slack_study
from wattle.study import tsp as tsp_study
from wattle.study.am_cli import am
from wattle.study.options import AsJson, Link, On, OnSim, Output, Pes, Quick, Repeat, Rounds
from wattle.study.patterns_analysis import Analysis
from wattle.study.patterns_published import ROWS
from wattle.study.place import LOCAL, SIMULATED
from wattle.tables import Table, table

study_app = typer.Typer(
    help="Run a study of the papers here, and hold their figures against what is found.",
    no_args_is_help=True,
)

SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@study_app.callback()
def studies() -> None:
    """Each study is a command."""


study_app.command("am")(am)


@study_app.command("patterns")
def patterns(
    quick: Annotated[bool, typer.Option("--quick", help="A sweep of about a minute, with fewer repeats.")] = False,
    output: Output = None,
    on: On = LOCAL,
    pes: Annotated[
        int | None, typer.Option("--pes", help="With --on sim: half of them send, each to one of the others (2).")
    ] = None,
    link: Link = None,
    payload: Annotated[str | None, typer.Option("--payload", help="Bytes to move, K and M allowed (512K).")] = None,
    repeat: Repeat = None,
    min_time: Annotated[
        float | None, typer.Option("--min-time", help="Seconds a measurement lasts at least (0.2, quick 0.03).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Five patterns of one-sided writes, four transformations: energy, latency, bandwidth, message rate, EDP."""
    place = registry.check_place(on, link, pes, simulates=True)
    plan = patterns_study.make_plan(None if payload is None else parse_size(payload), repeat, min_time, quick, place)
    info.check_machine(info.ask())
    directory = directories.prepare(output, "study-patterns")
    with stopping.measuring():
        record = patterns_study.run(plan, directory, ["wattle", *sys.argv[1:]])
    analysis = patterns_study.load(directory, record)
    if as_json:
        kept.print_results(directory, record, patterns_study.results(analysis))
        return
    _show(directory, record, analysis)


@study_app.command("tsp")
def tsp(
    quick: Quick = False,
    output: Output = None,
    on: On = LOCAL,
    link: Link = None,
    pes: Pes = None,
    rounds: Rounds = None,
    as_json: AsJson = False,
) -> None:
    """The travelling salesman by MPI, buckets, active messages and work stealing: time, CPU seconds, joules, waits."""
    versions_cli.study(tsp_study.APP, quick, output, on, link, pes, rounds, as_json)


@study_app.command("mst")
def mst(
    quick: Quick = False,
    output: Output = None,
    on: On = LOCAL,
    link: Link = None,
    pes: Pes = None,
    rounds: Rounds = None,
    as_json: AsJson = False,
) -> None:
    """A minimum spanning tree by MPI, buckets and active messages: time, CPU seconds, joules, waits."""
    versions_cli.study(mst_study.APP, quick, output, on, link, pes, rounds, as_json)


@study_app.command("barrier")
def barrier(
    quick: Quick = False, output: Output = None, rounds: Rounds = None, on: OnSim = LOCAL, as_json: AsJson = False
) -> None:
    """Waiting at a barrier, in time and in scale, under each wait policy and mode; straight lines with r2."""
    sweep_cli.study(barrier_study.SWEEP, quick, output, rounds, as_json, on)


@study_app.command("slack")
def slack(
    quick: Quick = False, output: Output = None, rounds: Rounds = None, on: OnSim = LOCAL, as_json: AsJson = False
) -> None:
    """Early and late PEs at a barrier, under each wait policy, mode and scaling."""
    sweep_cli.study(slack_study.SWEEP, quick, output, rounds, as_json, on)


@study_app.command("race")
def race(
    quick: Quick = False, output: Output = None, rounds: Rounds = None, on: OnSim = LOCAL, as_json: AsJson = False
) -> None:
    """Race to halt: jobs, processes and phases at each clock there is."""
    sweep_cli.study(race_study.SWEEP, quick, output, rounds, as_json, on)


@study_app.command("receiver")
def receiver(
    quick: Quick = False, output: Output = None, rounds: Rounds = None, on: OnSim = LOCAL, as_json: AsJson = False
) -> None:
    """Clocks under a put: three ways of receiving, by how the receiver waits and at which clock."""
    sweep_cli.study(receiver_study.SWEEP, quick, output, rounds, as_json, on)


@study_app.command("pascol")
def pascol(
    quick: Quick = False,
    output: Output = None,
    on: On = LOCAL,
    link: Link = None,
    rounds: Rounds = None,
    as_json: AsJson = False,
) -> None:
    """A power-aware one-sided library: displaced rings of put, get, accumulate and strided put, in four schemes."""
    place = registry.check_place(f"{SIMULATED}:{pascol_study.CLUSTER}" if on == SIMULATED else on, link, simulates=True)
    if place.simulated:
        sweep_cli.study(pascol_study.SWEEP, quick, output, rounds, as_json, f"{SIMULATED}:{place.cluster}")
    else:
        sweep_cli.study(pascol_study.SWEEP, quick, output, rounds, as_json, place=place)


@study_app.command("protocols")
def protocols(
    quick: Quick = False,
    output: Output = None,
    on: Annotated[str, typer.Option("--on", metavar="PLACE", help="Where: sim, which is simulated.")] = SIMULATED,
    as_json: AsJson = False,
) -> None:
    """Two-sided messages by TCP and InfiniBand, eager and rendezvous: bytes per joule, power at both ends."""
    protocols_study.check_place(on)
    sweep_cli.study(protocols_study.SWEEP, quick, output, None, as_json, on)


def parse_size(text: str) -> int:
    """`512K` as bytes."""
    match = re.fullmatch(r"(\d{1,15})([KMG]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if not match:
        raise WattleError(f"--payload {text!r}: not a size; write bytes as 524288, 512K or 1M")
    return int(match.group(1)) * SIZES[match.group(2).upper()]


def _show(directory: Path, record: Manifest, analysis: Analysis) -> None:
    rows = published.judge(ROWS, analysis)
    console.out.print()
    console.out.print(patterns_page.summary(analysis, rows, record))
    console.out.print()
    console.out.print(_table(analysis))
    if analysis.place.across:
        console.out.print(styled("\n[faint]{}[/faint]", analysis.place.sentence))
    kept.say_tally(rows)
    kept.say_where(directory)


def _table(analysis: Analysis) -> Table:
    """Time and joules of each pattern, in one piece and in the most."""
    counts = list(dict.fromkeys((analysis.fragments[0], analysis.fragments[-1])))
    repeats = units.several(analysis.repeats, "repeat")
    result = table(title=f"Sender's cost of {units.size(analysis.payload)}, medians of {repeats}")
    result.add_column("pattern", no_wrap=True)
    for n in counts:
        result.add_column(
            styled("{} x {}\ntime", f"{n:,}", units.size(analysis.payload / n)), justify="right", no_wrap=True
        )
        result.add_column(styled("\njoules, {}", analysis.provenance("energy")), justify="right", no_wrap=True)
    for pattern in analysis.patterns:
        cells = [
            shown(metric, found.median) if (found := analysis.center(metric, pattern, n)) else units.UNKNOWN
            for n in counts
            for metric in ("latency", "energy")
        ]
        result.add_row(pattern, *cells)
    return result
