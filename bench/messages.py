"""Active messages compared with this machine, UCX alone, puts of the same processes, and MPI's two-sided messages."""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
from pathlib import Path

from wattle.machine.nodes import SUBNET, Nodes, unavailable
from wattle.text.console import Steps, progress

from bench import limits, verdicts
from bench.jobs import BEST, Figures, Side, Toolchain, across, alternate, build, pinned, stacked
from bench.pairs import Comparison, Pairs, Row, as_data, between, compare
from bench.show import comparison_table, say_skipped, section

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


class Ucx:
    """UCX alone as a side: the active messages of ucx_perftest."""

    name = "UCX"

    def __init__(self, where: str, place: limits.Place, address: str) -> None:
        self.place = where, place, address

    def run(self, *_: str) -> Figures:
        """Seconds of one direction, and seconds a message of a stream."""
        where, place, address = self.place
        found: dict[str, list[float]] = {UCX_LATENCY: [], UCX_RATE: []}
        for _run in range(PERFTEST_RUNS):
            found[UCX_LATENCY].append(1e-6 * limits.perftest("ucp_am_lat", where, place, address))
            a_second = limits.of_perftest("overall_mr", "ucp_am_bw", where, place, address, RATE_ITERATIONS[where])
            found[UCX_RATE].append(1 / a_second)
        medians = {key: statistics.median(values) for key, values in found.items()}
        return medians | {BEST + key: min(values) for key, values in found.items()}


class Hops:
    """Plain sockets between the nodes as a side."""

    name = "TCP"

    def __init__(self, place: limits.Place) -> None:
        self.place = place

    def run(self, *_: str) -> Figures:
        """Seconds of a hop by sockets that are polled, and by sockets that sleep."""
        found = limits.hops(limits.FAR, self.place, f"{SUBNET}.1")
        return dict(zip(("tcp/polling", "tcp/sleeping"), (seconds for _, seconds in found), strict=True))


def mpi_program() -> Path | None:
    """am_mpi.c, compiled by Open MPI's wrapper; None where there is no wrapper."""
    compiler = shutil.which("mpicc.openmpi") or shutil.which("mpicc")
    return build(compiler, "am_mpi.c", "mpi", ("-lm",)) if compiler else None


class Measured:
    """The printed tables, for the file."""

    def __init__(self) -> None:
        self.result: dict = {"rows": {}, "bars": [], "raw": {}}

    def compared(self, where: str, title: str, other: str, rows: list[Row], pairs: Pairs) -> list[Comparison]:
        """Prints Wattle's figures beside another's, where both were measured."""
        found = compare(rows, pairs)
        if found:
            section(f"{where}: {title}", comparison_table("Wattle", other, found, best=True))
            self.result["rows"][f"{where}: {title}"] = as_data(found)
            self.result["bars"] += verdicts.of_comparisons(f"messages, {where}", other, found)
        return found


def run(options: argparse.Namespace, tools: Toolchain) -> dict:
    """Runs the section and prints it. Returns its part of the file."""
    ours, mpi = build(tools.own, "am.c", "wattle", ("-lm",)), mpi_program()
    measured = Measured()
    for name, found in (("ucx_perftest (Debian: ucx-utils)", shutil.which(limits.PERFTEST)), ("mpicc", mpi)):
        if not found:
            say_skipped(f"Messages: no comparison with {name}, which is missing")
    near(options, measured, ours, mpi)
    rings(options, measured, ours, mpi)
    if reason := unavailable():
        say_skipped(f"Messages between nodes: skipped, {reason}")
        return measured.result | {"skipped": reason}
    with Nodes(2) as nodes:
        far(options, measured, nodes, ours, mpi)
    return measured.result


def rounds_of(sides: list, n: int, words: list[str], what: str) -> list[dict[str, Figures]]:
    """Runs all sides alternately, n times. Returns the figures by the sides' names."""
    with progress(what, n * len(sides)) as steps:
        rounds = alternate(sides, n, words, steps.advance)
    return [{side.name: figures for side, figures in zip(sides, r, strict=True)} for r in rounds]


def against(rounds: list[dict[str, Figures]], other: str) -> Pairs:
    """Wattle's figures paired with another side's of the same round, or with its own."""
    return [(r["Wattle"], r[other]) for r in rounds if other in r]


def near(options: argparse.Namespace, measured: Measured, ours: Path, mpi: Path | None) -> None:
    """Two PEs on a core each; then eight PEs that send to one."""
    two, nine = pinned(2), stacked(PRODUCERS + 1)
    ucx = [Ucx(limits.NEAR, limits.here, "127.0.0.1")] if shutil.which(limits.PERFTEST) else []
    beside = [Side("MPI", mpi, two)] if mpi else []
    rounds = rounds_of([Side("Wattle", ours, two), *ucx, *beside], options.pairs, arguments("ring,uni", 8, 1e-3), "AM")
    beside = [Side("MPI", mpi, nine, YIELDING)] if mpi else []
    many = rounds_of(
        [Side("Wattle", ours, nine), *ucx, *beside], options.pairs, arguments("many", 8, 5e-3), "AM to one"
    )

    where = "one node"
    by_turns = [
        Row(ONE_WAY, "AM request 8 B, one way", bar=HOP_BAR, against="ring/hop/8/1/2"),
        Row(REPLY, "request and reply, half", against="ring/hop/8/1/2"),
    ]
    measured.compared(where, "Wattle and the machine, alternately", "hop", by_turns, against(rounds, "Wattle"))
    others = [
        Row(ONE_WAY, "AM request 8 B, one way", bar=LATENCY_BAR, against=UCX_LATENCY),
        Row(RATE, "AM 8 B, each of a stream", bar=RATE_BAR, against=UCX_RATE),
    ]
    measured.compared(where, "Wattle and ucx_perftest's AM", "UCX", others, against(rounds, "UCX"))
    stream = [Row(MANY, f"{PRODUCERS} producers; UCX: one", bar=MANY_BAR, against=UCX_RATE)]
    measured.compared(where, "eight PEs to one, and ucx_perftest's one to one", "UCX", stream, against(many, "UCX"))
    two_sided(measured, where, rounds)
    stream = [Row(MANY, f"8 B, {PRODUCERS} producers", against=MANY.replace("/am/", "/mpi/"))]
    measured.compared(where, "eight PEs to one, and MPI, which yields", "MPI", stream, against(many, "MPI"))
    puts(measured, where, rounds, {})
    measured.result["raw"] |= {"one node": rounds, "many": many}


def two_sided(measured: Measured, where: str, rounds: list[dict[str, Figures]]) -> None:
    rows = [
        Row(ONE_WAY, "AM request 8 B, one way", against="ring/mpi/8/1/2"),
        Row(RATE, "8 B, each of a stream", against=put("mpi")),
    ]
    measured.compared(where, "Wattle's AM and MPI two-sided", "MPI", rows, against(rounds, "MPI"))


def puts(measured: Measured, where: str, rounds: list[dict[str, Figures]], bars: dict[str, float]) -> None:
    """Compares active messages with puts of the same process."""
    rows = [
        Row(RATE, "AM over put+quiet pairs", bar=bars.get("put_quiet"), against=put("put_quiet")),
        Row(RATE, "AM over puts, one quiet", against=put("put")),
        Row(RATE, "AM over put_nbi, one quiet", bar=bars.get("nbi"), against=put("nbi")),
        Row(ONE_WAY, "AM request over p+wait_until", against="ring/put/8/1/2"),
    ]
    measured.compared(where, "AM and puts, alternately", "put", rows, against(rounds, "Wattle"))


def rings(options: argparse.Namespace, measured: Measured, ours: Path, mpi: Path | None) -> None:
    """A token round 2 to 64 PEs of one node: AM and put alternately in the same processes, then MPI."""
    by_put: list[Comparison] = []
    by_mpi: list[Comparison] = []
    with progress("token rings", options.pairs * len(RINGS) * (2 if mpi else 1)) as steps:
        for pes in RINGS:
            rounds = ring_of(pes, options.pairs, ours, mpi, steps)
            key, label = f"ring/am/4/1/{pes}", f"token ring, {pes} PEs, a hop"
            by_put += compare([Row(key, label, bar=RING_BAR, against=f"ring/put/4/1/{pes}")], between(rounds, 0, 0))
            by_mpi += compare([Row(key, label, against=f"ring/mpi/4/1/{pes}")], between(rounds, 0, -1))
            measured.result["raw"][f"ring {pes}"] = rounds
    section("Token rings: AM and put, alternately", comparison_table("AM", "put", by_put, best=True))
    measured.result["rows"]["rings by put"] = as_data(by_put)
    measured.result["bars"] += verdicts.of_comparisons("token rings by AM", "put", by_put)
    if by_mpi:
        section("Token rings: AM and MPI, which yields", comparison_table("AM", "MPI", by_mpi, best=True))
        measured.result["rows"]["rings by MPI"] = as_data(by_mpi)


def ring_of(pes: int, pairs: int, ours: Path, mpi: Path | None, steps: Steps) -> list[list[Figures]]:
    yielding = YIELDING if pes > len(os.sched_getaffinity(0)) else {}
    beside = [Side("MPI", mpi, stacked(pes), yielding)] if mpi else []
    return alternate([Side("Wattle", ours, stacked(pes)), *beside], pairs, arguments("ring", 4, 3e-3), steps.advance)


def far(options: argparse.Namespace, measured: Measured, nodes: Nodes, ours: Path, mpi: Path | None) -> None:
    """A PE on each of two nodes."""

    def place(i: int, words: list[str]) -> list[str]:
        return nodes.inside(i, *words)

    launch = across(nodes, 1)
    ucx = [Ucx(limits.FAR, place, f"{SUBNET}.1")] if shutil.which(limits.PERFTEST) else []
    beside = [Side("MPI", mpi, launch, MPI_FAR)] if mpi else []
    sides = [Side("Wattle", ours, launch), *ucx, Hops(place), *beside]
    rounds = rounds_of(sides, options.pairs, arguments("ring,uni", 8, 4e-3), "AM between nodes")

    where = "two nodes"
    rows = [
        Row(ONE_WAY, "AM request 8 B, one way", bar=FAR_LATENCY_BAR, against=UCX_LATENCY),
        Row(RATE, "AM 8 B, each of a stream", bar=FAR_RATE_BAR, against=UCX_RATE),
    ]
    measured.compared(where, "Wattle and ucx_perftest's AM", "UCX", rows, against(rounds, "UCX"))
    rows = [
        Row(ONE_WAY, "AM request 8 B : socket, polled", bar=FAR_LATENCY_BAR, against="tcp/polling"),
        Row(ONE_WAY, "AM request 8 B : socket, sleeping", against="tcp/sleeping"),
        Row(REPLY, "request and reply, half : polled", against="tcp/polling"),
    ]
    measured.compared(where, "Wattle and plain sockets", "TCP", rows, against(rounds, "TCP"))
    puts(measured, where, rounds, {"put_quiet": PAIRS_BAR, "nbi": NBI_BAR})
    two_sided(measured, where, rounds)
    measured.result["raw"]["two nodes"] = rounds
