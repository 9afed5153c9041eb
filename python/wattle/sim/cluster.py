"""A cluster to simulate: a machine profile, a network, and what some things cost a core. From machines/clusters."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wattle import paths
from wattle.errors import WattleError

TAGS = ("measured", "cited", "derived", "assumed")
OF_NETWORK = {"latency": "s", "bandwidth": "B/s", "message": "s", "byte": "s/B"}
# Of a network, too: the first two as `message` where it says nothing, the others 0.
ALSO = {"receive": "s", "leaves": "s", "acknowledge": "s", "record": "s", "segment": "B"}
OF_MPI = {"eager": "B"}  # the same, and no number that is fitted
EAGER = 65536  # bytes: where SimGrid begins to have an MPI sender wait for its receiver
ANY_OF_NETWORK = OF_NETWORK | ALSO | OF_MPI
OF_CORE = {
    "wake": "s",
    "clock_change": "s",
    "block": "s",
    "copy": "s/B",
    "copy_clock": "1",
    "turbo": "Hz",
    "step": "Hz",
    "domain": "cores",
    "uncore": "W",
    "nic": "W",
    "nic_byte": "J/B",
}
OPTIONAL = ("cores",)  # a cluster may have all numbers itself


@dataclass(frozen=True)
class Number:
    """With the half-width of the range that should hold the truth, and where it is from."""

    value: float
    plus_minus: float
    unit: str
    tag: str
    source: str
    how: str


@dataclass(frozen=True)
class Cluster:
    """`machine` is a profile of machines/; `numbers` are the network's and the core's, by key."""

    name: str
    title: str
    machine: str
    network: str
    numbers: dict[str, Number]

    def value(self, key: str) -> float:
        return self.numbers[key].value

    def with_value(self, key: str, value: float, how: str) -> Cluster:
        """The same with another number, which is an assumption of whoever asks for it."""
        changed = replace(self.numbers[key], value=value, plus_minus=0.0, tag="assumed", source="", how=how)
        return replace(self, numbers=self.numbers | {key: changed})


def read(name: str) -> Cluster:
    """By its name in machines/clusters, or from a file. What it says itself goes before what its files of cores and
    of the network say."""
    path = _find("clusters", name)
    words, own = _read(path, ("title", "machine", "cores", "network"), OF_CORE | ANY_OF_NETWORK)
    _, of_cores = _read(_find("cores", words["cores"]), (), OF_CORE) if "cores" in words else ({}, {})
    numbers = of_cores | own
    if missing := [key for key in OF_CORE if key not in numbers]:
        raise WattleError(f"{path}: {missing[0]}: expected here, or in a file of cores")
    eager = Number(EAGER, 0.0, "B", "assumed", "", "What SimGrid 3.32 takes where nothing is said.")
    numbers = {"eager": eager} | network(words["network"], own) | numbers
    return Cluster(path.stem, words["title"], words["machine"], words["network"], numbers)


def network(name: str, own: Mapping[str, Number] | None = None) -> dict[str, Number]:
    """The numbers of one of machines/networks, or of a file; `own` go before them."""
    path = _find("networks", name)
    said = _read(path, ("title",), ANY_OF_NETWORK)[1]
    if missing := [key for key in OF_NETWORK if key not in said]:
        raise WattleError(f"{path}: {missing[0]}: expected a number")
    numbers = said | {key: number for key, number in (own or {}).items() if key in ANY_OF_NETWORK}
    none = {key: Number(0.0, 0.0, unit, "assumed", "", "Left out.") for key, unit in ALSO.items()}
    return none | dict.fromkeys(("receive", "leaves"), numbers["message"]) | numbers


def _find(kind: str, name: str) -> Path:
    if name.endswith(".toml"):
        return Path(name)
    folder = paths.machines_dir() / kind
    path = folder / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in folder.glob("*.toml")))
        raise WattleError(f"{kind[:-1]} {name} is unknown; known are {known}, or give a file that ends in .toml")
    return path


def _read(path: Path, words: tuple[str, ...], units: dict[str, str]) -> tuple[dict[str, str], dict[str, Number]]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WattleError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WattleError(f"{path}: {error}") from None
    for key in table:
        if key not in words and key not in units:
            raise WattleError(f"{path}: {key}: expected one of {', '.join([*words, *units])}")
    for key in words:
        if not isinstance(table.get(key), str) and (key in table or key not in OPTIONAL):
            raise WattleError(f"{path}: {key}: expected text")
    found = {key: _number(path, key, table[key], units[key]) for key in units if key in table}
    return {key: table[key] for key in words if key in table}, found


def _number(path: Path, key: str, row: Any, unit: str) -> Number:
    """As in a machine profile: finite, not negative, with its unit, and a tag that is backed."""
    if not isinstance(row, dict):
        raise WattleError(f"{path}: {key}: expected a table with value, plus_minus, unit, tag")
    for field in ("value", "plus_minus"):
        number = row.get(field)
        if not isinstance(number, int | float) or not math.isfinite(number) or number < 0:
            raise WattleError(f"{path}: {key}.{field}: expected a number that is not negative, found {number!r}")
    if row.get("unit") != unit:
        raise WattleError(f"{path}: {key}.unit: expected {unit}, found {row.get('unit')!r}")
    tag, source, how = row.get("tag"), row.get("source", ""), row.get("how", "")
    if tag not in TAGS:
        raise WattleError(f"{path}: {key}.tag: expected one of {', '.join(TAGS)}, found {tag!r}")
    if tag != "assumed" and not source:
        raise WattleError(f"{path}: {key}: what is {tag} names its source")
    if tag != "cited" and not how:
        raise WattleError(f"{path}: {key}: what is {tag} says how it was found")
    return Number(float(row["value"]), float(row["plus_minus"]), unit, tag, source, how)
