"""The verdicts of published figures: one row each, with statement, condition, our figure, tolerance, verdict and
reasons.

No verdict is stored. Each figure names a function, its judge, which computes from the samples whether the figure is the
same here. An agreement that follows from the model itself is no evidence and gets a verdict of its own: `fit` where a
number of the machine profile was derived from the figure, `by construction` where the form of the model gives it. A
figure that is not the same is `papers differ`, `other machine` or `better` where published.toml says so by `against`,
`rests` or `good`; else `worse`. A figure from modelled joules is judged only where the verdict is the same for all
numbers of the profile within their half-widths.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

import polars as pl

from wattle.base.errors import WattleError
from wattle.figures import no_core
from wattle.study import energy
from wattle.study.papers import Published
from wattle.study.place import Place
from wattle.study.stats import FEWEST, Center
from wattle.text import units

T = TypeVar("T")


class Verdict(StrEnum):
    """The verdicts in the order of tables. Only those of JUDGED say how a figure here compares with a published one."""

    BETTER = "better"
    SAME = "same"
    WORSE = "worse"
    OTHER_MACHINE = "other machine"
    PAPERS_DIFFER = "papers differ"
    FIT = "fit"
    CONSTRUCTION = "by construction"
    NOT_TESTABLE = "not testable"

    @property
    def css(self) -> str:
        """The name of its class in a page's style sheet."""
        return self.name.lower().replace("_", "-")


# The words of each verdict in a sentence, its sign on pages, which tells it without colours, and its style in a
# terminal.
WORDS = {
    Verdict.BETTER: ("are better here", "▲", "good"),
    Verdict.SAME: ("are the same", "✓", "good"),
    Verdict.WORSE: ("are worse", "▼", "partly"),
    Verdict.OTHER_MACHINE: ("differ with the machine", "≠", "faint"),
    Verdict.PAPERS_DIFFER: ("contradict another published text", "≷", "faint"),
    Verdict.FIT: ("are a fit of the model to them", "=", "faint"),
    Verdict.CONSTRUCTION: ("follow from the model by construction", "=", "faint"),
    Verdict.NOT_TESTABLE: ("cannot be tested here", "○", "faint"),
}
JUDGED = (Verdict.BETTER, Verdict.SAME, Verdict.WORSE)


class Evidence:
    """The base of a study's analysis. `frame`: its samples. `networks`: samples of the same study, simulated with the
    times of network and core at the ends of their half-widths. `numbers`: of the simulated cluster, by key.
    """

    frame: pl.DataFrame | None = None
    place: Place = Place()
    networks: Sequence[pl.DataFrame] = ()
    numbers: Mapping[str, float] = MappingProxyType({})

    def with_frame(self, frame: pl.DataFrame) -> Any:
        """The same analysis of other samples."""
        raise NotImplementedError

    @cached_property
    def profiles(self) -> frozenset[str]:
        """The names of the machine profiles of the modelled joules."""
        return frozenset() if self.frame is None else energy.profiles(self.frame)

    @property
    def repeats(self) -> int:
        """The number of repeats that every point has."""
        raise NotImplementedError

    @property
    def simulated(self) -> bool:
        """Whether times are simulated. No figure then counts as measured."""
        return self.place.simulated

    @cached_property
    def wrong(self) -> int:
        """The number of samples that failed verification. Null: not verified."""
        return 0 if self.frame is None else int((~self.frame["verified"]).sum())

    @cached_property
    def sources(self) -> list[str]:
        """The sources of the joules."""
        return [] if self.frame is None else energy.sources(self.frame)

    def corners(self) -> Iterator[Any]:
        """The same analysis with the profile's numbers elsewhere within their half-widths."""
        return iter(()) if self.frame is None else map(self.with_frame, energy.corners(self.frame))

    @cached_property
    def external_meter(self) -> str:
        """The source and scope of joules of the node by an external meter; empty where there are none."""
        return "" if self.frame is None else energy.of_external_meter(self.frame)

    def kind(self, metric: str) -> str:
        """The provenance of a metric's figures."""
        return "measured"

    def outcome(self, metric: str, ours: str, holds: bool, *why: str, past: Past | None = None) -> Outcome:
        """The outcome for a metric. `why`: the reasons for a difference; an empty one is left out."""
        said = () if holds else tuple(filter(None, why))
        return Outcome(ours, verdict_of(holds), said, self.kind(metric), past)

    def machine(self, key: str) -> float | None:
        """The value here of a property that published.toml has of the papers' machine: of real jobs the number of
        `machines`, of simulated ones a number of the cluster. None where it is not known.
        """
        if key == MACHINES:
            return None if self.simulated else 1.0 if self.place.one_machine else float(self.place.nodes)
        return self.numbers.get(key)

    @cached_property
    def short_of_cores(self) -> pl.DataFrame | None:
        """The samples of jobs whose PEs lacked cores while they ran; None without such, and in simulation."""
        if self.frame is None or self.simulated or "no_core" not in self.frame.columns:
            return None
        found = self.frame.filter(pl.col("no_core") >= no_core.TOO_MUCH)
        return None if found.is_empty() else found

    def uses_joules(self, judge: Callable[[Any], Outcome]) -> bool:
        """Whether a judge that finds a verdict from these samples finds none without their joules."""
        if self.frame is None:
            return False
        try:
            return judge(self.with_frame(energy.without(self.frame))).verdict is Verdict.NOT_TESTABLE
        except NotTestable:
            return True


@dataclass(frozen=True)
class Outcome:
    """The result of a judge: `same`, `worse` where the figure is not the same, or no verdict. `why`: the reasons for a
    difference, from the samples; a reason may apply to several rows. `provenance`: of the figures in `ours`
    ("measured", "modelled", "unavailable"). Times and counts are always measured. `past`: how far one figure is past
    the tolerance, where the statement is about one.
    """

    ours: str
    verdict: Verdict
    why: tuple[str, ...] = ()
    provenance: str = "measured"
    past: Past | None = None


@dataclass(frozen=True)
class Past:
    """How far a figure is past one end of its tolerance. `more`: it is above the upper end."""

    more: bool
    words: str


def past(value: float, lo: float, hi: float, unit: str = "points") -> Past | None:
    """How far a figure is past the range from `lo` to `hi`; None within it. `unit`: of all three; "times" gives the
    quotient in place of the difference.
    """
    if lo <= value <= hi or math.isnan(value):
        return None
    more = value > hi
    end = hi if more else lo
    by = value / end if unit == "times" and more else end / value if unit == "times" and value else abs(value - end)
    return Past(more, f"{units.significant(by, 3)} {unit} {'above' if more else 'below'} the tolerance")


class NotTestable(Exception):
    """Raised by a judge where the samples do not allow a verdict. The message gives the reason, without a full stop."""


def needed(found: T | None, why: str) -> T:
    """Gives `found` back. Raises NotTestable with the reason where it is None or empty."""
    if found is None or found is False or (isinstance(found, Sized) and not len(found)):
        raise NotTestable(why)
    return found


def not_here(a: Evidence, reason: str) -> Outcome:
    """The judge of a statement that no samples can test."""
    raise NotTestable(reason)


def enough(*centers: Center) -> None:
    """Raises NotTestable where there are too few repeats for a useful interval."""
    n = min((c.n for c in centers), default=FEWEST)
    if n < FEWEST:
        raise NotTestable(f"n = {units.several(n, 'repeat')}; a 95 % statement needs at least six")


FACTS = ("id", "about", "source", "page", "condition", "published", "tolerance", "setup")


@dataclass(frozen=True)
class Row:
    """A published figure beside ours: a row of the report and of results.json."""

    id: str
    about: str
    source: str
    page: int | None
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
        return {key: "" if value is None else str(value) for key, value in found.items()}


def judge(figures: Sequence[Published], analysis: Any) -> list[Row]:
    """The rows of all published figures for these samples."""
    evidence = analysis if isinstance(analysis, Evidence) else Evidence()
    corners = _Kept(evidence.corners())
    networks = _Kept(map(evidence.with_frame, evidence.networks))
    said = {figure.id: f'"{figure.published}" ({figure.source})' for figure in figures}
    rows = []
    for figure in figures:
        found = _by_network(figure, networks, _outcome(figure, analysis, evidence, corners))
        found = _with_cores(figure, evidence, found)
        rows.append(_row(figure, _excused(figure, evidence, found, said)))
    return rows


class _Kept:
    """The items of an iterator, made when the first row needs them and kept for the others."""

    def __init__(self, items: Iterator[Any]) -> None:
        self.rest = items
        self.made: list[Any] = []

    def __iter__(self) -> Iterator[Any]:
        yield from self.made
        for item in self.rest:
            self.made.append(item)
            yield item


def _outcome(figure: Published, analysis: Any, evidence: Evidence, corners: _Kept) -> Outcome:
    found = _judged(figure, analysis)
    joules_are_modelled = found.provenance == MODELLED
    if evidence.simulated and found.provenance == "measured":
        found = replace(found, provenance=MODELLED)
    if found.verdict is Verdict.SAME and found.provenance == MODELLED and (why := _given(figure, evidence)):
        return replace(found, verdict=why[0], why=(*found.why, why[1]))
    judged = found.verdict in JUDGED
    if joules_are_modelled and judged:
        return _certain(figure, corners, found)
    if judged and evidence.external_meter and evidence.uses_joules(figure.judge):
        meter = evidence.external_meter
        remark = f"Joules are those of the external meter ({meter}): all that it measures, idle draw included."
        return replace(found, why=(*found.why, remark))
    return found


def _judged(figure: Published, analysis: Any) -> Outcome:
    try:
        found: Outcome = figure.judge(analysis)
    except NotTestable as reason:
        return Outcome("-", Verdict.NOT_TESTABLE, (f"{reason}.",), "unavailable")
    if found.verdict is not Verdict.WORSE or found.past is None:
        return found
    better = figure.good == ("more" if found.past.more else "less")
    why = (f"{found.past.words}.", *found.why)
    return replace(found, verdict=Verdict.BETTER if better else Verdict.WORSE, why=why)


def _with_cores(figure: Published, evidence: Evidence, found: Outcome) -> Outcome:
    """The outcome, if it is the same without the samples of jobs that lacked cores."""
    short, frame = evidence.short_of_cores, evidence.frame
    if short is None or frame is None or found.verdict not in JUDGED:
        return found
    rest = frame.filter(pl.col("no_core").fill_null(0.0) < no_core.TOO_MUCH)
    try:
        without = _judged(figure, evidence.with_frame(rest))
    except (WattleError, ArithmeticError, LookupError, StopIteration, TypeError, ValueError):  # no point is left
        without = None
    if without is not None and (without.verdict, without.ours) == (found.verdict, found.ours):
        return found
    most = units.share(max(short["no_core"]))
    why = (
        f"Cores were missing while jobs ran: in those of {short.height} of {units.several(frame.height, 'sample')} PEs "
        f"had no core for up to {most} of their time (within waits a fifth of it counts)."
    )
    return replace(found, verdict=Verdict.NOT_TESTABLE, why=(why,), past=None)


def _excused(figure: Published, evidence: Evidence, found: Outcome, said: dict[str, str]) -> Outcome:
    """The outcome of a figure that is not the same, where another text excludes the published one, or where it rests on
    a property of the machine that is another one here. `said`: statement and source of each figure, by id.
    """
    others = " and ".join(said.get(name, name) for name in figure.against)
    why = (f"Published figures contradict each other: this one and {others}.",) if others else ()
    if found.verdict not in (Verdict.WORSE, Verdict.BETTER):
        return replace(found, why=(*found.why, *why))
    if others:
        return replace(found, verdict=Verdict.PAPERS_DIFFER, why=(*found.why, *why))
    here = ((there, evidence.machine(there.key)) for there in figure.rests)
    reasons = [there.words(value) for there, value in here if value is not None and there.is_another(value)]
    return replace(found, verdict=Verdict.OTHER_MACHINE, why=(*reasons, *found.why)) if reasons else found


def _given(figure: Published, evidence: Evidence) -> tuple[Verdict, str] | None:
    """The verdict of a modelled figure that would agree, with its reason, where the model brings the agreement."""
    if used := sorted(evidence.profiles & set(figure.fit)):
        words = f"Numbers of the machine profile {' and '.join(used)} were derived from this figure."
        return Verdict.FIT, words
    return (Verdict.CONSTRUCTION, figure.construction) if figure.construction else None


def _certain(figure: Published, corners: _Kept, found: Outcome, whose: str = "profile's") -> Outcome:
    """The outcome, if no number within its half-width turns the verdict. `whose`: of the profile, or of the cluster."""
    others = (_judged(figure, corner) for corner in corners)
    same = {found.verdict, Verdict.SAME} if found.verdict is Verdict.CONSTRUCTION else {found.verdict}
    turned = next((other for other in others if other.verdict not in same), None)
    if turned is None:
        return found
    ours = "" if turned.ours == "-" else f" ({turned.ours})"
    why = (
        f"The {whose} half-widths leave the verdict open: with other numbers within them it is "
        f"'{turned.verdict}'{ours}."
    )
    return replace(found, verdict=Verdict.NOT_TESTABLE, why=(why,))


def _by_network(figure: Published, networks: _Kept, found: Outcome) -> Outcome:
    """The outcome, if it is the same with the cluster's times at the ends of their half-widths. A fit stays."""
    if found.verdict not in (*JUDGED, Verdict.CONSTRUCTION):
        return found
    return _certain(figure, networks, found, "cluster's")


def _row(figure: Published, outcome: Outcome) -> Row:
    same = {name: getattr(figure, name) for name in FACTS}
    return Row(**same, ours=outcome.ours, verdict=outcome.verdict, reasons=outcome.why, provenance=outcome.provenance)


def notes(rows: Sequence[Row]) -> list[str]:
    """Reasons that several rows give, in order. The report prints them once, with numbers."""
    said = [reason for row in rows for reason in row.reasons]
    return [reason for reason in dict.fromkeys(said) if said.count(reason) > 1]


def content(rows: Sequence[Row]) -> dict[str, Any]:
    """The values that a page's template needs for the rows."""
    return {
        "rows": rows,
        "notes": notes(rows),
        "tally": counted(tally(rows)),
        "signs": signs(),
    }


def verdict_of(holds: bool) -> Verdict:
    return Verdict.SAME if holds else Verdict.WORSE


def by_form(evidence: Evidence, found: Outcome, form: str) -> Outcome:
    """The outcome of a judge, where an agreement of simulated samples follows from the form of the simulation. `form`:
    how. Real samples with modelled joules are judged, in contrast to a `construction` of published.toml.
    """
    if not evidence.simulated or found.verdict is not Verdict.SAME:
        return found
    return replace(found, verdict=Verdict.CONSTRUCTION, why=(*found.why, form))


MODELLED = "modelled"
MACHINES = "machines"


def tally(rows: Sequence[Row]) -> dict[Verdict, int]:
    return {verdict: sum(row.verdict is verdict for row in rows) for verdict in Verdict}


def counted(found: Mapping[Verdict, int]) -> dict[str, int]:
    """A tally by the verdicts' names, without those that no row has. `same` and `worse` are always there."""
    return {str(verdict): found[verdict] for verdict in Verdict if found[verdict] or verdict in JUDGED[1:]}


def signs() -> dict[str, tuple[str, str]]:
    """The class in a style sheet and the sign of each verdict, for pages."""
    return {str(verdict): (verdict.css, WORDS[verdict][1]) for verdict in Verdict}


def sentence_of(found: Mapping[Verdict, int]) -> str:
    """A tally as a sentence."""
    parts = [f"{n} {WORDS[Verdict(name)][0]}" for name, n in counted(found).items()]
    return f"Of {units.several(sum(found.values()), 'published figure')} {', '.join(parts[:-1])}, and {parts[-1]}."


def bars_sentence(bars: Sequence[Row]) -> str:
    """How many of the project's own bars held, as a sentence; empty without any."""
    held = tally(bars)
    if not bars:
        return ""
    text = f"Of this project's {units.several(len(bars), 'bar')} {held[Verdict.SAME]} held"
    if held[Verdict.NOT_TESTABLE]:
        text += f" and {held[Verdict.NOT_TESTABLE]} could not be tested here"
    return f"{text}."


def table(rows: Sequence[Row]) -> dict[str, Any]:
    """The rows and their tally in the form of results.json."""
    verdicts = {str(verdict): count for verdict, count in tally(rows).items()}
    return {"published": [row.as_dict() for row in rows], "verdicts": verdicts}
