"""The command `wattle export`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wattle.base import extras, files
from wattle.base.errors import WattleError
from wattle.export import caliper
from wattle.record import runs
from wattle.record.profile import RunProfile, folder_of
from wattle.record.runs import Run
from wattle.text import console


class Format(StrEnum):
    CSV = "csv"
    PARQUET = "parquet"
    CHROME = "chrome"
    CALIPER = "caliper"


TARGETS = {Format.CSV: "csv", Format.PARQUET: "parquet", Format.CHROME: "chrome.json", Format.CALIPER: "caliper.json"}


def export(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A directory of `wattle run`.")],
    to: Annotated[Format, typer.Option("--to", metavar="FORMAT", help="csv, parquet, chrome or caliper.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="PATH", help="The file; of csv and parquet, the folder. DIR/FORMAT..."),
    ] = None,
) -> None:
    """Write a run in the format of other tools.

    The formats `csv` and `parquet` are the tables of `import wattle`, each in a file of its own. The format `chrome` is
    the timeline of `wattle run --timeline` as trace events, for Perfetto and chrome://tracing. The format `caliper` is
    the call tree of each rank, for Hatchet and Thicket. Of several repeats, the last two take the one with the median
    time.
    """
    if to in (Format.CSV, Format.PARQUET):
        extras.require(f"--to {to}", "polars")
    target = output or directory / TARGETS[to]
    run = runs.load(directory)
    if to in (Format.CSV, Format.PARQUET):
        from wattle.export import tables

        written = tables.write(target, run, to)
        console.note(f"{len(written)} tables are in {target}")
        return
    if files.is_folder(target):
        raise WattleError(f"{target}: is a directory; give a file with -o")
    profile = _profile(run)
    if to is Format.CALIPER:
        files.write(target, caliper.text(profile, run.middle.manifest), "give another file with -o")
    else:
        _write_chrome(target, run, profile)
    console.note(f"the file is {target}")


def _profile(run: Run) -> RunProfile:
    profile = run.middle.profile
    if profile is None:
        raise WattleError(f"{run.directory}: was run without a profile; run it again without --no-profile")
    return profile


def _write_chrome(target: Path, run: Run, profile: RunProfile) -> None:
    extras.require("--to chrome", "numpy")
    from wattle.export import chrome
    from wattle.record import power_trace, timeline_file
    from wattle.timeline.places import Places
    from wattle.timeline.rows import rows, tracks

    folder = folder_of(profile.directory)
    timelines = timeline_file.load(folder)
    powers = power_trace.load(folder, {pe.pe: pe.host for pe in profile.pes})
    chrome.write(target, rows(timelines, profile, {}, Places(profile)), tracks(powers, timelines))
