"""Watts over time: of the nodes' meters that a run has read (profile/power-00000.json), and of an external one."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from wattle.base.checked import Checked, read_json, require_schema
from wattle.text.provenance import significant

SCHEMA = 1
NAME = re.compile(r"power-([0-9]{5})\.json")


@dataclass(frozen=True)
class PowerTrace:
    """Watts over time of one scope or domain, by the meter `source`. `at_s`: seconds since 1970, ascending."""

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

    def thinned(self, most: int) -> PowerTrace:
        """The power with at most `most` points, each the mean of as many readings."""
        each = -(-len(self.at_s) // most)
        if each < 2:
            return self
        cuts = range(0, len(self.at_s), each)
        at, watts = ([_mean(v[k : k + each]) for k in cuts] for v in (self.at_s, self.watts))
        return PowerTrace(self.scope, self.source, at, watts)


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def read(entry: Checked) -> PowerTrace:
    """Reads the power in a file. Raises DamagedFile."""
    at, watts = ([v or 0.0 for v in entry.get(key).numbers()] for key in ("at_s", "watts"))
    if len(at) != len(watts):
        raise entry.wrong(f"has {len(at)} moments and {len(watts)} readings")
    if any(b < a for a, b in pairwise(at)):
        raise entry.get("at_s").wrong("expected ascending moments")
    return PowerTrace(entry.text("scope"), entry.text("source"), at, watts)


def load(folder: Path, hosts: Mapping[int, str]) -> list[PowerTrace]:
    """The watts in a run's profile folder, by node and domain. `hosts`: by PE. With several hosts a domain's name
    begins with its host. Empty without a sensor. Raises DamagedFile.
    """
    found = []
    several = len(set(hosts.values())) > 1
    for path in sorted(folder.glob("power-*.json")):
        if not (number := NAME.fullmatch(path.name)):
            continue
        host = f"{hosts.get(int(number[1]), '?')} " if several else ""
        found += [replace(power, scope=host + power.scope) for power in _read(path)]
    return found


def of_reader(folder: Path, pe: int) -> list[PowerTrace]:
    """The watts that one PE read of its node's meter. Empty where it left none. Raises DamagedFile."""
    path = folder / f"power-{pe:05d}.json"
    return _read(path) if path.is_file() else []


def _read(path: Path) -> list[PowerTrace]:
    document = read_json(path)
    require_schema(document, SCHEMA)
    return [read(entry) for entry in document.items("power")]
