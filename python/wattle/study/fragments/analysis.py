"""Reads the samples of the study of payload and fragments: the median of each metric at each pair of the two."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from statistics import median
from typing import Any

import polars as pl

from wattle.base.checked import Checked, parse_json
from wattle.study import energy, samples
from wattle.study.fragments.plan import PATTERN
from wattle.study.place import Place
from wattle.study.published import Evidence
from wattle.study.samples import Layout, Metric, metered, metered_columns, metrics
from wattle.text import units
from wattle.text.provenance import Joules
from wattle.text.units import in_unit

EVENTS = ("instructions", "cycles", "cache_references", "cache_misses")

SCHEMA: dict[str, Any] = {
    "pattern": pl.String,
    "payload": pl.Int64,  # bytes
    "fragments": pl.Int64,
    "fragment_bytes": pl.Int64,
    "repeat": pl.Int64,
    "iterations": pl.Int64,
    "block_s": pl.Float64,  # all iterations, with clearing and barriers
    "latency_s": pl.Float64,  # of one payload: median; the next three columns are its spread within this sample
    "latency_p25_s": pl.Float64,
    "latency_p75_s": pl.Float64,
    "latency_mean_s": pl.Float64,
    "bandwidth_Bps": pl.Float64,
    **metered_columns(),  # of the sender, for one payload
    **dict.fromkeys(EVENTS, pl.Float64),  # of the sender's thread in user mode, for one payload
    "counted_why": pl.String,  # the reason where one of them is not counted
    "interfaces_json": pl.String,  # packets and bytes of each network interface of the sender's node, for one payload
    "clear": pl.String,
    "verified": pl.Boolean,
}

COMPARED = Layout(
    ("pattern", "payload", "fragments"),
    "pattern",
    (("latency_s", "latency"), ("cpu_J", "CPU energy"), ("dram_J", "DRAM energy")),
    SCHEMA,
)


def row(document: dict[str, Any]) -> dict[str, Any]:
    """A "sample" line as a row. Raises DamagedFile with the place in a wrong line."""
    line = Checked("the benchmark's output", document)
    latency = line.get("latency_s")
    counted = line.get("counted") if line.has("counted") else None
    return {
        "pattern": line.choice("pattern", (PATTERN,)),
        **{key: line.integer(key) for key in ("payload", "fragments", "fragment_bytes", "repeat", "iterations")},
        **{key: line.number(key) for key in ("block_s", "bandwidth_Bps")},
        "latency_s": latency.number("median"),
        **{f"latency_{key}_s": latency.number(key) for key in ("p25", "p75", "mean")},
        **metered(line),
        **{key: counted.number(key) if counted else None for key in EVENTS},
        "counted_why": counted.text("why") if counted else "a simulated processor has no counters",
        "interfaces_json": json.dumps([interface(entry) for entry in counted.items("interfaces")] if counted else []),
        "clear": line.text("clear"),
        "verified": line.get("verified").value is True,
    }


WAYS = ("packets_sent", "packets_received", "bytes_sent", "bytes_received")


def interface(entry: Checked) -> dict[str, Any]:
    """One interface of a line, checked."""
    return {"name": entry.text("name"), **{way: entry.number(way) for way in WAYS}}


Row = dict[str, Any]
Cell = tuple[int, int]  # payload in bytes, number of fragments


def _watts(*domains: str) -> Callable[[Row], float | None]:
    """Watts with the node's idle draw, as a sensor measures them. Joules are the mean of a sample's transfers, so they
    are divided by the mean time.
    """

    def value(row: Row) -> float | None:
        joules = [row[f"{domain}_J"] for domain in domains]
        if None in joules or not row["latency_mean_s"]:
            return None
        watts: float = sum(joules) / row["latency_mean_s"] + sum(row[f"{domain}_idle_W"] for domain in domains)
        return watts

    return value


METRICS = metrics(
    Metric("cpu", "CPU energy", "J", itemgetter("cpu_J"), ("cpu",)),
    Metric("dram", "DRAM energy", "J", itemgetter("dram_J"), ("dram",)),
    Metric("cpu_power", "CPU power", "W", _watts("cpu"), ("cpu",)),
    Metric("dram_power", "DRAM power", "W", _watts("dram"), ("dram",)),
    Metric("power", "CPU + DRAM power", "W", _watts("cpu", "dram"), energy.DOMAINS),
    Metric("latency", "Time", "s", itemgetter("latency_s")),
    Metric("bandwidth", "Bandwidth", "B/s", itemgetter("bandwidth_Bps")),
    Metric("instructions", "Instructions", "", itemgetter("instructions"), (), True),
    Metric("misses", "Last-level cache misses", "", itemgetter("cache_misses"), (), True),
    Metric("sent", "Packets sent", "", itemgetter("packets_sent")),
    Metric("received", "Packets received", "", itemgetter("packets_received")),
)


@dataclass(frozen=True)
class Caches:
    """Bytes of the first two levels of a core's cache; None where they are not known."""

    l1: int | None = None
    l2: int | None = None


class Analysis(Evidence):
    """The samples, indexed. A cell that was not measured gives None."""

    frame: pl.DataFrame

    def __init__(
        self,
        frame: pl.DataFrame,
        floor: Sequence[Joules] = (),
        place: Place | None = None,
        caches: Caches | None = None,
        processor: str = "",
        hidden: frozenset[tuple[Cell, str]] | None = None,
    ) -> None:
        self.frame = frame
        self.place = place or Place()
        self.floor = list(floor)  # the joules while PE 0 slept
        self.caches = caches or Caches()
        self.processor = processor
        self.idle_watts = {domain: _idle(self.floor, domain) for domain in energy.DOMAINS}
        self.rows: dict[Cell, list[Row]] = {}
        cards = [_interfaces(row) for row in frame["interfaces_json"]]
        self.interface = _busiest(cards) if self.place.across else ""
        for row, found in zip(frame.iter_rows(named=True), cards, strict=True):
            card = found.get(self.interface, {})
            row |= {way: card.get(way) for way in ("packets_sent", "packets_received", "bytes_sent")}
            row |= {f"{domain}_idle_W": watts for domain, watts in self.idle_watts.items()}
            self.rows.setdefault((row["payload"], row["fragments"]), []).append(row)
        self.hidden = self._hidden() if hidden is None else hidden
        self._values = {name: self._medians(metric) for name, metric in METRICS.items()}

    def _medians(self, metric: Metric) -> dict[Cell, float]:
        found: dict[Cell, float] = {}
        for cell, rows in self.rows.items():
            known = [v for row in rows if (v := metric.value(row)) is not None]
            if known and not any((cell, domain) in self.hidden for domain in metric.energy):
                found[cell] = median(known)
        return found

    def _hidden(self) -> frozenset[tuple[Cell, str]]:
        """The cells and domains whose half-width exceeds the joules, so that even their sign is not known."""
        found = set()
        for cell, rows in self.rows.items():
            for domain in energy.DOMAINS:
                joules = [j for row in rows if (j := row[f"{domain}_J"]) is not None]
                widths = [w for row in rows if (w := row[f"{domain}_uncertainty_J"]) is not None]
                if joules and widths and median(joules) < median(widths):
                    found.add((cell, domain))
        return frozenset(found)

    def corners(self) -> Iterator[Analysis]:
        """Samples with other numbers of the profile. Their cells are those whose joules are known in these samples."""
        at = (self.floor, self.place, self.caches, self.processor, self.hidden)
        return (Analysis(frame, *at) for frame in energy.corners(self.frame))

    def below(self, metric: str, payload: int, fragments: int) -> float | None:
        """The half-width in joules of a cell whose energy is not known because it is below that. None in others."""
        domains = METRICS[metric].energy
        cell = (payload, fragments)
        if METRICS[metric].unit != "J" or not any((cell, domain) in self.hidden for domain in domains):
            return None
        widths: list[float | None] = [row[f"{domains[0]}_uncertainty_J"] for row in self.rows[cell]]
        return median(width for width in widths if width is not None)

    def values(self, metric: str) -> dict[Cell, float]:
        """The median of every cell in which the metric is known."""
        return self._values[metric]

    def value(self, metric: str, payload: int, fragments: int) -> float | None:
        return self._values[metric].get((payload, fragments))

    @property
    def processor_of_watts(self) -> str:
        """The processor of the joules: this machine's, or that of the machine profile."""
        if self.provenance("cpu") == "modelled":
            return f"profile {' and '.join(sorted(self.profiles))}".replace("e5-", "E5-")
        return self.processor or "it is not known"

    def with_frame(self, frame: pl.DataFrame) -> Analysis:
        return Analysis(frame, self.floor, self.place, self.caches, self.processor)

    @cached_property
    def payloads(self) -> list[int]:
        return sorted({payload for payload, _ in self.rows})

    @cached_property
    def counts(self) -> list[int]:
        """The numbers of fragments."""
        return sorted({n for _, n in self.rows})

    def along_fragments(self, metric: str, payload: int) -> list[tuple[int, float]]:
        """(number of fragments, value) of one payload, the fewest fragments first."""
        return [(n, v) for n in self.counts if (v := self.value(metric, payload, n)) is not None]

    def along_payloads(self, metric: str, fragments: int) -> list[tuple[int, float]]:
        """(payload, value) of one number of fragments, the smallest payload first."""
        return [(p, v) for p in self.payloads if (v := self.value(metric, p, fragments)) is not None]

    @cached_property
    def repeats(self) -> int:
        return min((len(rows) for rows in self.rows.values()), default=0)

    def provenance(self, metric: str) -> str:
        """The weakest provenance of the samples with joules. Times and counts are measured."""
        return energy.weakest_known(self.frame, METRICS[metric].energy)

    def why_not(self, metric: str) -> str:
        """Why a metric has no value here."""
        kind = METRICS[metric]
        if kind.energy:
            return energy.why_none(self.frame, "the meter gave no joules")
        if kind.counted:
            return energy.why_none(self.frame, "it was not counted", "counted_why")
        if self.place.simulated:
            return "the simulated network moves messages, and no packets"
        if not self.place.across:
            return "PEs of one node send no packets: their bytes go through shared memory"
        return "no network interface of the sender's node sent a packet"

    def bytes_a_packet(self) -> float:
        """The most bytes that a packet sent had on average, over the cells."""
        ratios = (
            row["bytes_sent"] / row["packets_sent"]
            for rows in self.rows.values()
            for row in rows
            if row["packets_sent"] and row["bytes_sent"] is not None
        )
        return max(ratios, default=0.0)

    def uncertainty(self, domain: str) -> float | None:
        """The median of the relative uncertainty of a domain over the samples."""
        return energy.relative_doubt(self.frame, domain)


def _idle(floor: Sequence[Joules], domain: str) -> float:
    """The node's idle watts of a domain where the model keeps them apart; 0 where the joules include them."""
    found = next((f for f in floor if f.domain == f"{domain}-idle" and f.joules is not None and f.interval_s), None)
    return found.joules / found.interval_s if found and found.joules and found.interval_s else 0.0


def _interfaces(text: str) -> dict[str, Row]:
    listed = [interface(entry) for entry in parse_json(samples.FILE, f'{{"all":{text}}}').items("all")]
    return {card["name"]: card for card in listed}


def _busiest(cards: Sequence[dict[str, Row]]) -> str:
    """The interface that sent most packets in all samples, without the loopback; "" where none sent any."""
    sums: dict[str, float] = {}
    for found in cards:
        for name, card in found.items():
            if name != "lo":
                sums[name] = sums.get(name, 0.0) + (card["packets_sent"] or 0.0)
    return max((name for name in sums if sums[name] > 0), key=lambda name: sums[name], default="")


def configurations(a: Analysis) -> list[dict[str, object]]:
    """Every cell with every metric, for results.json."""
    return [
        {"payload": payload, "fragments": n, **{name: a.value(name, payload, n) for name in METRICS}}
        for payload, n in sorted(a.rows)
    ]


SHOWN = (
    "cpu",
    "dram",
    "instructions",
    "bandwidth",
    "latency",
    "cpu_power",
    "dram_power",
    "power",
    "misses",
    "sent",
    "received",
)


def shown(metric: str, value: float | None) -> str:
    """An amount with its unit."""
    unit = METRICS[metric].unit
    return in_unit(value, unit) if unit else units.count(value)


def shown_at(a: Analysis, metric: str, payload: int, fragments: int) -> str:
    """The amount of a cell with its unit: `below 4 µJ` where its half-width exceeds it."""
    below = a.below(metric, payload, fragments)
    return shown(metric, a.value(metric, payload, fragments)) if below is None else f"below {shown(metric, below)}"


def missing(a: Analysis, names: Sequence[str] = SHOWN) -> list[tuple[str, str]]:
    """(label, reason) of each metric that has no map."""
    return [(METRICS[name].label, a.why_not(name)) for name in names if not a.values(name)]
