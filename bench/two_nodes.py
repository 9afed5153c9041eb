"""Two PEs, each on its own node: single operations compared with the peer over the same network namespaces.

The peer's PE spins on its core; Wattle's shares it with the progress agent. Three kinds of rows are separate,
because the peer differs in them: single operations on a PE that computes for a while (the peer's wait until it calls
the library again), many of those (Wattle alone), and CPU seconds of a wait.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from wattle.machine.nodes import Nodes, unavailable
from wattle.text.console import progress

from bench import verdicts
from bench.jobs import Side, Toolchain, across, alternate
from bench.pairs import Row, as_data, between, compare
from bench.show import comparison_table, own_table, say_skipped, section

PASSIVE_S = 0.5  # computing time of the target in the passive rows
# Settings by which Debian's OSHMEM 4.1.4 (UCX 1.13.1) uses TCP. For its MPI part (start, barriers) Open MPI's own TCP
# was faster than UCX.
AS_INSTALLED = {"UCX_TLS": "tcp,self", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self"}
# The fastest settings over veth: long segments make its 1 MiB five times as fast.
PEER_ENV = AS_INSTALLED | {"UCX_TCP_TX_SEG_SIZE": "256k", "UCX_TCP_RX_SEG_SIZE": "256k"}


NO_SLOWER = 1.0  # the older bar of the rows that now have a stricter one


def waiting(test: str, label: str, size: int = 8, *, bandwidth: bool = False, bar: float | None = None) -> Row:
    """A row whose target waits in a barrier, the only kind that the peer supports."""
    return Row(f"{test}/{size}/waiting", label, size if bandwidth else 0, bar, NO_SLOWER if bar else None)


ROWS = [
    waiting("put_quiet", "put+quiet 8 B", bar=0.8),
    waiting("put_quiet", "put+quiet 4 KiB", 4096),
    waiting("put_quiet", "put+quiet 256 KiB", 262144, bandwidth=True),
    waiting("put_quiet", "put+quiet 1 MiB", 1 << 20, bandwidth=True, bar=1.0),
    waiting("get", "get 8 B"),
    waiting("get", "get 1 MiB", 1 << 20, bandwidth=True, bar=1.0),
    waiting("p", "p 8 B"),
    waiting("put_nbi", "put_nbi 8 B x64"),
    waiting("put_flood", "1000 put_nbi 8 B", bar=0.3),
    waiting("fetch_add_heap", "fetch-add", bar=0.9),
    waiting("add_stream", "64 atomic adds, quiet"),
    waiting("fetch_stream", "64 fetch-adds nbi"),
    Row("barrier/0/both", "barrier, 2 PEs", bar=1.0, lenient=NO_SLOWER),
    Row("ping_pong/8/both", "ping-pong, 1 way", bar=0.9, lenient=NO_SLOWER),
    Row("signal_ping_pong/8/both", "put-signal, 1 way"),
    Row("init", "shmem_init"),
    Row("finalize", "shmem_finalize"),
]
LARGE = [
    waiting("put_quiet", "put+quiet 1 MiB", 1 << 20, bandwidth=True, bar=1 / 1.2),
    waiting("get", "get 1 MiB", 1 << 20, bandwidth=True, bar=1.0),
]
COMPUTING = [
    Row(row.key.replace("/waiting", "/computing"), row.label, row.bytes) for row in ROWS if "/waiting" in row.key
]
PASSIVE_TITLE = f"Two nodes: one operation on a PE that computes for {PASSIVE_S:g} s"
PASSIVE = [
    Row("passive_put_quiet/8/computing", "put+quiet 8 B"),
    Row("passive_get/8/computing", "get 8 B"),
    Row("passive_fetch_add_heap/8/computing", "fetch-add"),
]


Measure = Callable[[argparse.Namespace, Toolchain, Nodes], dict]


def on_two_nodes(title: str, measure: Measure, options: argparse.Namespace, tools: Toolchain) -> dict:
    """Makes two nodes and runs a section there. Returns its part of the file, or the reason why there are no nodes."""
    if reason := unavailable():
        say_skipped(f"{title}: skipped, {reason}")
        return {"skipped": reason}
    with Nodes(2) as nodes:
        return measure(options, tools, nodes)


def run(options: argparse.Namespace, tools: Toolchain) -> dict:
    """Runs the section and prints it. Returns its part of the file."""
    return on_two_nodes("Two nodes", measure, options, tools)


def measure(options: argparse.Namespace, tools: Toolchain, nodes: Nodes) -> dict:
    """Runs the section on existing nodes."""
    one_each = across(nodes, 1)
    program, theirs = tools.ours("micro.c"), tools.theirs("micro.c")
    ours, spin = Side("Wattle", program, one_each), Side("spin", program, one_each, {"WATTLE_WAIT": "spin"})
    peer = [Side("peer", theirs, one_each, PEER_ENV)] if theirs else []
    installed = [Side("installed", theirs, one_each, AS_INSTALLED)] if theirs else []
    sides = [ours, *peer, spin, *installed]
    total = options.pairs * len(sides) + options.wait_pairs * (len([ours, *peer]) + 1)
    with progress("two nodes", total) as steps:
        rounds = alternate(sides, options.pairs, ["far", "waiting"], steps.advance)
        passive = alternate([ours, *peer], options.wait_pairs, ["passive", str(PASSIVE_S)], steps.advance)
        computing = alternate([ours], options.wait_pairs, ["far", "computing"], steps.advance)

    result: dict = {"peer_settings": PEER_ENV}
    if peer:
        result |= compared(rounds, passive)
    else:
        section("Two nodes, Wattle alone (no peer)", own_table(ROWS, [r[0] for r in rounds]))
        section(f"{PASSIVE_TITLE}, Wattle alone", own_table(PASSIVE, [r[0] for r in passive]))
    section(
        "Two nodes, the target computes: Wattle alone, its peer needs the target's help",
        own_table(COMPUTING, [r[0] for r in computing]),
    )
    return result | {"raw": {"rounds": rounds, "passive": passive, "computing": computing}}


def compared(rounds: list[list[dict[str, float]]], passive: list[list[dict[str, float]]]) -> dict:
    """Prints the tables with a peer: with default settings, spinning, and with a target that computes."""
    usual = compare(ROWS, between(rounds, 0, 1))
    section(
        "Two nodes, 2 PEs: Wattle and its peer (targets wait)", comparison_table("Wattle", "peer", usual, best=True)
    )
    unbarred = [Row(row.key, row.label, row.bytes) for row in ROWS]
    spinning = compare(unbarred, between(rounds, 2, 1))
    section(
        "Two nodes: Wattle with WATTLE_WAIT=spin and its peer", comparison_table("spin", "peer", spinning, best=True)
    )
    installed = compare(LARGE, between(rounds, 0, 3))
    section(
        "Two nodes: Wattle and its peer with the segments that UCX selects",
        comparison_table("Wattle", "installed", installed, best=True),
    )
    alone = compare(PASSIVE, between(passive, 0, 1))
    section(PASSIVE_TITLE, comparison_table("Wattle", "peer", alone))
    return {
        "rows": as_data(usual),
        "rows_spin": as_data(spinning),
        "rows_installed": as_data(installed),
        "rows_passive": as_data(alone),
        "bars": verdicts.of_comparisons("two nodes", "peer", usual)
        + verdicts.of_comparisons("two nodes, the peer as installed", "installed", installed),
    }
