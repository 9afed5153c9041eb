"""A study of waiting and clocks: its jobs, its table, and what its results hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from wattle.base.checked import Checked
from wattle.record.manifest import Manifest
from wattle.study import registry
from wattle.study.course import Work
from wattle.study.engine import Check, Study, Table, missing
from wattle.study.options import QUICK, ROUNDS
from wattle.study.place import SIMULATED, Place, of_study
from wattle.study.published import Row
from wattle.study.samples import Layout
from wattle.study.sweep import knob
from wattle.study.sweep.analysis import COMPARED, METRICS, WAITS, WHO, Analysis, Fit, Point
from wattle.study.sweep.plan import Job, Plan, make_plan
from wattle.text import units
from wattle.text.units import si

if TYPE_CHECKING:
    from wattle.html.page import Page
    from wattle.study.sweep.page import Section


@dataclass(frozen=True, kw_only=True)
class Sweep(Study[Analysis]):
    """A study. `jobs`: those of a round. `table`: of the command's output. `fits`: its straight lines. `program`: a
    user's program with its arguments, in place of those of apps/; there are no published figures of it. `per_node`: PEs
    of a simulated node.
    """

    jobs: Callable[[Plan], list[Job]]
    table: Callable[[Analysis], Table]
    paper: str = "the dissertation (D: S. Jana, 2016)"
    says: Callable[[Analysis], str] = lambda a: ""  # further sentences for the summary
    fits: Callable[[Analysis], list[Fit]] = lambda a: []
    program: tuple[str, ...] = ()
    per_node: int = 1
    at: str = "{x}"  # the swept value of the first series, as text
    layout: Layout = COMPARED
    options: Mapping[str, Any] = field(default_factory=lambda: {"quick": QUICK, "rounds": ROUNDS})

    def plan(self, quick: bool, place: Place, **options: Any) -> Plan:
        on = f"{SIMULATED}:{place.cluster}" if place.simulated else place.name
        return make_plan(quick, options["rounds"], on, place, self.per_node)

    def remark(self, plan: Plan) -> str:
        return plan.knob.words

    def work(self, plan: Plan) -> Work:
        from wattle.study.sweep import course

        return course.work(self, plan)

    def tables(self, a: Analysis) -> list[Table]:
        return [self.table(a)]

    def remarks(self, a: Analysis) -> list[str]:
        fits = self.fits(a)
        heads = ["", f"Straight lines by least squares, joules {a.provenance}"] if fits else []
        return heads + [f"  {fit.policy}: {fit.words}" for fit in fits]

    def sections(self, a: Analysis) -> list[Section]:
        """The study's own sections of its page: by `sections` of the folder's module `page`."""
        found: list[Section] = registry.part(self.name, "page").sections(a)
        return found

    def subtitle(self, a: Analysis) -> str:
        return self.question

    def parts(self, a: Analysis, rows: list[Row], facts: Checked, record: Manifest) -> Any:
        from wattle.study.sweep import page

        return page.parts(self, a, facts, record)

    def page(self, directory: Path, record: Manifest) -> Page:
        from wattle.study.sweep import page

        with page.points_there(directory):
            return super().page(directory, record)

    def checks(self) -> Sequence[Check]:
        keys = ("series", "name", "who", "wait", "mode", "scaling", "pes", "round", "job", "repeat")
        return (
            (
                ~pl.col("wait").is_in(WAITS) | ~pl.col("who").is_in(WHO),
                "holds a sample of a wait policy or of a PE that this study does not have",
            ),
            (
                missing(*keys, "seconds", "cpu_s", "verified", "more_json"),
                "holds a sample without its series, policy, PEs, repeat or time",
            ),
            (pl.col("seconds") <= 0, "holds a sample of no time"),
        )

    def analysis(self, frame: pl.DataFrame, facts: Checked, record: Manifest) -> Analysis:
        return Analysis(frame, knob.of_study(facts), of_study(facts) if facts.has("place") else Place())

    def own(self, a: Analysis) -> tuple[dict[str, Any], dict[str, Any]]:
        before = {
            "provenance": a.provenance,
            "knob": a.knob.as_dict(),
        }
        return before, {
            "fits": [fit.__dict__ for fit in self.fits(a)],
            "points": [_point(a, point) for point in a.points],
        }

    def sentences(self, a: Analysis, record: Manifest) -> list[str]:
        fits = self.fits(a)
        return [
            "" if self.program else waiting(a, self.at),
            f"Spinning, {fits[0].words}." if fits else "",
            self.says(a),
            f"{sentence(a.knob.words)}.",
            joules_of(a, record),
        ]

    def wrong(self, n: int) -> str:
        return f"{units.several(n, 'sample')} failed verification"

    def reasons(self, on_page: bool) -> str:
        return f"The reasons are {'below' if on_page else 'in the report'}."


def _point(a: Analysis, point: Point) -> dict[str, Any]:
    centers = {name: c.as_dict() if (c := a.center(name, point)) else None for name in METRICS}
    return {**point.__dict__, **centers, "job_changes": a.changes(point)}


def costs(a: Analysis, point: Point | None, joules: str) -> list[str]:
    """Time, CPU seconds and joules of a point, medians, for a table. `joules`: the metric."""
    seconds, cpu = (units.seconds(a.median(metric, point)) for metric in ("seconds", "cpu_s"))
    return [seconds, cpu, in_joules(a, joules, point)]


def in_joules(a: Analysis, metric: str, point: Point | None) -> str:
    found = a.median(metric, point)
    return units.UNKNOWN if found is None else si(found, "J")


def changes(a: Analysis, point: Point) -> str:
    """The number of clock changes in a job of this point, for a table."""
    found = a.changes(point)
    return units.UNKNOWN if found is None else f"{found:.0f}"


def sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def waiting(a: Analysis, at: str) -> str:
    """The CPU time of the longest case of the first series, by wait policy."""
    last = longest(a)
    points = a.select(series=last.series, who=last.who, mode="off", clock=None)
    found = [
        (p, c)
        for p in points
        if (p.name, p.pes, p.x, p.y) == (last.name, last.pes, last.x, last.y) and (c := a.center("cpu_s", p))
    ]
    listed = ", ".join(f"{p.wait} {units.seconds(c.median)}" for p, c in found)
    who = "the receiver" if last.who == "receiver" else "all PEs"
    return f"CPU time of {who} ({case_words(at, last)}), by wait policy: {listed}."


def longest(a: Analysis) -> Point:
    """The last case of the first series, under the first wait policy."""
    first = next(iter(a.points))
    who = "receiver" if first.who == "sender" else first.who
    return a.select(series=first.series, name=first.name, who=who, wait=first.wait, mode="off", clock=None)[-1]


def case_words(at: str, point: Point) -> str:
    """A case as text. `at`: the form of the swept value."""
    swept = "" if point.x is None else ", " + at.format(x=f"{point.x:,.10g}")
    return f"{point.series}: {point.name}{swept}"


def joules_of(a: Analysis, record: Manifest) -> str:
    source = ", ".join(a.sources)
    if a.provenance == "unavailable":
        return "Joules are not known here."
    if a.provenance == "measured":
        return f"Joules are measured ({source}): a sensor measures the whole node."
    if a.knob.simulated:
        return (
            f"Joules are modelled, not measured ({source}): the watts of each state and clock times the simulated time."
        )
    why = record.meter.get("why", "").rstrip(".")
    return f"Joules are modelled, not measured ({source}), all at the base clock" + (f": {why}." if why else ".")
