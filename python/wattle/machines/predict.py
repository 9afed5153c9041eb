"""Predicts the watts of a machine from the table of CPUs: packages, memory and the wall socket.

Packages of S sockets with a thermal design power of D watts draw, at a load l,

    P(l) = S D p(l)

where p is a share of TDP. The load is the share of time that each thread computes. The whole server draws at the wall
socket

    W(l) = S D w(l) + b(l) M + c

with M GB of memory. docs/appendix/table-of-cpus.md has the fit of p, w, b and c, and its errors.

Each share is known by its median over servers and by the standard deviation s of its logarithm. Independent deviations
add as squares. The interval from the median times exp(-1.96 s) to the median times exp(1.96 s) holds 95 % of servers if
logarithms are normal. The watts printed are the middle of this interval, plus or minus half of its width.

Machines of other classes, from notebooks to boards, have terms of their own (classes.MachineClass), which were fitted
to single readings. Their range is the shortest one that holds 95 % of machines if logarithms are normal.

P and memory were fitted to servers under full load, W to servers that are tuned for SPECpower. So the sum of the parts
may be above W, which no single machine can show. Where even the lower ends of the parts are above the upper end of W,
the range of W is widened to meet them. So each three ranges have a machine that fits all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from wattle.machines import table
from wattle.machines.classes import ANY, SERVER, MachineClass, Pair
from wattle.machines.table import Found, Generation, Table

Z95 = 1.96  # two-sided 95 % quantile of the normal distribution
SHARE_HELD = 0.95
CORES_OF_SERVERS = 32
# Share of TDP that the first busy core of machines outside clouds takes beyond that of the fitted servers (0.05). Few
# busy cores run at the highest clock: epyc-8024p and e3-1240-v2 of machines/measured/rapl-unseen.csv, 0.21.
FIRST_CORE = 0.16


@dataclass(frozen=True)
class Machine:
    """A machine as described. Cores and threads are those of all sockets. `memory_gb` of None: not known."""

    cpu: str
    family: int | None
    model: int | None
    stepping: int | None
    sockets: int
    cores: int
    threads: int
    memory_gb: float | None


@dataclass(frozen=True)
class Watts:
    """Watts with the half-width of the range that should hold about 95 % of such machines."""

    watts: float
    plus_minus: float

    @property
    def least(self) -> float:
        """The lower end of the range."""
        return self.watts - self.plus_minus

    @property
    def median(self) -> float:
        """The median of the servers, where the range is one of `interval`: cosh² - sinh² = 1."""
        return math.sqrt(self.watts**2 - self.plus_minus**2)

    def wider(self, watts: float) -> Watts:
        """The range that reaches further by these watts at both ends."""
        return Watts(self.watts, self.plus_minus + watts)

    def at_clock(self, clock: float, busy: float) -> Watts:
        """The range at a share of the clock, where a share `busy` of the watts is that of the cores.

        A core draws clock x voltage². The voltage is between constant and proportional to the clock. So the watts of
        cores follow the clock to a power of 1 to 3. The middle is taken, and both ends are in the range.
        """
        middle, doubt = 1 - busy + busy * clock**2, math.exp(busy * abs(math.log(clock)))
        lower, upper = middle * self.least / doubt, middle * (self.watts + self.plus_minus) * doubt
        return Watts((upper + lower) / 2, (upper - lower) / 2)


@dataclass(frozen=True)
class Prediction:
    """The power of a machine at a load."""

    package: Watts
    dram: Watts
    wall: Watts
    wall_terms: dict[str, float]  # the medians of its terms, in watts
    generation: Generation
    tdp_w: float
    tdp_known: bool  # the processor is in the table
    tdp_verified: bool  # and its TDP agrees with a public source
    limit_w: float  # of a socket, the highest power limit that the maker states; 0: not known
    machine_class: str  # of the processor: "server", "notebook" ...

    @property
    def parts(self) -> Watts:
        """Packages and memory together. Their deviations are independent."""
        half_width = math.hypot(self.package.plus_minus, self.dram.plus_minus)
        return Watts(self.package.watts + self.dram.watts, half_width)

    @property
    def parts_exceed_wall(self) -> bool:
        """Whether packages and memory come to more than the wall socket, because their figures have other sources."""
        return self.parts.watts > self.wall.watts


def predict(of: Table, machine: Machine, load: float, clocks: str = "any", clock: float = 1.0) -> Prediction:
    """Predicts the watts of a machine at a load of 0 to 100 percent. `clocks` is a key of the table's packages. `clock`
    is the clock at this load over the highest one under load.
    """
    found = table.find(of, machine.cpu, machine.family, machine.model, machine.stepping) or _unknown(of, machine)
    return of_found(of, found, machine, load, clocks, clock)


def of_found(
    of: Table, found: Found, machine: Machine, load: float, clocks: str = "any", clock: float = 1.0
) -> Prediction:
    """The watts of a machine whose generation or class is known, as `predict`."""
    if found.machine in of.classes:
        return _of_class(of, of.classes[found.machine], found, machine, load, clock)
    tdp, tdp_spread = tdp_of(found, machine.cores / machine.sockets)
    total = machine.sockets * tdp
    share, share_spread = of.packages[clocks].share(load, machine.cores, machine.threads)
    factor, factor_spread = found.generation.factor.at(load)
    modules = of.memory.modules[found.generation.ddr]
    gb, gb_spread = machine.memory_gb, 0.0
    if gb is None:
        usual = of.memory.desktop_gb_per_tdp_w if found.generation.is_desktop else modules.gb_per_tdp_w
        gb, gb_spread = usual[0] * total, usual[1]
    per_gb, per_gb_spread = of.memory.dram_w_per_gb.at(load)
    dram_factor, dram_factor_spread = modules.dram_factor
    wall_share, wall_spread = found.generation.wall.at(load)
    processors = total * wall_share
    memory = gb * table.between(modules.wall_w_per_gb, load)
    tuned = processors + memory + of.memory.wall_fixed_w
    wall_spread = math.hypot(wall_spread, tdp_spread * processors / tuned, gb_spread * memory / tuned)
    package = interval(total * share * factor, share_spread, factor_spread, tdp_spread)
    busy = of.packages[clocks].busy(load, machine.cores, machine.threads) / share
    package = package.at_clock(clock, busy).wider(total * FIRST_CORE * max(0, 1 - load / 10) if load else 0)
    dram = interval(gb * per_gb * dram_factor, per_gb_spread, dram_factor_spread, gb_spread)
    return Prediction(
        package,
        dram,
        reaching(shortest(tuned * of.ordinary[0], math.hypot(wall_spread, of.ordinary[1])), package.least + dram.least),
        {
            "processors": processors,
            "memory": memory,
            "fixed": of.memory.wall_fixed_w,
            "ordinary": tuned * (of.ordinary[0] - 1),
        },
        found.generation,
        tdp,
        found.processor is not None,
        found.processor is not None and not found.processor.tdp_spread,
        found.processor.limit_w if found.processor else 0.0,
        found.machine,
    )


def _unknown(of: Table, machine: Machine) -> Found:
    """A CPU without a known name or number. Only servers have that many cores in a socket."""
    return Found(of.unknown, None, SERVER if machine.cores >= CORES_OF_SERVERS * machine.sockets else ANY)


def _of_class(of: Table, kind: MachineClass, found: Found, machine: Machine, load: float, clock: float) -> Prediction:
    """The watts of a machine that is no server."""
    tdp, tdp_spread = _tdp_in_class(kind, found, machine)
    stated = found.processor.limit_w if found.processor else 0.0
    limit = (stated or tdp) if kind.by_limit else tdp
    busy = _busy(of, kind, machine, load)
    idle, full = tdp * kind.idle[0], limit * kind.full[0]
    package = idle + (full - idle) * busy
    of_cores = full * busy / package
    own = math.hypot((1 - of_cores) * kind.idle[1], of_cores * kind.full[1])
    rest, step = kind.wall_idle[0] * tdp**kind.wall_power, limit * kind.wall_step[0] * busy
    part = step / (rest + step)
    of_wall = math.hypot(
        math.hypot((1 - part) * kind.wall_idle[1], part * kind.wall_step[1]),
        tdp_spread * (part + (1 - part) * kind.wall_power),
    )
    modules = of.memory.modules[found.generation.ddr]
    gb = of.memory.desktop_gb_per_tdp_w
    memory_gb = (machine.memory_gb, 0.0) if machine.memory_gb is not None else (gb[0] * tdp, gb[1])
    per_gb, per_gb_spread = of.memory.dram_w_per_gb.at(load)
    return Prediction(
        shortest(machine.sockets * package, math.hypot(own, tdp_spread)).at_clock(clock, of_cores),
        interval(
            memory_gb[0] * per_gb * kind.dram_factor[0],
            *(memory_gb[1], per_gb_spread, modules.dram_factor[1], kind.dram_factor[1]),
        ),
        shortest(machine.sockets * (rest + step), of_wall),
        {"board": machine.sockets * rest, "processors": machine.sockets * step},
        found.generation,
        tdp,
        found.processor is not None or found.named is not None,
        found.processor is not None and not found.processor.tdp_spread,
        stated,
        found.machine,
    )


def _tdp_in_class(kind: MachineClass, found: Found, machine: Machine) -> Pair:
    if found.processor:
        return found.processor.tdp_w, found.processor.tdp_spread
    if found.named:
        return found.named.tdp_w * (1 if found.named.cores else machine.cores), 0.0
    return kind.tdp_w


def _busy(of: Table, kind: MachineClass, machine: Machine, load: float) -> float:
    """The part of the way from idle to full load. The first busy core makes the step `wake`; the rest of the way is
    that of servers, whose threads compute independently.
    """
    of_cores = of.packages["any"]
    rest = of_cores.busy(load, machine.cores, machine.threads) / of_cores.busy(100, machine.cores, machine.threads)
    return kind.wake * min(1, load / 100 * machine.threads) + (1 - kind.wake) * rest


def reaching(figure: Watts, watts: float) -> Watts:
    """The figure, widened to both sides where its range ends below `watts`."""
    return Watts(figure.watts, max(figure.plus_minus, watts - figure.watts))


def interval(median: float, *spreads: float) -> Watts:
    """Middle and half-width of the interval of 95 % of servers. Spreads: standard deviations of logarithms."""
    z = Z95 * math.hypot(*spreads)
    return Watts(median * math.cosh(z), median * math.sinh(z))


def shortest(median: float, spread: float) -> Watts:
    """The shortest interval of 95 % of machines, for few machines with a wide spread: its middle is near the median.

    The density of a lognormal variable is equal at both ends, so their logarithms lie around -spread².
    """
    least, most = 0.0, 8 * spread
    while most - least > 1e-9:
        d = (least + most) / 2
        held = (
            math.erf((d - spread**2) / spread / math.sqrt(2)) + math.erf((d + spread**2) / spread / math.sqrt(2))
        ) / 2
        least, most = (d, most) if held < SHARE_HELD else (least, d)
    low, high = (median * math.exp(-(spread**2) + side) for side in (-most, most))
    return Watts((low + high) / 2, (high - low) / 2)


def tdp_of(found: Found, cores: float) -> tuple[float, float]:
    """TDP of a socket and its spread: known with the processor, else estimated from the socket's cores.

    Within a generation TDP grows about with the square root of the number of cores.
    """
    if found.processor:
        return found.processor.tdp_w, found.processor.tdp_spread
    generation = found.generation
    return generation.tdp_w * math.sqrt(cores / generation.cores), generation.tdp_spread
