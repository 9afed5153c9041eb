"""The command `wattle doctor`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from wattle.doctor import clocks, counters, machine, meters, network, prices, software
from wattle.doctor.finding import Roots, Section
from wattle.doctor.show import settings_table, show
from wattle.machine import info as infos
from wattle.machine.info import Info
from wattle.record.manifest import host_info, versions
from wattle.text import console

SCHEMA = 1


def doctor(
    settings: Annotated[bool, typer.Option("--settings", help="List all settings with their values instead.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """List what can be measured and controlled on this machine, and how to get the rest.

    Settings that were changed in this environment are at the end.
    """
    info = infos.ask()
    if settings and not json:
        console.out.print(settings_table(info))
        return
    sections = examine(info, Roots())
    if json:
        console.print_json(document(info, sections))
    else:
        show(sections, info, console.out)


def examine(info: Info, roots: Roots) -> list[Section]:
    return [
        meters.examine(info, roots),
        clocks.examine(roots),
        counters.examine(roots),
        machine.waiting(roots),
        prices.examine(),
        machine.examine(roots),
        network.examine(roots),
        software.examine(info),
    ]


def document(info: Info, sections: list[Section]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "kind": "doctor",
        "host": host_info(),
        "versions": versions() | {"runtime": info.version, "pmix": info.pmix},
        "sections": [section.as_dict() for section in sections],
        "settings": info.settings,
        "machine": info.machine,
        "waits": info.waits,
    }
