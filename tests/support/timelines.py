"""Made-up timelines of PEs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from wattle.record.timeline_file import WRITTEN

START, NS_PER_TICK = 1_000_000, 0.5
CALLS = ["shmem_double_put", "shmem_barrier_all"]

Event = tuple[int, int, int, int, int]  # begin and end in ticks since START, address, call, span and path


def with_path(span: int, path: int) -> int:
    """The last field of an event. `path`: the place of the caller's node in the PE's paths."""
    return span | path + 1 << 8


END_REALTIME_NS = 1_700_000_000_000_000_000


def head(pe: int = 0, n_pes: int = 2, spans: Sequence[int] = (0,), length: int = 2_000_000, **changes: Any) -> dict:
    threads = [
        {"spans": n, "seen": n + 5, "left_out": 5, "left_out_s": 0.001, "least_s": 1e-6, "bytes": 2048} for n in spans
    ]
    return {
        "schema": 2,
        "pe": pe,
        "n_pes": n_pes,
        "start_tick": hex(START),
        "end_tick": hex(START + length),
        "end_monotonic_ns": hex(5_000_000_000),
        "end_realtime_ns": hex(END_REALTIME_NS),
        "ns_per_tick": NS_PER_TICK,
        "ns_per_span": 50.0,
        "threads": threads,
        "calls": CALLS,
    } | changes


def write(folder: Path, pe: int, threads: Sequence[Sequence[Event]], n_pes: int = 2, **changes: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [(b + START, e + START, addr, call, span) for events in threads for b, e, addr, call, span in events]
    document = head(pe, n_pes, [len(t) for t in threads], **changes)
    path = folder / f"timeline-{pe:05d}.bin"
    path.write_bytes(json.dumps(document).encode() + b"\n" + np.array(rows, WRITTEN).tobytes())
    return path


MACHINE = {
    "name": "made-up",
    "base_ghz": 2.6,
    "numbers": [
        {"key": f"clocks[0].{state}", "ghz": 2.6, "value": watts}
        for state, watts in (("active", 10.0), ("spin", 8.0), ("yield", 8.0), ("asleep", 0.0))
    ],
}
