"""Reads the samples of a study of a mini-app's versions: medians and spreads by version, input and number of PEs, and
ratios between versions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

import polars as pl

from wattle.study import energy
from wattle.study.metric import Metric
from wattle.study.place import Place
from wattle.study.published import Evidence
from wattle.study.stats import Center, center

STAGES = ("active", "spin", "yield", "asleep")

METRICS = {
    m.name: m
    for m in (
        Metric("seconds", "Time", "s", itemgetter("seconds")),
        Metric("cpu_s", "CPU seconds, all PEs", "s", itemgetter("cpu_s")),
        Metric("energy", "CPU + DRAM energy", "J", energy.whole, ("cpu", "dram")),
    )
}


@dataclass(frozen=True)
class Held:
    """Workers without work, of one version: seconds that they waited, and the part of it on a core."""

    version: str
    pes: int
    wait_s: float
    wait_cpu_s: float

    @property
    def share(self) -> float:
        return self.wait_cpu_s / self.wait_s


class Analysis(Evidence):
    """The samples. `versions`: those with samples, in the study's order. `left_out`: versions that could not run, with
    the reason.
    """

    def __init__(
        self,
        frame: pl.DataFrame,
        versions: tuple[str, ...],
        left_out: dict[str, str] | None = None,
        place: Place | None = None,
    ) -> None:
        self.frame = frame
        self.place = place or Place()
        self.left_out = left_out or {}
        self.runs = frame.filter(pl.col("series") == "runs")
        self.versions = [v for v in versions if v in set(frame["version"])]
        self.pes = sorted(set(self.runs["pes"]))
        self.inputs = list(dict.fromkeys(self.runs["input"]))

    def with_frame(self, frame: pl.DataFrame) -> Analysis:
        return Analysis(frame, tuple(self.versions), self.left_out, self.place)

    def values(self, metric: str, version: str, given: str, pes: int) -> list[float | None]:
        """The values in the order of the runs."""
        return self._values.get((metric, version, given, pes), [])

    @cached_property
    def _values(self) -> dict[tuple[str, str, str, int], list[float | None]]:
        found: dict[tuple[str, str, str, int], list[float | None]] = {}
        for row in self.runs.sort("round", "job", "repeat").iter_rows(named=True):
            for metric in METRICS.values():
                key = metric.name, row["version"], row["input"], row["pes"]
                found.setdefault(key, []).append(metric.value(row))
        return found

    def center(self, metric: str, version: str, given: str, pes: int) -> Center | None:
        values = self.values(metric, version, given, pes)
        return center(values) if values else None

    def ratio(self, metric: str, version: str, other: str, given: str, pes: int) -> Center | None:
        """The ratio of `version` to `other`, run by run in order. Its `median` is the quotient of the two medians, so
        that it agrees with the table.
        """
        a, b = self.values(metric, version, given, pes), self.values(metric, other, given, pes)
        pairs = [x / y for x, y in zip(a, b, strict=False) if x is not None and y]
        mine, its = center(a), center(b)
        found = center(pairs)
        if found is None or mine is None or its is None or its.median == 0:
            return None
        median = mine.median / its.median
        return Center(median, found.lo, found.hi, found.p25, found.p75, found.n, found.confidence)

    def spread(self, version: str, given: str, pes: int) -> float | None:
        """The spread of the time: the middle half divided by the median."""
        found = self.center("seconds", version, given, pes)
        return None if found is None or found.median == 0 else (found.p75 - found.p25) / found.median

    def waits(self, version: str, pes: int) -> dict[str, float] | None:
        """Shares of all PE-seconds of the jobs, by stage; None where they were not counted."""
        jobs = self.runs.filter((pl.col("version") == version) & (pl.col("pes") == pes)).unique(
            "job", maintain_order=True
        )
        columns = [f"job_{stage}_s" for stage in STAGES]
        jobs = jobs.drop_nulls(columns)
        if jobs.is_empty():
            return None
        sums = {stage: float(jobs[f"job_{stage}_s"].sum()) for stage in STAGES}
        whole = sum(sums.values())
        return {stage: value / whole for stage, value in sums.items()} if whole > 0 else None

    @cached_property
    def held(self) -> list[Held]:
        """The waits of workers without work, by version and number of PEs, over all repeats."""
        rows = self.frame.filter(pl.col("series") == "held").drop_nulls(["wait_s", "wait_cpu_s"])
        found = []
        for version in self.versions:
            for pes in sorted(set(rows["pes"])):
                one = rows.filter((pl.col("version") == version) & (pl.col("pes") == pes))
                if one.height and one["wait_s"].sum() > 0:
                    found.append(Held(version, pes, float(one["wait_s"].sum()), float(one["wait_cpu_s"].sum())))
        return found

    def provenance(self, metric: str) -> str:
        """The weakest provenance among the samples of the metric."""
        return energy.weakest(self.runs, METRICS[metric].energy)

    @cached_property
    def sources(self) -> list[str]:
        return energy.sources(self.runs)

    @property
    def uncertainty(self) -> float | None:
        """The median of the relative uncertainty of the joules."""
        return energy.uncertainty(self.runs)

    @property
    def repeats(self) -> int:
        """The smallest number of runs of a point."""
        return int(self.runs.group_by("version", "input", "pes").len()["len"].min())  # type: ignore[arg-type]
