"""An oracle of clocks for the program `groups`: it knows each load, and takes for each the clock of least energy that
is in time. Its PEs wait at the lowest clock.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isqrt
from pathlib import Path

from wattle.base import input_files, limits
from wattle.base.checked import read_json
from wattle.base.errors import DamagedFile
from wattle.sim.simulation import RESULT

MASK = (1 << 64) - 1
Span = tuple[float, float, float]  # seconds of computing at the base clock, until it must end, and of the instance


@dataclass(frozen=True)
class Clock:
    """A clock of a core. `share`: of the base clock. Watts while it computes, and while it spins."""

    share: float
    busy: float
    spins: float


@dataclass(frozen=True)
class Ran:
    """A simulated job: its time, the joules of its cores, and their clocks."""

    seconds: float
    joules: float
    clocks: Sequence[Clock]


def read(folder: Path) -> Ran:
    """The job whose files are in the folder. Raises DamagedFile."""
    result = read_json(folder / RESULT)
    of = dict(
        re.findall(
            r'<prop id="(\w+)" value="([^"]*)"', input_files.read_text(folder / "platform.xml", limits.TEXT_BYTES)
        )
    )
    try:
        speeds = [float(speed) for speed in of["clock_speeds"].split(",")]
        watts = [[float(part) for part in state.split(":")] for state in of["wattage_per_state"].split(",")[::3]]
        base = speeds[int(of["base_clock"])]
        clocks = [Clock(s / base, busy, spins) for s, (spins, busy, _) in zip(speeds, watts, strict=True)]
    except (LookupError, ValueError) as error:
        raise DamagedFile(folder / "platform.xml", f"the clocks of its cores: {error}") from None
    return Ran(result.positive("simulated_s"), sum(pe.positive("cpu_j") for pe in result.items("pes")), clocks)


@dataclass(frozen=True)
class Case:
    """A case of the program `groups`. `ratio`: CR. `percent`: by how much work differs."""

    pattern: str
    pes: int
    instances: int
    ratio: float
    percent: float
    seed: int

    def load(self, pe: int, instance: int, much: bool) -> float:
        """Seconds that a PE computes. The numbers are those of the program (apps/groups/main.c, random.h)."""
        z = (self.seed << 40 | pe << 20 | instance) * 0x9E3779B97F4A7C15 & MASK
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        varied = 1 + 1e-2 * self.percent * (2 * ((z ^ z >> 31) >> 11) / (1 << 53) - 1)
        return 1e-3 * (self.ratio if much else 1) * varied


def _second(case: Case, pe: int) -> bool:
    return pe % 2 == 1


def _second_row(case: Case, pe: int) -> bool:
    return pe // isqrt(case.pes) % 2 == 1


def _one_row(case: Case, pe: int) -> bool:
    return pe // isqrt(case.pes) == 1


Loads = Callable[[Case, int], bool]  # whether a PE computes much
Groups = Callable[[Case], list[list[int]]]


def _runs(parts: int) -> Groups:
    """The PEs in so many groups."""
    return lambda case: [list(range(k, k + case.pes // parts)) for k in range(0, case.pes, case.pes // parts)]


def _pairs(case: Case) -> list[list[int]]:
    return _runs(case.pes // 2)(case)


def _rows(case: Case) -> list[list[int]]:
    return _runs(isqrt(case.pes))(case)


def _columns(case: Case) -> list[list[int]]:
    return [list(range(x, case.pes, isqrt(case.pes))) for x in range(isqrt(case.pes))]


def meeting(*phases: tuple[Loads, Groups, int]) -> Callable[[Case, Ran], Iterator[Span]]:
    """Groups meet after each phase, in each so-manieth instance. A PE that arrives no later than the last one of its
    group delays none.
    """

    def spans(case: Case, base: Ran) -> Iterator[Span]:
        left = [0.0] * case.pes
        for i in range(case.instances):
            for much, groups, every in phases:
                if (i + 1) % every:
                    continue
                loads = [case.load(pe, i, much(case, pe)) if every == 1 else 0.0 for pe in range(case.pes)]
                for group in groups(case):
                    ends = max(left[pe] + loads[pe] for pe in group)
                    for pe in group:
                        yield loads[pe], ends - left[pe], ends - left[pe]
                        left[pe] = ends

    return spans


def flowing(much: Loads) -> Callable[[Case, Ran], Iterator[Span]]:
    """Neighbours signal. An instance takes the mean time, and a PE that needs no more of it delays none."""

    def spans(case: Case, base: Ran) -> Iterator[Span]:
        lasts = base.seconds / case.instances
        for pe in range(case.pes):
            for i in range(case.instances):
                load = case.load(pe, i, much(case, pe))
                yield load, max(lasts, load), max(lasts, load)

    return spans


def in_turn(case: Case, base: Ran) -> Iterator[Span]:
    """One PE after the other computes, so all computing delays all."""
    lasts = base.seconds / case.instances
    for pe in range(case.pes):
        for i in range(case.instances):
            load = case.load(pe, i, _second(case, pe))
            yield load, load, lasts


HALVES = (_second, _runs(2), 1)
CROSSING = meeting((_second, _rows, 1), (_second_row, _columns, 1))
SPANS: dict[str, Callable[[Case, Ran], Iterator[Span]]] = {
    "world": meeting((_second, _runs(1), 1)),
    "teams": meeting(HALVES),
    "reduce": meeting(HALVES),
    "communicators": meeting(HALVES),
    "crossing": CROSSING,
    "grid": CROSSING,
    "nested": meeting(HALVES, (_second, _runs(1), 4)),
    "pairs": meeting((_second, _pairs, 1)),
    "halo": flowing(_one_row),
    "wavefront": flowing(_second),
    "ring": in_turn,
}


def saving(case: Case, base: Ran) -> float:
    """The share of the cores' joules that the oracle saves, of a job at the base clock whose PEs spin."""
    usual = next(clock for clock in base.clocks if clock.share == 1)
    lowest = min(base.clocks, key=lambda clock: clock.share).spins
    spent = least = 0.0
    for load, until, lasts in SPANS[case.pattern](case, base):
        spent += usual.busy * load + usual.spins * (lasts - load)
        takes = [(load / clock.share, clock.busy) for clock in base.clocks]
        least += min(watts * s + lowest * (lasts - s) for s, watts in takes if s <= until * (1 + 1e-9))
    return 1 - least / spent
