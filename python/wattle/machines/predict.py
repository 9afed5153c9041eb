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

Desktops and notebooks may draw up to a power limit that is far above TDP, and none was measured. So their range goes up
to this limit: the upper end of the part of the cores is multiplied by the table's `reach`.

P and memory were fitted to servers under full load, W to servers that are tuned for SPECpower. So the sum of the parts
may be above W, which no single machine can show. Where even the lower ends of the parts are above the upper end of W,
the range of W is widened to meet them. So each three ranges have a machine that fits all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from wattle.machines import table
from wattle.machines.table import Found, Generation, Table

Z95 = 1.96  # two-sided 95 % quantile of the normal distribution


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

    def with_more(self, watts: float) -> Watts:
        """The range whose upper end is higher by these watts."""
        return Watts(self.watts + watts / 2, self.plus_minus + watts / 2)

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
    found = table.find(of, machine.cpu, machine.family, machine.model, machine.stepping) or Found(of.unknown, None)
    return of_found(of, found, machine, load, clocks, clock)


def of_found(
    of: Table, found: Found, machine: Machine, load: float, clocks: str = "any", clock: float = 1.0
) -> Prediction:
    """The watts of a machine whose generation is known, as `predict`."""
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
    wall = processors + memory + of.memory.wall_fixed_w
    wall_spread = math.hypot(wall_spread, tdp_spread * processors / wall, gb_spread * memory / wall)
    package = interval(total * share * factor, share_spread, factor_spread, tdp_spread)
    busy = of.packages[clocks].busy(load, machine.cores, machine.threads) / share
    more = (reach_of(found) - 1) * busy * (package.watts + package.plus_minus)  # than cores of servers
    package = package.with_more(more).at_clock(clock, busy)
    dram = interval(gb * per_gb * dram_factor, per_gb_spread, dram_factor_spread, gb_spread)
    return Prediction(
        package,
        dram,
        reaching(interval(wall, wall_spread).with_more(more), package.least + dram.least),
        {"processors": processors, "memory": memory, "fixed": of.memory.wall_fixed_w},
        found.generation,
        tdp,
        found.processor is not None,
        found.processor is not None and not found.processor.tdp_spread,
        found.processor.limit_w if found.processor else 0.0,
    )


def reaching(figure: Watts, watts: float) -> Watts:
    """The figure, widened to both sides where its range ends below `watts`."""
    return Watts(figure.watts, max(figure.plus_minus, watts - figure.watts))


def reach_of(found: Found) -> float:
    """The reach of the processor, else of its generation."""
    return found.processor.reach if found.processor else found.generation.reach


def interval(median: float, *spreads: float) -> Watts:
    """Middle and half-width of the interval of 95 % of servers. Spreads: standard deviations of logarithms."""
    z = Z95 * math.hypot(*spreads)
    return Watts(median * math.cosh(z), median * math.sinh(z))


def tdp_of(found: Found, cores: float) -> tuple[float, float]:
    """TDP of a socket and its spread: known with the processor, else estimated from the socket's cores.

    Within a generation TDP grows about with the square root of the number of cores.
    """
    if found.processor:
        return found.processor.tdp_w, found.processor.tdp_spread
    generation = found.generation
    return generation.tdp_w * math.sqrt(cores / generation.cores), generation.tdp_spread
