"""Writes a timeline as a Perfetto trace: packets of track descriptors, slices and counters, in protobuf.

Field numbers are those of perfetto_trace.proto, which never change.
https://perfetto.dev/docs/reference/trace-packet-proto
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

from wattle.base import files
from wattle.text.visible import visible
from wattle.timeline.rows import Row, Slice, Track

NAME = "timeline.pftrace"
BEGIN, END, COUNTER = 1, 2, 4  # TrackEvent.Type
MONOTONIC = 3  # BuiltinClock
SEQUENCE = 1
UUIDS = 16  # largest number of tracks of a PE
NODES = 1 << 40  # first number of the tracks of nodes, beyond those of PEs
NODES_PID = 1 << 30


def write(path: Path, rows: list[Row], tracks: list[Track] | None = None) -> Path:
    """Writes a process for each PE: row, other threads, clock, joules; and one for the power of nodes (`tracks`)."""
    with files.writing(path) as out:
        for packet in packets(rows):
            out.write(_field(1, packet))
        for packet in _of_nodes(tracks or []):
            out.write(_field(1, packet))
    return path


def _of_nodes(tracks: list[Track]) -> Iterator[bytes]:
    if tracks:
        yield _descriptor(_number(1, NODES) + _field(3, _number(1, NODES_PID) + _text(6, "power of the nodes")))
    for k, track in enumerate(tracks):
        yield from _counter(NODES + 1 + k, NODES, track.name, track.unit, track.values)


def packets(rows: list[Row]) -> Iterator[bytes]:
    first = True
    for row in rows:
        base = 1 + row.pe * UUIDS
        process = _number(1, row.pe + 1) + _text(6, row.name + (f" on {row.host}" if row.host else ""))
        yield _descriptor(_number(1, base) + _field(3, process), first)
        first = False
        for k, slices in enumerate([row.slices, *row.others[: UUIDS - 5]]):
            name = row.name if k == 0 else f"{row.name}, thread {k + 1}"
            yield _descriptor(_number(1, base + 1 + k) + _text(2, name) + _number(5, base))
            yield from _slices(base + 1 + k, slices)
        if row.ghz:
            yield from _counter(base + UUIDS - 2, base, row.ghz_name, "GHz", row.ghz)
        if row.joules:
            yield from _counter(base + UUIDS - 1, base, f"joules, {row.joules_from}", "J", row.joules)


def _slices(track: int, slices: Iterable[Slice]) -> Iterator[bytes]:
    open_until: list[int] = []
    for one in slices:
        while open_until and open_until[-1] <= one.begin:
            yield _event(open_until.pop(), _number(9, END) + _number(11, track))
        body = _number(9, BEGIN) + _number(11, track) + _text(22, one.kind) + _text(23, one.title)
        for key, words in (("site", one.where), ("call path", one.path)):
            if words:
                body += _field(4, _text(10, key) + _text(6, words))
        yield _event(one.begin, body)
        open_until.append(one.end)
    while open_until:
        yield _event(open_until.pop(), _number(9, END) + _number(11, track))


def _counter(track: int, parent: int, name: str, unit: str, values: Iterable[tuple[int, float]]) -> Iterator[bytes]:
    counter = _number(1, track) + _text(2, name) + _number(5, parent) + _field(8, _text(6, unit))
    yield _descriptor(counter)
    for at, value in values:
        yield _event(at, _number(9, COUNTER) + _number(11, track) + _double(44, value))


def _event(ns: int, body: bytes) -> bytes:
    return _number(8, max(ns, 0)) + _number(58, MONOTONIC) + _number(10, SEQUENCE) + _field(11, body)


def _descriptor(body: bytes, first: bool = False) -> bytes:
    flags = _number(13, 1) if first else b""  # SEQ_INCREMENTAL_STATE_CLEARED
    return _number(10, SEQUENCE) + flags + _field(60, body)


# ---- protobuf's wire format ----


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _field(field: int, body: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(body)) + body


def _text(field: int, text: str) -> bytes:
    return _field(field, visible(text).encode())


def _double(field: int, value: float) -> bytes:
    return _varint(field << 3 | 1) + struct.pack("<d", value)
