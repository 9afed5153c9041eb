"""Reads the samples of a study of waiting and clocks: medians by point, savings between points, straight lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median
from typing import Any

import polars as pl

from wattle.base.checked import Checked, parse_json, shown
from wattle.base.errors import DamagedFile
from wattle.study import energy, samples
from wattle.study.place import Place
from wattle.study.published import Evidence, NotTestable
from wattle.study.stats import Center, Line, center, line, savings
from wattle.study.sweep.knob import ACTING, Knob

Row = dict[str, Any]
ONLY_RECORDS = "the modes ran with a knob that only records"


@dataclass(frozen=True)
class Point:
    """One way of running one case, without its repeats."""

    series: str
    name: str
    who: str
    wait: str
    mode: str
    scaling: str
    clock: float | None
    pes: int
    x: float | None
    y: float | None

    @property
    def policy(self) -> str:
        """The policy: `spin`; `energy, reactive` with a governor; `hybrid` with a plan."""
        if self.mode == "off":
            return self.wait
        return f"{self.mode}, {self.scaling}" if self.scaling else self.mode


@dataclass(frozen=True)
class Fit:
    """A straight line through samples, as a sentence and as numbers. `slope`, `intercept`: with their units."""

    what: str
    policy: str
    slope: float
    intercept: float
    r2: float
    words: str
    provenance: str


def node(row: Row) -> float | None:
    """Joules with the node's idle joules, as a sensor measures them. Measured joules include these."""
    joules = energy.whole(row)
    has_idle = row["cpu_provenance"] == "measured" or row.get("node_J") is not None
    return joules if joules is None or has_idle else joules + (row["idle_J"] or 0.0)


def _times(of: Callable[[Row], float | None], energies: int, delays: int) -> Callable[[Row], float | None]:
    def value(row: Row) -> float | None:
        joules = of(row)
        return None if joules is None else joules**energies * row["seconds"] ** delays

    return value


@dataclass(frozen=True)
class Metric:
    name: str
    label: str
    unit: str
    value: Callable[[Row], float | None]
    energy: bool = True


METRICS = {
    m.name: m
    for m in (
        Metric("seconds", "Time", "s", lambda r: r["seconds"], False),
        Metric("cpu_s", "CPU seconds", "s", lambda r: r["cpu_s"], False),
        Metric("cores", "Cores in use", "", lambda r: r["cpu_s"] / r["seconds"], False),
        Metric("cpu", "CPU energy", "J", lambda r: r["cpu_J"]),
        Metric("dram", "DRAM energy", "J", lambda r: r["dram_J"]),
        Metric("own", "Energy of the PEs", "J", energy.whole),
        Metric("node", "Energy of the node", "J", node),
        Metric("own_watts", "Power of the PEs", "W", _times(energy.whole, 1, -1)),
        Metric("node_watts", "Power of the node", "W", _times(node, 1, -1)),
        Metric("edp", "Energy x delay", "J·s", _times(node, 1, 1)),
        Metric("ed2p", "Energy x delay²", "J·s²", _times(node, 1, 2)),
        Metric("e2dp", "Energy² x delay", "J²·s", _times(node, 2, 1)),
    )
}


class Analysis(Evidence):
    """The samples, indexed. A point that was not measured gives None."""

    def __init__(self, frame: pl.DataFrame, knob: Knob, place: Place | None = None) -> None:
        self.frame = frame
        self.knob = knob
        self.place = place or Place()
        self.points: dict[Point, list[Row]] = {}
        for row in frame.sort("round", "job", "repeat").iter_rows(named=True):
            keys = ("series", "name", "who", "wait", "mode", "scaling", "clock", "pes", "x", "y")
            self.points.setdefault(Point(*(row[key] for key in keys)), []).append(row)

    def select(self, **wanted: Any) -> list[Point]:
        """The points with these values, in order of the sweep. A tuple allows any of its values."""

        def fits(point: Point) -> bool:
            return all(
                getattr(point, key) in value if isinstance(value, tuple) else getattr(point, key) == value
                for key, value in wanted.items()
            )

        return sorted(filter(fits, self.points), key=lambda p: (p.pes, p.x or 0, p.y or 0, p.clock or 0))

    def policies(self, **wanted: Any) -> list[str]:
        """The policies in the order of the report: wait policies, then modes as they ran."""
        wanted_points = set(self.select(**wanted))
        return list(dict.fromkeys(p.policy for p in self.points if p in wanted_points))

    def center(self, metric: str, point: Point | None) -> Center | None:
        rows = self.points.get(point, []) if point else []
        return center(METRICS[metric].value(row) for row in rows)

    def median(self, metric: str, point: Point | None) -> float | None:
        found = self.center(metric, point)
        return found.median if found else None

    def saving(self, metric: str, before: Point | None, after: Point | None) -> Center | None:
        """Percent saved, repeat by repeat in the order of the runs. Positive is a saving."""
        if before not in self.points or after not in self.points:
            return None
        value = METRICS[metric].value
        return self.saved(*([value(row) for row in self.points[p]] for p in (before, after)))

    @staticmethod
    def saved(before: list[float | None], after: list[float | None]) -> Center | None:
        """Percent saved, from two lists of figures by repeat."""
        n = min(len(before), len(after))
        return center(savings(before[:n], after[:n]))

    def fit(self, metric: str, points: Iterable[Point], x: Callable[[Point], float]) -> Line | None:
        """A straight line through all samples of these points, by least squares."""
        value = METRICS[metric].value
        pairs = [(x(p), v) for p in points for row in self.points[p] if (v := value(row)) is not None]
        return line([a for a, _ in pairs], [b for _, b in pairs])

    def more(self, point: Point, key: str) -> list[Checked]:
        """The values of a key that only these samples have, by repeat."""
        found = [parse_json(samples.FILE, row["more_json"]) for row in self.points.get(point, [])]
        return [facts.get(key) for facts in found if facts.has(key)]

    def medians(self, point: Point, key: str, places: int) -> list[float]:
        """Medians over the repeats of a list of numbers that only these samples have, one for each of `places`. An
        unknown number counts as 0.
        """
        facts = [numbers.numbers(places) for numbers in self.more(point, key)]
        if not facts:
            raise DamagedFile(samples.FILE, f"column 'more_json': no sample of {shown(point.name)} says {key}")
        return [median(numbers[k] or 0.0 for numbers in facts) for k in range(places)]

    def waits(self, point: Point) -> list[list[float]]:
        """The shares of a job's time that each PE waited, as a list for each job."""
        jobs: dict[int, list[float]] = {}
        for row in self.points.get(point, []):
            facts = parse_json(samples.FILE, row["job_waits_json"] or "{}")
            if facts.has("wall_s") and facts.has("wait_s") and None not in facts.get("wait_s").expect("a list").value:
                waits = facts.get("wait_s").numbers(point.pes)[: point.pes]
                jobs[row["job"]] = [(w or 0.0) / facts.positive("wall_s") for w in waits]
        return list(jobs.values())

    def changes(self, point: Point) -> float | None:
        """The number of clock changes in a job of this point, median over the jobs."""
        jobs = {row["job"]: row["job_changes"] for row in self.points.get(point, []) if row["job_changes"] is not None}
        found = center(jobs.values())
        return found.median if found else None

    def changes_head(self, words: str) -> str:
        """The heading above `changes`. A knob that only records counts the changes that another would have made."""
        return words if self.knob.name in ACTING else f"{words}, only recorded"

    def like(self, point: Point, **other: Any) -> Point | None:
        """The point with other values, if it was measured."""
        found = replace(point, **other)
        return found if found in self.points else None

    @cached_property
    def repeats(self) -> int:
        return min(map(len, self.points.values()), default=0)

    @cached_property
    def provenance(self) -> str:
        """The weakest provenance of the samples."""
        return energy.weakest(self.frame)

    @cached_property
    def knows_clocks(self) -> bool:
        """Whether joules depend on the clock, as those of a sensor and of a simulation do."""
        return self.provenance == "measured" or (self.knob.simulated and self.provenance == "modelled")

    def needs_joules(self) -> None:
        """Raises NotTestable where joules are not known."""
        if self.provenance == "unavailable":
            raise NotTestable("joules are not known here")

    def needs_clocks(self, joules: bool = False, otherwise: str = "") -> None:
        """Raises NotTestable where no clock can be set, or with `joules` where they do not depend on the clock.
        `otherwise`: how the jobs ran without a knob.
        """
        if not self.knob.acts:
            raise NotTestable("; ".join(filter(None, (self.knob.words, otherwise))))
        if joules and not self.knows_clocks:
            raise NotTestable(self.why_no_clocks)

    @property
    def why_no_clocks(self) -> str:
        if self.provenance == "modelled":
            return (
                "joules are modelled here: the effect of a clock is an input of the model, so the samples "
                "cannot show it"
            )
        return f"joules are {self.provenance} here"

    @property
    def simulated(self) -> bool:
        return self.knob.simulated

    def with_frame(self, frame: pl.DataFrame) -> Analysis:
        return Analysis(frame, self.knob, self.place)

    @cached_property
    def uncertainty(self) -> float | None:
        """The median of the relative uncertainty of the CPU's joules."""
        return energy.uncertainty(self.frame)
