"""The command `wattle external`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wattle.base.errors import WattleError
from wattle.meter_log import kept
from wattle.meter_log.given import given
from wattle.record import manifest
from wattle.text import console
from wattle.text.console import plain


def external(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A run or study that had --meter-log.")],
    log: Annotated[Path, typer.Argument(metavar="LOG", help="The log of the meter, as CSV.")],
    settings: Annotated[
        list[str] | None,
        typer.Option("--meter-set", metavar="NAME=VALUE", help="Describes the log; default: as the run was given."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Read the log of an external power meter into a run or study that has ended.

    Its load patterns are found in the log, which gives the offset and the drift of
    the meter's clock. The samples of a study get its joules, and the published
    figures are judged again. Exit code 1: the log cannot be used.
    """
    from wattle.meter_log import drawing, reading
    from wattle.study import metered

    record = manifest.read(directory)
    before = kept.load(directory)
    chosen = settings if settings is not None else before.settings if before else []
    found = reading.read(directory, given(log, chosen))
    if record.kind == "study":
        metered.add(directory, found)
        metered.judge_again(directory, record)
    record.extra["external"] = dict(kept.summary(found))
    manifest.write(directory, record)
    drawing.draw(directory, record, found)
    if json:
        console.print_json(found.as_dict())
    if found.why:
        raise WattleError(found.why)
    if not json:
        show(found)


def show(found: kept.External) -> None:
    """Prints the figures of each interval."""
    for one in found.intervals:
        for words in found.words(one.name):
            console.out.print(plain(f"{one.name}: {words}" if one.name else words), soft_wrap=True)
    console.out.print(plain(kept.summary(found)["words"]), soft_wrap=True)
