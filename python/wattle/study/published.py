"""Published figures and what became of them here: one row each, with value, condition, ours, tolerance, verdict and
why.

No verdict is written down anywhere: each row carries a function that reads it off the samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

Analysis = TypeVar("Analysis")


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


def of_dissertation(
    setup: str,
    name: str,
    figure: str,
    condition: str,
    says: str,
    tolerance: str,
    judge: Callable[[Analysis], Outcome],
) -> Published[Analysis]:
    """A figure of the dissertation, in a report that has one section for all of them."""
    return Published(name, "published", f"D {figure}", condition, says, tolerance, judge, setup)


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
