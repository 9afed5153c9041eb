"""Two PEs of one node: single operations compared with the peer and the machine's limits, and the cost of checks and
profile.
"""

from __future__ import annotations

from dataclasses import replace

from bench.jobs import Rounds, pinned
from bench.pairs import Row, between, one_sided, without_bars
from bench.part import Limit, Part

ROWS = [
    *one_sided("put_quiet", "put+quiet 8 B", bar=0.5),
    *one_sided("put_quiet", "put+quiet 64 B", 64),
    *one_sided("put_quiet", "put+quiet 512 B", 512),
    *one_sided("put_quiet", "put+quiet 4 KiB", 4096, bandwidth=True),
    *one_sided("put_quiet", "put+quiet 32 KiB", 32768, bandwidth=True),
    *one_sided("put_quiet", "put+quiet 256 KiB", 262144, bandwidth=True),
    *one_sided("put_quiet", "put+quiet 1 MiB", 1 << 20, bandwidth=True, bar=1.0),
    *one_sided("put", "puts 4 KiB", 4096, bandwidth=True),
    *one_sided("get", "get 8 B", bar=0.5),
    *one_sided("get", "get 1 MiB", 1 << 20, bandwidth=True),
    *one_sided("p", "p 8 B", bar=0.5),
    *one_sided("g", "g 8 B", bar=0.5),
    *one_sided("put_nbi", "put_nbi 8 B x64"),
    *one_sided("fetch_add_heap", "fetch-add, heap", bar=0.7),
    Row("fetch_add_static/8/waiting", "fetch-add, static variable", bar=0.15),
    Row("barrier/0/both", "barrier, 2 PEs", bar=0.7),
    Row("ping_pong/8/both", "p/wait_until, one way"),
    Row("signal_ping_pong/8/both", "put-signal, one way"),
    Row("broadcast/8/both", "broadcast 8 B", bar=0.6),
    Row("broadcast_stream/8/both", "broadcast 8 B, one root"),
    Row("sum/8/both", "sum of 8 B", bar=0.6),
    Row("init", "shmem_init"),
    Row("finalize", "shmem_finalize"),
    Row("job", "whole job, mpirun"),
]

COPY_BAR = 1 / 0.95  # ratio of times: 0.95 of the bandwidth
HOP_BAR = 1.15


def copied(test: str, label: str, size: int, bar: float | None = COPY_BAR, to: str = "copy_there") -> list[Row]:
    """A put compared with memcpy of the same size to the same place, by batches that alternate in one process."""
    return one_sided(test, label, size, bandwidth=True, bar=bar, against=to)


def fenced(label: str, size: int) -> list[Row]:
    """A put compared with a copy and a full fence, the guarantee of quiet."""
    busy, _ = copied("put_quiet", label, size, None, "copy_fenced")
    return [replace(busy, label=f"{label}, +fence")]


LIMITS = [
    *copied("put_quiet", "put+quiet 4 KiB", 4096),
    *copied("put_quiet", "put+quiet 32 KiB", 32768),
    *copied("put_quiet", "put+quiet 256 KiB", 262144),
    *copied("put_quiet", "put+quiet 1 MiB", 1 << 20),
    *fenced("put+quiet 4 KiB", 4096),
    *fenced("put+quiet 32 KiB", 32768),
    *copied("put", "puts 4 KiB", 4096, None),
    *copied("put", "puts 1 MiB", 1 << 20, None),
    Row("ping_pong/8/both", "p/wait_until, one way", bar=HOP_BAR, against="hop/8/both"),
]
PRICED = [
    *one_sided("put_quiet", "put+quiet 8 B")[:1],
    *one_sided("put_quiet", "put+quiet 4 KiB", 4096, bandwidth=True)[:1],
    *one_sided("p", "p 8 B")[:1],
    *one_sided("g", "g 8 B")[:1],
    *one_sided("get", "get 8 B")[:1],
    *one_sided("put_nbi", "put_nbi 8 B")[:1],
    *one_sided("fetch_add_heap", "fetch-add, heap")[:1],
    Row("barrier/0/both", "barrier, 2 PEs"),
    Row("ping_pong/8/both", "p/wait_until, one way"),
]
PRICES = ("WATTLE_CHECK", "WATTLE_PROFILE")


def run(part: Part) -> None:
    """Runs the section."""
    ours, *peer = part.tools.sides("micro.c", pinned(2))
    without = [replace(ours, name="off", env={setting: "off"}) for setting in PRICES]
    rounds = part.rounds("one node", [ours, *without, *peer])
    part.found["raw"] = {"rounds": rounds}
    if peer:
        title = "One node, 2 PEs: Wattle and its peer"
        part.compared(title, ("Wattle", "peer"), ROWS, between(rounds, 0, -1), promise="one node")
    else:
        part.alone("One node, Wattle alone (no peer)", ROWS, [r[0] for r in rounds])
    title, promise = "One node: Wattle and the machine, alternately in one process", "one node: the machine's limits"
    keep = "rows_limits"
    part.compared(title, ("Wattle", "limit"), LIMITS, between(rounds, 0, 0), keep=keep, promise=promise)
    if peer:
        own, keep = between(rounds, -1, -1), "rows_limits_peer"
        part.compared("The same for the peer", ("peer", "limit"), without_bars(LIMITS), own, keep=keep)
    for i, name in enumerate(PRICES, start=1):
        part.compared(f"Price of {name}", ("on", "off"), PRICED, between(rounds, 0, i), under="prices", keep=name)
    part.limits += limits_of(rounds)


def limits_of(rounds: Rounds) -> list[Limit]:
    """The machine's own figures: label, bytes for bandwidths, samples."""
    found = [("cache line to another core and back, half", "hop/8/both", 0)]
    found += [
        (f"memcpy {label}", f"copy_private/{size}/computing", size)
        for label, size in (("4 KiB", 4096), ("32 KiB", 32768), ("256 KiB", 262144), ("1 MiB", 1 << 20))
    ]
    return [(label, size, [r[0][key] for r in rounds]) for label, key, size in found if key in rounds[0][0]]
