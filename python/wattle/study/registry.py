"""The studies there are. A new one is one file with a `STUDY`, and its line here."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattle.errors import WattleError
from wattle.manifest import Manifest
from wattle.nodes import check_rate
from wattle.study.place import LOCAL, SIMULATED, TWO_NODES, Place

MODULES = {
    "patterns": "wattle.study.patterns",
    "am": "wattle.study.am",
    "tsp": "wattle.study.tsp",
    "mst": "wattle.study.mst",
    "barrier": "wattle.study.barrier",
    "slack": "wattle.study.slack",
    "race": "wattle.study.race",
    "receiver": "wattle.study.receiver",
    "pascol": "wattle.study.pascol",
    "protocols": "wattle.study.protocols",
    "network": "wattle.study.network",
}

PLACES = (LOCAL, TWO_NODES)
DEFAULT_CLUSTER = "sandybridge-ib"


@dataclass(frozen=True)
class Study:
    """What the report and other commands need to know of a study."""

    name: str
    title: str
    question: str  # what it asks, in a sentence
    load: Callable[[Path, Manifest], Any]  # reads and checks a study directory; gives the study's own analysis
    page: str  # module under wattle.report that turns the analysis into a page


def find(name: str) -> Study:
    if name not in MODULES:
        raise WattleError(f"there is no study {name!r} in this version; there are: {', '.join(MODULES)}")
    return importlib.import_module(MODULES[name]).STUDY


def check_place(name: str, link: str | None = None, pes: int | None = None, simulates: bool = False) -> Place:
    """`--on`, `--link` and `--pes`: where a study runs. `simulates`: it can be simulated. An error where that is no
    place, or none that can be had here."""
    kind, colon, cluster = name.partition(":")
    simulated = kind == SIMULATED
    allowed = (*PLACES, f"{SIMULATED}:CLUSTER") if simulates else PLACES
    if simulated and not simulates:
        raise WattleError(f"--on {name}: this study is not simulated in this version; allowed: {', '.join(allowed)}")
    if (not simulated and name not in PLACES) or (simulated and colon and not cluster):
        raise WattleError(f"--on {name}: is not a place; allowed: {', '.join(allowed)}")
    if link is not None and name != TWO_NODES:
        raise WattleError(f"--link {link}: give it with --on {TWO_NODES}, whose link it is")
    if pes is not None and not simulated:
        raise WattleError(f"--pes {pes}: there are two PEs; more can be had with --on {SIMULATED}:CLUSTER")
    if simulated:
        place = Place(SIMULATED, None, cluster or DEFAULT_CLUSTER, 2 if pes is None else pes)
    else:
        place = Place(name, None if link is None else check_rate("--link", link))
    place.check()
    return place
