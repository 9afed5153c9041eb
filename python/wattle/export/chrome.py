"""A timeline in the format of Chrome's trace events (JSON), for chrome://tracing, Perfetto and other readers.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU describes it. Times are microseconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from wattle.base import files
from wattle.text.visible import visible
from wattle.timeline.rows import Row, Slice, Track

NODES = 1 << 30  # the number of the process that has the power of nodes


def write(path: Path, rows: Iterable[Row], tracks: Iterable[Track]) -> None:
    """Writes a process for each PE or rank, with its threads and counters, and one for the power of nodes."""
    with files.writing(path) as out:
        before = b'{"displayTimeUnit":"ns","traceEvents":[\n'
        for event in (*_names(rows, tracks), *_events(rows, tracks)):
            out.write(before + json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode())
            before = b",\n"
        out.write(b"\n]}\n" if before == b",\n" else before + b"]}\n")


def _names(rows: Iterable[Row], tracks: Iterable[Track]) -> Iterator[dict[str, Any]]:
    for row in rows:
        yield _named("process_name", row.pe, 0, row.name + (f" on {row.host}" if row.host else ""))
        for thread in range(1 + len(row.others)):
            yield _named("thread_name", row.pe, thread, row.name if thread == 0 else f"thread {thread + 1}")
    if tracks:
        yield _named("process_name", NODES, 0, "power of the nodes")


def _named(what: str, pid: int, tid: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": visible(name)}}


def _events(rows: Iterable[Row], tracks: Iterable[Track]) -> Iterator[dict[str, Any]]:
    for row in rows:
        for thread, slices in enumerate([row.slices, *row.others]):
            yield from (_slice(row.pe, thread, one) for one in slices)
        yield from _counter(row.pe, row.ghz_name, "GHz", row.ghz)
        yield from _counter(row.pe, f"joules, {row.joules_from}", "J", row.joules)
    for track in tracks:
        yield from _counter(NODES, track.name, track.unit, track.values)


def _slice(pid: int, tid: int, one: Slice) -> dict[str, Any]:
    where = {key: visible(words) for key, words in (("site", one.where), ("call path", one.path)) if words}
    times = {"ts": one.begin / 1e3, "dur": (one.end - one.begin) / 1e3}
    return {"ph": "X", "name": visible(one.title), "cat": one.kind, "pid": pid, "tid": tid, **times, "args": where}


def _counter(pid: int, name: str, unit: str, values: Iterable[tuple[int, float]]) -> Iterator[dict[str, Any]]:
    for at, value in values:
        yield {"ph": "C", "name": visible(name), "pid": pid, "tid": 0, "ts": max(at, 0) / 1e3, "args": {unit: value}}
