"""The command `wattle top`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from wattle import console, elf, symbols, units
from wattle.errors import WattleError
from wattle.tables import table
from wattle.top import page
from wattle.top.page import Live


def top(
    pid: Annotated[
        int | None, typer.Argument(help="Only the job of this process: a PE, its launcher, or `wattle run`.")
    ] = None,
    every: Annotated[
        float | None, typer.Option("--every", metavar="SECONDS", help="Look again, until Ctrl-C or no PE is left.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Show in which call and at which line each PE on this node waits now, and for how long.

    For jobs that stand still. It reads what the PEs keep in shared memory, and asks nothing of them. PEs of other nodes
    are shown by the command there.
    """
    if every is not None and not 0.1 <= every <= 3600:
        raise WattleError(f"--every {every}: allowed are 0.1 to 3600 seconds")
    if every is not None and json:
        raise WattleError("--every and --json: one document is written, once; leave one of them out")
    while True:
        found = page.chosen_of(page.find(), pid)
        if json:
            console.print_json({"pes": [document(live, place) for live, place in with_places(found)]})
            return
        if not found:
            which = f" in the job of process {pid}" if pid is not None else ""
            raise WattleError(f"no PE of this user's runs on this node{which}")
        console.out.print(shown(with_places(found)))
        if every is None:
            return
        time.sleep(every)
        console.out.print()


def with_places(found: list[Live]) -> list[tuple[Live, str]]:
    """With the line of source, where debug information has it."""
    keys = {
        live.pid: (live.program, elf.build_id(live.program) or "", live.offset)
        for live in found
        if live.call and live.offset is not None and Path(live.program).is_file()
    }
    places = symbols.resolve(keys.values())
    return [(live, _where(live, places.get(keys.get(live.pid)))) for live in found]


def _where(live: Live, place: symbols.Place | None) -> str:
    if not live.call:
        return ""
    if place is not None:
        return f"{place.label} {place.function}".strip()
    return f"{live.addr:#x}" if live.addr > 1 else ""


def document(live: Live, place: str) -> dict[str, Any]:
    return {**live.__dict__, "waits": bool(live.call), "where": place or None}


def shown(found: list[tuple[Live, str]]) -> Any:
    result = table()
    for head in ("PE", "of", "process", "job", "program"):
        result.add_column(head, justify="left" if head == "program" else "right", no_wrap=True)
    for head in ("now", "for", "at"):
        result.add_column(head, overflow="fold")
    for live, place in found:
        now = live.call or "does not wait"
        cells = (str(live.pe), str(live.n_pes), str(live.pid), str(live.parent), Path(live.program).name)
        result.add_row(*cells, now, units.seconds(live.for_s), place)
    return result
