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
from wattle.study.place import LOCAL, TWO_NODES, Place

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
}

PLACES = (LOCAL, TWO_NODES)
LATER_PLACES = ("sim:MACHINE",)


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


def check_place(name: str, link: str | None = None) -> Place:
    """`--on` and `--link`: where a study runs. An error where that is no place, or none that can be had here."""
    if name not in PLACES:
        what = "is not available in this version" if name.startswith("sim:") else "is not a place"
        raise WattleError(f"--on {name}: {what}; allowed: {', '.join(PLACES)} (later: {', '.join(LATER_PLACES)})")
    if link is not None and name != TWO_NODES:
        raise WattleError(f"--link {link}: there is no link on one node; give it with --on {TWO_NODES}")
    place = Place(name, None if link is None else check_rate("--link", link))
    place.check()
    return place
