"""What a machine does not have, so that nothing on it was tried."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattle.doctor.finding import Roots, is_virtual

MANY_CORES = 16
SENSORS = ("powercap", "perf", "cray", "hwmon", "nvml")
MACHINES = ("x86_64", "aarch64")


@dataclass(frozen=True)
class Tried:
    """What the steps found. `clocks`: why the governed jobs changed no clock, "" where they did; None where none ran.
    `joules`: why a run's were not measured, in the same way. `two_nodes`: what became of that step, None where it was
    not chosen."""

    clocks: str | None = None
    joules: str | None = None
    two_nodes: str | None = None


def untried(roots: Roots, meters: Sequence[Mapping[str, Any]], tried: Tried) -> list[tuple[str, str]]:
    """(what, why). `meters`: as wattle-info tells them."""
    found = []
    for meter in meters:
        if meter.get("name") in SENSORS and not meter.get("usable"):
            found.append((f"sensor {meter['name']}", _short(meter.get("why")) or "it cannot be read"))
    told = {meter.get("name") for meter in meters}
    found += [(f"sensor {name}", "this version knows none of that name") for name in SENSORS if name not in told]
    if tried.joules != "":
        found.append(("measured joules of a run", _short(tried.joules) or "the step energy was not chosen"))
    if tried.clocks != "":
        found.append(("changing clocks", _short(tried.clocks) or "no governed job ran"))
    found.append(("InfiniBand, hardware RDMA", _no_infiniband(roots.sys / "class" / "infiniband")))
    if tried.two_nodes != "passed":
        why = "the step two-nodes was not chosen" if tried.two_nodes is None else "the step two-nodes says why"
        found.append(("jobs between nodes", why))
    found.append(("a network between machines", "this command runs on one machine; `wattle run --hosts` on several"))
    cores = len(os.sched_getaffinity(0))
    if cores < MANY_CORES:
        found.append((f"{MANY_CORES} cores and more", f"{cores} may be used here"))
    found += [(name, f"this machine is {platform.machine()}") for name in MACHINES if name != platform.machine()]
    if is_virtual(roots):
        found.append(("a real machine", "this is a virtual one, whose host keeps sensors and clocks to itself"))
    return found


def _no_infiniband(folder: Path) -> str:
    """Made nodes are joined by TCP, whatever cards there are."""
    try:
        cards = sorted(card.name for card in folder.iterdir())
    except OSError:
        cards = []
    if not cards:
        return f"no card under {folder}"
    return f"there is {', '.join(cards)}, but all of this runs on one machine; `wattle run --hosts` on several uses it"


def _short(why: object) -> str:
    return " ".join(str(why or "").split())[:200]
