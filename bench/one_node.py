"""Two PEs of one node: single operations compared with the peer and the machine's limits, and the cost of checks and
profile.
"""

from __future__ import annotations

import argparse

from wattle.text.console import progress

from bench import verdicts
from bench.jobs import Side, Toolchain, alternate, pinned
from bench.pairs import Row, as_data, between, compare, one_sided
from bench.show import comparison_table, own_table, section

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


def copied(test: str, label: str, size: int, bar: float | None = COPY_BAR) -> list[Row]:
    """A put compared with memcpy of the same size to the same place, by batches that alternate in one process."""
    targets = {"computing": "busy", "waiting": "waits"}
    return [
        Row(f"{test}/{size}/{target}", f"{label}, {does}", size, bar, against=f"copy_there/{size}/{target}")
        for target, does in targets.items()
    ]


def fenced(label: str, size: int) -> list[Row]:
    """A put compared with a copy and a full fence, the guarantee of quiet."""
    return [
        Row(
            f"put_quiet/{size}/computing",
            f"{label}, +fence",
            size,
            against=f"copy_fenced/{size}/computing",
        )
    ]


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


def without_bars(rows: list[Row]) -> list[Row]:
    return [Row(row.key, row.label, row.bytes, against=row.against) for row in rows]


def run(options: argparse.Namespace, tools: Toolchain) -> dict:
    """Runs the section and prints it. Returns its part of the file."""
    two = pinned(2)
    ours = Side("Wattle", tools.ours("micro.c"), two)
    theirs = tools.theirs("micro.c")
    peer = [] if theirs is None else [Side("peer", theirs, two)]
    without = [Side("off", ours.program, two, {setting: "off"}) for setting in PRICES]
    sides = [ours, *without, *peer]
    with progress("one node", options.pairs * len(sides)) as steps:
        rounds = alternate(sides, options.pairs, [], steps.advance)

    result: dict = {"rows": [], "prices": {}, "bars": []}
    if peer:
        rows = compare(ROWS, between(rounds, 0, -1))
        section("One node, 2 PEs: Wattle and its peer", comparison_table("Wattle", "peer", rows))
        result["rows"] = as_data(rows)
        result["bars"] += verdicts.of_comparisons("one node", "peer", rows)
    else:
        section("One node, Wattle alone (no peer)", own_table(ROWS, [r[0] for r in rounds]))
    limits = compare(LIMITS, between(rounds, 0, 0))
    section("One node: Wattle and the machine, alternately in one process", comparison_table("Wattle", "limit", limits))
    result["rows_limits"] = as_data(limits)
    result["bars"] += verdicts.of_comparisons("one node: the machine's limits", "limit", limits)
    if peer:
        same = compare(without_bars(LIMITS), between(rounds, -1, -1))
        section("The same for the peer", comparison_table("peer", "limit", same))
        result["rows_limits_peer"] = as_data(same)
    for i, name in enumerate(PRICES, start=1):
        rows = compare(PRICED, between(rounds, 0, i))
        section(f"Price of {name}", comparison_table("on", "off", rows))
        result["prices"][name] = as_data(rows)
    return result | {"limits": limits_of(rounds), "raw": {"rounds": rounds}}


def limits_of(rounds: list[list[dict[str, float]]]) -> list[tuple[str, int, list[float]]]:
    """The machine's own figures: label, bytes for bandwidths, samples."""
    found = [("cache line to another core and back, half", "hop/8/both", 0)]
    found += [
        (f"memcpy {label}", f"copy_private/{size}/computing", size)
        for label, size in (("4 KiB", 4096), ("32 KiB", 32768), ("256 KiB", 262144), ("1 MiB", 1 << 20))
    ]
    return [(label, size, [r[0][key] for r in rounds]) for label, key, size in found if key in rounds[0][0]]
