"""Reads the pattern study's samples: medians by pattern and number of fragments, and the savings of transformations.

Comparisons are paired. The two configurations of one repeat ran within the same round, so each repeat gives one
saving, and the median and interval are over those savings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import Any

import polars as pl

from wattle.base.checked import Checked
from wattle.study import energy
from wattle.study.place import Place
from wattle.study.published import Evidence
from wattle.study.samples import Layout, Metric, metered, metered_columns, metrics
from wattle.study.stats import Center, center, savings
from wattle.text.provenance import Joules

PATTERNS = ("PQPQ", "PPQ", "MPQMPQ", "MPMPQ", "MMPQAMM")
SERIES = ("patterns", "payloads")  # the five patterns at one payload; one pattern at several payloads

SCHEMA: dict[str, Any] = {
    "series": pl.String,
    "pattern": pl.String,
    "payload": pl.Int64,  # bytes
    "fragments": pl.Int64,
    "fragment_bytes": pl.Int64,
    "repeat": pl.Int64,
    "turn": pl.Int64,  # position within its repeat's round of patterns
    "iterations": pl.Int64,
    "block_s": pl.Float64,  # all iterations, with clearing and barriers
    "latency_s": pl.Float64,  # of one iteration: median; the next four columns are its spread within this sample
    "latency_p25_s": pl.Float64,
    "latency_p75_s": pl.Float64,
    "latency_mean_s": pl.Float64,
    "latency_min_s": pl.Float64,
    "unpack_s": pl.Float64,  # the receiver's time, MMPQAMM only
    "bandwidth_Bps": pl.Float64,
    "message_rate_per_s": pl.Float64,
    **metered_columns(),  # of the sender, for one payload
    "clear": pl.String,
    "verified": pl.Boolean,
}

COMPARED = Layout(
    ("series", "pattern", "payload", "fragments"),
    "pattern",
    (("latency_s", "latency"), ("cpu_J", "CPU energy"), ("dram_J", "DRAM energy")),
    SCHEMA,
)


def row(document: dict[str, Any], series: str) -> dict[str, Any]:
    """A "sample" line as a row. Raises DamagedFile with the place in a wrong line."""
    line = Checked("the benchmark's output", document)
    latency = line.get("latency_s")
    return {
        "series": series,
        "pattern": line.choice("pattern", PATTERNS),
        **{
            key: line.integer(key) for key in ("payload", "fragments", "fragment_bytes", "repeat", "turn", "iterations")
        },
        **{key: line.number(key) for key in ("block_s", "unpack_s", "bandwidth_Bps", "message_rate_per_s")},
        "latency_s": latency.number("median"),
        **{f"latency_{key}_s": latency.number(key) for key in ("p25", "p75", "mean", "min")},
        **metered(line),
        "clear": line.text("clear"),
        "verified": line.get("verified").value is True,
    }


PAPER_PAYLOAD = 512 * 1024


def _edp(row: dict[str, float | None]) -> float | None:
    joules, latency = energy.whole(row), row["latency_s"]
    return None if joules is None or latency is None else joules * latency


METRICS = metrics(
    Metric("cpu", "CPU energy", "J", itemgetter("cpu_J"), ("cpu",)),
    Metric("dram", "DRAM energy", "J", itemgetter("dram_J"), ("dram",)),
    Metric("energy", "CPU + DRAM energy", "J", energy.whole, energy.DOMAINS),
    Metric("latency", "Latency", "s", itemgetter("latency_s")),
    Metric("bandwidth", "Bandwidth", "B/s", itemgetter("bandwidth_Bps"), lower_is_better=False),
    Metric("rate", "Message rate", "/s", itemgetter("message_rate_per_s"), lower_is_better=False),
    Metric("edp", "Energy-delay product", "J·s", _edp, energy.DOMAINS),
    Metric("unpack", "Receiver's unpacking", "s", itemgetter("unpack_s")),
)

IMPACT_METRICS = ("cpu", "dram", "latency", "edp")


@dataclass(frozen=True)
class Transformation:
    """A change from one pattern to another, in all its forms."""

    name: str
    title: str
    forms: tuple[tuple[str, str, str], ...]  # (label, before, after)


TRANSFORMATIONS = {
    t.name: t
    for t in (
        Transformation(
            "pin",
            "Use pinned source buffers",
            (("blocking puts", "MPQMPQ", "PQPQ"), ("non-blocking puts", "MPMPQ", "PPQ")),
        ),
        Transformation(
            "non-block",
            "Use non-blocking puts",
            (("unpinned source", "MPQMPQ", "MPMPQ"), ("pinned source", "PQPQ", "PPQ")),
        ),
        Transformation("aggregate", "Aggregate the user buffers", (("pack, one put, unpack", "PPQ", "MMPQAMM"),)),
    )
}
PAYLOAD_PATTERN = "MPQMPQ"  # the pattern whose payload is varied

Key = tuple[str, str, int, int]  # series, pattern, payload, fragments


class Analysis(Evidence):
    """The samples, indexed. A configuration that was not measured gives None."""

    frame: pl.DataFrame

    def __init__(self, frame: pl.DataFrame, floor: Sequence[Joules] = (), place: Place | None = None) -> None:
        self.frame = frame
        self.place = place or Place()
        self.floor = list(floor)  # the joules while PE 0 slept
        self._cells: dict[Key, dict[int, dict[str, float | None]]] = {}
        self._known: dict[tuple[object, ...], Center | None] = {}  # cache of computed centers
        self._provenance: dict[str, str] = {}
        for row in frame.sort("repeat").iter_rows(named=True):
            key = (row["series"], row["pattern"], row["payload"], row["fragments"])
            self._cells.setdefault(key, {})[row["repeat"]] = row

    @cached_property
    def payload(self) -> int:
        """The payload at which the patterns are compared."""
        main = self.frame.filter(pl.col("series") == "patterns")
        return int(main["payload"][0]) if main.height else 0

    @cached_property
    def payloads(self) -> list[int]:
        """The payloads of the fourth transformation, the largest first."""
        return sorted({key[2] for key in self._cells if key[0] == "payloads"}, reverse=True)

    @cached_property
    def fragments(self) -> list[int]:
        return sorted({key[3] for key in self._cells if key[0] == "patterns"})

    def payload_fragments(self) -> list[int]:
        return sorted({key[3] for key in self._cells if key[0] == "payloads"})

    @cached_property
    def patterns(self) -> list[str]:
        found = {key[1] for key in self._cells if key[0] == "patterns"}
        return [p for p in PATTERNS if p in found]

    @cached_property
    def repeats(self) -> int:
        """The number of repeats that every configuration has."""
        return min((len(cell) for cell in self._cells.values()), default=0)

    def center(self, metric: str, pattern: str, fragments: int) -> Center | None:
        return self._center(metric, ("patterns", pattern, self.payload, fragments))

    def saving(self, metric: str, before: str, after: str, fragments: int) -> Center | None:
        """Percent saved by the change from one pattern to the other, over the repeats."""
        series, payload = "patterns", self.payload
        return self._saving(metric, (series, before, payload, fragments), (series, after, payload, fragments))

    def payload_saving(self, metric: str, before: int, after: int, fragments: int) -> Center | None:
        """Percent saved by the smaller payload."""
        series, pattern = "payloads", PAYLOAD_PATTERN
        return self._saving(metric, (series, pattern, before, fragments), (series, pattern, after, fragments))

    def provenance(self, metric: str) -> str:
        """The weakest provenance among the samples with joules; unavailable where there are none. Times are always
        measured.
        """
        if metric not in self._provenance:
            self._provenance[metric] = self._find_provenance(metric)
        return self._provenance[metric]

    def _find_provenance(self, metric: str) -> str:
        domains = METRICS[metric].energy
        if domains == energy.DOMAINS and energy.of_external_meter(self.frame):
            return "measured"
        return energy.weakest_known(self.frame, domains)

    @cached_property
    def samples_without_joules(self) -> int:
        return self.frame.height - energy.known(self.frame).height

    @property
    def saw_both(self) -> bool:
        """Whether joules are those of both PEs: a sensor measures the machine that runs both."""
        return self.provenance("energy") == "measured" and self.place.one_machine

    def with_frame(self, frame: pl.DataFrame) -> Analysis:
        return Analysis(frame, self.floor, self.place)

    @cached_property
    def sources(self) -> list[str]:
        return sorted(energy.sources(self.frame))

    @property
    def why_no_joules(self) -> str:
        return energy.why_none(self.frame)

    def uncertainty(self, domain: str) -> float | None:
        """The median of the relative uncertainty over the samples."""
        return energy.relative_doubt(self.frame, domain)

    def _center(self, metric: str, key: Key) -> Center | None:
        return self._once((metric, key), lambda: map(METRICS[metric].value, self._cells.get(key, {}).values()))

    def _saving(self, metric: str, before: Key, after: Key) -> Center | None:
        return self._once((metric, before, after), lambda: self._pairs(metric, before, after))

    def _once(self, question: tuple[object, ...], values: Callable[[], Iterable[float | None]]) -> Center | None:
        if question not in self._known:
            self._known[question] = center(values())
        return self._known[question]

    def _pairs(self, metric: str, before: Key, after: Key) -> list[float | None]:
        first, second = self._cells.get(before, {}), self._cells.get(after, {})
        both = sorted(first.keys() & second.keys())
        value = METRICS[metric].value
        return savings([value(first[r]) for r in both], [value(second[r]) for r in both])


def configurations(analysis: Analysis) -> list[dict[str, object]]:
    """Every configuration with every metric, for results.json."""
    return [
        {
            "pattern": pattern,
            "payload": analysis.payload,
            "fragments": n,
            **{name: _dict(analysis.center(name, pattern, n)) for name in METRICS},
        }
        for pattern in analysis.patterns
        for n in analysis.fragments
    ]


def savings_table(analysis: Analysis) -> list[dict[str, object]]:
    """Every transformation, form, metric and number of fragments, for results.json."""
    rows: list[dict[str, object]] = []
    for t in TRANSFORMATIONS.values():
        for label, before, after in t.forms:
            rows += _rows(t.name, label, before, after, analysis.fragments, _pattern_saving(analysis, before, after))
    for small, large in pairwise(analysis.payloads):
        label = f"{small} B to {large} B"
        saving = _payload_saving(analysis, small, large)
        rows += _rows("payload", label, str(small), str(large), analysis.payload_fragments(), saving)
    return rows


Saving = Callable[[str, int], Center | None]


def _pattern_saving(analysis: Analysis, before: str, after: str) -> Saving:
    return lambda metric, n: analysis.saving(metric, before, after, n)


def _payload_saving(analysis: Analysis, before: int, after: int) -> Saving:
    return lambda metric, n: analysis.payload_saving(metric, before, after, n)


def _rows(
    name: str, label: str, before: str, after: str, fragments: Iterable[int], saving: Saving
) -> list[dict[str, object]]:
    return [
        {
            "transformation": name,
            "form": label,
            "before": before,
            "after": after,
            "fragments": n,
            "metric": metric,
            "saving_percent": _dict(saving(metric, n)),
        }
        for metric in IMPACT_METRICS
        for n in fragments
    ]


def _dict(found: Center | None) -> dict[str, float | int] | None:
    return found.as_dict() if found else None
