"""A study of waiting and clocks: its jobs, its table, and what its results hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from wattle.base.checked import Checked
from wattle.record.manifest import Manifest
from wattle.study import registry
from wattle.study.compared import Layout
from wattle.study.engine import Check, Study, missing
from wattle.study.place import Place, of_study
from wattle.study.sweep import knob, words
from wattle.study.sweep.analysis import METRICS, Analysis, Fit, Point
from wattle.study.sweep.plan import Job, Plan
from wattle.study.sweep.samples import COMPARED, WAITS, WHO
from wattle.text import units

if TYPE_CHECKING:
    from wattle.html.page import Page
    from wattle.study.sweep.page import Section

Table = tuple[str, list[str], list[list[str]]]  # title, headings and lines


@dataclass(frozen=True, kw_only=True)
class Sweep(Study[Analysis]):
    """A study. `jobs`: those of a round. `table`: of the command's output. `fits`: its straight lines. `program`: a
    user's program with its arguments, in place of those of apps/; there are no published figures of it. `where`: the
    place that a value of `--on` names; it raises WattleError for one that the study does not have.
    """

    jobs: Callable[[Plan], list[Job]]
    table: Callable[[Analysis], Table]
    paper: str = "the dissertation (D: S. Jana, 2016)"
    says: Callable[[Analysis], str] = lambda a: ""  # further sentences for the summary
    fits: Callable[[Analysis], list[Fit]] = lambda a: []
    program: tuple[str, ...] = ()
    at: str = "{x}"  # the swept value of the first series, as text
    where: Callable[[str], str] = str
    layout: Layout = COMPARED

    def command(self) -> Callable[..., None]:
        from wattle.study.sweep import command

        return command.of(self)

    def sections(self, a: Analysis) -> list[Section]:
        """The study's own sections of its page: by `sections` of the folder's module `page`."""
        found: list[Section] = registry.part(self.name, "page").sections(a)
        return found

    def page(self, directory: Path, record: Manifest) -> Page:
        from wattle.study.sweep import page

        return page.build(self, directory, record)

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
            "repeats": a.repeats,
            "verified": a.wrong == 0,
            "provenance": a.provenance,
            "knob": a.knob.as_dict(),
            **({} if a.knob.simulated else {"place": a.place.as_dict()}),
        }
        return before, {
            "fits": [fit.__dict__ for fit in self.fits(a)],
            "points": [_point(a, point) for point in a.points],
        }

    def sentences(self, a: Analysis, record: Manifest) -> list[str]:
        fits = self.fits(a)
        return [
            "" if self.program else words.waiting(a, self.at),
            f"Spinning, {fits[0].words}." if fits else "",
            self.says(a),
            f"{words.sentence(a.knob.words)}.",
            words.joules_of(a, record),
        ]

    def wrong(self, n: int) -> str:
        return f"{units.several(n, 'sample')} failed verification"

    def reasons(self, on_page: bool) -> str:
        return f"The reasons are {'below' if on_page else 'in the report'}."


def _point(a: Analysis, point: Point) -> dict[str, Any]:
    centers = {name: c.as_dict() if (c := a.center(name, point)) else None for name in METRICS}
    return {**point.__dict__, **centers, "job_changes": a.changes(point)}
