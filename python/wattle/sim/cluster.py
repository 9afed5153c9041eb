"""Reads a cluster to simulate from machines/clusters: a machine profile, a network, and the prices of operations of a
core.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path

from wattle.base.checked import Checked, read_toml, shown
from wattle.base.errors import WattleError
from wattle.machine import paths
from wattle.sim import topology as topologies
from wattle.sim.topology import Topology

TAGS = ("measured", "cited", "derived", "assumed")
OF_NETWORK = {"latency": "s", "bandwidth": "B/s", "message": "s", "byte": "s/B"}
# Optional numbers of a network. The first two default to `message`, the others to 0.
ALSO = {"receive": "s", "leaves": "s", "acknowledge": "s", "record": "s", "segment": "B", "packet": "B"}
OF_TOPOLOGY = {"hop": "s", "link": "B/s"}  # of a network of several switches; `link` is `bandwidth` by default
# Of a network whose cards move bytes by themselves: all of them, or none.
OF_CARDS = {"post": "s", "operation": "s", "fetch": "s", "register": "s", "register_page": "s"}
OF_MPI = {"eager": "B"}  # optional as well, and never fitted
EAGER = 65536  # bytes: SimGrid's default size from which an MPI sender waits for its receiver
ANY_OF_NETWORK = OF_NETWORK | ALSO | OF_TOPOLOGY | OF_CARDS | OF_MPI
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
# Costs of the runtime. Optional, 0 by default.
OF_RUNTIME = {"call": "s", "far": "s", "serve": "s", "request": "s", "handler": "s"}
# The same. `agent_core`: cores of its own that an agent has. Without caches all bytes are copied at `copy`.
ALSO_OF_CORE = OF_RUNTIME | {
    "near": "s",
    "agent_core": "cores",
    "l1": "B",
    "l2": "B",
    "l3": "B",
    "copy_l1": "s/B",
    "copy_l2": "s/B",
    "copy_memory": "s/B",
    "copy_socket": "s/B",
    "memory_clock": "1",
}
LEVELS = ("l1", "l2", "l3", "copy_memory", "copy_socket")
SHARES = ("copy_clock", "memory_clock")
ANY_OF_CORE = OF_CORE | ALSO_OF_CORE | {"limit_window": "s"}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")  # name of a file in machines, without its ending
# Longer with a larger number.
VARIED_OF_CORE = (
    *("wake", "clock_change", "block", "near", *OF_RUNTIME),
    *("copy", "copy_l1", "copy_l2", "copy_memory", "copy_socket", *SHARES),
)
ENDS = {"slow": 1.0, "fast": -1.0}  # of the half-widths of all times of a cluster at once
LEAST = 0.01  # smallest part of a number that a half-width leaves
OPTIONAL = ("cores",)  # a cluster may hold all numbers itself


@dataclass(frozen=True)
class Number:
    """A number with its half-width, its tag and its source."""

    value: float
    plus_minus: float
    unit: str
    tag: str
    source: str
    how: str


@dataclass(frozen=True)
class Cluster:
    """A cluster. `machine` is a profile of machines/. `numbers` are those of the network and the core, by key."""

    name: str
    title: str
    machine: str
    network: str
    numbers: dict[str, Number]
    topology: Topology | None = None  # None: one switch

    def value(self, key: str) -> float:
        return self.numbers[key].value

    @property
    def has_cards(self) -> bool:
        """Whether the network's cards move bytes by themselves (remote memory access by hardware)."""
        return all(key in self.numbers for key in OF_CARDS)

    @property
    def without_caches(self) -> Cluster:
        """The cluster with one price for all copies, `copy`."""
        return replace(self, numbers=self.numbers | {key: _none(ALSO_OF_CORE)[key] for key in LEVELS})

    def with_value(self, key: str, value: float, how: str) -> Cluster:
        """A cluster with one number replaced. The new number is tagged as assumed."""
        changed = replace(self.numbers[key], value=value, plus_minus=0.0, tag="assumed", source="", how=how)
        return replace(self, numbers=self.numbers | {key: changed})


WINDOW = Number(1.0, 0.0, "s", "assumed", "", "Servers allow 0.25 to 40 s.")

_end: ContextVar[str] = ContextVar("end", default="")


@contextmanager
def times_at(end: str) -> Iterator[None]:
    """While the context lasts, times of simulated clusters are at this end of their half-widths (a key of ENDS)."""
    token = _end.set(end)
    try:
        yield
    finally:
        _end.reset(token)


def in_force(cluster: Cluster) -> Cluster:
    """The cluster with its network and its core's times at the end that `times_at` chose. Slow: longer times, less
    bandwidth, and a larger share of a copy that follows the clock.
    """
    sign = ENDS.get(_end.get(), 0.0)
    varied = (OF_NETWORK | ALSO | OF_TOPOLOGY | OF_CARDS).keys() - {"segment", "packet"} | set(VARIED_OF_CORE)
    moved = {
        key: replace(
            n, value=max(LEAST * n.value, n.value + (-sign if key in ("bandwidth", "link") else sign) * n.plus_minus)
        )
        for key, n in cluster.numbers.items()
        if key in varied
    }
    moved |= {key: replace(moved[key], value=min(1.0, moved[key].value)) for key in SHARES if key in moved}
    return replace(cluster, numbers=cluster.numbers | moved) if sign else cluster


def read(name: str) -> Cluster:
    """Reads a cluster by its name in machines/clusters, or from a file. Its own numbers take precedence over those of
    its files of cores and of the network.
    """
    path = _find("clusters", name)
    words, own = _read(path, ("title", "machine", "cores", "network"), ANY_OF_CORE | ANY_OF_NETWORK)
    _, of_cores = _read(_find("cores", words["cores"]), (), ANY_OF_CORE) if "cores" in words else ({}, {})
    numbers = _none(ALSO_OF_CORE) | {"limit_window": WINDOW} | of_cores | own
    if missing := [key for key in OF_CORE if key not in numbers]:
        raise WattleError(f"{path}: {missing[0]}: expected here, or in a file of cores")
    if (own_core := numbers["agent_core"].value) not in (0, 1):
        raise WattleError(f"{path}: agent_core: {own_core:g}: expected 1, a core of its own, or 0, the core of its PE")
    eager = Number(EAGER, 0.0, "B", "assumed", "", "SimGrid 3.32's default.")
    numbers = {"eager": eager} | network(words["network"], own) | numbers
    table = read_toml(path)
    shape = topologies.read(table.get("topology")) if table.has("topology") else None
    _check_hops(path, shape, numbers)
    return Cluster(path.stem, words["title"], words["machine"], words["network"], numbers, shape)


def _check_hops(path: Path, shape: Topology | None, numbers: Mapping[str, Number]) -> None:
    if not shape:
        return
    if "hop" not in numbers:
        raise WattleError(f"{path}: hop: expected with a topology, here or in the network's file")
    hop, latency = numbers["hop"].value, numbers["latency"].value
    if hop * shape.least_links > latency:
        raise WattleError(
            f"{path}: hop: {hop:g} s: expected at most {latency / shape.least_links:g} s, because `latency` has the "
            f"links between the nearest nodes, {shape.least_links} of them"
        )


def network(name: str, own: Mapping[str, Number] | None = None) -> dict[str, Number]:
    """The numbers of a network of machines/networks, or of a file; `own` take precedence."""
    path = _find("networks", name)
    said = _read(path, ("title",), ANY_OF_NETWORK)[1]
    if missing := [key for key in OF_NETWORK if key not in said]:
        raise WattleError(f"{path}: {missing[0]}: expected a number")
    numbers = said | {key: number for key, number in (own or {}).items() if key in ANY_OF_NETWORK}
    lacks = [key for key in OF_CARDS if key not in numbers]
    if lacks and len(lacks) < len(OF_CARDS):
        raise WattleError(f"{path}: {lacks[0]}: expected with {', '.join(key for key in OF_CARDS if key not in lacks)}")
    return _none(ALSO) | dict.fromkeys(("receive", "leaves"), numbers["message"]) | numbers


def _none(units: Mapping[str, str]) -> dict[str, Number]:
    return {key: Number(0.0, 0.0, unit, "assumed", "", "Left out.") for key, unit in units.items()}


def _find(kind: str, name: str) -> Path:
    if name.endswith(".toml"):
        return Path(name)
    folder = paths.machines_dir() / kind
    path = folder / f"{name}.toml"
    if not NAME.fullmatch(name) or not path.is_file():
        known = ", ".join(sorted(p.stem for p in folder.glob("*.toml")))
        raise WattleError(
            f"{kind[:-1]} {shown(name)[1:-1]} is unknown; known are {known}, or give a file that ends in .toml"
        )
    return path


def _read(path: Path, words: tuple[str, ...], units: dict[str, str]) -> tuple[dict[str, str], dict[str, Number]]:
    table = read_toml(path)
    for key in table.object():
        if key not in words and key not in units and not (key == "topology" and "machine" in words):
            raise table.wrong(f"{shown(key)}: expected one of {', '.join([*words, *units])}")
    found = {key: _number(table.get(key), units[key]) for key in units if table.has(key)}
    return {key: table.text(key) for key in words if table.has(key) or key not in OPTIONAL}, found


def _number(row: Checked, unit: str) -> Number:
    """A number as in a machine profile: finite, not negative, with its unit, and with the source that its tag needs."""
    value = row.positive("value") if unit == OF_NETWORK["bandwidth"] else row.known("value")
    plus_minus = row.known("plus_minus")
    row.choice("unit", (unit,))
    tag = row.choice("tag", TAGS)
    source, how = (row.text(key) if row.has(key) else "" for key in ("source", "how"))
    if tag != "assumed" and not source:
        raise row.wrong(f"a number tagged {tag} needs a source")
    if tag != "cited" and not how:
        raise row.wrong(f"a number tagged {tag} needs `how`")
    return Number(value, plus_minus, unit, tag, source, how)
