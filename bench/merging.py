"""Small operations on a PE of another node: plain loops with merging, without it, and beside buffers of the program."""

from __future__ import annotations

from dataclasses import replace

from wattle.machine.nodes import Nodes

from bench.jobs import Side, across
from bench.pairs import Row, between
from bench.part import Part
from bench.two_nodes import PEER_ENV

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


def run(part: Part) -> None:
    """Runs the section."""
    if not part.has_nodes("Small operations together"):
        return
    with Nodes(2) as nodes:
        launch = across(nodes, 1)
        single = Side("auto", part.tools.ours("micro.c"), launch)
        auto, *peer = part.tools.sides("updates.c", launch, PEER_ENV)
        count = str(QUICK_OPERATIONS if part.options.quick else OPERATIONS)
        bursts = part.rounds("bursts", [single, replace(single, name="off", env=OFF)], ["far", "waiting"])
        loops = part.rounds("loops", [auto, replace(auto, name="off", env=OFF), *peer], [count, str(ROUNDS)])
    part.found["raw"] = {"bursts": bursts, "loops": loops}
    sides, promise, other = ("auto", "off"), "merging", "WATTLE_MERGE=off"
    title = "Two nodes: WATTLE_MERGE=auto and off"
    part.compared(title, sides, BURSTS, between(bursts, 0, 1), promise=promise, other=other, best=True)
    title = "Random words of two nodes: WATTLE_MERGE=auto and off"
    part.compared(title, sides, LOOPS, between(loops, 0, 1), keep="rows_loops", best=True)
    title, sides, other = "Plain loops and the program's own buffers", ("loop", "buffers"), "the program's own buffers"
    ours, keep = between(loops, 0, 0), "rows_buffers"
    part.compared(title, sides, BUFFERS, ours, keep=keep, promise=promise, other=other, best=True)
    if peer:
        title, keep = "Random words: Wattle and its peer", "rows_peer"
        part.compared(title, ("Wattle", "peer"), LOOPS, between(loops, 0, 2), keep=keep, best=True)
    else:
        part.alone("Random words, Wattle alone (no peer)", LOOPS, [r[0] for r in loops])
