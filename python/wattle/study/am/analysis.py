"""Reads the samples of the study of messages: medians by case and way, and ratios between ways.

Ratios are paired. Two ways of one repeat ran in turn in one process, so each repeat gives one ratio, and the median
and its interval are over those ratios. MPI and UCX run as jobs of their own and are not paired.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from wattle.base.checked import Checked
from wattle.study import energy
from wattle.study.place import Place
from wattle.study.published import Evidence
from wattle.study.samples import Layout, Metric, metered, metered_columns, metrics
from wattle.study.stats import Center, center
from wattle.text.provenance import Joules

SERIES = ("bandwidth", "rate", "ring", "handlers")
TESTS = ("uni", "bi", "ring", "handlers")
WAYS = ("am", "put", "nbi", "mpi", "ucx", "own", "shared")
NO_UCX_JOULES = "ucx_perftest is a separate program without a meter"

SCHEMA: dict[str, Any] = {
    "series": pl.String,
    "test": pl.String,
    "way": pl.String,
    "bytes": pl.Int64,  # of a message
    "in_flight": pl.Int64,  # messages before a wait for completion; 0: UCX's own choice
    "pes": pl.Int64,
    "repeat": pl.Int64,
    "turn": pl.Int64,  # position among the ways of its repeat
    "rounds": pl.Int64,
    "messages": pl.Float64,  # messages of the block: both directions in bi, hops in a ring
    "block_s": pl.Float64,
    "message_s": pl.Float64,  # block_s / messages
    **metered_columns(),  # for one message: of PE 0 where modelled, of the machine where measured
    "verified": pl.Boolean,  # every message arrived once and correct; null: UCX's test does not check
}

COMPARED = Layout(
    ("series", "test", "way", "bytes", "in_flight", "pes"),
    "way",
    (("message_s", "time a message"), ("cpu_J", "CPU energy"), ("dram_J", "DRAM energy")),
    SCHEMA,
)


def row(document: dict[str, Any], series: str) -> dict[str, Any]:
    """A "sample" line as a row. Raises DamagedFile with the place in a wrong line."""
    line = Checked("the benchmark's output", document)
    return {
        "series": series,
        "test": line.choice("test", TESTS),
        "way": line.choice("way", WAYS),
        **{key: line.integer(key) for key in ("bytes", "in_flight", "pes", "repeat", "turn", "rounds")},
        **{key: line.number(key) for key in ("messages", "block_s", "message_s")},
        **metered(line),
        "verified": line.get("verified").value is True if document.get("verified") is not None else None,
    }


def ucx_document(size: int, repeat: int, messages: int, a_second: float) -> dict[str, Any]:
    """A figure of ucx_perftest in the form of a benchmark line."""
    return {
        "test": "uni",
        "way": "ucx",
        "bytes": size,
        "in_flight": 0,
        "pes": 2,
        "repeat": repeat,
        "turn": 0,
        "rounds": 1,
        "messages": messages,
        "block_s": messages / a_second,
        "message_s": 1 / a_second,
        "verified": None,
        "energy": None,
        "energy_why": NO_UCX_JOULES,
    }


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


METRICS = metrics(
    Metric("time", "Time a message", "s", lambda r: r["message_s"]),
    Metric("rate", "Message rate", "/s", lambda r: 1 / r["message_s"]),
    Metric("bandwidth", "Bandwidth", "B/s", lambda r: r["bytes"] / r["message_s"]),
    Metric("lap", "Round trip", "s", lambda r: r["message_s"] * r["pes"]),
    Metric("energy", "Energy a message, CPU + DRAM", "J", energy.whole),
)


class Analysis(Evidence):
    """The samples, indexed. A case that was not measured gives None."""

    frame: pl.DataFrame

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

    def handlers(self) -> list[Case]:
        """The cases whose handlers were measured with data of their own and with shared data."""
        return [case for case, way in self.cells() if way == "own" and (case, "shared") in self._cells]

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


NAMES = {"am": "AM", "put": "put", "nbi": "put_nbi", "mpi": "MPI", "ucx": "UCX's AM"}
NAMES |= {"own": "AM, own data", "shared": "AM, shared data"}
