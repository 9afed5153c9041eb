"""`wattle study NAME`: runs a study, keeps every sample, and holds the published figures against them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from wattle import console
from wattle.errors import WattleError
from wattle.run import directory as directories
from wattle.study import patterns as patterns_study
from wattle.study import published, registry
from wattle.study.patterns_published import ROWS
from wattle.study.published import Row, Verdict

study_app = typer.Typer(
    help="Run a study of the papers here, and hold their figures against what is found.",
    no_args_is_help=True,
)

STYLES = {Verdict.AGREES: "good", Verdict.DIFFERS: "partly", Verdict.NOT_TESTABLE: "faint"}
SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@study_app.callback()
def studies() -> None:
    """Each study is a command."""


@study_app.command("patterns")
def patterns(
    quick: Annotated[bool, typer.Option("--quick", help="A sweep of less than a minute, with fewer repeats.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="New directory to write to (wattle-runs/study-patterns-TIME).")
    ] = None,
    on: Annotated[str, typer.Option("--on", help="Where: local.")] = "local",
    payload: Annotated[str | None, typer.Option("--payload", help="Bytes to move, K and M allowed (512K).")] = None,
    repeat: Annotated[
        int | None, typer.Option("--repeat", help="Repeats of every configuration (15, quick 7).")
    ] = None,
    min_time: Annotated[
        float | None, typer.Option("--min-time", help="Seconds a measurement lasts at least (0.2, quick 0.03).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as one JSON document.")] = False,
) -> None:
    """Five patterns of one-sided writes, four transformations: energy, latency, bandwidth, message rate, EDP."""
    place = registry.check_place(on)
    plan = patterns_study.make_plan(None if payload is None else parse_size(payload), repeat, min_time, quick, place)
    directory = directories.prepare(output, "study-patterns")
    record = patterns_study.run(plan, directory, ["wattle", *sys.argv[1:]])
    analysis = patterns_study.load(directory, record)
    if as_json:
        found = patterns_study.results(analysis)
        console.print_json({"directory": str(directory), "manifest": record.as_dict(), **found})
        return
    _show(directory, published.judge(ROWS, analysis))


def parse_size(text: str) -> int:
    """`512K` as bytes."""
    match = re.fullmatch(r"(\d{1,15})([KMG]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if not match:
        raise WattleError(f"--payload {text!r}: not a size; write bytes as 524288, 512K or 1M")
    return int(match.group(1)) * SIZES[match.group(2).upper()]


def _show(directory: Path, rows: list[Row]) -> None:
    table = Table(title="Published figures beside ours", title_style="title", title_justify="left")
    for heading in ("published", "condition", "ours", "verdict"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        verdict = f"[{STYLES[row.verdict]}]{row.verdict}[/]"
        table.add_row(row.published, row.condition, row.ours, verdict)
    console.out.print(table)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in published.tally(rows).items())
    console.out.print(f"{len(rows)} published figures: {counts}.")
    console.out.print(f"Samples, results and manifest: {directory}", soft_wrap=True)
    console.out.print(f"The whole story, with figures: wattle report {directory}", soft_wrap=True)
