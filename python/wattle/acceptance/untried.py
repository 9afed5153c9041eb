"""What a machine does not have, so that nothing on it was tried."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wattle.doctor.finding import Roots, is_virtual

MANY_CORES = 16
SENSORS = ("powercap", "perf", "cray", "hwmon", "nvml")
MACHINES = ("x86_64", "aarch64")


def untried(roots: Roots, meters: Sequence[Mapping[str, Any]], knob: str, two_nodes: bool) -> list[tuple[str, str]]:
    """(what, why). `meters`: as wattle-info tells them; `knob`: the one that governed jobs found."""
    found = []
    for meter in meters:
        if meter.get("name") in SENSORS and not meter.get("usable"):
            found.append((f"sensor {meter['name']}", _short(meter.get("why")) or "it cannot be read"))
    told = {meter.get("name") for meter in meters}
    found += [(f"sensor {name}", "this version knows none of that name") for name in SENSORS if name not in told]
    if knob not in ("cpufreq", "powercap"):
        found.append(("changing clocks", f"the knob is {knob or 'not known'}"))
    if not _any(roots.sys / "class" / "infiniband"):
        found.append(("InfiniBand, hardware RDMA", "no card under /sys/class/infiniband"))
    if not two_nodes:
        found.append(("jobs between nodes", "two nodes could not be made, or the job between them failed"))
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
