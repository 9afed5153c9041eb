"""Watts over time: of the meter that a run has read, and of an external one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from wattle.base.checked import Checked
from wattle.text.provenance import significant


@dataclass(frozen=True)
class Power:
    """Watts over time, of one scope or domain. `source`: the meter. `at_s`: seconds since 1970 on the clock of the
    machine that ran the job, ascending.
    """

    scope: str
    source: str
    at_s: list[float]
    watts: list[float]

    @property
    def title(self) -> str:
        """The name of the row in a timeline."""
        return f"power, W, {self.scope}, {self.source}"

    @property
    def mean_and_peak(self) -> str:
        """The mean and the highest reading, such as `package-0: 41 W on average, at most 78 W`; "" without any. A
        reading is the mean of its interval, so shorter peaks are higher.
        """
        if not self.watts:
            return ""
        mean, peak = significant(_mean(self.watts), 3), significant(max(self.watts), 3)
        return f"{self.scope}: {mean} W on average, at most {peak} W"

    def thinned(self, most: int) -> Power:
        """The power with at most `most` points, each the mean of as many readings."""
        each = -(-len(self.at_s) // most)
        if each < 2:
            return self
        cuts = range(0, len(self.at_s), each)
        at, watts = ([_mean(v[k : k + each]) for k in cuts] for v in (self.at_s, self.watts))
        return Power(self.scope, self.source, at, watts)


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def read(entry: Checked) -> Power:
    """Reads the power in a file. Raises DamagedFile."""
    at, watts = ([v or 0.0 for v in entry.get(key).numbers()] for key in ("at_s", "watts"))
    if len(at) != len(watts):
        raise entry.wrong(f"has {len(at)} moments and {len(watts)} readings")
    if any(b < a for a, b in pairwise(at)):
        raise entry.get("at_s").wrong("expected ascending moments")
    return Power(entry.text("scope"), entry.text("source"), at, watts)
