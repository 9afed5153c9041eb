"""The engine of all studies: runs the jobs, reads a directory's samples, judges them, and makes results.json."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import polars as pl

from wattle.base.checked import Checked
from wattle.base.errors import DamagedFile, WattleError
from wattle.record import manifest
from wattle.record.manifest import Manifest
from wattle.study import kept, published, registry, samples
from wattle.study.course import Work
from wattle.study.papers import Published
from wattle.study.place import DEFAULT_CLUSTER, SIMULATED, Place, check_place
from wattle.study.published import Evidence, Row
from wattle.study.samples import Layout

if TYPE_CHECKING:
    from wattle.html.page import Page

RESULTS_SCHEMA = 1
Analysis = TypeVar("Analysis", bound=Evidence)
Table = tuple[str, list[str], list[list[str]]]  # title, headings and lines
Check = tuple[pl.Expr, str]  # an expression that finds wrong samples, and the error's words for them


def missing(*columns: str) -> pl.Expr:
    """Finds samples without a value in one of the columns."""
    return pl.any_horizontal(pl.col(*columns).is_null())


@dataclass(frozen=True, kw_only=True)
class Study(Generic[Analysis]):
    """A study. `rows`: the published figures. `bars`: the project's own, which no tally of published figures counts.
    `layout`: the columns of the samples. `options`: of the command, in addition to those of all studies: name and kind,
    as Typer takes them. `system`: the cluster of `--on sim`, which is the system of the papers' chapter. `systems`:
    clusters that the study simulates by itself instead of one that a user names. `tells_tally`: the command's output
    ends with how many published figures agree. Subclasses give what is a study's own.
    """

    name: str
    title: str
    question: str
    rows: Sequence[Published]
    bars: Sequence[Published] = ()
    layout: Layout
    options: Mapping[str, Any] = field(default_factory=dict)
    system: str = DEFAULT_CLUSTER
    systems: Sequence[str] = ()
    tells_tally: bool = False

    # ---- a study's own ----

    def plan(self, quick: bool, place: Place, **options: Any) -> Any:
        """The plan for a place. `options`: the values of the study's own, None where they are not given."""
        raise NotImplementedError

    def work(self, plan: Any) -> Work:
        """The jobs of a plan."""
        raise NotImplementedError

    def tables(self, a: Analysis) -> list[Table]:
        """The tables of the command's output."""
        raise NotImplementedError

    def remarks(self, a: Analysis) -> Sequence[str]:
        """The lines after the tables."""
        return ()

    def remark(self, plan: Any) -> str:
        """The words before the jobs start."""
        return ""

    def checks(self) -> Sequence[Check]:
        """The checks of a file of samples, in order."""
        raise NotImplementedError

    def analysis(self, frame: pl.DataFrame, facts: Checked, record: Manifest) -> Analysis:
        """The analysis of checked samples. `facts`: the study's entry of the manifest."""
        raise NotImplementedError

    def own(self, a: Analysis) -> tuple[dict[str, Any], dict[str, Any]]:
        """The study's own entries of results.json, before and after the verdicts."""
        raise NotImplementedError

    def sentences(self, a: Analysis, record: Manifest) -> list[str]:
        """The summary's sentences on the samples. An empty one is left out."""
        raise NotImplementedError

    def wrong(self, n: int) -> str:
        """The words for `n` wrong samples."""
        return f"Data arrived wrong in {n} samples"

    def left_out(self, a: Analysis) -> dict[str, str]:
        """Parts that did not run here, with the reasons, for the end of the summary."""
        return {}

    def reasons(self, on_page: bool) -> str:
        """The sentence that says where the reasons of the verdicts are."""
        return "The report gives the reasons."

    def asked(self, on: str, link: str | None, quick: bool, **options: Any) -> tuple[Study[Any], Any]:
        """The study that a command asks for, and its plan."""
        return self, self.plan(quick, check_place(self.where(on), link, simulates=True), **options)

    def where(self, on: str) -> str:
        """The place that a value of `--on` names. Raises WattleError for a cluster that the study does not take."""
        if self.systems and on.startswith(f"{SIMULATED}:"):
            names = " and ".join(self.systems)
            raise WattleError(f"--on {on}: this study simulates {names}; write --on {SIMULATED}")
        return f"{SIMULATED}:{self.system}" if on == SIMULATED else on

    def subtitle(self, a: Analysis) -> str:
        """The question, and where it was answered."""
        return f"{self.question} {a.place.found} on {a.place.words}."

    def parts(self, a: Analysis, rows: list[Row], facts: Checked, record: Manifest) -> Any:
        """The study's own parts of its page, by `parts` of the folder's module `page`."""
        return registry.part(self.name, "page").parts(a, rows, facts)

    def page(self, directory: Path, record: Manifest) -> Page:
        """Reads and checks the directory's samples and results, and makes the page."""
        from wattle.study import page

        return page.build(self, directory, record)

    def of(self, facts: Checked) -> Study[Analysis]:
        """The study of a directory, by its entry of the manifest."""
        return self

    # ---- common to all ----

    def run(self, work: Work, directory: Path, command: list[str]) -> Manifest:
        """Runs the jobs and writes samples.parquet, results.json and manifest.json into the directory."""
        record = work.run(directory, command, self.layout.columns)
        kept.write_results(directory / kept.RESULTS, self.judged(directory, record))
        return record

    def load(self, directory: Path, record: Manifest) -> Analysis:
        """Reads a study directory's samples. Raises DamagedFile with the reason for a damaged file."""
        facts = manifest.study(directory, record)
        kept.check_finished(directory, record, facts)
        frame = samples.read(directory, self.layout.columns)
        for wrong, what in self.checks():
            if frame.filter(wrong).height:
                raise DamagedFile(directory / samples.FILE, what)
        found = self.analysis(frame, facts, record)
        found.networks = samples.of_networks(directory, self.layout.columns)
        found.numbers = _numbers(record)
        return found

    def judge(self, a: Analysis) -> list[Row]:
        """The rows of all published figures for these samples."""
        return published.judge(self.rows, a)

    def judge_bars(self, a: Analysis) -> list[Row]:
        """The rows of the project's own bars for these samples."""
        return published.judge(self.bars, a)

    def summary(self, a: Analysis, rows: list[Row], bars: list[Row], record: Manifest, on_page: bool) -> str:
        """One paragraph with numbers from the samples, for the page or for the terminal."""
        parts = [
            f"{self.wrong(a.wrong)}: no result below can be trusted." if a.wrong else "",
            *self.sentences(a, record),
            published.bars_sentence(bars),
            f"{published.sentence_of(published.tally(rows))} {self.reasons(on_page)}".strip() if rows else "",
            *(f"{what} is left out: {why}." for what, why in self.left_out(a).items()),
        ]
        return " ".join(filter(None, parts))

    def results(self, a: Analysis) -> dict[str, Any]:
        """The contents of results.json."""
        before, after = self.own(a)
        return {
            "schema": RESULTS_SCHEMA,
            "study": self.name,
            **({"place": a.place.as_dict()} if a.place.simulated == a.simulated else {}),
            "repeats": a.repeats,
            "verified": a.wrong == 0,
            **before,
            **published.table(self.judge(a)),
            **({"bars": [bar.as_dict() for bar in self.judge_bars(a)]} if self.bars else {}),
            **after,
        }

    def judged(self, directory: Path, record: Manifest) -> dict[str, Any]:
        """The results of a study directory."""
        return self.results(self.load(directory, record))

    def check_results(self, directory: Path) -> None:
        """Raises DamagedFile where DIR/results.json is not of this study."""
        kept.read_results(directory / kept.RESULTS, RESULTS_SCHEMA, self.name)


def _numbers(record: Manifest) -> dict[str, float]:
    """The numbers of the simulated cluster by key, and its PEs of a node."""
    cluster = record.extra.get("simulated") or {}
    numbers = {key: number["value"] for key, number in (cluster.get("numbers") or {}).items()}
    return {"per_node": float(cluster.get("per_node", 1))} | numbers if numbers else {}


def joules(kind: str, sources: Iterable[str], record: Manifest, unknown: str = "", both: str = "") -> str:
    """The provenance of joules. `kind`: the weakest. `unknown`: why there are none. `both`: added where a sensor
    measured them.
    """
    if kind == "unavailable":
        return f"Joules are not known here: {unknown}." if unknown else "Joules are not known here."
    source = ", ".join(sources)
    if kind == "measured":
        return f"Joules are measured{both} ({source})."
    why = record.meter.get("why", "").rstrip(".")
    return f"Joules are modelled, not measured ({source})" + (f": {why}." if why else ".")
