"""Reads the samples of a study of a mini-app's versions: medians and spreads by version, input and number of PEs, and
ratios between versions.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any

import polars as pl

from wattle.base.checked import Checked
from wattle.study import energy
from wattle.study.place import Place
from wattle.study.published import Evidence
from wattle.study.samples import Layout, Metric, common_columns, joules_columns, metrics, spans_column, sum_domain
from wattle.study.stats import Center, center

SCHEMA: dict[str, Any] = {
    "version": pl.String,
    "pes": pl.Int64,
    "input": pl.String,
    # "runs": runs that count. "first": a job's first solution of an input, a warm-up that statistics leave out. "held":
    # the first work was held back, so that workers had none.
    "series": pl.String,
    "round": pl.Int64,  # versions alternate; a round is one job of each
    "job": pl.Int64,  # the number of the job
    "repeat": pl.Int64,  # within the job
    "seconds": pl.Float64,
    "cpu_s": pl.Float64,  # CPU seconds of all PEs
    "wait_s": pl.Float64,  # time that all workers waited for work; null for some mini-apps
    "wait_cpu_s": pl.Float64,  # the part of it on a core
    **common_columns(),  # of all PEs, for one solution
    "energy_json": pl.String,  # every domain the meter has
    "job_active_s": pl.Float64,  # PE-seconds of the whole job by state; null for MPI
    "job_spin_s": pl.Float64,
    "job_yield_s": pl.Float64,
    "job_asleep_s": pl.Float64,
    "verified": pl.Boolean,
}

# By input and number of PEs. Workers whose work was held back are a series of their own.
COMPARED = Layout(
    ("series", "input", "pes", "version"),
    "version",
    (("seconds", "time"), ("cpu_s", "CPU seconds"), ("cpu_J", "CPU energy"), ("dram_J", "DRAM energy")),
    SCHEMA,
)


def row(document: dict[str, Any], at: dict[str, Any]) -> dict[str, Any]:
    """A "sample" line as a row, without the columns of the finished job. `at`: version, pes, input, series, round, job.
    Raises DamagedFile with the place in a wrong line.
    """
    line = Checked("the mini-app's output", document)
    seconds, cpu_s = line.number("seconds"), line.number("cpu_s")
    if seconds is None or cpu_s is None:
        raise line.get("seconds" if seconds is None else "cpu_s").wrong("expected a number, found null")
    return {
        **at,
        "repeat": line.integer("repeat"),
        "seconds": seconds,
        "cpu_s": cpu_s,
        "wait_s": line.number("wait_s") if line.has("wait_s") else None,
        "wait_cpu_s": line.number("wait_cpu_s") if line.has("wait_cpu_s") else None,
        **joules_columns("cpu", sum_domain(line, "energy", "cpu")),
        **joules_columns("dram", sum_domain(line, "energy", "dram")),
        "energy_json": json.dumps(document.get("energy")),
        "spans_json": spans_column(line),
        "verified": line.get("verified").value is True if document.get("verified") is not None else None,
    }


STAGES = ("active", "spin", "yield", "asleep")

METRICS = metrics(
    Metric("seconds", "Time", "s", itemgetter("seconds")),
    Metric("cpu_s", "CPU seconds, all PEs", "s", itemgetter("cpu_s")),
    Metric("energy", "CPU + DRAM energy", "J", energy.whole, energy.DOMAINS),
)


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

    frame: pl.DataFrame

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
