"""Finds steps in the time and joules of a series of runs, and what changed at each.

The test is that of a change at an unknown point (A. N. Pettitt, 1979), with the statistic of Mann and Whitney for each
boundary between two entries, divided by its standard deviation. The largest one is compared with those of the same
values in random orders. So in a series without a step, the test finds one with the probability ALARMS, if the repeats
of all entries differ by chance alone. Each part on both sides of a step is then tested in the same way.

A step must also be beyond noise and beyond the half-width of the meter, as in a comparison of both sides.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from wattle.base.documents import fields
from wattle.compare.verdict import FEWEST_REPEATS, Difference, Verdict, saving, spread_says
from wattle.figures.call_paths import nearest, region_words
from wattle.figures.sites import merge
from wattle.record.runs import Run

ALARMS = 0.01  # probability of a step in a series without one
ORDERS = 2000  # random orders of the values
SEED = 1  # so that the same runs have the same steps
OUTSIDE = "outside calls"
Changed = Callable[[Run, Run], Difference]


@dataclass(frozen=True)
class Cause:
    """The call site whose time changed most, summed over the processes, from the entry before to that of the step.
    `where`: its place, or OUTSIDE for the time outside calls. Times in s.
    """

    where: str
    call: str
    region: str
    before_s: float
    after_s: float

    @property
    def words(self) -> str:
        name = " ".join(filter(None, (self.where, self.call)))
        return f"{name}, {self.before_s:.3g} s to {self.after_s:.3g} s"

    def as_dict(self) -> dict[str, Any]:
        return fields(self, "where call region before_s after_s")


@dataclass(frozen=True)
class Step:
    """A step. `at`: the place of the first entry after it. `metric`: `time` or `joules`, in s or J; `before`, `after`:
    medians of the parts on both sides. `p`: the probability of such a step by chance. `cause`: None where not known.
    """

    at: int
    metric: str
    before: float
    after: float
    p: float
    cause: Cause | None

    @property
    def rises(self) -> bool:
        return self.after > self.before

    @property
    def saving_percent(self) -> float | None:
        return saving(self.before, self.after)

    def as_dict(self) -> dict[str, Any]:
        return fields(self, "at metric before after saving_percent p cause")


def boundaries(entries: Sequence[Sequence[float]]) -> list[tuple[int, float]]:
    """The places of steps in a series, and the probability of each by chance. `entries`: the values of each entry."""
    found = _strongest(entries)
    if found is None:
        return []
    at, p = found
    return [*boundaries(entries[:at]), (at, p), *((at + k, q) for k, q in boundaries(entries[at:]))]


def _strongest(entries: Sequence[Sequence[float]]) -> tuple[int, float] | None:
    """The most likely step, if it is one."""
    values = [value for entry in entries for value in entry]
    n, ends = len(values), list(accumulate(map(len, entries)))
    cuts = [(k, end) for k, end in enumerate(ends[:-1], 1) if min(end, n - end) >= FEWEST_REPEATS]
    if not cuts or len(set(values)) == 1:
        return None
    ranks = _ranks(values)
    at, largest = max(((k, _distance(ranks, end)) for k, end in cuts), key=lambda found: found[1])
    chance, greater = random.Random(SEED), 0
    for _ in range(ORDERS):
        chance.shuffle(ranks)
        sums = list(accumulate(ranks))
        greater += any(_of_sum(sums[end - 1], end, n) >= largest for _, end in cuts)
        if greater > ALARMS * ORDERS:
            return None
    p = (1 + greater) / (1 + ORDERS)
    return (at, p) if p <= ALARMS else None


def _ranks(values: Sequence[float]) -> list[float]:
    """The ranks from 1; equal values have their mean rank."""
    places: dict[float, list[int]] = defaultdict(list)
    for rank, value in enumerate(sorted(values), 1):
        places[value].append(rank)
    return [math.fsum(places[value]) / len(places[value]) for value in values]


def _distance(ranks: Sequence[float], end: int) -> float:
    return _of_sum(math.fsum(ranks[:end]), end, len(ranks))


def _of_sum(ranks: float, end: int, n: int) -> float:
    """The statistic of Mann and Whitney for the first `end` of n values, in standard deviations without ties."""
    return abs(ranks - end * (n + 1) / 2) / math.sqrt(end * (n - end) * (n + 1) / 12)


def causes(before: Run, after: Run) -> Cause | None:
    """The call site, or the time outside calls, that changed most and by more than noise."""
    sides = [_times(run) for run in (before, after)]
    found: list[Cause] = []
    for key in dict.fromkeys((*sides[0], *sides[1])):
        b, a = (side.get(key, [0.0]) for side in sides)
        if min(len(b), len(a)) < FEWEST_REPEATS or spread_says(b, a).verdict is Verdict.BEYOND:
            found.append(Cause(*key, _median(b), _median(a)))
    return max(found, key=lambda cause: abs(cause.after_s - cause.before_s), default=None)


def _times(run: Run) -> dict[tuple[str, str, str], list[float]]:
    """Seconds of each repeat by place, call and region, summed over the processes."""
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for sample in run.samples:
        if sample.profile is None:
            continue
        own: dict[tuple[str, str, str], float] = defaultdict(float)
        for site in merge(sample.profile):
            region = region_words(site.region) if site.region else ""
            own[nearest(site, sample.profile.program)[0].words, site.call, region] += site.time_s or 0.0
        if (outside := sample.profile.sum("time_s", "compute")) is not None:
            own[OUTSIDE, "", ""] = outside
        for key, seconds in own.items():
            found[key].append(seconds)
    return found


def _median(values: Sequence[float]) -> float:
    return sorted(values)[(len(values) - 1) // 2]
