"""Small operations on a PE of another node: plain loops with merging, without it, and beside buffers of the program."""

from __future__ import annotations

import argparse

from wattle.machine.nodes import Nodes
from wattle.text.console import progress

from bench import verdicts
from bench.jobs import Side, Toolchain, across, alternate
from bench.pairs import Row, as_data, between, compare
from bench.show import comparison_table, own_table, section
from bench.two_nodes import PEER_ENV, on_two_nodes

OFF = {"WATTLE_MERGE": "off"}
OPERATIONS, QUICK_OPERATIONS, ROUNDS = 10000, 1000, 5
AT_LEAST_5_TIMES, AT_LEAST_HALF = 0.2, 2.0  # of the rate, as ratios of times

BURSTS = [
    Row("put_flood/8/waiting", "1000 put_nbi 8 B", bar=AT_LEAST_5_TIMES),
    Row("p/8/waiting", "p 8 B"),
    Row("add_stream/8/waiting", "64 atomic adds, quiet"),
    Row("fetch_stream/8/waiting", "64 fetch-adds nbi"),
    Row("put_quiet/8/waiting", "put+quiet 8 B, alone"),
    Row("get/8/waiting", "get 8 B, alone"),
    Row("ping_pong/8/both", "ping-pong, alone"),
]
LOOPS = [
    Row("histogram/atomic_add", "histogram, atomic_add"),
    Row("scatter/p", "scatter, p"),
    Row("scatter/put", "scatter, put 8 B"),
    Row("gather/g", "gather, g"),
    Row("gather/get_nbi", "gather, get_nbi"),
]
BUFFERS = [
    Row("histogram/atomic_add", "histogram, atomic_add", bar=AT_LEAST_HALF, against="histogram/buffers"),
    Row("gather/get_nbi", "gather, get_nbi", bar=AT_LEAST_HALF, against="gather/buffers"),
    Row("gather/g", "gather, g", against="gather/buffers"),
]


def run(options: argparse.Namespace, tools: Toolchain) -> dict:
    """Runs the section and prints it. Returns its part of the file."""
    return on_two_nodes("Small operations together", measure, options, tools)


def measure(options: argparse.Namespace, tools: Toolchain, nodes: Nodes) -> dict:
    """Runs the section on existing nodes."""
    launch = across(nodes, 1)
    single, updates, theirs = tools.ours("micro.c"), tools.ours("updates.c"), tools.theirs("updates.c")
    bursts = [Side("auto", single, launch), Side("off", single, launch, OFF)]
    loops = [Side("auto", updates, launch), Side("off", updates, launch, OFF)]
    peer = [Side("peer", theirs, launch, PEER_ENV)] if theirs else []
    count = str(QUICK_OPERATIONS if options.quick else OPERATIONS)
    with progress("merging", options.pairs * (len(bursts) + len(loops) + len(peer))) as steps:
        of_bursts = alternate(bursts, options.pairs, ["far", "waiting"], steps.advance)
        of_loops = alternate([*loops, *peer], options.pairs, [count, str(ROUNDS)], steps.advance)
    one, many = compare(BURSTS, between(of_bursts, 0, 1)), compare(LOOPS, between(of_loops, 0, 1))
    section("Two nodes: WATTLE_MERGE=auto and off", comparison_table("auto", "off", one, best=True))
    section("Random words of two nodes: WATTLE_MERGE=auto and off", comparison_table("auto", "off", many, best=True))
    ours = compare(BUFFERS, between(of_loops, 0, 0))
    section("Plain loops and the program's own buffers", comparison_table("loop", "buffers", ours, best=True))
    result = {
        "rows": as_data(one),
        "rows_loops": as_data(many),
        "rows_buffers": as_data(ours),
        "bars": verdicts.of_comparisons("merging", "WATTLE_MERGE=off", one)
        + verdicts.of_comparisons("merging", "the program's own buffers", ours),
        "raw": {"bursts": of_bursts, "loops": of_loops},
    }
    if not peer:
        section("Random words, Wattle alone (no peer)", own_table(LOOPS, [r[0] for r in of_loops]))
        return result
    beside = compare(LOOPS, between(of_loops, 0, 2))
    section("Random words: Wattle and its peer", comparison_table("Wattle", "peer", beside, best=True))
    return result | {"rows_peer": as_data(beside)}
