"""Lists parts of Wattle that could not be tested on this machine, each with the reason."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wattle.doctor.finding import Roots, is_virtual

MANY_CORES = 16
NO_SENSORS = ("model", "simgrid", "none")  # meters that read no sensor
MACHINES = ("x86_64", "aarch64")


@dataclass(frozen=True)
class Tried:
    """The findings of the steps, each a reason or "" for success. `clocks`: why governed jobs changed no clock; None
    where none ran. `joules`: why a run's joules were not measured. `two_nodes`: the state of that step; None where
    it was not chosen. `sensors`: by meter, why it gave no joules.
    """

    clocks: str | None = None
    joules: str = ""
    two_nodes: str | None = None
    sensors: Mapping[str, str] = field(default_factory=dict)


def untried(roots: Roots, meters: Sequence[Mapping[str, Any]], tried: Tried) -> list[tuple[str, str]]:
    """Pairs of a part and the reason why it was not tested. `meters`: the meters of wattle-info's answer."""
    found = []
    facts = {str(meter.get("name")): meter for meter in meters if meter.get("name") not in NO_SENSORS}
    for name in dict.fromkeys([*tried.sensors, *facts]):
        if why := _unread(name, facts.get(name), tried.sensors.get(name)):
            found.append((f"sensor {name}", why))
    if tried.joules:
        found.append(("measured joules of a run", _short(tried.joules)))
    if tried.clocks != "":
        found.append(("changing clocks", _short(tried.clocks) or "no governed job ran"))
    found.append(("InfiniBand, hardware RDMA", _no_infiniband(roots.sys / "class" / "infiniband")))
    if tried.two_nodes != "passed":
        why = "the step two-nodes was not chosen" if tried.two_nodes is None else "see the step two-nodes"
        found.append(("jobs between nodes", why))
    found.append(("a network between machines", "this command runs on one machine; `wattle run --hosts` on several"))
    cores = len(os.sched_getaffinity(0))
    if cores < MANY_CORES:
        found.append((f"{MANY_CORES} cores and more", f"{cores} may be used here"))
    found += [(name, f"this machine is {platform.machine()}") for name in MACHINES if name != platform.machine()]
    if is_virtual(roots):
        found.append(("a real machine", "this is a virtual one, whose host does not share sensors and clocks"))
    return found


def _unread(name: str, meter: Mapping[str, Any] | None, why: str | None) -> str:
    """The reason why a meter gave no joules, "" where it did. `why`: the reason that the meter's step gave."""
    if why == "":
        return ""
    if meter is None:
        return "this version has no meter of that name"
    if not meter.get("usable"):
        return _short(meter.get("why")) or "it cannot be read"
    return _short(why) or f"no step reads the meter {name}"


def _no_infiniband(folder: Path) -> str:
    """The reason why InfiniBand was not tested. The nodes that this command makes are always connected by TCP."""
    try:
        cards = sorted(card.name for card in folder.iterdir())
    except OSError:
        cards = []
    if not cards:
        return f"no card under {folder}"
    return f"there is {', '.join(cards)}, but all of this runs on one machine; `wattle run --hosts` on several uses it"


def _short(why: object) -> str:
    return " ".join(str(why or "").split())[:200]
