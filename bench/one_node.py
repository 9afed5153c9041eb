"""Two PEs of one node: single operations against the peer, CPU seconds of a wait, the price of checks and profile."""

from __future__ import annotations

import argparse

from wattle.console import progress

from bench.jobs import Side, Toolchain, alternate, pinned
from bench.pairs import Row, as_data, between, compare, one_sided
from bench.show import comparison_table, own_table, section
from bench.waits import show_waits

ROWS = [
    *one_sided("put_quiet", "put+quiet 8 B", bar=1.0),
    *one_sided("put_quiet", "put+quiet 64 B", 64),
    *one_sided("put_quiet", "put+quiet 512 B", 512),
    *one_sided("put_quiet", "put+quiet 4 KiB", 4096, bandwidth=True),
    *one_sided("put_quiet", "put+quiet 32 KiB", 32768, bandwidth=True),
    *one_sided("put_quiet", "put+quiet 256 KiB", 262144, bandwidth=True),
    *one_sided("put_quiet", "put+quiet 1 MiB", 1 << 20, bandwidth=True, bar=1.0),
    *one_sided("get", "get 8 B"),
    *one_sided("get", "get 1 MiB", 1 << 20, bandwidth=True),
    *one_sided("p", "p 8 B"),
    *one_sided("g", "g 8 B"),
    *one_sided("put_nbi", "put_nbi 8 B x64"),
    *one_sided("fetch_add_heap", "fetch-add, heap"),
    Row("fetch_add_static/8/waiting", "fetch-add, static variable"),
    Row("barrier/0/both", "barrier, 2 PEs", bar=1.0),
    Row("ping_pong/8/both", "p/wait_until, one way"),
    Row("broadcast/8/both", "broadcast 8 B"),
    Row("sum/8/both", "sum of 8 B"),
    Row("init", "shmem_init"),
    Row("finalize", "shmem_finalize"),
    Row("job", "whole job, mpirun"),
]
PRICED = [
    *one_sided("put_quiet", "put+quiet 8 B")[:1],
    *one_sided("p", "p 8 B")[:1],
    *one_sided("g", "g 8 B")[:1],
    *one_sided("get", "get 8 B")[:1],
    *one_sided("put_nbi", "put_nbi 8 B")[:1],
    *one_sided("fetch_add_heap", "fetch-add, heap")[:1],
    Row("barrier/0/both", "barrier, 2 PEs"),
    Row("ping_pong/8/both", "p/wait_until, one way"),
]


def run(options: argparse.Namespace, tools: Toolchain) -> dict:
    """Runs and prints the section; returns what goes into the file."""
    two = pinned(2)
    ours = Side("Wattle", tools.ours("micro.c"), two)
    theirs = tools.theirs("micro.c")
    sides = [ours] if theirs is None else [ours, Side("peer", theirs, two)]
    priced = {
        setting: [Side(value, ours.program, two, {setting: value}) for value in ("on", "off")]
        for setting in ("WATTLE_CHECK", "WATTLE_PROFILE")
    }
    total = options.pairs * (len(sides) + 4) + options.wait_pairs * len(sides)
    with progress("one node", total) as steps:
        rounds = alternate(sides, options.pairs, [], steps.advance)
        waits = alternate(sides, options.wait_pairs, ["wait", str(options.wait_seconds)], steps.advance)
        prices = {name: alternate(pair, options.pairs, [], steps.advance) for name, pair in priced.items()}

    result: dict = {"rows": [], "prices": {}}
    if theirs is None:
        section("One node, Wattle alone (no peer)", own_table(ROWS, [r[0] for r in rounds]))
    else:
        rows = compare(ROWS, between(rounds, 0, 1))
        section("One node, 2 PEs: Wattle and its peer", comparison_table("Wattle", "peer", rows))
        result["rows"] = as_data(rows)
    result["waits"] = show_waits("One node", options.wait_seconds, sides, waits)
    for name, pairs in prices.items():
        rows = compare(PRICED, between(pairs, 0, 1))
        section(f"Price of {name}", comparison_table("on", "off", rows))
        result["prices"][name] = as_data(rows)
    return result | {"raw": {"rounds": rounds, "waits": waits, "prices": prices}}
