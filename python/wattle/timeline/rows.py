"""The contents of a timeline for any format: a row for each PE with nested slices, and its counters."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from wattle.base.checked import read_json
from wattle.figures.sites import region_names
from wattle.record.pe import PE, noun
from wattle.record.power_trace import PowerTrace
from wattle.record.profile import RunProfile, folder_of
from wattle.record.timeline_file import STATES, Span, Timeline
from wattle.timeline.places import Places, WhereOf, nowhere

COMPUTE, CALL, REGION = "compute", "call", "region"
CLOCK_ASKED, CLOCK_RECORDED = "clock asked for", "clock recorded, not set"


@dataclass(frozen=True)
class Slice:
    """A slice in nanoseconds from the first PE's start. `kind`: region (that the program marks), compute, call (a
    transfer or another call of the library), spin, yield or asleep. `where`: the line of source, or file and offset.
    `depth`: the number of slices around it. `path`: the callers from the outermost one to the call, in words.
    """

    begin: int
    end: int
    kind: str
    name: str
    where: str
    depth: int
    path: str = ""

    @property
    def title(self) -> str:
        """The name of the call or region; of a wait `asleep: MPI_Recv`."""
        return f"{self.kind}: {self.name}" if self.kind in STATES.values() else self.name


@dataclass
class Row:
    """The row of a PE. `slices` are nested and in order of their begins. Counters are pairs (ns, value)."""

    pe: int
    host: str
    slices: list[Slice]
    begin: int
    end: int
    ghz: list[tuple[int, float]] = field(default_factory=list)
    ghz_name: str = CLOCK_ASKED
    joules: list[tuple[int, float]] = field(default_factory=list)
    joules_from: str = ""  # provenance and source
    others: list[list[Slice]] = field(default_factory=list)  # slices of the PE's other threads
    noun: str = "PE"  # or `rank`

    @property
    def name(self) -> str:
        return f"{self.noun} {self.pe}"


@dataclass(frozen=True)
class Track:
    """A counter of the whole node. `values`: pairs (ns from the first PE's start, value)."""

    name: str
    unit: str
    values: list[tuple[int, float]]


@dataclass(frozen=True)
class Cost:
    """The cost of a timeline: spans seen, kept and left out, seconds of the spans left out, bytes of the files, and
    seconds of all PEs together. A PE measures its price of one span: two readings of a clock and the entry.
    """

    seen: int
    kept: int
    left_out: int
    left_out_s: float
    bytes: int
    price_s: float | None


def cost(timelines: list[Timeline], folder: Path) -> Cost:
    threads = [t for timeline in timelines for t in timeline.threads]
    prices = [sum(t.seen for t in tl.threads) * tl.ns_per_span for tl in timelines if tl.ns_per_span is not None]
    return Cost(
        sum(t.seen for t in threads),
        sum(t.spans for t in threads),
        sum(t.left_out for t in threads),
        sum(t.left_out_s for t in threads),
        sum(path.stat().st_size for path in folder.glob("timeline-*.bin")),
        sum(prices) * 1e-9 if prices else None,
    )


def rows(
    timelines: list[Timeline], profile: RunProfile, machine: Mapping[str, Any], places: Places | None = None
) -> list[Row]:
    """The rows of all PEs. `machine`: from wattle-info's answer. `places`: lines and call paths; None: without."""
    pes = {pe.pe: pe for pe in profile.pes}
    same = len({pe.boot_id for pe in profile.pes}) <= 1
    zero = min(int(t.ns(np.array([t.start_tick], dtype=np.uint64), same)[0]) for t in timelines)
    watts = _watts(machine)
    found = [_row(t, pes.get(t.pe), (same, zero), watts, places) for t in timelines]
    _add_clocks(found, timelines, profile, same, zero)
    return found


def tracks(powers: Iterable[PowerTrace], timelines: list[Timeline]) -> list[Track]:
    """The watts of meters on the time of the rows."""
    zero = min(int(t.ns(np.array([t.start_tick], dtype=np.uint64), False)[0]) for t in timelines)
    return [
        Track(p.title, "W", [(round(at * 1e9) - zero, w) for at, w in zip(p.at_s, p.watts, strict=True)])
        for p in powers
        if p.at_s
    ]


def _row(t: Timeline, pe: PE | None, clock: tuple[bool, int], watts: Mapping[str, float], places: Places | None) -> Row:
    """`clock`: whether the monotonic clock is that of all PEs, and the first PE's start."""
    same, zero = clock
    begin = int(t.ns(np.array([t.start_tick], dtype=np.uint64), same)[0]) - zero
    end = (t.end_monotonic_ns if same else t.end_realtime_ns) - zero
    where = places.of(pe) if places is not None and pe is not None else nowhere
    threads = [(_slices(t, events, clock, where), _regions(t, events, clock, pe)) for events in t.events]
    threads.sort(key=lambda thread: -sum(s.end - s.begin for s in thread[0] if s.depth == 0))
    slices, regions = threads[0] if threads else ([], [])
    mine = with_regions(with_compute(slices, begin, end), regions)
    row = Row(t.pe, pe.host if pe else "", mine, begin, end)
    row.others = [both for other, marked in threads[1:] if (both := with_regions(other, marked))]
    row.noun = noun([pe] if pe else [])
    if pe is not None and watts:
        row.joules, row.joules_from = _joules(row, pe, watts)
    return row


def _edges(t: Timeline, some: np.ndarray, clock: tuple[bool, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Begins and ends of events, and their order: by begin, the outer ones first."""
    same, zero = clock
    begins, ends = (np.maximum(0, t.ns(some[edge], same) - zero) for edge in ("begin", "end"))
    return begins, ends, np.lexsort((-ends, begins))


def _slices(t: Timeline, events: np.ndarray, clock: tuple[bool, int], where: WhereOf) -> list[Slice]:
    """The slices in order of their begins. Each ends at the latest with the slice in which it began."""
    some = events[events["span"] < Span.CLOCK]
    begins, ends, order = _edges(t, some, clock)
    found: list[Slice] = []
    stack: list[int] = []
    for i in order:
        event, begin, end = some[i], int(begins[i]), int(ends[i])
        while stack and stack[-1] <= begin:
            stack.pop()
        end = min(end, stack[-1]) if stack else end
        if end <= begin:
            continue  # shorter than a nanosecond
        kind = STATES.get(Span(int(event["span"])), CALL)
        line, path = where(int(event["addr"]), int(event["path"]))
        found.append(Slice(begin, end, kind, t.call(event), line, len(stack), path))
        stack.append(end)
    return found


def _regions(t: Timeline, events: np.ndarray, clock: tuple[bool, int], pe: PE | None) -> list[Slice]:
    """The regions that the program marks, in order of their begins. Of equal ones the outer comes first."""
    some = events[events["span"] == Span.REGION]
    if pe is None or not len(some):
        return []
    begins, ends, _ = _edges(t, some, clock)
    depths = [len(region_names(pe, int(n))) if n < len(pe.user_regions) else 0 for n in some["addr"]]
    return [
        Slice(int(begins[i]), int(ends[i]), REGION, pe.user_regions[int(some["addr"][i])].name, "", 0)
        for i in np.lexsort((np.array(depths), -ends, begins))
        if depths[i]
    ]


def with_regions(slices: list[Slice], regions: list[Slice]) -> list[Slice]:
    """Puts slices into the regions around them. A region that begins or ends in a call, as by MPI_Pcontrol, begins
    after it or ends before it. Computing is cut at the edges of regions.
    """
    if not regions:
        return slices
    calls = [s for s in slices if s.depth == 0 and s.kind != COMPUTE]
    begins, ends = ([getattr(call, edge) for call in calls] for edge in ("begin", "end"))

    def moved(at: int, to_end: bool) -> int:
        i = bisect_left(begins, at) - 1  # the last call that began before
        return at if i < 0 or ends[i] <= at else ends[i] if to_end else begins[i]

    fitted = [replace(r, begin=moved(r.begin, True), end=moved(r.end, False)) for r in regions]
    fitted = [r for r in fitted if r.end > r.begin]
    cuts = sorted({at for r in fitted for at in (r.begin, r.end)})
    parts = [part for s in slices for part in (_cut(s, cuts) if s.kind == COMPUTE else [s])]
    found: list[Slice] = []
    stack: list[int] = []
    for one in sorted([*fitted, *parts], key=lambda s: (s.begin, -s.end)):  # stable: regions first, as they were
        while stack and stack[-1] <= one.begin:
            stack.pop()
        found.append(replace(one, depth=len(stack)))
        stack.append(one.end)
    return found


def _cut(one: Slice, cuts: list[int]) -> Iterator[Slice]:
    inside = cuts[bisect_right(cuts, one.begin) : bisect_left(cuts, one.end)]
    for begin, end in pairwise([one.begin, *inside, one.end]):
        yield replace(one, begin=begin, end=end)


def with_compute(slices: list[Slice], begin: int, end: int) -> list[Slice]:
    """Adds slices for the gaps at the top level: computing, and calls too short for a span each."""
    found, at = [], begin
    for one in slices:
        if one.depth == 0:
            if one.begin > at:
                found.append(Slice(at, one.begin, COMPUTE, COMPUTE, "", 0))
            at = max(at, one.end)
        found.append(one)
    if end > at:
        found.append(Slice(at, end, COMPUTE, COMPUTE, "", 0))
    return found


def leaves(slices: list[Slice]) -> Iterator[tuple[int, int, str]]:
    """(begin, end, state) for the whole time: waits by their stage, the rest active."""
    waits = [s for s in slices if s.kind in STATES.values()]
    at = slices[0].begin if slices else 0
    for wait in waits:
        if wait.begin > at:
            yield at, wait.begin, "active"
        if wait.end > at:
            yield max(at, wait.begin), wait.end, wait.kind
            at = wait.end
    if slices and (last := max(s.end for s in slices)) > at:
        yield at, last, "active"


def _watts(machine: Mapping[str, Any]) -> dict[str, float]:
    """The watts that a PE adds in each state, at the base clock of the machine profile."""
    base = machine.get("base_ghz")
    found = {}
    for row in machine.get("numbers") or []:
        _, dot, state = str(row.get("key")).rpartition("].")
        if dot and row.get("ghz") == base:
            found[state] = float(row.get("value") or 0.0)
    return found if {"active", *STATES.values()} <= set(found) else {}


def _joules(row: Row, pe: PE, watts: Mapping[str, float]) -> tuple[list[tuple[int, float]], str]:
    """The CPU joules of the PE's profile, distributed over its time in proportion to the watts of each state."""
    figures = [j for j in pe.joules if not j.domain.startswith("dram")]
    if not figures or any(not j.known for j in figures):
        return [], ""
    total = sum(j.joules or 0.0 for j in figures)
    parts = [(end, (end - begin) * watts[state]) for begin, end, state in leaves(row.slices)]
    whole = sum(weight for _, weight in parts)
    if whole <= 0:
        return [], ""
    found, so_far = [(row.begin, 0.0)], 0.0
    for end, weight in parts:
        so_far += weight
        found.append((end, total * so_far / whole))
    return found, f"modelled, {figures[0].source}"


# ---- clocks ----


def _add_clocks(found: list[Row], timelines: list[Timeline], profile: RunProfile, same: bool, zero: int) -> None:
    """Adds the clocks. A change is in the timeline of the PE that made it, and is one of its whole clock domain."""
    mine = {pe.pe: _domains(profile, pe.pe) for pe in profile.pes}
    hosts = {pe.pe: pe.host for pe in profile.pes}
    dry = {pe.pe for pe in profile.pes if pe.clocks and pe.clocks.knob == "record"}
    changes: dict[tuple[str, int], list[tuple[int, float]]] = {}
    for t in timelines:
        for events in t.events:
            some = events[events["span"] == Span.CLOCK]
            for at, event in zip(t.ns(some["begin"], same) - zero, some, strict=True):
                key = (hosts.get(t.pe, ""), int(event["call"]))
                changes.setdefault(key, []).append((int(at), int(event["addr"]) / 1e6))
    for row in found:
        for domain, normal_ghz in mine.get(row.pe, {}).items():
            row.ghz = [(row.begin, normal_ghz), *sorted(changes.get((row.host, domain), []))]
        if row.pe in dry:
            row.ghz_name = CLOCK_RECORDED


def _domains(profile: RunProfile, pe: int) -> dict[int, float]:
    """The clock domains of a PE with their normal clocks in GHz, from its profile."""
    document = read_json(folder_of(profile.directory) / f"pe-{pe:05d}.json")
    if not document.has("clocks") or not document.get("clocks").has("mine"):
        return {}
    entries = document.get("clocks").items("mine")
    return {entry.integer("domain"): (entry.number("normal_khz") or 0.0) / 1e6 for entry in entries}
