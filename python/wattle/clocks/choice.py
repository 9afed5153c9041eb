"""Chooses a clock for each PE: the slowest at which its whole group still ends in time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wattle.base import limits
from wattle.base.errors import WattleError
from wattle.clocks.clusters import cluster

SPARE = 1 / 16  # share of the run's time that stays unused, because runs differ


def check_slowdown(percent: float) -> None:
    """Raises WattleError for a --slowdown outside the limits, including NaN and infinity."""
    if not 0 <= percent <= limits.SLOWDOWN:
        raise WattleError(f"--slowdown {percent:g}: expected a number from 0 to {limits.SLOWDOWN:g}")


def choose(
    waits: Sequence[float],
    active: Sequence[float],
    wall_s: float,
    base: float,
    at_least: Callable[[float], float],
    spare: float = SPARE,
) -> list[float]:
    """GHz by PE. `waits` and `active` are seconds of each PE at the clock `base`. `at_least(ghz)` returns the slowest
    available clock that is as fast. The group that waits least keeps the base clock, and no PE gets a higher one.
    """
    room_s = wall_s * (1 - spare)
    found = [base] * len(waits)
    for rank, group in enumerate(cluster(list(waits), wall_s)):
        if rank == 0 or room_s <= 0:
            continue
        busiest = max(active[i] for i in group)
        clock = min(base, at_least(min(1.0, busiest / room_s) * base))
        for i in group:
            found[i] = clock
    return found
