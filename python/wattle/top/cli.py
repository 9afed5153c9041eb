"""The command `wattle top`."""

from __future__ import annotations

import os
import pwd
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from wattle import console, elf, paths, symbols, units
from wattle.errors import WattleError
from wattle.tables import Table, table
from wattle.top import page
from wattle.top.page import Live


def top(
    pid: Annotated[
        int | None, typer.Argument(help="Only the job of this process: a PE, its launcher, or `wattle run`.")
    ] = None,
    every: Annotated[
        float | None, typer.Option("--every", metavar="SECONDS", help="Repeat until Ctrl-C or until no PE is left.")
    ] = None,
    all_users: Annotated[bool, typer.Option("--all", help="Include PEs of other users (root only).")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Show the call and source line in which each PE of this node waits now, and for how long.

    Use it for a job that makes no progress. It reads shared memory of the PEs and does not disturb them. For PEs of
    another node, run it there. It shows only your own processes. With --all, root sees those of all users, without
    source lines, because it opens no file of another user.
    """
    if all_users and os.geteuid() != 0:
        raise WattleError("--all: only root may see other users' processes; leave it out for your own")
    if every is not None and not 0.1 <= every <= 3600:
        raise WattleError(f"--every {every}: allowed are 0.1 to 3600 seconds")
    if every is not None and json:
        raise WattleError("--every and --json cannot be combined; leave one of them out")
    while True:
        found = page.chosen_of(page.find(all_users), pid)
        if json:
            console.print_json({"pes": [document(live, place) for live, place in with_places(found)]})
            return
        if not found:
            which = f" in the job of process {pid}" if pid is not None else ""
            whose = "" if all_users else " of this user's"
            raise WattleError(f"no PE{whose} runs on this node{which}")
        console.out.print(shown(with_places(found), all_users))
        if every is None:
            return
        time.sleep(every)
        console.out.print()


def with_places(found: list[Live]) -> list[tuple[Live, str]]:
    """The PEs with their lines of source, where debug information has them. Files of other users' processes are not
    opened, because their owners could have made them up.
    """
    keys = {
        live.pid: (live.program, elf.build_id(live.program) or "", live.offset)
        for live in found
        if live.call and live.offset is not None and live.uid == os.geteuid() and _is_program(live)
    }
    places = symbols.resolve(keys.values())
    return [(live, _where(live, places.get(keys.get(live.pid)))) for live in found]


def _is_program(live: Live) -> bool:
    """Whether the path leads to the file that runs. In the process's container it may be a different file."""
    try:
        return Path(live.program).samefile(f"/proc/{live.pid}/exe")
    except OSError:
        return False


def _where(live: Live, place: symbols.Place | None) -> str:
    if not live.call:
        return ""
    if place is not None:
        return f"{place.label} {place.function}".strip()
    return f"{live.addr:#x}" if live.addr > 1 else ""


def document(live: Live, place: str) -> dict[str, Any]:
    return {**live.__dict__, "waits": bool(live.call), "where": place or None}


def shown(found: list[tuple[Live, str]], all_users: bool = False) -> Table:
    result = table()
    number = "rank" if found and all(_calls_mpi(live) for live, _ in found) else "PE"
    for head in (number, "of", "process", "job", *(["user"] if all_users else []), "program"):
        result.add_column(head, justify="left" if head in ("user", "program") else "right", no_wrap=True)
    for head in ("now", "for", "at"):
        result.add_column(head, overflow="fold")
    for live, place in found:
        now = live.call or "does not wait"
        numbers = (str(live.pe), str(live.n_pes), str(live.pid), str(live.parent))
        user = [_user(live.uid)] if all_users else []
        result.add_row(*numbers, *user, Path(live.program).name, now, units.seconds(live.for_s), place)
    return result


def _calls_mpi(live: Live) -> bool:
    """Whether the process has the library for MPI programs in its memory. False for another user's process."""
    try:
        return paths.PRELOADED in Path(f"/proc/{live.pid}/maps").read_text(errors="replace")
    except OSError:
        return False


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
