"""A study of a mini-app: its versions and inputs, how much of each runs, and what its results hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from wattle.base.checked import Checked
from wattle.machine.paths import Home
from wattle.record.manifest import Manifest
from wattle.study.compared import Layout
from wattle.study.engine import Check, Study, missing
from wattle.study.place import of_study
from wattle.study.versions.analysis import METRICS, Analysis
from wattle.study.versions.samples import COMPARED
from wattle.study.versions.words import sentences

if TYPE_CHECKING:
    from wattle.html.page import Page


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

    def command(self) -> Callable[..., None]:
        from wattle.study.versions import command

        return command.of(self)

    def page(self, directory: Path, record: Manifest) -> Page:
        from wattle.study.versions import page

        return page.build(self, directory, record)

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
            "place": a.place.as_dict(),
            "repeats": a.repeats,
            "verified": a.wrong == 0,
            "left_out": a.left_out,
            "provenance": {name: a.provenance(name) for name in METRICS if METRICS[name].energy},
        }
        after = {
            "points": [_point(a, v, i, n) for i in a.inputs for n in a.pes for v in a.versions],
            "held": [vars(held) | {"share": held.share} for held in a.held],
        }
        return before, after

    def sentences(self, a: Analysis, record: Manifest) -> list[str]:
        return sentences(a, record)

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
