"""Reads and checks the timeline that a PE writes at its end, profile/timeline-00000.bin."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import numpy as np

from wattle.base import input_files, limits
from wattle.base.checked import Checked, parse_json, require_schema
from wattle.base.errors import DamagedFile, WattleError

SCHEMAS = (1, 2)  # spans of schema 1 have no paths
LONGEST_HEAD = 1 << 22  # bytes of the first line
TIMES = ("start_tick", "end_tick", "end_monotonic_ns", "end_realtime_ns")


class Span(IntEnum):
    """Kinds of spans, as in src/profile/timeline.h."""

    SPIN = 0
    YIELD = 1
    ASLEEP = 2
    CALL = 3
    CLOCK = 4
    COLLECTIVE = 5
    REGION = 6


STATES = {Span.SPIN: "spin", Span.YIELD: "yield", Span.ASLEEP: "asleep"}
WRITTEN = np.dtype([("begin", "u8"), ("end", "u8"), ("addr", "u8"), ("call", "u4"), ("span_and_path", "u4")])
EVENT = np.dtype([("begin", "u8"), ("end", "u8"), ("addr", "u8"), ("call", "u4"), ("span", "u4"), ("path", "i4")])
PATH_FROM = 8  # bits of a span's kind


@dataclass(frozen=True)
class Kept:
    """The spans of a thread: the number in the file, the number seen, and the number left out with their total seconds.
    No span in the file is shorter than `least_s`. `collectives`: the number of synchronizations of all PEs; None in
    older files.
    """

    spans: int
    seen: int
    left_out: int
    left_out_s: float
    least_s: float
    collectives: int | None = None


@dataclass(frozen=True)
class Timeline:
    """The timeline of a PE. `events`: for each thread, in the order of their ends. `path` of an event: the place of the
    caller's node in the `paths` of the PE's profile; -1: it has none. Ticks count the PE's clock, at `ns_per_tick`
    each. The end of the run is given on all three clocks.
    """

    pe: int
    n_pes: int
    start_tick: int
    end_tick: int
    end_monotonic_ns: int
    end_realtime_ns: int
    ns_per_tick: float
    ns_per_span: float | None
    calls: list[str]
    threads: list[Kept]
    events: list[np.ndarray]

    def call(self, event: np.void) -> str:
        """The call of a span. A span without a call site belongs to the end of the job."""
        return self.calls[int(event["call"])] if event["addr"] else "finish"

    def ns(self, ticks: np.ndarray, same_machine: bool) -> np.ndarray:
        """Nanoseconds on the machine's monotonic clock, or on the realtime clock where PEs are on several machines."""
        end = self.end_monotonic_ns if same_machine else self.end_realtime_ns
        before = (np.int64(self.end_tick) - ticks.astype(np.int64)) * self.ns_per_tick
        found: np.ndarray = end - np.rint(before).astype(np.int64)
        return found


def load(folder: Path) -> list[Timeline]:
    """All timelines in a run's profile folder, by PE. Raises WattleError where there are none."""
    found = []
    for path in sorted(folder.glob("timeline-*.bin")):
        if number := re.fullmatch(r"timeline-([0-9]{5})\.bin", path.name):
            found.append(read(path, int(number[1])))
    if not found:
        raise WattleError(f"{folder}: the run left no timeline; run it with `wattle run --timeline`")
    return found


def read(path: Path, number: int) -> Timeline:
    """Reads a timeline. Raises DamagedFile with the reason."""
    data = input_files.read_bytes(path, limits.TIMELINE_BYTES)
    line = data.find(b"\n", 0, LONGEST_HEAD)
    if line < 0:
        raise DamagedFile(path, "does not begin with a line of JSON")
    head = parse_json(path, data[:line])
    require_schema(head, *SCHEMAS)
    if head.integer("pe") != number or number >= head.integer("n_pes", lo=1, hi=limits.PES):
        raise head.get("pe").wrong(f"says {head.integer('pe')} in a file named {path.name}")
    threads = [_kept(entry) for entry in head.items("threads")]
    body = data[line + 1 :]
    if len(body) != WRITTEN.itemsize * sum(t.spans for t in threads):
        raise DamagedFile(path, f"has {len(body)} bytes of spans for {sum(t.spans for t in threads)} spans")
    every = _events(np.frombuffer(body, WRITTEN))
    calls = head.texts("calls")
    _check(path, every, calls)
    start, end, end_ns, realtime_ns = (_time(head, key) for key in TIMES)
    ns_per_tick = head.positive("ns_per_tick")
    _check_times(path, every, start, end, ns_per_tick)
    cuts = np.cumsum([t.spans for t in threads])[:-1]
    return Timeline(
        number,
        head.integer("n_pes"),
        start,
        end,
        end_ns,
        realtime_ns,
        ns_per_tick,
        head.number("ns_per_span"),
        calls,
        threads,
        list(np.split(every, cuts)) if threads else [],
    )


def _events(written: np.ndarray) -> np.ndarray:
    found = np.empty(len(written), EVENT)
    for name in ("begin", "end", "addr", "call"):
        found[name] = written[name]
    found["span"] = written["span_and_path"] & ((1 << PATH_FROM) - 1)
    found["path"] = (written["span_and_path"] >> PATH_FROM).astype(np.int64) - 1
    return found


def _kept(entry: Checked) -> Kept:
    seconds = (entry.number("left_out_s") or 0.0, entry.number("least_s") or 0.0)
    met = entry.integer("collectives") if entry.has("collectives") else None
    return Kept(entry.integer("spans"), entry.integer("seen"), entry.integer("left_out"), *seconds, met)


def _time(head: Checked, key: str) -> int:
    value = head.address(key)
    if value > limits.TICKS:
        raise head.get(key).wrong(f"expected at most {limits.TICKS:#x}, found {value:#x}")
    return value


def _check_times(path: Path, events: np.ndarray, start: int, end: int, ns_per_tick: float) -> None:
    """Checks that each time is near enough to the end of the run to fit nanoseconds in 64 bits."""
    edges = (int(events["begin"].min()), int(events["end"].max())) if len(events) else ()
    ticks = [start, *edges]
    if max(abs(end - tick) for tick in ticks) * ns_per_tick > limits.TICKS:
        raise DamagedFile(path, f"holds a time that is more than {limits.TICKS} ns from the end of the run")


def _check(path: Path, events: np.ndarray, calls: list[str]) -> None:
    if not len(events):
        return
    if (events["span"] > max(Span)).any() or (events["end"] < events["begin"]).any():
        raise DamagedFile(path, "holds a span of no kind, or one that ends before it begins")
    if (events["call"][~np.isin(events["span"], (Span.CLOCK, Span.REGION))] >= len(calls)).any():
        raise DamagedFile(path, "holds a span of a call without a name")
