"""Measures the CPU time of other programs on a set of cores, from /proc."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
BUSY = (0, 1, 2, 5, 6)  # user, nice, system, irq, softirq; guests are part of user
STEAL = 7
MOST = 5  # programs that are named
LEAST_S = 0.02  # CPU seconds of a program that is named


@dataclass(frozen=True)
class Moment:
    """CPU seconds until a moment. `busy_s`, `stolen_s`: of the cores. `programs`: by process and its start, the name,
    the CPU seconds on all cores, and whether it ran last on one of the cores.
    """

    busy_s: float
    stolen_s: float
    programs: dict[tuple[int, str], tuple[str, float, bool]]


@dataclass(frozen=True)
class Others:
    """The time of other programs on the cores. `plus_minus_s`: half-width, by the ticks in which the kernel counts.
    `programs`: the busiest ones that still run and ran last on these cores, with their CPU seconds on all cores.
    """

    busy_s: float
    ours_s: float
    others_s: float
    plus_minus_s: float
    stolen_s: float
    programs: list[tuple[str, float]]


def now(cpus: set[int], proc: Path = PROC) -> Moment:
    """The counts at this moment."""
    tick = 1 / os.sysconf("SC_CLK_TCK")
    busy = stolen = 0
    for line in (proc / "stat").read_text(errors="replace").splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name[3:].isdigit() and int(name[3:]) in cpus:
            counts = [int(field) for field in fields]
            busy += sum(counts[k] for k in BUSY)
            stolen += counts[STEAL] if len(counts) > STEAL else 0
    return Moment(busy * tick, stolen * tick, _programs(cpus, proc, tick))


def _programs(cpus: set[int], proc: Path, tick: float) -> dict[tuple[int, str], tuple[str, float, bool]]:
    found = {}
    for entry in proc.iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with suppress(OSError, IndexError, ValueError):  # the process has ended
            head, _, tail = (entry / "stat").read_text(errors="replace").rpartition(")")
            fields = tail.split()
            cpu_s = (int(fields[11]) + int(fields[12])) * tick
            found[int(entry.name), fields[19]] = (head.partition("(")[2], cpu_s, int(fields[36]) in cpus)
    return found


def between(before: Moment, after: Moment, ours_s: float, cpus: int) -> Others:
    """The time of others between two moments. `ours_s`: CPU seconds of the study, all on these cores."""
    busy = after.busy_s - before.busy_s
    spent: dict[str, float] = {}
    for key, (name, cpu_s, is_there) in after.programs.items():
        if is_there:
            spent[name] = spent.get(name, 0.0) + cpu_s - before.programs.get(key, ("", 0.0, False))[1]
    named = sorted(((n, s) for n, s in spent.items() if s >= LEAST_S), key=lambda pair: -pair[1])[:MOST]
    half = len(BUSY) * cpus / os.sysconf("SC_CLK_TCK")
    stolen = after.stolen_s - before.stolen_s
    return Others(busy, ours_s, max(0.0, busy - ours_s), half, stolen, named)
