"""A study of a mini-app: its versions and inputs, how much of each runs, and what its results hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from wattle.base.checked import Checked
from wattle.machine.paths import Home
from wattle.record.manifest import Manifest
from wattle.study.course import Work
from wattle.study.engine import Check, Study, Table, joules, missing
from wattle.study.options import QUICK, ROUNDS, number
from wattle.study.place import Place, of_study
from wattle.study.published import Row
from wattle.study.samples import Layout
from wattle.study.versions.analysis import COMPARED, METRICS, Analysis
from wattle.text import units
from wattle.text.units import si, si_scale

if TYPE_CHECKING:
    from wattle.study.versions.course import Plan

PES = number(str, "--pes", "Numbers of PEs, as in 2,4,8.", metavar="N,...")


@dataclass(frozen=True)
class Case:
    """The work of one job. `inputs`: the number of different inputs that it solves."""

    arguments: Callable[[Home], list[str]]
    inputs: int = 1
    series: str = "runs"
    pes: tuple[int, ...] | None = None  # None: those of the plan


@dataclass(frozen=True)
class Size:
    """The amount of work: rounds of a job of each version, and counted solutions of each input in a job."""

    pes: tuple[int, ...]
    rounds: int
    each: int
    cases: tuple[Case, ...]


@dataclass(frozen=True, kw_only=True)
class App(Study[Analysis]):
    """A mini-app. `input_of`: the name of the input of a sample's line. `held`: cases in which work is held back."""

    versions: tuple[str, ...]  # in the order of the report
    words: dict[str, str]  # a description of each version
    full: Size
    quick: Size
    input_of: Callable[[dict[str, Any]], str]
    held: tuple[Case, ...]
    simulated: Size  # for --on sim: runs do not differ, so one round is enough
    layout: Layout = COMPARED
    options: Mapping[str, Any] = field(default_factory=lambda: {"quick": QUICK, "pes": PES, "rounds": ROUNDS})

    def plan(self, quick: bool, place: Place, **options: Any) -> Plan:
        from wattle.study.versions.course import make_plan

        return make_plan(self, options["pes"], options["rounds"], quick, place)

    def work(self, plan: Plan) -> Work:
        from wattle.study.versions import course

        return course.work(plan)

    def tables(self, a: Analysis) -> list[Table]:
        """For each input, medians of time and CPU seconds of each version, by number of PEs."""
        heads = ["PEs", *(head for version in a.versions for head in (version, "CPU"))]
        return [
            (
                f"{given}: time and CPU seconds, medians of {units.several(a.repeats, 'run')}",
                heads,
                [
                    [
                        str(n),
                        *(
                            units.seconds(c.median) if (c := a.center(metric, version, given, n)) else units.UNKNOWN
                            for version in a.versions
                            for metric in ("seconds", "cpu_s")
                        ),
                    ]
                    for n in a.pes
                ],
            )
            for given in a.inputs
        ]

    def parts(self, a: Analysis, rows: list[Row], facts: Checked, record: Manifest) -> Any:
        from wattle.study.versions import page

        return page.parts(a, self.words, facts)

    def checks(self) -> Sequence[Check]:
        return (
            (~pl.col("version").is_in(self.versions), f"holds a sample of a version that {self.name} does not have"),
            (
                missing("version", "pes", "input", "series", "round", "job", "repeat", "seconds", "cpu_s"),
                "holds a sample without its version, PEs, input, repeat or time",
            ),
            ((pl.col("series") != "runs").all(), "holds no run"),
        )

    def analysis(self, frame: pl.DataFrame, facts: Checked, record: Manifest) -> Analysis:
        left_out = facts.get("left_out").object() if facts.has("left_out") else {}
        return Analysis(frame, self.versions, {str(k): str(v) for k, v in left_out.items()}, of_study(facts))

    def own(self, a: Analysis) -> tuple[dict[str, Any], dict[str, Any]]:
        before = {
            "left_out": a.left_out,
            "provenance": {name: a.provenance(name) for name in METRICS if METRICS[name].energy},
        }
        after = {
            "points": [_point(a, v, i, n) for i in a.inputs for n in a.pes for v in a.versions],
            "held": [vars(held) | {"share": held.share} for held in a.held],
        }
        return before, after

    def sentences(self, a: Analysis, record: Manifest) -> list[str]:
        return [_quickest(a), _held(a), joules(a.provenance("energy"), a.sources, record)]

    def left_out(self, a: Analysis) -> dict[str, str]:
        return {f"Version {version}": reason for version, reason in a.left_out.items()}

    def wrong(self, n: int) -> str:
        return f"The answer was wrong in {n} runs"

    def reasons(self, on_page: bool) -> str:
        return ""


def _point(a: Analysis, version: str, given: str, pes: int) -> dict[str, Any]:
    centers = {metric: a.center(metric, version, given, pes) for metric in METRICS}
    return {
        "version": version,
        "input": given,
        "pes": pes,
        **{metric: found.as_dict() if found else None for metric, found in centers.items()},
        "waits": a.waits(version, pes),
    }


def _quickest(a: Analysis) -> str:
    given, n = a.inputs[-1], a.pes[-1]
    found = [(v, c.median) for v in a.versions if (c := a.center("seconds", v, given, n))]
    if len(found) < 2:
        return ""
    ordered = sorted(found, key=lambda entry: entry[1])
    scale = si_scale((s for _, s in ordered), "s")
    listed = ", ".join(f"{v} {si(s, 's', scale)}" for v, s in ordered)
    where = f"{given} with {units.several(n, 'PE')}"
    return f"Medians of {units.several(a.repeats, 'run')} on {where}, the quickest first: {listed}."


def _held(a: Analysis) -> str:
    if not a.held:
        return ""
    listed = ", ".join(f"{h.version} {h.share * 100:.2g} %" for h in a.held)
    return f"Workers that had no work were on a core for this part of the time: {listed}."
