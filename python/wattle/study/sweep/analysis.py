"""Reads the samples of a study of waiting and clocks: medians by point, savings between points, straight lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

from wattle.base.checked import Checked, parse_json, shown
from wattle.base.errors import DamagedFile
from wattle.record import profile
from wattle.record.pe import add
from wattle.study import energy, program, samples
from wattle.study.place import Place
from wattle.study.published import Evidence, NotTestable
from wattle.study.samples import Layout, Metric, common_columns, joules_columns, metrics, spans_column, sum_domain
from wattle.study.stats import Center, Line, center, line, savings
from wattle.study.sweep.knob import ACTING, Knob
from wattle.text.provenance import Joules, read_joules, total, unavailable

WAITS = ("spin", "yield", "sleep", "adaptive")
WHO = ("all", "sender", "receiver")

SCHEMA: dict[str, Any] = {
    "series": pl.String,  # the part of the study
    "name": pl.String,  # the program, kernel or way
    "who": pl.String,  # the owner of the CPU seconds and joules
    "wait": pl.String,  # WATTLE_WAIT
    "mode": pl.String,  # the governor's mode, "off"; of a plan: "standard", "reduced", "hybrid"
    "scaling": pl.String,  # "" without scaling
    "clock": pl.Float64,  # requested GHz; null: unchanged
    "pes": pl.Int64,
    "x": pl.Float64,  # the swept value
    "y": pl.Float64,
    "round": pl.Int64,
    "job": pl.Int64,
    "repeat": pl.Int64,
    "seconds": pl.Float64,
    "cpu_s": pl.Float64,
    **common_columns(),  # of the PEs alone where modelled; of the node where measured
    "idle_J": pl.Float64,  # the node's idle joules, where the joules above exclude them
    "energy_json": pl.String,  # every domain the meter has
    "more_json": pl.String,  # further keys of the line
    "verified": pl.Boolean,
    "knob": pl.String,  # of the job; "" without a governor
    "job_changes": pl.Int64,  # clock changes of all PEs of the job
    "job_slack_s": pl.Float64,  # PE-seconds of waiting that the governor saw
    "job_slow_s": pl.Float64,  # part of these at the lowest clock
    "job_active_s": pl.Float64,  # PE-seconds from init to finalize
    "job_spin_s": pl.Float64,
    "job_yield_s": pl.Float64,
    "job_asleep_s": pl.Float64,
    "job_waits_json": pl.String,  # seconds that each PE waited, and the time of the job
}

COMPARED = Layout(
    cell=("series", "name", "who", "wait", "mode", "scaling", "clock", "pes", "x", "y"),
    series="series",
    figures=(("seconds", "time"), ("cpu_s", "CPU seconds"), ("cpu_J", "CPU energy"), ("dram_J", "DRAM energy")),
    columns=SCHEMA,
)

COMMON = ("kind", "name", "who", "x", "y", "repeat", "verified", "seconds", "cpu_s", "energy", "spans")


def row(document: dict[str, Any], at: dict[str, Any], name: str) -> dict[str, Any]:
    """A "sample" line as a row, without the columns of the finished job. `at`: series, wait, mode, ..., job. `name`:
    used where the line has none. Raises DamagedFile with the place in a wrong line.
    """
    line = Checked("the program's output", document)
    seconds, cpu_s = line.number("seconds"), line.number("cpu_s")
    if seconds is None or cpu_s is None:
        raise line.get("seconds" if seconds is None else "cpu_s").wrong("expected a number, found null")
    who = line.choice("who", WHO) if line.has("who") else "all"
    cpu, dram = (_whose(line, domain, who) for domain in ("cpu", "dram"))
    return {
        **at,
        "name": line.text("name") if line.has("name") else name,
        "who": who,
        "x": line.number("x") if line.has("x") else None,
        "y": line.number("y") if line.has("y") else None,
        "repeat": line.integer("repeat"),
        "seconds": seconds,
        "cpu_s": cpu_s,
        **joules_columns("cpu", cpu),
        **joules_columns("dram", dram),
        "idle_J": _idle(line) if who == "all" else None,
        "energy_json": json.dumps(document.get("energy")),
        "spans_json": spans_column(line) if who == "all" else None,
        "more_json": json.dumps({k: v for k, v in document.items() if k not in COMMON}),
        "verified": line.get("verified").value is True,
    }


def _figures(line: Checked) -> list[Joules]:
    return [read_joules(entry) for entry in line.items("energy")] if line.has("energy") else []


def _whose(line: Checked, domain: str, who: str) -> Joules:
    """The joules of `who`. One PE's joules are known only where they are counted by process, because a sensor measures
    all PEs of a node.
    """
    if who == "all":
        return sum_domain(line, "energy", domain)
    return next((f for f in _figures(line) if f.domain == domain and f.scope == "process"), unavailable(domain))


def _idle(line: Checked) -> float | None:
    figures = [f for f in _figures(line) if f.domain in ("cpu-idle", "dram-idle")]
    return total(figures).joules if figures else None


ENOUGH = 4  # trials: the runtime learns nothing from fewer at one size (FEW in src/govern/thresholds.c)


def thresholds_of(folder: Path, pes: int) -> dict[str, Any]:
    """The sizes from which PE 0's transfers slept at the end of a job with a governor of transfers. Empty where it
    tried too few transfers to learn: the sizes are then the start values.
    """
    if not any((folder / "profile").glob("pe-*.json")):
        return {}
    found = profile.load(folder, pes).pes[0].transfers
    return {"thresholds": found.thresholds} if found and found.trials >= ENOUGH else {}


def with_more(entry: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    return entry | {"more_json": json.dumps(json.loads(entry["more_json"]) | more)} if more else entry


def of_job(folder: Path, pes: int) -> dict[str, Any]:
    """Columns from the profile of a finished job; null where it left none."""
    found = program.profile_of(folder, pes)
    if found is None:
        return {key: None for key in SCHEMA if key.startswith("job_")} | program.lacked(None) | {"knob": ""}
    clocks = [pe.clocks for pe in found.pes if pe.clocks]
    governed = [c for c in clocks if c.changes is not None]
    waits = [pe.time_s["wait"] for pe in found.pes]
    return {
        "knob": clocks[0].knob if clocks else "",
        "job_changes": sum(c.changes or 0 for c in governed) if governed else None,
        "job_slack_s": add(c.slack_s for c in governed) if governed else None,
        "job_slow_s": add(c.slow_s for c in governed) if governed else None,
        **program.states(found),
        "job_waits_json": json.dumps({"wall_s": found.wall_s, "wait_s": waits}),
    }


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


METRICS = metrics(
    Metric("seconds", "Time", "s", itemgetter("seconds")),
    Metric("cpu_s", "CPU seconds", "s", itemgetter("cpu_s")),
    Metric("cores", "Cores in use", "", lambda r: r["cpu_s"] / r["seconds"]),
    Metric("cpu", "CPU energy", "J", itemgetter("cpu_J"), energy.DOMAINS),
    Metric("dram", "DRAM energy", "J", itemgetter("dram_J"), energy.DOMAINS),
    Metric("own", "Energy of the PEs", "J", energy.whole, energy.DOMAINS),
    Metric("node", "Energy of the node", "J", node, energy.DOMAINS),
    Metric("own_watts", "Power of the PEs", "W", _times(energy.whole, 1, -1), energy.DOMAINS),
    Metric("node_watts", "Power of the node", "W", _times(node, 1, -1), energy.DOMAINS),
    Metric("edp", "Energy x delay", "J·s", _times(node, 1, 1), energy.DOMAINS),
    Metric("ed2p", "Energy x delay²", "J·s²", _times(node, 1, 2), energy.DOMAINS),
    Metric("e2dp", "Energy² x delay", "J²·s", _times(node, 2, 1), energy.DOMAINS),
)


class Analysis(Evidence):
    """The samples, indexed. A point that was not measured gives None."""

    frame: pl.DataFrame

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

        series = wanted.get("series")
        return list(filter(fits, self._in_order.get(series if isinstance(series, str) else None, [])))

    @cached_property
    def _in_order(self) -> dict[str | None, list[Point]]:
        """The points in order of the sweep, by series; None: all of them."""
        ordered = sorted(self.points, key=lambda p: (p.pes, p.x or 0, p.y or 0, p.clock or 0))
        return {None: ordered} | {s: [p for p in ordered if p.series == s] for s in {p.series for p in ordered}}

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

    def kind(self, metric: str) -> str:
        return self.provenance if METRICS[metric].energy else "measured"

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
