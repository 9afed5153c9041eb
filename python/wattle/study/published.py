"""Published figures of a study's published.toml, and their verdicts: one row each, with statement, condition, ours,
tolerance, verdict and reasons.

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
    """What was found here. `why`: where it differs, the reasons, drawn from what was measured; each may hold for other
    rows as well. `provenance`: of the figures that `ours` rests on ("measured", "modelled", "unavailable"; times and
    counts are always measured)."""

    ours: str
    verdict: Verdict
    why: tuple[str, ...] = ()
    provenance: str = "measured"


class NotTestable(Exception):
    """Raised by a row's function where these samples cannot answer; the message says why and ends without a full
    stop."""


@dataclass(frozen=True)
class Published(Generic[Analysis]):
    """One published figure. `judge` says what these samples make of it; it may raise NotTestable. `setup`: what it was
    measured on."""

    id: str
    about: str  # the section of the report it belongs to
    source: str
    condition: str
    published: str
    tolerance: str
    judge: Callable[[Analysis], Outcome]
    setup: str
    page: int | None = None  # of the source; None where the text at hand has none
    unit: str = ""  # of the number that is published; empty where it is words


TEXTS = ("id", "about", "source", "condition", "published", "tolerance", "setup", "judge")
TABLES = ("papers", "defaults", "values", "figure", "bar", "mark")


@dataclass(frozen=True)
class Papers:
    """What a study's published.toml holds. `values`: numbers that are drawn, or computed with. `marks`: those that are
    drawn beside ours."""

    path: Path
    document: dict[str, Any]

    @property
    def values(self) -> dict[str, Any]:
        return self.document.get("values", {})

    @property
    def marks(self) -> list[dict[str, Any]]:
        return self.document.get("mark", [])

    def figures(self, *judges: Judge) -> list[Published[Any]]:
        """The published figures, in their order. `judges`: those that are named there."""
        return self._rows("figure", judges)

    def bars(self, *judges: Judge) -> list[Published[Any]]:
        """What this project asks of itself."""
        return self._rows("bar", judges)

    def _rows(self, kind: str, judges: Sequence[Judge]) -> list[Published[Any]]:
        known = {judge.__name__: judge for judge in judges}
        rows = [self._row(entry, known) for entry in self.document[kind]]
        names = [entry["judge"] for entry in self.document[kind]]
        if unused := known.keys() - set(names):
            raise DamagedFile(self.path, f"no {kind} names the judges {', '.join(sorted(unused))}")
        if len({row.id for row in rows}) < len(rows):
            raise DamagedFile(self.path, f"two of the {kind}s have one id")
        return rows

    def _row(self, entry: dict[str, Any], judges: dict[str, Judge]) -> Published[Any]:
        told = self.document["defaults"] | entry
        given, page, unit = (told.pop(key, empty) for key, empty in (("with", {}), ("page", None), ("unit", "")))
        where = f"figure {told.get('id')!r}"
        if wrong := set(told) ^ set(TEXTS):
            raise DamagedFile(self.path, f"{where}: lacks, or should not have, {', '.join(sorted(wrong))}")
        if any(not isinstance(value, str) or not value for value in told.values()):
            raise DamagedFile(self.path, f"{where}: everything but `page` and `with` is text")
        if not any(told["source"].startswith(paper) for paper in self.document["papers"]):
            raise DamagedFile(self.path, f"{where}: its source is none of the papers")
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
    """published.toml beside a study's module."""
    path = Path(module).with_name("published.toml")
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    if wrong := set(document) - set(TABLES):
        raise DamagedFile(path, f"there is no place for {', '.join(sorted(wrong))}")
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
    """Every published figure, held against these samples."""
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
    """Reasons that more than one row gives, in the order they come: to be said once, and referred to by number."""
    said = [reason for row in rows for reason in row.reasons]
    return [reason for reason in dict.fromkeys(said) if said.count(reason) > 1]


def content(rows: Sequence[Row]) -> dict[str, Any]:
    """What a page's template needs to tell of them."""
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
    """The rows and their tally, as results.json has them."""
    verdicts = {str(verdict): count for verdict, count in tally(rows).items()}
    return {"published": [row.as_dict() for row in rows], "verdicts": verdicts}
