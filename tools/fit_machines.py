#!/usr/bin/env python3
"""Fits the table of CPUs, machines/cpus.toml, to the public measurements in machines/measured.

    tools/fit_machines.py            print the errors of the fit, each server predicted from the others
    tools/fit_machines.py --write    write machines/cpus.toml and docs/appendix/machine-fit.md as well

docs/appendix/table-of-cpus.md has the equations. Every step is a median, a mean of logarithms or a least-squares fit,
without random numbers, so that a second run writes the same files.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from fit_classes import NAMES, Judged, fit_classes, fit_ordinary, leave_one_out, read_readings  # noqa: E402
from wattle.machines import predict, table  # noqa: E402
from wattle.machines.classes import MachineClass  # noqa: E402
from wattle.machines.table import LOADS, Curve, Generation, Memory, Modules, Processor, Table  # noqa: E402

MEASURED = ROOT / "machines" / "measured"
TABLE = ROOT / "machines" / "cpus.toml"
PAGE = ROOT / "docs" / "appendix" / "machine-fit.md"

Z95 = 1.96  # two-sided 95 % quantile of the normal distribution; half-widths are of logarithms
PRIOR = 2.0  # servers that the mean of all servers counts for in the mean of a generation
PRIOR_SPREAD = 10.0  # servers that the spread of all servers counts for in the spread of a generation
FEW = 3  # curves of a generation; with fewer, the curves of all generations give the shape
FOLDS = 10
FOLLOWS = 0.5  # how far packages follow the wall: the best of 0, 0.5 and 1 by the errors below
DOUBT = 0.5  # spread of a factor by the wall, as a part of its logarithm (assumed)
AS_ANOTHER = 0.15  # further spread of a generation without a server (assumed)
LEAST_SPREAD = 0.1  # of TDP among processors of one generation (assumed)
CLOUD = 0.75  # hosts of virtual machines have more cores than this part of the processors (assumed)
TURBO_FROM = 0.9  # share of TDP at full load from which a server is taken to run above its base clock (assumed)
HOST_LOADS = slice(3, None)  # loads of a host of virtual machines: 30 to 100 % (assumed)
OTHER_DRAM_UNIT = {"intel-broadwell-ep"}  # RAPL counts its memory in a unit that tools read with a factor of 4 between
DDRS = (2, 3, 4, 5)  # generations of memory modules
DDR_OF_RAPL = 4  # that of the servers whose memory was measured by RAPL
LEAST_GB = 4  # of a server with DDR4 or DDR5; less are terabytes
OTHER_MODULES = 0.3  # further spread of modules that RAPL did not measure (assumed)


@dataclass(frozen=True)
class Server:
    """A server with its wall watts by load; only idle and full load where the source has no more. `ddr`: the generation
    of its memory modules.
    """

    generation: str
    ddr: int
    processor: str
    sockets: int
    tdp_w: float
    memory_gb: float
    watts: dict[int, float]

    @property
    def total_w(self) -> float:
        return self.sockets * self.tdp_w


@dataclass(frozen=True)
class Measured:
    """A server with watts by RAPL: rows of workload, load, package and memory."""

    name: str
    generation: str
    cpu: predict.Machine
    total_w: float
    rows: tuple[tuple[str, int, float, float], ...]

    def package(self) -> dict[int, float]:
        """Share of TDP by load, for the workload that all loads were measured with."""
        return {load: watts / self.total_w for workload, load, watts, _ in self.rows if workload == "CPUStress"}

    def dram(self) -> dict[int, float]:
        """Watts of memory for each GB, by load."""
        gb = self.cpu.memory_gb or 1
        return {load: watts / gb for workload, load, _, watts in self.rows if workload == "CPUStress"}


@dataclass(frozen=True)
class Kind:
    """A generation before the fit. `like`: the generation whose watts it takes because no server of it was measured."""

    name: str
    title: str
    kind: str
    vendor: str
    family: int
    models: tuple[int, ...]
    steppings: tuple[int, int] | None
    smt: int
    ddr: int  # generation of its memory modules: 2 to 5
    like: str
    processors: tuple[Processor, ...]


def read_kinds() -> dict[str, Kind]:
    by_generation: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in _rows("processors.csv"):
        by_generation[row["generation"]].append(row)
    assumed = assumed_tdp_spread()
    limits = {row["name"]: float(row["limit_w"]) for row in _rows("limits.csv")}
    kinds = {}
    for row in _rows("generations.csv"):
        own = by_generation[row["name"]]
        low, _, high = row["steppings"].partition("-")
        kinds[row["name"]] = Kind(
            *(row[key] for key in ("name", "title", "kind", "vendor")),
            int(row["family"]),
            tuple(int(model, 0) for model in row["models"].split()),
            (int(low), int(high)) if low else None,
            int(row["smt"]),
            int(row["ddr"]),
            row["like"],
            tuple(_processor(p, assumed, limits) for p in own),
        )
    for kind in list(kinds.values()):  # a generation without processors of its own has those that it is like
        if not kind.processors:
            like = tuple(p for name in kind.like.split() for p in kinds[name].processors)
            kinds[kind.name] = replace(kind, processors=like)
    return kinds


def _processor(row: dict[str, str], assumed: float, limits: dict[str, float]) -> Processor:
    """`assumed`: the spread of a TDP that was not verified."""
    spread = 0.0 if row["tag"] == "verified" else assumed
    counts = int(row["cores"]), int(row["threads"]), int(row["cache_mb"] or 0)
    return Processor(row["name"], float(row["tdp_w"]), *counts, spread, limits.get(row["name"], 0.0))


def assumed_tdp_spread() -> float:
    """The spread of a TDP that was not verified. Its half-width is the largest change that the check made elsewhere."""
    checked = [row for row in _rows("processors.csv") if row["tdp_before_w"]]
    return max(abs(math.log(float(row["tdp_before_w"]) / float(row["tdp_w"]))) for row in checked) / Z95


def _homes() -> dict[str, tuple[str, float]]:
    """Generation and TDP of each processor whose TDP was verified."""
    verified = (row for row in _rows("processors.csv") if row["tag"] == "verified")
    return {row["name"]: (row["generation"], float(row["tdp_w"])) for row in verified}


def read_servers(kinds: dict[str, Kind]) -> list[Server]:
    home = _homes()
    servers = []
    for row in _rows("specpower.csv"):
        if row["processor"] not in home:
            continue
        generation, tdp = home[row["processor"]]
        watts = {load: row["idle_w" if load == 0 else f"load_{load}_w"] for load in LOADS}
        servers.append(
            Server(
                generation,
                kinds[generation].ddr,
                row["processor"],
                int(row["sockets"]),
                tdp,
                _memory_gb(float(row["memory_gb"]), kinds[generation].ddr),
                {load: float(text) for load, text in watts.items() if text},
            )
        )
    return servers


def _memory_gb(stated: float, ddr: int) -> float:
    """The source has whole terabytes for some servers with DDR4 or DDR5."""
    return stated * 1024 if ddr >= DDR_OF_RAPL and stated < LEAST_GB else stated


def read_measured() -> list[Measured]:
    home = _homes()
    grouped: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in _rows("rapl.csv"):
        grouped[row["server"]].append(row)
    return [_measured(name, rows, *home[rows[0]["processor"]]) for name, rows in grouped.items()]


def _machine(row: dict[str, str]) -> predict.Machine:
    counts = (int(row[key]) for key in ("family", "model", "stepping", "sockets", "cores", "threads"))
    return predict.Machine(row["cpu"], *counts, None)


def _measured(name: str, rows: list[dict[str, str]], generation: str, tdp_w: float) -> Measured:
    machine = replace(_machine(rows[0]), memory_gb=float(rows[0]["memory_gb"]))
    watts = tuple((r["workload"], int(r["load_percent"]), float(r["package_w"]), float(r["dram_w"])) for r in rows)
    return Measured(name, generation, machine, machine.sockets * tdp_w, watts)


# --- wall ---


@dataclass(frozen=True)
class Wall:
    """The fit of wall watts at the ends: share of TDP by generation, watts for a GB of memory by the generation of its
    modules, fixed watts.
    """

    share: dict[str, float]
    pooled: float
    per_gb: dict[int, float]
    fixed: float


def fit_wall(servers: Sequence[Server], load: int, fixed: float | None = None) -> Wall:
    """Fits W = S D w + b M + c by least squares of relative errors, with w for each generation, b for each generation
    of memory modules, and no negative term.

    The mean share of all servers counts as PRIOR servers of each generation. `fixed` is c where it is known.
    """
    names = sorted({s.generation for s in servers})
    column = {name: i for i, name in enumerate(names)}
    rows = np.zeros((len(servers), len(names) + len(DDRS) + 1))
    for i, s in enumerate(servers):
        rows[i, column[s.generation]] = s.total_w
        rows[i, len(names) + DDRS.index(s.ddr)] = s.memory_gb
        rows[i, -1] = fixed is None
    rows /= np.array([s.watts[load] - (fixed or 0) for s in servers])[:, None]
    shares, others = rows[:, : len(names)], rows[:, len(names) :]
    pooled = float(nnls(np.column_stack([shares.sum(axis=1), others]), np.ones(len(servers)))[0][0])
    prior = np.zeros((len(names), rows.shape[1]))
    np.fill_diagonal(prior, math.sqrt(PRIOR) / pooled)
    ones = np.append(np.ones(len(servers)), np.full(len(names), math.sqrt(PRIOR)))
    solution = nnls(np.vstack([rows, prior]), ones)[0]
    share = {name: float(solution[i]) for name, i in column.items()}
    per_gb = {ddr: float(solution[len(names) + i]) for i, ddr in enumerate(DDRS)}
    return Wall(share, pooled, per_gb, float(solution[-1]) if fixed is None else fixed)


@dataclass(frozen=True)
class Shapes:
    """The course of wall watts from idle (0) to full load (1), by LOADS: that of a generation, else that of all."""

    own: dict[str, np.ndarray]
    every: np.ndarray

    def of(self, generation: str) -> np.ndarray:
        return self.own.get(generation, self.every)


def fit_shapes(servers: Sequence[Server]) -> Shapes:
    """Medians over the servers that have watts for every load."""
    curves: dict[str, list[list[float]]] = defaultdict(list)
    for s in servers:
        if len(s.watts) == len(LOADS):
            low, high = s.watts[0], s.watts[100]
            curves[s.generation].append([(s.watts[load] - low) / (high - low) for load in LOADS])
    every = np.median([curve for group in curves.values() for curve in group], axis=0)
    return Shapes({name: np.median(group, axis=0) for name, group in curves.items() if len(group) >= FEW}, every)


@dataclass(frozen=True)
class WallFit:
    """W = S D w + b M + c at each load."""

    idle: Wall
    full: Wall
    shapes: Shapes

    def share(self, generation: str) -> np.ndarray:
        low, high = (wall.share.get(generation, wall.pooled) for wall in (self.idle, self.full))
        return low + self.shapes.of(generation) * (high - low)

    def per_gb(self, ddr: int) -> np.ndarray:
        low, high = self.idle.per_gb[ddr], self.full.per_gb[ddr]
        return low + self.shapes.every * (high - low)

    def watts(self, server: Server) -> np.ndarray:
        return (
            server.total_w * self.share(server.generation)
            + server.memory_gb * self.per_gb(server.ddr)
            + self.idle.fixed
        )


def fit_all_walls(servers: Sequence[Server]) -> WallFit:
    idle = fit_wall(servers, 0)
    return WallFit(idle, fit_wall(servers, 100, idle.fixed), fit_shapes(servers))


@dataclass(frozen=True)
class Miss:
    """Measured watts over predicted watts of a server that the fit did not see, as a logarithm."""

    generation: str
    load: int
    error: float


def wall_misses(servers: Sequence[Server]) -> list[Miss]:
    """Each tenth of the servers is predicted from the other nine."""
    found = []
    for fold in range(FOLDS):
        fit = fit_all_walls([s for i, s in enumerate(servers) if i % FOLDS != fold])
        for server in servers[fold::FOLDS]:
            watts = fit.watts(server)
            found += [
                Miss(server.generation, load, math.log(w / watts[LOADS.index(load)]))
                for load, w in server.watts.items()
            ]
    return found


def wall_spreads(misses: Sequence[Miss]) -> dict[str, np.ndarray]:
    """Spread of wall watts by load, for each generation. The spread of all servers counts as PRIOR_SPREAD servers. All
    loads but idle have one spread, because few servers have watts for loads between.
    """
    groups: dict[tuple[str, int], list[float]] = defaultdict(list)
    for miss in misses:
        groups[miss.generation, _part(miss.load)].append(miss.error)
    pooled = [np.mean([e * e for (_, part), errors in groups.items() if part == p for e in errors]) for p in range(2)]
    found = {}
    for name in {miss.generation for miss in misses}:
        squares = [
            (sum(e * e for e in groups[name, part]) + PRIOR_SPREAD * pooled[part])
            / (len(groups[name, part]) + PRIOR_SPREAD)
            for part in range(2)
        ]
        found[name] = np.sqrt([squares[_part(load)] for load in LOADS])
    return found


def _part(load: int) -> int:
    """0 for idle, 1 for any load."""
    return int(load > 0)


# --- packages ---


def package_factor(fit: WallFit, generation: str, measured: Sequence[Measured]) -> np.ndarray:
    """Package watts of a generation over those of the measured servers: their ratio at the wall socket to the power
    FOLLOWS.
    """
    reference = np.mean([np.log(fit.share(m.generation)) for m in measured], axis=0)
    return np.exp(FOLLOWS * (np.log(fit.share(generation)) - reference))


def fit_packages(measured: Sequence[Measured], fit: WallFit, all_measured: Sequence[Measured]) -> table.Packages:
    """The terms of the curve: means and spreads over servers, each divided by the factor of its generation."""
    shares = np.array(
        [[m.package()[load] for load in LOADS] / package_factor(fit, m.generation, all_measured) for m in measured]
    )
    terms = np.array([fit_terms(row) for row in shares])
    loads = np.array(LOADS) / 100
    host = np.log((shares - shares[:, :1])[:, HOST_LOADS] / loads[HOST_LOADS])
    return table.Packages(
        len(measured),
        _median(np.log(shares[:, 0])),
        _median(np.log(terms[:, 0])),
        _median(np.log(terms[:, 1])),
        _mean(np.maximum(0, terms[:, 0] - shares[:, 0])),
        _mean(terms[:, 2]),
        tuple(_spreads(np.log(shares))),
        (math.exp(host.mean()), float(host.std(ddof=1))),
    )


def _parts() -> np.ndarray:
    """For each load from 10 % on: the parts of time in which a package is awake, a core computes, and both of its
    threads do. Threads compute independently.
    """
    loads = np.array(LOADS[1:]) / 100
    both = loads**2
    return np.column_stack([np.ones(len(loads)), 2 * loads - both, both])


def fit_terms(shares: np.ndarray) -> np.ndarray:
    """Terms of the curve of one server, as shares of TDP: a package that is awake, all cores, all second threads of
    cores. By least squares of relative errors at loads from 10 %, without negative terms.
    """
    return nnls(_parts() / shares[1:, None], np.ones(len(LOADS) - 1))[0]


def curve_of(terms: np.ndarray) -> np.ndarray:
    """Shares of TDP at loads from 10 % on, by the terms of `fit_terms`."""
    return _parts() @ terms


def _median(logs: np.ndarray) -> tuple[float, float]:
    return math.exp(logs.mean()), float(logs.std(ddof=1))


def _mean(values: np.ndarray) -> tuple[float, float]:
    """The mean and a half-width that reaches down to 0 at most."""
    return float(values.mean()), min(float(values.mean()), Z95 * float(values.std(ddof=1)))


def _spreads(logs: np.ndarray) -> list[float]:
    """The spread of the shares by load. From 10 % on, half of its square is that of the load itself, on a parabola over
    the loads, and half is that of all loads, because the servers of one load are few.
    """
    squares = np.square(logs.std(axis=0, ddof=1))
    loads = np.array(LOADS[1:]) / 100
    own = np.maximum(0, np.polyval(np.polyfit(loads, squares[1:], 2), loads))
    return [math.sqrt(squares[0]), *np.sqrt((own + squares[1:].mean()) / 2)]


def _curve(logs: np.ndarray) -> Curve:
    """Mean of the logarithms by load, and their spread: that of idle, and one for all other loads."""
    spread = logs.std(axis=0, ddof=1)
    loaded = math.sqrt(float(np.mean(np.square(spread[1:]))))
    return Curve(tuple(np.exp(logs.mean(axis=0))), (float(spread[0]), *[loaded] * (len(LOADS) - 1)))


def split_by_clock(measured: Sequence[Measured]) -> dict[str, list[Measured]]:
    """All servers; those whose packages draw less than TURBO_FROM of TDP at full load; and the others."""
    full = {m.name: m.package()[100] for m in measured}
    return {
        "any": list(measured),
        "turbo": [m for m in measured if full[m.name] >= TURBO_FROM],
        "base": [m for m in measured if full[m.name] < TURBO_FROM],
    }


# --- the table ---


def fit(kinds: dict[str, Kind], servers: Sequence[Server], measured: Sequence[Measured]) -> Table:
    walls = fit_all_walls(servers)
    spreads = wall_spreads(wall_misses(servers))
    count = Counter(s.generation for s in servers)
    generations = []
    for kind in kinds.values():
        sources = kind.like.split() or [kind.name]
        generations.append(_generation(kind, sources, count, walls, spreads, measured))
    every = [k for k in kinds.values() if k.kind == "server" and not k.like]
    unknown = _generation(_any_of(every), [k.name for k in every], count, walls, spreads, measured)
    packages = {key: fit_packages(group, walls, measured) for key, group in split_by_clock(measured).items()}
    readings = read_readings()
    core_w, by_class = fit_classes(readings)
    of_servers = Table(
        tuple(generations), unknown, packages, fit_memory(walls, servers, measured, kinds), core_w, by_class, (1.0, 0.0)
    )
    whole = of_servers.with_classes(NAMES, core_w, by_class, (1.0, 0.0))
    return replace(whole, ordinary=fit_ordinary(whole, readings))


def _any_of(kinds: Sequence[Kind]) -> Kind:
    processors = tuple(p for k in kinds for p in k.processors)
    return Kind("unknown", "any other CPU", "server", "", 0, (), None, 2, DDR_OF_RAPL, " ", processors)


def _generation(
    kind: Kind,
    sources: list[str],
    count: Counter[str],
    walls: WallFit,
    spreads: dict[str, np.ndarray],
    measured: Sequence[Measured],
) -> Generation:
    known = {m.generation for m in measured}
    shares = np.array([np.log(walls.share(name)) for name in sources])
    factors = np.array([np.log(package_factor(walls, name, measured)) for name in sources])
    among = shares.std(axis=0) if len(sources) > 1 else 0
    borrowed = AS_ANOTHER if kind.like and len(sources) == 1 else 0.0
    doubt = 0.0 if kind.name in known else DOUBT
    own_spread = np.mean([spreads[name] for name in sources], axis=0)
    return Generation(
        kind.name,
        kind.title,
        kind.vendor,
        kind.family,
        kind.models,
        kind.steppings,
        kind.ddr,
        *_typical(kind),
        kind.processors,
        Curve(
            tuple(np.exp(factors.mean(axis=0))),
            tuple(np.hypot(np.hypot(doubt * abs(factors.mean(axis=0)), factors.std(axis=0)), borrowed)),
        ),
        Curve(tuple(np.exp(shares.mean(axis=0))), tuple(np.hypot(np.hypot(own_spread, among), borrowed))),
        sum(count[name] for name in sources),
        _basis(kind, sources, known),
        kind.kind == "desktop",
    )


def _basis(kind: Kind, sources: list[str], known: set[str]) -> str:
    if kind.name in known:
        return "packages by RAPL, wall by SPECpower"
    if not kind.like:
        return "wall by SPECpower; packages by RAPL of other servers and the ratio at the wall"
    if len(sources) > 3:
        return "all servers of the table"
    return f"assumed to be as {', '.join(sources)}"


def _typical(kind: Kind) -> tuple[float, float, int, int, tuple[float, float]]:
    """TDP of a typical socket, its spread for a known number of cores, cores, threads; and TDP for each thread where
    nothing is known. Typical are processors of at least the median number of cores, because clusters buy these. Where
    nothing is known, the CPU is part of a virtual machine, and clouds buy those with the most cores. The
    spreads of TDPs that were not verified add there, because most of them belong to such processors.
    """
    cores = [p.cores for p in kind.processors]
    large = [p for p in kind.processors if p.cores >= np.median(cores)]
    largest = [p for p in kind.processors if p.cores >= np.quantile(cores, CLOUD)]
    typical = round(math.exp(np.mean([math.log(p.cores) for p in large])))
    residual = [math.log(p.tdp_w / math.sqrt(p.cores)) for p in kind.processors]
    per_thread = [math.log(p.tdp_w / p.threads) for p in largest]
    doubt = math.sqrt(np.mean([p.tdp_spread**2 for p in largest]))
    of_threads = max(LEAST_SPREAD, math.hypot(float(np.std(per_thread)), doubt))
    return (
        math.exp(np.mean([math.log(p.tdp_w) for p in large])),
        max(LEAST_SPREAD, float(np.std(residual))),
        typical,
        typical * kind.smt,
        (math.exp(np.mean(per_thread)), of_threads),
    )


def fit_memory(
    walls: WallFit, servers: Sequence[Server], measured: Sequence[Measured], kinds: dict[str, Kind]
) -> Memory:
    dram = np.log([[m.dram()[load] for load in LOADS] for m in measured if m.generation not in OTHER_DRAM_UNIT])
    desktops = [math.log(s.memory_gb / s.total_w) for s in servers if kinds[s.generation].kind == "desktop"]
    return Memory(
        _curve(dram),
        walls.idle.fixed,
        _median(np.array(desktops)),
        {ddr: _modules(ddr, walls, servers) for ddr in DDRS},
    )


def _modules(ddr: int, walls: WallFit, servers: Sequence[Server]) -> Modules:
    """Modules draw as those measured by RAPL, times their ratio at the wall socket at full load to the power FOLLOWS.
    At idle the wall's terms are too uncertain for a ratio.
    """
    ratio = FOLLOWS * math.log(walls.full.per_gb[ddr] / walls.full.per_gb[DDR_OF_RAPL])
    per_watt = np.array([math.log(s.memory_gb / s.total_w) for s in servers if s.ddr == ddr])
    doubt = 0.0 if ddr == DDR_OF_RAPL else math.hypot(DOUBT * ratio, OTHER_MODULES)
    return Modules((math.exp(ratio), doubt), tuple(walls.per_gb(ddr)), _median(per_watt))


@dataclass(frozen=True)
class Unseen:
    """Package watts of a machine that the fit never saw. `kind` is "load": the percentage of time that each thread
    computes; or "threads": the number of threads that compute all the time.
    """

    server: str
    cpu: predict.Machine
    kind: str
    value: float
    watts: float
    ghz: float  # of all cores in the mean; 0: not known


def read_unseen() -> list[Unseen]:
    return [
        Unseen(
            row["server"],
            _machine(row),
            row["kind"],
            float(row["value"]),
            float(row["package_w"]),
            float(row["ghz"] or 0),
        )
        for row in _rows("rapl-unseen.csv")
    ]


def predict_unseen(of: Table, row: Unseen, clock: float = 1.0) -> predict.Watts:
    """The prediction for a load; or, for a number of busy threads, the idle node and the joules that the model adds."""
    if row.kind == "load":
        return predict.predict(of, row.cpu, min(100.0, row.value), clock=clock).package
    found = table.find(of, row.cpu.cpu, row.cpu.family, row.cpu.model, row.cpu.stepping)
    if found is None:
        raise SystemExit(f"{row.cpu.cpu} is not in the table")
    shares, factor = of.packages["any"], found.generation.factor
    total = row.cpu.sockets * predict.tdp_of(found, row.cpu.cores / row.cpu.sockets)[0]
    cores = min(row.value, row.cpu.cores) / row.cpu.cores
    seconds = max(0.0, row.value - row.cpu.cores) / row.cpu.cores
    parts = [predict.interval(total * shares.idle[0] * factor.median[0], shares.idle[1], factor.spread[0])]
    if row.value:
        core = total * shares.core[0] * factor.median[-1]
        parts += [
            predict.interval(core * cores, shares.core[1], factor.spread[-1]),
            _mean_of(total * factor.median[1], shares.wake, factor.spread[1]),
            _mean_of(total * factor.median[-1] * seconds, shares.second, factor.spread[-1]),
        ]
    return predict.Watts(sum(p.watts for p in parts), sum(p.plus_minus for p in parts))


def _mean_of(watts: float, share: tuple[float, float], spread: float) -> predict.Watts:
    """Watts of a share that has a mean and a half-width, as the library computes them."""
    own = share[1] / share[0] if share[0] else 0.0
    return predict.Watts(watts * share[0], watts * share[0] * min(1.0, math.hypot(own, Z95 * spread)))


@dataclass(frozen=True)
class Predicted:
    """Package watts of a measured server, beside those predicted from the other servers."""

    server: Measured
    workload: str
    load: int
    watts: float
    predicted: predict.Watts

    @property
    def error(self) -> float:
        return abs(self.predicted.watts - self.watts) / self.watts

    @property
    def is_inside(self) -> bool:
        return abs(self.predicted.watts - self.watts) <= self.predicted.plus_minus

    @property
    def width(self) -> float:
        return self.predicted.plus_minus / self.predicted.watts


def predict_packages(of: Table, servers: Sequence[Server], measured: Sequence[Measured]) -> list[Predicted]:
    """Predicts all workloads of each measured server from the other servers. `of`: the fit of all of them, whose
    packages are replaced.
    """
    walls = fit_all_walls(servers)
    found = []
    for i, server in enumerate(measured):
        others = [*measured[:i], *measured[i + 1 :]]
        left = replace(of, packages={"any": fit_packages(others, walls, others)})
        for workload, load, watts, _ in server.rows:
            found.append(Predicted(server, workload, load, watts, predict.predict(left, server.cpu, load).package))
    return found


def _rows(name: str) -> list[dict[str, str]]:
    with (MEASURED / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# --- files ---


def toml(of: Table) -> str:
    """The table as the text of machines/cpus.toml."""
    parts = [
        "# Watts of CPU generations. tools/fit_machines.py makes this file from machines/measured: do not edit it.",
        "# docs/appendix/table-of-cpus.md explains it. Shares are of TDP, and lists are by loads of 0, 10, ... 100 %.",
        "# Pairs are a median and the standard deviation of its logarithm (`spread`). Those of `wake` and `second` are",
        "# a mean and its half-width.",
        "",
    ]
    parts += [f"ordinary = {_toml_value(of.ordinary)}  # wall watts of servers over those tuned for SPECpower", ""]
    for key, p in of.packages.items():
        parts += [f"[packages.{key}]", *_toml(p, "servers", *table.PACKAGE_TERMS, "spread"), ""]
    parts += ["[memory]", *_toml(of.memory, "dram_w_per_gb", "wall_fixed_w", "desktop_gb_per_tdp_w"), ""]
    for ddr, modules in of.memory.modules.items():
        parts += [f"[memory.ddr{ddr}]", *_toml(modules, *table.MODULE_TERMS), ""]
    parts += ["[core_w]", *(f"{kind} = {watts:.4g}" for kind, watts in of.core_w.items()), ""]
    for name, kind in of.classes.items():
        parts += [f"[class.{name}]", *_toml(kind, *(field.name for field in fields(MachineClass))), ""]
    for heading, rows in (("[unknown]", [of.unknown]), ("[[cpu]]", of.generations)):
        for g in rows:
            parts += [heading, *_toml_generation(g), ""]
    return "\n".join(parts)


def _toml(of: object, *names: str) -> list[str]:
    """A line for each of these values that there is."""
    values = {name: getattr(of, name) for name in names}
    return [f"{name} = {_toml_value(value)}" for name, value in values.items() if value is not None]


def _toml_value(value: object) -> str:
    if isinstance(value, Curve):
        return f"{{ median = {_toml_value(value.median)}, spread = {_toml_value(value.spread)} }}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    return f"{value:.4g}" if isinstance(value, float) else f'"{value}"' if isinstance(value, str) else str(value)


GENERATION = (
    *("name", "title", "vendor", "family", "models", "steppings", "ddr", "tdp_w", "tdp_spread", "cores", "threads"),
    *("tdp_per_thread", "servers", "basis"),
)


def _toml_generation(g: Generation) -> list[str]:
    lines = _toml(g, *GENERATION)
    lines += ["desktop = true"] if g.is_desktop else []
    processors = [_toml_processor(p) for p in g.processors if g.name != "unknown"]
    return [*lines, *_toml(g, "factor", "wall"), "processors = [", *processors, "]"]


def _toml_processor(p: Processor) -> str:
    more = f", cache_mb = {p.cache_mb}" if p.cache_mb else ""
    more += f", tdp_spread = {p.tdp_spread:.3g}" if p.tdp_spread else ""
    more += f", limit_w = {p.limit_w:g}" if p.limit_w else ""
    return f'  {{ name = "{p.name}", tdp_w = {p.tdp_w:g}, cores = {p.cores}, threads = {p.threads}{more} }},'


def page(
    kinds: dict[str, Kind], servers: Sequence[Server], packages: list[Predicted], misses: list[Miss], whole: Table
) -> str:
    """The page of the fit's errors."""
    spreads = wall_spreads(misses)

    def of_packages(head: str, rows: list[Predicted]) -> str:
        return _row(head, [(row.watts, row.predicted) for row in rows])

    def of_walls(head: str, rows: list[Miss]) -> str:
        """Watts are relative to the median that the fit gives."""
        printed = [predict.interval(1, float(spreads[m.generation][LOADS.index(m.load)])) for m in rows]
        return _row(head, [(math.exp(m.error), watts) for m, watts in zip(rows, printed, strict=True)])

    measured = dict.fromkeys(row.server for row in packages)
    loads = dict.fromkeys((row.workload, row.load) for row in packages)
    counts = Counter(s.generation for s in servers)
    by_load = [(load, [m for m in misses if m.load == load]) for load in LOADS]
    parts = [
        PAGE_HEAD,
        _table(
            "server | CPU | rows",
            *(of_packages(f"{s.name} | {s.cpu.cpu}", [r for r in packages if r.server is s]) for s in measured),
            of_packages("all |", packages),
        ),
        OF_PACKAGES,
        _table(
            "workload | load | rows",
            *(
                of_packages(f"{workload} | {load} %", [r for r in packages if (r.workload, r.load) == (workload, load)])
                for workload, load in loads
            ),
        ),
        "![Measured and predicted watts of seven servers](../images/machine-fit.svg)\n",
        UNSEEN,
        _unseen_table(whole),
        OF_UNSEEN,
        *map(_terms_row, measured),
        OF_CLASSES,
        _class_table(whole),
        OF_WALLS,
        _table(
            "generation | servers | values",
            *(
                of_walls(f"{kinds[name].title} | {counts[name]}", [m for m in misses if m.generation == name])
                for name in sorted(counts)
            ),
            of_walls(f"all | {len(servers)}", misses),
        ),
        _table("load | servers | values", *(of_walls(f"{load} % | {len(own)}", own) for load, own in by_load)),
    ]
    return "\n".join(parts)


def _table(first: str, *rows: str) -> str:
    """A table of errors, with an empty line after it."""
    return "\n".join(
        [f"| {first} | median error | inside | median half-width |", "|---|---|---|---|---|---|", *rows, ""]
    )


def _row(head: str, pairs: Sequence[tuple[float, predict.Watts]]) -> str:
    """The errors of pairs of measured and predicted watts."""
    errors = [abs(found.watts - watts) / watts for watts, found in pairs]
    inside = [abs(found.watts - watts) <= found.plus_minus for watts, found in pairs]
    widths = [found.plus_minus / found.watts for _, found in pairs]
    quality = f"{100 * np.median(errors):.0f} % | {100 * np.mean(inside):.0f} % | {100 * np.median(widths):.0f} %"
    return f"| {head} | {len(pairs)} | {quality} |"


PAGE_HEAD = """\
# The fit of the machine table, and its errors

After this page you can judge how far to trust modelled watts of a CPU. `tools/fit_machines.py --write` makes
the page and `machines/cpus.toml` from the measurements in `machines/measured`.
[The table of CPUs](table-of-cpus.md) has the equations.

## Packages by RAPL

Each server was predicted from the other servers. The error is that of the printed watts. A row is inside if
the measured watts lie within the printed half-width.
"""

OF_PACKAGES = """\
The seven servers are of two kinds, which differ little at 10 % load and most when idle and from 60 % on. The
name of a CPU does not tell the kind, so there the error is large and the half-width must be, too.
"""

UNSEEN = """\
## Machines that the fit never saw

Four machines outside clouds were measured by RAPL elsewhere (mlco2/codecarbon, commit e3e14103). No number of the fit
was chosen by them. Loads are the share of time that each thread computes, as above. Threads are numbers of threads that
compute all the time, as processes of a parallel program do. There the model adds up its parts and their half-widths.
"""

OF_UNSEEN = """\
The errors of the seven servers do not hold here. By load, `e3-1240-v2` and `e5-2620-v3` draw a third to two thirds of
the prediction below 60 %, because their governor lowers the clock then (1.2 to 1.6 GHz in the source). The cloud's
servers do not do that. So `wattle machines predict` is too high for such machines at part load. Its option `--clock`
takes the clock of each load. By its law, the watts of cores follow the clock to a power of 1 to 3. No number of this
law was chosen by these machines. With the clocks of the source (over the highest of the machine) 93 % are inside, and
the median error is 29 %. The rest of the error is that of `e3-1240-v2` and `epyc-8024p`. They draw about half of the
mean of servers at most loads, which their names do not tell. For busy threads the
range holds, and its middle is too high. The narrower range of servers above their base clock would have held for 62 %
of these rows and for no idle machine. So clock and sleep states do not narrow the watts of a machine without a
hypervisor.

A fifth report of the source was left out: its processor is that of `e3-1240-v2`, at twice the watts and 1.35 times
TDP.

## The terms of each server

Shares of TDP, as fitted to each server alone. `tools/machine_fit_picture.py` draws the picture.

| server | idle | awake | all cores | second threads | root mean square of residuals |
|---|---|---|---|---|---|"""

OF_CLASSES = """
## Notebooks, desktops, boards and other machines

Single readings, most of them by others (`machines/measured/readings.csv`). Each machine was predicted from the others
(`tools/fit_classes.py` prints each reading). Servers are predicted as above; those at the wall socket are not tuned for
SPECpower.
"""

OF_WALLS = """
## Wall watts by SPECpower_ssj2008

Each tenth of the servers was predicted from the other nine tenths, at each load that the source has.
"""


def _unseen_table(whole: Table) -> str:
    rows, clocks = read_unseen(), clocks_of_unseen(read_unseen())
    lines = []
    for kind, words, with_clocks in (
        ("load", "loads", False),
        ("threads", "threads", False),
        ("load", "loads, with their clocks", True),
    ):
        own = [row for row in rows if row.kind == kind]
        pairs = [(row, predict_unseen(whole, row, clocks[row] if with_clocks else 1.0)) for row in own]
        for server in [*dict.fromkeys(row.server for row in own), "all"]:
            some = [(row.watts, found) for row, found in pairs if server in (row.server, "all")]
            lines.append(_row(f"{server} | {words}", some))
    return _table("machine | figure | rows", *lines)


def _class_table(whole: Table) -> str:
    """Errors by class and kind, and the ten largest."""
    judged = leave_one_out(whole, read_readings())
    words = {"package": "package", "wall": "wall socket"}
    groups: dict[str, list[Judged]] = defaultdict(list)
    for j in judged:
        load = "idle" if j.reading.load == 0 else f"{j.reading.load} %"
        groups[f"{j.machine_class} | {words[j.reading.kind]}, {load}"].append(j)
    groups["all |"] = judged

    def row(head: str, own: list[Judged]) -> str:
        return _row(head, [(j.reading.watts, j.predicted) for j in own])

    worst = sorted(judged, key=lambda j: -j.error)[:10]
    lines = [
        f"| {j.reading.machine} | {words[j.reading.kind]}, {j.reading.load} % | {j.reading.watts:g} W "
        f"| {j.predicted.watts:.3g} ± {j.predicted.plus_minus:.3g} W | {100 * j.error:.0f} % |"
        for j in worst
    ]
    return "\n".join(
        [
            _table("class | figure | readings", *(row(head, own) for head, own in groups.items())),
            "The ten readings that are predicted worst:\n",
            "| machine | figure | measured | predicted | error |",
            "|---|---|---|---|---|",
            *lines,
        ]
    )


def clocks_of_unseen(rows: Sequence[Unseen]) -> dict[Unseen, float]:
    """For each load the clock over the highest one of the machine."""
    loads = [row for row in rows if row.kind == "load"]
    highest = {server: max(row.ghz for row in loads if row.server == server) for server in {r.server for r in loads}}
    return {row: row.ghz / highest[row.server] for row in loads}


def _terms_row(server: Measured) -> str:
    shares = np.array([server.package()[load] for load in LOADS])
    terms = fit_terms(shares)
    left = curve_of(terms) / shares[1:] - 1
    cells = [f"{value:.3f}" for value in (shares[0], *terms)]
    return f"| {server.name} | {' | '.join(cells)} | {100 * math.sqrt(float(np.mean(left * left))):.0f} % |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write machines/cpus.toml and the page of errors")
    wanted = parser.parse_args()
    kinds = read_kinds()
    servers, measured = read_servers(kinds), read_measured()
    whole = fit(kinds, servers, measured)
    text = page(kinds, servers, predict_packages(whole, servers, measured), wall_misses(servers), whole)
    if wanted.write:
        TABLE.write_text(toml(whole), encoding="utf-8")
        PAGE.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
