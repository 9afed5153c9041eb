"""Published figures from a study's published.toml, and their verdicts: one row each, with statement, condition, our
figure, tolerance, verdict and reasons.

No verdict is stored. Each figure names a function, its judge, which computes the verdict from the samples.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from wattle.errors import DamagedFile

Analysis = TypeVar("Analysis")
Judge = Callable[..., "Outcome"]


class Verdict(StrEnum):
    AGREES = "agrees"
    DIFFERS = "differs"
    NOT_TESTABLE = "not testable here"


@dataclass(frozen=True)
class Outcome:
    """The result of a judge. `why`: the reasons for a difference, from the samples; a reason may apply to several rows.
    `provenance`: of the figures in `ours` ("measured", "modelled", "unavailable"). Times and counts are always
    measured.
    """

    ours: str
    verdict: Verdict
    why: tuple[str, ...] = ()
    provenance: str = "measured"


class NotTestable(Exception):
    """Raised by a judge where the samples do not allow a verdict. The message gives the reason, without a full stop."""


@dataclass(frozen=True)
class Published(Generic[Analysis]):
    """One published figure. `judge` computes the outcome from samples; it may raise NotTestable. `setup`: the machine
    of the published measurement.
    """

    id: str
    about: str  # its section of the report
    source: str
    condition: str
    published: str
    tolerance: str
    judge: Callable[[Analysis], Outcome]
    setup: str
    page: int | None = None  # of the source; None where the text at hand has no pages
    unit: str = ""  # of the published number; empty for a statement in words


TEXTS = ("id", "about", "source", "condition", "published", "tolerance", "setup", "judge")
TABLES = ("papers", "defaults", "values", "figure", "bar", "mark")


@dataclass(frozen=True)
class Papers:
    """The contents of a study's published.toml. `values`: numbers for figures and computations. `marks`: numbers that
    are drawn beside ours.
    """

    path: Path
    document: dict[str, Any]

    @property
    def values(self) -> dict[str, Any]:
        return self.document.get("values", {})

    @property
    def marks(self) -> list[dict[str, Any]]:
        return self.document.get("mark", [])

    def figures(self, *judges: Judge) -> list[Published[Any]]:
        """The published figures in order. `judges`: the functions that they name."""
        return self._rows("figure", judges)

    def bars(self, *judges: Judge) -> list[Published[Any]]:
        """The project's own bars."""
        return self._rows("bar", judges)

    def _rows(self, kind: str, judges: Sequence[Judge]) -> list[Published[Any]]:
        known = {judge.__name__: judge for judge in judges}
        rows = [self._row(entry, known) for entry in self.document[kind]]
        names = [entry["judge"] for entry in self.document[kind]]
        if unused := known.keys() - set(names):
            raise DamagedFile(self.path, f"no {kind} names the judges {', '.join(sorted(unused))}")
        if len({row.id for row in rows}) < len(rows):
            raise DamagedFile(self.path, f"two entries of {kind} have the same id")
        return rows

    def _row(self, entry: dict[str, Any], judges: dict[str, Judge]) -> Published[Any]:
        told = self.document["defaults"] | entry
        given, page, unit = (told.pop(key, empty) for key, empty in (("with", {}), ("page", None), ("unit", "")))
        where = f"figure {told.get('id')!r}"
        if wrong := set(told) ^ set(TEXTS):
            raise DamagedFile(self.path, f"{where}: missing or unknown keys: {', '.join(sorted(wrong))}")
        if any(not isinstance(value, str) or not value for value in told.values()):
            raise DamagedFile(self.path, f"{where}: all values except `page` and `with` must be texts")
        if not any(told["source"].startswith(paper) for paper in self.document["papers"]):
            raise DamagedFile(self.path, f"{where}: its source is not one of the papers")
        if page is not None and (not isinstance(page, int) or page < 1):
            raise DamagedFile(self.path, f"{where}: page {page!r}")
        judge = judges.get(told.pop("judge"))
        if judge is None:
            raise DamagedFile(self.path, f"{where}: there is no judge {entry['judge']!r}")
        try:
            inspect.signature(judge).bind(None, **given)
        except TypeError as error:
            raise DamagedFile(self.path, f"{where}: {entry['judge']}: {error}") from None
        return Published(**told, judge=partial(judge, **given), page=page, unit=unit)


def read(module: str) -> Papers:
    """Reads published.toml beside a study's module. Raises DamagedFile."""
    path = Path(module).with_name("published.toml")
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    if wrong := set(document) - set(TABLES):
        raise DamagedFile(path, f"unknown tables: {', '.join(sorted(wrong))}")
    return Papers(path, document)


@dataclass(frozen=True)
class Row:
    """A published figure beside ours: a row of the report and of results.json."""

    id: str
    about: str
    source: str
    condition: str
    published: str
    tolerance: str
    setup: str
    ours: str
    verdict: Verdict
    reasons: tuple[str, ...]
    provenance: str

    @property
    def why(self) -> str:
        return " ".join(self.reasons)

    def as_dict(self) -> dict[str, str]:
        found = asdict(self) | {"why": self.why}
        del found["reasons"]
        return {key: str(value) for key, value in found.items()}


def judge(figures: Sequence[Published[Analysis]], analysis: Analysis) -> list[Row]:
    """The rows of all published figures for these samples."""
    return [_row(figure, _outcome(figure, analysis)) for figure in figures]


def _outcome(figure: Published[Analysis], analysis: Analysis) -> Outcome:
    try:
        return figure.judge(analysis)
    except NotTestable as reason:
        return Outcome("-", Verdict.NOT_TESTABLE, (f"{reason}.",), "unavailable")


def _row(figure: Published[Analysis], outcome: Outcome) -> Row:
    return Row(
        figure.id,
        figure.about,
        figure.source,
        figure.condition,
        figure.published,
        figure.tolerance,
        figure.setup,
        outcome.ours,
        outcome.verdict,
        outcome.why,
        outcome.provenance,
    )


def notes(rows: Sequence[Row]) -> list[str]:
    """Reasons that several rows give, in order. The report prints them once, with numbers."""
    said = [reason for row in rows for reason in row.reasons]
    return [reason for reason in dict.fromkeys(said) if said.count(reason) > 1]


def content(rows: Sequence[Row]) -> dict[str, Any]:
    """The values that a page's template needs for the rows."""
    return {
        "rows": rows,
        "notes": notes(rows),
        "tally": {PLURAL[verdict]: count for verdict, count in tally(rows).items()},
        "verdict_class": {verdict: verdict.name.lower().replace("_", "-") for verdict in Verdict},
    }


def verdict_of(holds: bool) -> Verdict:
    return Verdict.AGREES if holds else Verdict.DIFFERS


PLURAL = {Verdict.AGREES: "agree", Verdict.DIFFERS: "differ", Verdict.NOT_TESTABLE: "not testable here"}


def tally(rows: Sequence[Row]) -> dict[Verdict, int]:
    return {verdict: sum(row.verdict is verdict for row in rows) for verdict in Verdict}


def table(rows: Sequence[Row]) -> dict[str, Any]:
    """The rows and their tally in the form of results.json."""
    verdicts = {str(verdict): count for verdict, count in tally(rows).items()}
    return {"published": [row.as_dict() for row in rows], "verdicts": verdicts}
