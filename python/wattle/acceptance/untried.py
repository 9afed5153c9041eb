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
KNOBS = ("cpufreq", "powercap")
SENSORS = ("powercap", "perf", "cray", "hwmon", "nvml")
MACHINES = ("x86_64", "aarch64")


@dataclass(frozen=True)
class Tried:
    """What the steps found. `knob`: of governed jobs, None where none ran; `two_nodes`: what became of that step, None
    where it was not chosen."""

    knob: str | None = None
    two_nodes: str | None = None


def untried(roots: Roots, meters: Sequence[Mapping[str, Any]], tried: Tried) -> list[tuple[str, str]]:
    """(what, why). `meters`: as wattle-info tells them."""
    found = []
    for meter in meters:
        if meter.get("name") in SENSORS and not meter.get("usable"):
            found.append((f"sensor {meter['name']}", _short(meter.get("why")) or "it cannot be read"))
    told = {meter.get("name") for meter in meters}
    found += [(f"sensor {name}", "this version knows none of that name") for name in SENSORS if name not in told]
    if tried.knob not in KNOBS:
        why = "no governed job ran" if tried.knob is None else f"the knob is {tried.knob}"
        found.append(("changing clocks", why))
    if not _any(roots.sys / "class" / "infiniband"):
        found.append(("InfiniBand, hardware RDMA", "no card under /sys/class/infiniband"))
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


def _any(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except OSError:
        return False


def _short(why: object) -> str:
    return " ".join(str(why or "").split())[:200]
