"""The shortest times for the program `budget` within a budget of watts, computed from its true loads and the platform's
clocks. A core computes without a pause until it arrives, at two clocks in turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, inf, log
from pathlib import Path

from wattle.base import input_files, limits
from wattle.base.errors import DamagedFile

ROW = 8  # PEs in a row with equal work
MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Clock:
    speed: float  # relative to the base clock
    watts: float  # of a core that computes, with its share of the idle node


def clocks_of(folder: Path) -> list[Clock]:
    """The clocks of a simulated core, rising. Raises DamagedFile."""
    path = folder / "platform.xml"
    of = dict(re.findall(r'<prop id="(\w+)" value="([^"]*)"', input_files.read_text(path, limits.TEXT_BYTES)))
    try:
        speeds = [float(speed) for speed in of["clock_speeds"].split(",")]
        busy = [float(state.split(":")[1]) for state in of["wattage_per_state"].split(",")[::3]]
        base = speeds[int(of["base_clock"])]
        found = [Clock(s / base, w) for s, w in zip(speeds, busy, strict=True)]
    except (LookupError, ValueError) as error:
        raise DamagedFile(path, f"the clocks of its cores: {error}") from None
    return sorted(found, key=lambda clock: clock.speed)


@dataclass(frozen=True)
class Case:
    """A case of the program `budget`. `work_s`: of one part of the work. `percent`: by how much work differs."""

    pattern: str
    pes: int
    ratio: float
    work_s: float
    percent: float = 0.0
    seed: int = 1

    def loads(self, at: int) -> list[float]:
        """Seconds at the base clock of each PE in an instance. The numbers are those of apps/budget/main.c."""
        return [self.work_s * self._parts(pe, at) * self._varied(pe, at) for pe in range(self.pes)]

    def _parts(self, pe: int, at: int) -> float:
        second = pe // ROW % 2 == 1
        if self.pattern == "drifting":
            drifted = self._drifted(at)
            return drifted if second else self.ratio / drifted
        if self.pattern == "alternating":
            second = second == (at % 2 == 0)
        return self.ratio if second else 1.0

    def _drifted(self, at: int) -> float:
        rise = ceil(log(self.ratio) / log(1.01))
        phase = at % (2 * rise) if rise else 0
        return min(1.01 ** (phase if phase < rise else 2 * rise - phase), self.ratio)

    def _varied(self, pe: int, at: int) -> float:
        z = (self.seed << 40 | pe << 20 | at) * 0x9E3779B97F4A7C15 & MASK
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return 1 + 1e-2 * self.percent * (2 * ((z ^ z >> 31) >> 11) / (1 << 53) - 1)


def _turns(clocks: list[Clock]) -> Iterator[tuple[Clock, Clock]]:
    yield clocks[0], clocks[0]
    yield from pairwise(clocks)


def watts(clocks: list[Clock], load: float, t: float) -> float:
    """The least mean watts of a core that computes `load` until `t`; infinite: it is too slow."""
    speed = load / t
    for slow, fast in _turns(clocks):
        if speed > fast.speed:
            continue
        part = (speed - slow.speed) / (fast.speed - slow.speed) if speed > slow.speed else 0.0
        return slow.watts + part * (fast.watts - slow.watts)
    return inf


def _shortest(fits: Callable[[float], bool], longest: float) -> float:
    shortest = 0.0
    for _ in range(40):
        t = (shortest + longest) / 2
        shortest, longest = (shortest, t) if fits(t) else (t, longest)
    return longest


def optimum(clocks: list[Clock], loads: list[float], budget_w: float) -> float:
    """The shortest time of an instance in which all PEs together draw no more than the budget in the mean."""
    distinct = {load: loads.count(load) for load in loads}

    def fits(t: float) -> bool:
        return sum(n * watts(clocks, load, t) for load, n in distinct.items()) <= budget_w

    return _shortest(fits, max(loads) / clocks[0].speed)


def equal(clocks: list[Clock], loads: list[float], budget_w: float) -> float:
    """The same where each PE has an equal part of the budget."""
    load = max(loads)
    return _shortest(lambda t: watts(clocks, load, t) <= budget_w / len(loads), load / clocks[0].speed)
