"""The studies there are. A new one is one file with a `STUDY`, and its line here."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattle.errors import WattleError
from wattle.manifest import Manifest

MODULES = {"patterns": "wattle.study.patterns"}

PLACES = ("local",)
LATER_PLACES = ("two-nodes", "sim:MACHINE")


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


def check_place(place: str) -> str:
    """`--on`: where a study runs."""
    if place in PLACES:
        return place
    known = place == "two-nodes" or place.startswith("sim:")
    what = "is not available in this version" if known else "is not a place"
    raise WattleError(f"--on {place}: {what}; allowed: {', '.join(PLACES)} (later: {', '.join(LATER_PLACES)})")
