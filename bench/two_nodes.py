"""Two PEs, each on its own node: single operations compared with the peer over the same network namespaces.

The peer's PE spins on its core; Wattle's shares it with the progress agent. Three kinds of rows are separate,
because the peer differs in them: single operations on a PE that computes for a while (the peer's wait until it calls
the library again), many of those (Wattle alone), and CPU seconds of a wait.
"""

from __future__ import annotations

from dataclasses import replace

from wattle.machine.nodes import Nodes

from bench.jobs import Rounds, across
from bench.pairs import Row, between, without_bars
from bench.part import Part

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


def run(part: Part) -> None:
    """Runs the section."""
    if not part.has_nodes("Two nodes"):
        return
    with Nodes(2) as nodes:
        one_each = across(nodes, 1)
        both = part.tools.sides("micro.c", one_each, PEER_ENV)
        ours, *peer = both
        spin = replace(ours, name="spin", env={"WATTLE_WAIT": "spin"})
        sides = [*both, spin, *(replace(side, name="installed", env=AS_INSTALLED) for side in peer)]
        rounds = part.rounds("two nodes", sides, ["far", "waiting"])
        passive = part.rounds("the target computes", both, ["passive", str(PASSIVE_S)], part.options.wait_pairs)
        computing = part.rounds("Wattle alone", [ours], ["far", "computing"], part.options.wait_pairs)
    part.found |= {"peer_settings": PEER_ENV, "raw": {"rounds": rounds, "passive": passive, "computing": computing}}
    if peer:
        compared(part, rounds, passive)
    else:
        part.alone("Two nodes, Wattle alone (no peer)", ROWS, [r[0] for r in rounds])
        part.alone(f"{PASSIVE_TITLE}, Wattle alone", PASSIVE, [r[0] for r in passive])
    title = "Two nodes, the target computes: Wattle alone, its peer needs the target's help"
    part.alone(title, COMPUTING, [r[0] for r in computing])


def compared(part: Part, rounds: Rounds, passive: Rounds) -> None:
    """The tables with a peer: with default settings, spinning, and with a target that computes."""
    title = "Two nodes, 2 PEs: Wattle and its peer (targets wait)"
    part.compared(title, ("Wattle", "peer"), ROWS, between(rounds, 0, 1), promise="two nodes", best=True)
    title = "Two nodes: Wattle with WATTLE_WAIT=spin and its peer"
    keep = "rows_spin"
    part.compared(title, ("spin", "peer"), without_bars(ROWS), between(rounds, 2, 1), keep=keep, best=True)
    part.compared(
        "Two nodes: Wattle and its peer with the segments that UCX selects",
        ("Wattle", "installed"),
        LARGE,
        between(rounds, 0, 3),
        keep="rows_installed",
        promise="two nodes, the peer as installed",
        best=True,
    )
    part.compared(PASSIVE_TITLE, ("Wattle", "peer"), PASSIVE, between(passive, 0, 1), keep="rows_passive")
