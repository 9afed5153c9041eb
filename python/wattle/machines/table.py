"""Reads machines/cpus.toml, the table of CPU generations that tools/fit_machines.py makes from public measurements."""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import msgspec

from wattle.base import input_files, limits
from wattle.base.errors import WattleError
from wattle.machines.classes import DESKTOP, SERVER, MachineClass, Named, Pair, class_of_name, find_name, read_names

LOADS = tuple(range(0, 101, 10))  # percent: the share of time that each thread computes
ByLoad = Annotated[tuple[float, ...], msgspec.Meta(min_length=len(LOADS), max_length=len(LOADS))]


@dataclass(frozen=True)
class Curve:
    """Medians over servers at each load of LOADS, and the standard deviation of their logarithms."""

    median: ByLoad
    spread: ByLoad

    def at(self, load: float) -> tuple[float, float]:
        """Median and spread at a load in percent, on straight lines between the loads of the table."""
        return between(self.median, load), between(self.spread, load)


@dataclass(frozen=True)
class Processor:
    """One processor. `threads` are those of a socket. `cache_mb`: its last-level cache; 0 if unknown. `tdp_spread`: the
    spread of a TDP that was not verified; 0 if it was. `limit_w`: the highest power limit that its maker states; 0 if
    unknown.
    """

    name: str
    tdp_w: float
    cores: int
    threads: int
    cache_mb: int = 0
    tdp_spread: float = 0.0
    limit_w: float = 0.0


@dataclass(frozen=True)
class Generation:
    """A CPU generation.

    `ddr` is the generation of its memory modules. `tdp_w`, `cores` and `threads` are those of a typical socket.
    `tdp_spread` is the spread of TDP where only the number of cores is known. `tdp_per_thread` is TDP for each thread,
    with its spread, where nothing is known. `factor` is the generation's package watts over those of the measured
    servers. `wall` is the share of TDP at the wall socket. `servers` counts the servers at the wall socket behind both,
    and `basis` says how they were found. Where no server was measured, both are of the generations that it is assumed
    to be as.
    """

    name: str
    title: str
    vendor: str
    family: int
    models: tuple[int, ...]
    steppings: tuple[int, int] | None
    ddr: int
    tdp_w: float
    tdp_spread: float
    cores: int
    threads: int
    tdp_per_thread: tuple[float, float]
    processors: tuple[Processor, ...]
    factor: Curve
    wall: Curve
    servers: int
    basis: str
    is_desktop: bool = False  # or a notebook, or a small server with a desktop's processor

    @property
    def is_assumed(self) -> bool:
        """Does the generation take the watts of others, because no server of it was measured?"""
        return self.basis.startswith("assumed")

    def matches(self, family: int, model: int, stepping: int | None, vendor: str | None) -> bool:
        """Is this the generation of a CPU with these numbers of CPUID? A stepping or vendor of None matches any."""
        if family != self.family or model not in self.models or vendor not in (None, self.vendor):
            return False
        return self.steppings is None or stepping is None or self.steppings[0] <= stepping <= self.steppings[1]


@dataclass(frozen=True)
class Modules:
    """Watts of one generation of memory modules. `dram_factor` is their ratio to the modules measured by RAPL.
    `wall_w_per_gb` is what a GB adds at the wall socket, for each load of LOADS. `gb_per_tdp_w` is the memory of a
    machine whose size is not known. Pairs are medians and spreads.
    """

    dram_factor: tuple[float, float]
    wall_w_per_gb: ByLoad
    gb_per_tdp_w: tuple[float, float]


MODULE_TERMS = ("dram_factor", "wall_w_per_gb", "gb_per_tdp_w")


@dataclass(frozen=True)
class Memory:
    """Watts of memory by RAPL for each GB; the fixed watts at the wall socket; the memory of a desktop of unknown size,
    for each watt of TDP; and modules by their generation.
    """

    dram_w_per_gb: Curve
    wall_fixed_w: float
    desktop_gb_per_tdp_w: tuple[float, float]
    modules: dict[int, Modules]


@dataclass(frozen=True)
class Packages:
    """Watts of packages by RAPL as shares of TDP, from `servers` servers.

    `idle` is the share of an idle package, `awake` that of one with a core that computes, without this core. `core` is
    what the cores add if one thread computes on each, and `second` what second threads on all of them add to that.
    `wake` is the step from idle to awake. `spread` is that of the whole curve by load. `vcpu` is the share beyond idle
    of one thread that computes on a host of unknown load, times the threads of the host. Pairs are medians and spreads;
    those of `wake` and `second`, which may be 0, are means and half-widths.
    """

    servers: int
    idle: tuple[float, float]
    awake: tuple[float, float]
    core: tuple[float, float]
    wake: tuple[float, float]
    second: tuple[float, float]
    spread: ByLoad
    vcpu: tuple[float, float]

    def share(self, load: float, cores: int, threads: int) -> tuple[float, float]:
        """The share of TDP of packages at a load in percent, with its spread. Threads compute independently."""
        awake = self.idle[0] + (self.awake[0] - self.idle[0]) * min(1, load / 100 * threads)
        return awake + self.busy(load, cores, threads), between(self.spread, load)

    def busy(self, load: float, cores: int, threads: int) -> float:
        """The share of TDP of the cores alone, beyond a package that is awake."""
        part = load / 100
        both = part * part  # the share of time in which both threads of a core compute
        if threads <= cores:
            return (self.core[0] + self.second[0]) * part
        return self.core[0] * (2 * part - both) + self.second[0] * both


PACKAGE_TERMS = ("idle", "awake", "core", "wake", "second", "vcpu")


@dataclass(frozen=True)
class Table:
    """The whole table. `packages` has the keys "any", "turbo" and "base": all servers, those whose packages draw their
    TDP or more at full load, and those that stay below. `classes` has the machines that are no servers, by the name
    of the class; `core_w` the watts of a busy core of systems on a chip; `names` the processors of machines/names.csv.
    `ordinary`: the wall watts of servers over those of servers tuned for SPECpower.
    """

    generations: tuple[Generation, ...]
    unknown: Generation  # any CPU
    packages: dict[str, Packages]
    memory: Memory
    core_w: dict[str, float]
    classes: dict[str, MachineClass]
    ordinary: Pair
    names: tuple[Named, ...] = ()

    def with_classes(
        self, names: Path, core_w: dict[str, float], by_name: dict[str, MachineClass], ordinary: Pair
    ) -> Table:
        """The table with other classes; the watts of systems on a chip follow from `core_w`."""
        return replace(self, core_w=core_w, classes=by_name, names=read_names(names, core_w), ordinary=ordinary)


def read(path: Path) -> Table:
    """Reads the table. Raises WattleError where the file cannot be read or is not such a table."""
    try:
        document = tomllib.loads(input_files.read_text(path, limits.TEXT_BYTES))
        memory = document["memory"]
        modules = {int(key[3:]): row for key, row in memory.items() if key.startswith("ddr")}
        parts = {
            "generations": [_generation(row) for row in document["cpu"]],
            "unknown": _generation(document["unknown"]),
            "packages": document["packages"],
            "memory": memory | {"modules": modules},
            "core_w": document["core_w"],
            "classes": document["class"],
            "ordinary": document["ordinary"],
        }
        of = msgspec.convert(parts, Table)
        return replace(of, names=read_names(path.with_name("names.csv"), of.core_w))
    except (KeyError, TypeError, ValueError) as error:
        raise WattleError(f"{path} is not a table of CPUs: {error}; `tools/fit_machines.py` makes it") from None


def _generation(row: dict[str, Any]) -> dict[str, Any]:
    return {"steppings": None, "is_desktop": row.get("desktop", False)} | row


def find(table: Table, cpu: str, family: int | None, model: int | None, stepping: int | None = None) -> Found | None:
    """The processor of a CPU, by its name and by the numbers of CPUID. None where neither is known.

    The generation follows as `_generation_of` says. TDP, cores and class follow from the name; the processors of the
    generation come before those of machines/names.csv. A name without an entry has a class by its maker's marks.
    """
    of_servers = _generation_of(table, cpu, family, model, stepping)
    named = find_name(table.names, cpu, model)
    marked = named.machine if named else class_of_name(cpu)
    if of_servers:
        generation, processor = of_servers
        machine = marked or (DESKTOP if generation.is_desktop else SERVER)
    elif marked:
        generation, processor, machine = table.unknown, None, marked
    else:
        return None
    if processor is None and named and named.cores:
        processor = Processor(
            named.name, named.tdp_w, named.cores, named.threads or named.cores, limit_w=named.limit_w
        )  # fmt: skip
    return Found(generation, processor, machine, named)


def _generation_of(
    table: Table, cpu: str, family: int | None, model: int | None, stepping: int | None
) -> tuple[Generation, Processor | None] | None:
    """The generation, and its processor where the name is known.

    A name that the table knows decides alone where the numbers are not given. Where both are given, the numbers decide
    on the generation, because a virtual machine may show a processor's name without a number. Where the numbers leave
    several generations, a processor's name decides, then words of the CPU's name, then the number of servers measured.
    """
    known = [(len(p.name), g, p) for g in table.generations if g.models for p in g.processors if _names(cpu, p.name)]
    by_number = [g for g in table.generations if family is not None and model is not None]
    by_number = [g for g in by_number if g.matches(family or 0, model or 0, stepping, None)]
    if by_number:
        same = [row for row in known if row[1] in by_number]
        if same:
            return max(same, key=lambda row: row[0])[1:]
        return max(by_number, key=lambda g: (_hints(cpu, g), g.servers)), None
    if known:
        return max(known, key=lambda row: row[0])[1:]
    hinted = [g for g in table.generations if g.models and _hints(cpu, g)]
    return (max(hinted, key=lambda g: g.servers), None) if hinted else None


@dataclass(frozen=True)
class Found:
    """A generation; the processor where its name is known; the class of machines that it is made for; its entry in
    machines/names.csv.
    """

    generation: Generation
    processor: Processor | None
    machine: str = SERVER
    named: Named | None = None

    @property
    def typical(self) -> Processor | Generation:
        """Cores and threads of a socket that a description leaves out."""
        return self.processor or self.generation


def _hints(cpu: str, generation: Generation) -> bool:
    """Does the CPU's name contain the generation's code name or product line, as in "Intel Xeon (Cascadelake)"?"""
    name, title = (re.sub(r"[\s_-]", "", text).casefold() for text in (cpu, generation.title))
    codes = re.findall(r"\(([^)]*)\)", title)
    return any(code in name for code in codes) or ("ryzen" in name and "ryzen" in title)


def _names(cpu: str, processor: str) -> bool:
    """Does the name that the CPU reports contain the processor's name as whole words?"""
    text = re.sub(r"\((r|tm)\)|[®™]", "", cpu, flags=re.IGNORECASE)
    return _pattern(processor).search(text) is not None


@functools.cache
def _pattern(processor: str) -> re.Pattern[str]:
    words = r"[\s-]*".join(re.escape(word) for word in processor.split())
    if re.fullmatch(r"EPYC \d+", processor):
        words += "P?"  # P: for one socket only, with the same TDP
    if re.match(r"i\d-|Ultra \d", processor):
        words += "F?"  # F: without graphics, with the same TDP
    return re.compile(rf"(?<![\w.+-]){words}(?![\w+]|\s+v\d)", re.IGNORECASE)


def between(values: tuple[float, ...], load: float) -> float:
    """The value at a load in percent, on straight lines between the loads of LOADS."""
    low = min(int(load // 10), len(LOADS) - 2)
    return values[low] + (load - LOADS[low]) / 10 * (values[low + 1] - values[low])
