"""The options of an external meter, which `wattle run` and all studies have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wattle.base.errors import WattleError
from wattle.meter_log import given
from wattle.meter_log.given import Given

MeterLog = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Log of an external power meter (CSV), read at the end by its load pattern."),
]
MeterSet = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help=f"Describes that log: {', '.join(given.NAMES)}; may be repeated."),
]


def chosen(meter_log: Path | None, meter_set: list[str] | None) -> Given | None:
    """The log of the options; None without one. Raises WattleError."""
    if meter_log is None:
        if meter_set:
            raise WattleError("--meter-set: is for --meter-log FILE")
        return None
    return given.given(meter_log, meter_set or [])
