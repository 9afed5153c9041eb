"""How many processes to use: the numbers with the least joules and the least EDP, and the last that pays."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any

import numpy as np

from wattle.base.documents import fields
from wattle.base.errors import WattleError
from wattle.scale import law as laws
from wattle.scale.law import Law
from wattle.scale.points import Series, Size
from wattle.text.provenance import Joules, total, unavailable

PAYS = 0.5  # parallel efficiency from which a process pays
BEYOND = 4  # times the largest size: as far as the laws are evaluated


@dataclass(frozen=True)
class Best:
    """A number of processes. `low`, `high`: its range of about 95 %; None without repeats. `beyond`: it is larger than
    all sizes that ran, so the law alone speaks for it.
    """

    what: str
    n: int
    low: int | None
    high: int | None
    beyond: bool

    def as_dict(self) -> dict[str, Any]:
        return fields(self, "what n low high beyond")


@dataclass(frozen=True)
class Row:
    """A size that ran. Medians. `efficiency`: against the smallest size."""

    n: int
    repeats: int
    time_s: float
    joules: Joules
    edp: float | None
    efficiency: float

    def as_dict(self) -> dict[str, Any]:
        return fields(self, "n repeats time_s joules edp efficiency")


@dataclass(frozen=True)
class Answer:
    """The answer on a series. `weak`: the work grows with the number of processes. The laws are None where there are
    too few sizes, and that of joules where these are not known.
    """

    series: Series
    weak: bool
    rows: list[Row]
    time: Law | None
    joules: Law | None
    best: list[Best]

    def as_dict(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "kind": "scale",
            **fields(self.series, "program simulated"),
            **dict(zip(("provenance", "source"), self.series.provenance, strict=True)),
            **fields(self, "weak rows best"),
            "laws": {name: law.factors for name, law in (("time", self.time), ("joules", self.joules)) if law},
        }


def answer(series: Series, weak: bool = False) -> Answer:
    """The answer. Raises WattleError where the time of a size is not known."""
    for size in series.sizes:
        if not size.times:
            raise WattleError(f"the time with {size.n} {series.noun}s is not known")
    known = series.provenance[0] != "unavailable"
    time = laws.fit({size.n: size.times for size in series.sizes}, laws.OF_TIME)
    values = {size.n: [j.joules for j in size.joules if j.joules is not None] for size in series.sizes}
    joules = laws.fit(values, laws.OF_JOULES) if known else None
    return Answer(series, weak, _rows(series, weak), time, joules, _best(series, weak, time, joules))


def _rows(series: Series, weak: bool) -> list[Row]:
    first = series.sizes[0]
    base = statistics.median(first.times) * (1 if weak else first.n)
    rows = []
    for size in series.sizes:
        seconds, joules = statistics.median(size.times), _median(size)
        edp = None if joules.joules is None else joules.joules * seconds
        efficiency = base / (seconds * (1 if weak else size.n))
        rows.append(Row(size.n, len(size.times), seconds, joules, edp, efficiency))
    return rows


def _median(size: Size) -> Joules:
    """The middle repeat, with the provenance of all."""
    if any(not figure.known for figure in size.joules):
        return unavailable()
    middle = sorted(size.joules, key=lambda figure: figure.joules or 0.0)[(len(size.joules) - 1) // 2]
    both = total(size.joules)
    return Joules(middle.joules, middle.uncertainty, both.provenance, both.source, both.scope, both.domain)


def _best(series: Series, weak: bool, time: Law | None, joules: Law | None) -> list[Best]:
    """The numbers that the laws name, among all from the smallest size to BEYOND times the largest."""
    largest = series.sizes[-1].n
    n = np.arange(series.sizes[0].n, BEYOND * largest + 1, dtype=float)
    found = []
    if joules is not None:
        found.append(_of("least joules", n, joules.at(n), joules.drawn_at(n), largest))
    if joules is not None and time is not None:
        drawn = joules.drawn_at(n) * time.drawn_at(n)  # of the same drawn repeats, in order
        found.append(_of("least EDP", n, joules.at(n) * time.at(n), drawn, largest))
    if time is not None:
        whole, drawn = (_pays(n, values, weak) for values in (time.at(n)[None], time.drawn_at(n)))
        low, high = _range(drawn)
        found.append(Best("last that pays", int(whole[0]), low, high, bool(whole[0] > largest)))
    return found


def _of(what: str, n: np.ndarray, values: np.ndarray, drawn: np.ndarray, largest: int) -> Best:
    at = int(n[np.argmin(values)])
    low, high = _range(n[np.argmin(drawn, axis=1)])
    return Best(what, at, low, high, at > largest)


def _range(numbers: np.ndarray) -> tuple[int | None, int | None]:
    if len(numbers) < laws.DRAWN:
        return None, None
    low, high = np.percentile(numbers, (2.5, 97.5))
    return int(np.floor(low)), int(np.ceil(high))


def _pays(n: np.ndarray, values: np.ndarray, weak: bool) -> np.ndarray:
    """The last number up to which all have the efficiency PAYS, of each row."""
    cost = values if weak else values * n
    pays = np.logical_and.accumulate(cost[:, :1] >= PAYS * cost, axis=1)
    found: np.ndarray = n[pays.sum(axis=1) - 1]
    return found
