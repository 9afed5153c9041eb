"""Active messages compared with this machine, UCX alone, puts of the same processes, and MPI's two-sided messages."""

from __future__ import annotations

import os
import shutil
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wattle.machine.nodes import SUBNET, Nodes

from bench import limits
from bench.jobs import BEST, Figures, Launch, Rounds, Runs, Side, across, build, pinned, stacked
from bench.pairs import Comparison, Pairs, Row, between, compare
from bench.part import Part
from bench.show import say_skipped

RINGS = (2, 4, 8, 16, 32, 64)
IN_FLIGHT = 1024
PRODUCERS = 8
PERFTEST_RUNS = 3  # short runs in a round; their median and best are used
RATE_ITERATIONS = {limits.NEAR: 200000, limits.FAR: 50000}
YIELDING = {"OMPI_MCA_mpi_yield_when_idle": "1"}
MPI_FAR = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self"}

# Ratios of times: a rate that must be twice as high has a bar of a half.
HOP_BAR, LATENCY_BAR, RATE_BAR, MANY_BAR = 2.0, 0.7, 1 / 2, 1.0
FAR_LATENCY_BAR, FAR_RATE_BAR, PAIRS_BAR, NBI_BAR = 1.2, 1 / 5, 1 / 10, 1 / 0.8
RING_BAR = 1.1

ONE_WAY, REPLY = "ring/am/8/1/2", "ring/reply/8/1/2"
RATE, MANY = f"uni/am/8/{IN_FLIGHT}/2", f"many/am/8/{IN_FLIGHT}/{PRODUCERS + 1}"
UCX_LATENCY, UCX_RATE = "ucx/latency", "ucx/rate"


def put(how: str) -> str:
    return f"uni/{how}/8/{IN_FLIGHT}/2"


def arguments(tests: str, size: int, seconds: float) -> list[str]:
    """Arguments of am.c and am_mpi.c: 25 short blocks of each way, alternately."""
    return [
        *("--tests", tests, "--bytes", str(size), "--in-flight", str(IN_FLIGHT)),
        *("--repeat", "25", "--min-time", str(seconds), "--summary"),
    ]


@dataclass
class Ucx:
    """UCX alone as a side: the active messages of ucx_perftest."""

    where: str
    place: limits.Place
    address: str
    name = "UCX"

    def run(self, *_: str) -> Figures:
        """Seconds of one direction, and seconds a message of a stream."""
        place = self.where, self.place, self.address
        found: dict[str, list[float]] = {UCX_LATENCY: [], UCX_RATE: []}
        for _run in range(PERFTEST_RUNS):
            found[UCX_LATENCY].append(1e-6 * limits.perftest("ucp_am_lat", *place))
            a_second = limits.of_perftest("overall_mr", "ucp_am_bw", *place, RATE_ITERATIONS[self.where])
            found[UCX_RATE].append(1 / a_second)
        medians = {key: statistics.median(values) for key, values in found.items()}
        return medians | {BEST + key: min(values) for key, values in found.items()}


@dataclass
class Hops:
    """Plain sockets between the nodes as a side."""

    place: limits.Place
    name = "TCP"

    def run(self, *_: str) -> Figures:
        """Seconds of a hop by sockets that are polled, and by sockets that sleep."""
        found = limits.hops(limits.FAR, self.place, f"{SUBNET}.1")
        return dict(zip(("tcp/polling", "tcp/sleeping"), (seconds for _, seconds in found), strict=True))


def mpi_program() -> Path | None:
    """am_mpi.c, compiled by Open MPI's wrapper; None where there is no wrapper."""
    compiler = shutil.which("mpicc.openmpi") or shutil.which("mpicc")
    return build(compiler, "am_mpi.c", "mpi") if compiler else None


@dataclass
class Messages:
    """The section's programs. `mpi` is None where there is no MPI."""

    part: Part
    ours: Path
    mpi: Path | None

    def sides(self, launch: Launch, mpi_env: dict[str, str] | None = None) -> tuple[Side, list[Side]]:
        """Wattle's side, and MPI's where there is one."""
        beside = [Side("MPI", self.mpi, launch, mpi_env or {})] if self.mpi else []
        return Side("Wattle", self.ours, launch), beside

    def rounds(self, what: str, sides: Sequence[Runs], words: list[str]) -> list[dict[str, Figures]]:
        """Runs all sides alternately. Returns the figures by the sides' names."""
        rounds = self.part.rounds(what, sides, words)
        return [{side.name: figures for side, figures in zip(sides, r, strict=True)} for r in rounds]

    def compared(self, where: str, title: str, other: str, rows: list[Row], pairs: Pairs) -> None:
        """Shows Wattle's figures beside another's, where both were measured."""
        title, promise = f"{where}: {title}", f"messages, {where}"
        if found := compare(rows, pairs):
            self.part.show(title, ("Wattle", other), found, keep=title, under="rows", promise=promise, best=True)


def run(part: Part) -> None:
    """Runs the section."""
    m = Messages(part, part.tools.ours("am.c"), mpi_program())
    for name, found in (("ucx_perftest (Debian: ucx-utils)", shutil.which(limits.PERFTEST)), ("mpicc", m.mpi)):
        if not found:
            say_skipped(f"Messages: no comparison with {name}, which is missing")
    near(m)
    rings(m)
    if part.has_nodes("Messages between nodes"):
        with Nodes(2) as nodes:
            far(m, nodes)


def against(rounds: list[dict[str, Figures]], other: str) -> Pairs:
    """Wattle's figures paired with another side's of the same round, or with its own."""
    return [(r["Wattle"], r[other]) for r in rounds if other in r]


def near(m: Messages) -> None:
    """Two PEs on a core each; then eight PEs that send to one."""
    ucx = [Ucx(limits.NEAR, limits.here, "127.0.0.1")] if shutil.which(limits.PERFTEST) else []
    ours, beside = m.sides(pinned(2))
    rounds = m.rounds("AM", [ours, *ucx, *beside], arguments("ring,uni", 8, 1e-3))
    ours, beside = m.sides(stacked(PRODUCERS + 1), YIELDING)
    many = m.rounds("AM to one", [ours, *ucx, *beside], arguments("many", 8, 5e-3))
    m.part.found["raw"] |= {"one node": rounds, "many": many}

    where = "one node"
    by_turns = [
        Row(ONE_WAY, "AM request 8 B, one way", bar=HOP_BAR, against="ring/hop/8/1/2"),
        Row(REPLY, "request and reply, half", against="ring/hop/8/1/2"),
    ]
    m.compared(where, "Wattle and the machine, alternately", "hop", by_turns, against(rounds, "Wattle"))
    others = [
        Row(ONE_WAY, "AM request 8 B, one way", bar=LATENCY_BAR, against=UCX_LATENCY),
        Row(RATE, "AM 8 B, each of a stream", bar=RATE_BAR, against=UCX_RATE),
    ]
    m.compared(where, "Wattle and ucx_perftest's AM", "UCX", others, against(rounds, "UCX"))
    stream = [Row(MANY, f"{PRODUCERS} producers; UCX: one", bar=MANY_BAR, against=UCX_RATE)]
    m.compared(where, "eight PEs to one, and ucx_perftest's one to one", "UCX", stream, against(many, "UCX"))
    two_sided(m, where, rounds)
    stream = [Row(MANY, f"8 B, {PRODUCERS} producers", against=MANY.replace("/am/", "/mpi/"))]
    m.compared(where, "eight PEs to one, and MPI, which yields", "MPI", stream, against(many, "MPI"))
    puts(m, where, rounds, {})


def two_sided(m: Messages, where: str, rounds: list[dict[str, Figures]]) -> None:
    rows = [
        Row(ONE_WAY, "AM request 8 B, one way", against="ring/mpi/8/1/2"),
        Row(RATE, "8 B, each of a stream", against=put("mpi")),
    ]
    m.compared(where, "Wattle's AM and MPI two-sided", "MPI", rows, against(rounds, "MPI"))


def puts(m: Messages, where: str, rounds: list[dict[str, Figures]], bars: dict[str, float]) -> None:
    """Compares active messages with puts of the same process."""
    rows = [
        Row(RATE, "AM over put+quiet pairs", bar=bars.get("put_quiet"), against=put("put_quiet")),
        Row(RATE, "AM over puts, one quiet", against=put("put")),
        Row(RATE, "AM over put_nbi, one quiet", bar=bars.get("nbi"), against=put("nbi")),
        Row(ONE_WAY, "AM request over p+wait_until", against="ring/put/8/1/2"),
    ]
    m.compared(where, "AM and puts, alternately", "put", rows, against(rounds, "Wattle"))


def rings(m: Messages) -> None:
    """A token round 2 to 64 PEs of one node: AM and put alternately in the same processes, then MPI."""
    by_put: list[Comparison] = []
    by_mpi: list[Comparison] = []
    for pes in RINGS:
        ours, beside = m.sides(stacked(pes), YIELDING if pes > len(os.sched_getaffinity(0)) else {})
        rounds: Rounds = m.part.rounds(f"token ring of {pes}", [ours, *beside], arguments("ring", 4, 3e-3))
        m.part.found["raw"][f"ring {pes}"] = rounds
        key, label = f"ring/am/4/1/{pes}", f"token ring, {pes} PEs, a hop"
        by_put += compare([Row(key, label, bar=RING_BAR, against=f"ring/put/4/1/{pes}")], between(rounds, 0, 0))
        by_mpi += compare([Row(key, label, against=f"ring/mpi/4/1/{pes}")], between(rounds, 0, -1))
    show = partial(m.part.show, under="rows", best=True)
    title, promise = "Token rings: AM and put, alternately", "token rings by AM"
    show(title, ("AM", "put"), by_put, keep="rings by put", promise=promise)
    if by_mpi:
        show("Token rings: AM and MPI, which yields", ("AM", "MPI"), by_mpi, keep="rings by MPI")


def far(m: Messages, nodes: Nodes) -> None:
    """A PE on each of two nodes."""

    def place(i: int, words: list[str]) -> list[str]:
        return nodes.inside(i, *words)

    ours, beside = m.sides(across(nodes, 1), MPI_FAR)
    ucx = [Ucx(limits.FAR, place, f"{SUBNET}.1")] if shutil.which(limits.PERFTEST) else []
    rounds = m.rounds("AM between nodes", [ours, *ucx, Hops(place), *beside], arguments("ring,uni", 8, 4e-3))
    m.part.found["raw"]["two nodes"] = rounds

    where = "two nodes"
    rows = [
        Row(ONE_WAY, "AM request 8 B, one way", bar=FAR_LATENCY_BAR, against=UCX_LATENCY),
        Row(RATE, "AM 8 B, each of a stream", bar=FAR_RATE_BAR, against=UCX_RATE),
    ]
    m.compared(where, "Wattle and ucx_perftest's AM", "UCX", rows, against(rounds, "UCX"))
    rows = [
        Row(ONE_WAY, "AM request 8 B : socket, polled", bar=FAR_LATENCY_BAR, against="tcp/polling"),
        Row(ONE_WAY, "AM request 8 B : socket, sleeping", against="tcp/sleeping"),
        Row(REPLY, "request and reply, half : polled", against="tcp/polling"),
    ]
    m.compared(where, "Wattle and plain sockets", "TCP", rows, against(rounds, "TCP"))
    puts(m, where, rounds, {"put_quiet": PAIRS_BAR, "nbi": NBI_BAR})
    two_sided(m, where, rounds)
