"""The command `wattle top`."""

from __future__ import annotations

import os
import pwd
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from wattle.base.errors import WattleError
from wattle.figures.sites import key_of_wait, merge
from wattle.machine import elf, paths, symbols
from wattle.record.pe import add
from wattle.text import console, units
from wattle.text.tables import Table, table
from wattle.top import page, rates, tables
from wattle.top.page import Live
from wattle.top.rates import Reading


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
    """Show where each PE of this node waits now, how it spends its time and joules, and in which call sites.

    Use it for a job that makes no progress, or to look at a long one. It reads shared memory of the PEs and does not
    disturb them. Rates are those since the start of the job, and with --every those of the last interval. No core is
    the time outside calls in which the first thread of a PE was ready to run and had none, an estimate. Joules are
    modelled. For PEs of another node, run it there. It shows only your own processes. With --all, root sees those of
    all users, without source lines and rates, because it opens no file of another user.
    """
    if all_users and os.geteuid() != 0:
        raise WattleError("--all: only root may see other users' processes; leave it out for your own")
    if every is not None and not 0.1 <= every <= 3600:
        raise WattleError(f"--every {every}: allowed are 0.1 to 3600 seconds")
    if every is not None and json:
        raise WattleError("--every and --json cannot be combined; leave one of them out")
    before: dict[int, Reading] | None = None
    while True:
        found = page.chosen_of(page.find(all_users), pid)
        now = rates.read(found)
        if json:
            console.print_json(_document(found, now))
            return
        if not found:
            which = f" in the job of process {pid}" if pid is not None else ""
            whose = "" if all_users else " of this user's"
            raise WattleError(f"no PE{whose} runs on this node{which}")
        if every is not None and console.out.is_terminal:
            console.out.clear()
        console.out.print(shown(with_places(found, now), all_users))
        _show_rates(rates.jobs(found, now, before), "since its start" if before is None else f"in {every:g} s")
        if every is None:
            return
        time.sleep(every)
        before = now
        console.out.print()


def _show_rates(jobs: list[rates.Job], when: str) -> None:
    for job in jobs:
        whose = f"Job of process {job.parent}, {when}" if len(jobs) > 1 else f"The job {when}"
        console.out.print()
        console.out.print(tables.rates_table(job, whose))
        if (sites := tables.sites_table(job)) is not None:
            console.out.print(sites)


def _document(found: list[Live], now: dict[int, Reading]) -> dict[str, Any]:
    """The PEs, and the call sites of each job, since its start."""
    return {
        "pes": [document(live, place, now.get(live.pid)) for live, place in with_places(found, now)],
        "jobs": [
            {"process": job.parent, "sites": [site.as_dict() for site in merge(job.profile)]}
            for job in rates.jobs(found, now)
        ],
    }


def with_places(found: list[Live], now: dict[int, Reading] | None = None) -> list[tuple[Live, str]]:
    """The PEs with their lines of source, where debug information has them. `now`: their counts, which know the shared
    library of a call site. Files of other users' processes are not opened, because their owners could have made them
    up.
    """
    keys = {
        live.pid: (live.program, elf.build_id(live.program) or "", live.offset)
        for live in found
        if live.call and live.offset is not None and live.uid == os.geteuid() and _is_program(live)
    }
    for live in found:
        reading = (now or {}).get(live.pid)
        if live.call and live.offset is None and reading is not None and (key := key_of_wait(reading.pe)) is not None:
            keys[live.pid] = key
    places = symbols.resolve(keys.values())
    return [(live, _where(live, places[keys[live.pid]] if live.pid in keys else None)) for live in found]


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


def document(live: Live, place: str, reading: Reading | None = None) -> dict[str, Any]:
    counts = _counts(reading) if reading else None
    return {**live.__dict__, "waits": bool(live.call), "where": place or None, "counts": counts}


def _counts(reading: Reading) -> dict[str, Any]:
    pe = reading.split
    return {
        "wall_s": pe.wall_s,
        "cpu_s": pe.cpu_s,
        "no_core_s": reading.no_core_s,
        "time_s": pe.time_s,
        "state_s": pe.state_s,
        "bytes": pe.bytes,
        "calls": sum(site.calls for site in pe.sites),
        "waiting_s": add(pe.state_s[key] for key in ("spin", "yield", "asleep")),
        "joules": [figure.as_dict() for figure in pe.joules],
    }


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
