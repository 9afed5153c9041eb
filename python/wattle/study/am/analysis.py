"""Reads the samples of the study of messages: medians by case and way, and ratios between ways.

Ratios are paired. Two ways of one repeat ran in turn in one process, so each repeat gives one ratio, and the median
and its interval are over those ratios. MPI and UCX run as jobs of their own and are not paired.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from wattle.study import energy
from wattle.study.am.samples import WAYS
from wattle.study.place import Place
from wattle.study.published import Evidence
from wattle.study.stats import Center, center
from wattle.text.provenance import Joules

Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A point of the sweep, without its way."""

    series: str
    test: str
    bytes: int
    in_flight: int
    pes: int

    def sent_by(self, way: str) -> Case:
        """The case under which a way's samples of this case are kept. UCX's samples have no number in flight; it
        is 0.
        """
        return replace(self, in_flight=0) if way == "ucx" else self


@dataclass(frozen=True)
class Metric:
    label: str
    unit: str
    value: Callable[[Row], float | None]


METRICS = {
    "time": Metric("Time a message", "s", lambda r: r["message_s"]),
    "rate": Metric("Message rate", "/s", lambda r: 1 / r["message_s"]),
    "bandwidth": Metric("Bandwidth", "B/s", lambda r: r["bytes"] / r["message_s"]),
    "lap": Metric("Round trip", "s", lambda r: r["message_s"] * r["pes"]),
    "energy": Metric("Energy a message, CPU + DRAM", "J", energy.whole),
}


class Analysis(Evidence):
    """The samples, indexed. A case that was not measured gives None."""

    def __init__(
        self,
        frame: pl.DataFrame,
        place: Place | None = None,
        left_out: Iterable[str] = (),
        floor: Sequence[Joules] = (),
    ) -> None:
        self.frame = frame
        self.floor = list(floor)  # the joules while PE 0 slept
        self.place = place or Place()
        self.left_out = list(left_out)
        self._cells: dict[tuple[Case, str], dict[int, Row]] = {}
        for row in frame.sort("repeat").iter_rows(named=True):
            case = Case(row["series"], row["test"], row["bytes"], row["in_flight"], row["pes"])
            self._cells.setdefault((case, row["way"]), {})[row["repeat"]] = row

    def with_frame(self, frame: pl.DataFrame) -> Analysis:
        return Analysis(frame, self.place, self.left_out, self.floor)

    def cells(self) -> list[tuple[Case, str]]:
        """The measured cases with their ways, in the order of the report."""
        return sorted(
            self._cells, key=lambda c: (c[0].series, c[0].test, c[0].bytes, c[0].in_flight, c[0].pes, WAYS.index(c[1]))
        )

    def cases(self, series: str, test: str, ways: Iterable[str] = ("am",)) -> list[Case]:
        """The cases of Wattle's own program that were measured in all these ways."""
        return [
            case
            for case, way in self.cells()
            if way == "am"
            and case.series == series
            and case.test == test
            and all((case, w) in self._cells for w in ways)
        ]

    def only_case(self, series: str, test: str, way: str) -> Case | None:
        """The case of a way that has exactly one; else None."""
        found = [case for case, w in self._cells if w == way and (case.series, case.test) == (series, test)]
        return found[0] if len(found) == 1 else None

    def ways_of(self, case: Case) -> set[str]:
        return {way for found, way in self._cells if found == case.sent_by(way)}

    def ways(self, series: str, test: str) -> list[str]:
        found = {way for case, way in self._cells if case.series == series and case.test == test}
        return [way for way in WAYS if way in found]

    @cached_property
    def repeats(self) -> int:
        """The number of repeats that every case of Wattle's own program has."""
        return min((len(rows) for (_, way), rows in self._cells.items() if way in ("am", "put", "nbi")), default=0)

    def center(self, metric: str, case: Case, way: str) -> Center | None:
        rows = self._cells.get((case, way), {}).values()
        return center(METRICS[metric].value(row) for row in rows)

    def ratio(self, metric: str, case: Case, over: str, under: str) -> Center | None:
        """One way's figure divided by another's, over the repeats."""
        first, second = self._cells.get((case, over), {}), self._cells.get((case, under), {})
        value = METRICS[metric].value
        pairs = [(value(first[r]), value(second[r])) for r in sorted(first.keys() & second.keys())]
        return center(a / b for a, b in pairs if a is not None and b)

    def provenance(self, ways: Iterable[str] = ("am", "put", "nbi", "mpi")) -> str:
        """The weakest provenance among the samples with joules."""
        known = energy.known(self.frame).filter(pl.col("way").is_in(list(ways)))
        return "unavailable" if known.is_empty() else energy.weakest(known)

    @cached_property
    def sources(self) -> list[str]:
        return sorted(energy.sources(self.frame))

    @property
    def why_no_joules(self) -> str:
        """The reasons why samples of Wattle's own program have no joules."""
        return energy.why_none(self.frame.filter(pl.col("way") != "ucx"))

    def uncertainty(self, case: Case, way: str) -> float | None:
        """The median uncertainty of the joules a message."""
        rows = self._cells.get((case, way), {}).values()
        found = center(map(energy.doubt, rows))
        return found.median if found else None


def cells_table(analysis: Analysis) -> list[dict[str, object]]:
    """Every case and way with every metric, for results.json."""
    return [
        {
            "series": case.series,
            "test": case.test,
            "way": way,
            "bytes": case.bytes,
            "in_flight": case.in_flight,
            "pes": case.pes,
            **{name: c.as_dict() if (c := analysis.center(name, case, way)) else None for name in METRICS},
            "energy_uncertainty_J": analysis.uncertainty(case, way),
            "energy_provenance": analysis.provenance((way,)),
        }
        for case, way in analysis.cells()
    ]
