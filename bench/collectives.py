"""Collectives of small and large sizes: 2, 8 and 32 PEs of one node, 2 and 8 PEs of two nodes; and Wattle's own
algorithms.
"""

from __future__ import annotations

import argparse

from wattle.machine.nodes import Nodes, unavailable
from wattle.text.console import progress

from bench import verdicts
from bench.crowd import PEER_ENV
from bench.jobs import Launch, Side, Toolchain, across, alternate, pinned, stacked
from bench.pairs import Row, as_data, between, compare
from bench.show import comparison_table, own_table, say_skipped, section
from bench.two_nodes import PEER_ENV as FAR_PEER_ENV

SIZES = (8, 65536)
OPERATIONS = ("broadcast", "fcollect", "sum", "alltoall")
NEAR_PES, FAR_SHAPES = (2, 8, 32), ((2, 1), (2, 4))
BAR, FAR_BAR = 0.7, 1.0
WAYS, WAYS_SIZES, WAYS_PES = ("small", "staged", "direct"), (8, 48, 512, 2048, 65536), (2, 8)


def size_name(size: int) -> str:
    return f"{size} B" if size < 1024 else f"{size // 1024} KiB"


def rows_of(where: str, bar: float | None, sizes: tuple[int, ...] = SIZES) -> list[Row]:
    """A row for each operation and size."""
    return [Row(f"{o}/{size}", f"{o} {size_name(size)}, {where}", bar=bar) for o in OPERATIONS for size in sizes]


def arguments(sizes: tuple[int, ...]) -> list[str]:
    return [str(size) for size in sizes]


def run(options: argparse.Namespace, tools: Toolchain) -> dict:
    """Runs the section and prints it. Returns its part of the file."""
    result = near(options, tools)
    result["copies"] = copies(options, tools)
    result["ways"] = ways(options, tools)
    if reason := unavailable():
        say_skipped(f"Collectives of two nodes: skipped, {reason}")
        return result | {"nodes_skipped": reason}
    with Nodes(2) as nodes:
        of_nodes = far(options, tools, nodes)
    return (
        result
        | {"rows_nodes": of_nodes["rows"], "bars": result["bars"] + of_nodes["bars"]}
        | {"raw": result["raw"] | of_nodes["raw"]}
    )


def launch_of(pes: int) -> Launch:
    return pinned(pes) if pes == NEAR_PES[0] else stacked(pes)


def near(options: argparse.Namespace, tools: Toolchain) -> dict:
    """The collectives of one node."""
    shapes = [(f"{pes} PEs", launch_of(pes)) for pes in NEAR_PES]
    return compared(options, tools, "one node", shapes, PEER_ENV, BAR)


def copies(options: argparse.Namespace, tools: Toolchain) -> list[dict]:
    """Alltoall as plain copies between two barriers, which shows the limit of memory. Returns the figures of each
    round, by PEs.
    """
    program, size, figures = tools.ours("collectives.c"), SIZES[1], []
    with progress("alltoall as plain copies", options.pairs * len(NEAR_PES)) as steps:
        for pes in NEAR_PES:
            rounds = alternate(
                [Side("copies", program, launch_of(pes))], options.pairs, ["copies", str(size)], steps.advance
            )
            figures += [{str(pes): r[0][f"copies/{size}"]} for r in rounds]
    rows = [Row(str(pes), f"alltoall {size_name(size)}, {pes} PEs") for pes in NEAR_PES]
    section("Collectives, one node: alltoall as plain copies between two barriers", own_table(rows, figures))
    return figures


def far(options: argparse.Namespace, tools: Toolchain, nodes: Nodes) -> dict:
    """The collectives of two nodes. The bar is that they are no slower than the peer's."""
    shapes = [(f"{n}x{each} PEs", across(nodes, each)) for n, each in FAR_SHAPES]
    return compared(options, tools, "two nodes", shapes, PEER_ENV | FAR_PEER_ENV, FAR_BAR)


def compared(
    options: argparse.Namespace,
    tools: Toolchain,
    where: str,
    shapes: list[tuple[str, Launch]],
    peer_env: dict[str, str],
    bar: float,
) -> dict:
    """Compares each number of PEs with the peer, alternately."""
    ours, theirs = tools.ours("collectives.c"), tools.theirs("collectives.c")
    sides = {
        name: [Side("Wattle", ours, launch), *([Side("peer", theirs, launch, peer_env)] if theirs else [])]
        for name, launch in shapes
    }
    rounds = {}
    with progress(f"collectives, {where}", options.pairs * sum(len(s) for s in sides.values())) as steps:
        for name, of_shape in sides.items():
            rounds[name] = alternate(of_shape, options.pairs, arguments(SIZES), steps.advance)
    result = {"rows": [], "bars": [], "raw": {where: rounds}}
    if not theirs:
        for name, found in rounds.items():
            section(
                f"Collectives, {where}, Wattle alone (no peer)", own_table(rows_of(name, None), [r[0] for r in found])
            )
        return result
    rows = [c for name in sides for c in compare(rows_of(name, bar), between(rounds[name], 0, 1))]
    section(f"Collectives, {where}: Wattle and its peer", comparison_table("Wattle", "peer", rows))
    bars = verdicts.of_comparisons(f"collectives, {where}", "peer", rows)
    return result | {"rows": as_data(rows), "bars": bars}


def ways(options: argparse.Namespace, tools: Toolchain) -> dict:
    """Compares each algorithm that a setting can force with the automatic choice."""
    program, tables = tools.ours("collectives.c"), {}
    with progress("collectives by each way", options.wait_pairs * (1 + len(WAYS)) * len(WAYS_PES)) as steps:
        for pes in WAYS_PES:
            launch = launch_of(pes)
            sides = [Side(way, program, launch, {"WATTLE_COLLECTIVES": way}) for way in ("auto", *WAYS)]
            rounds = alternate(sides, options.wait_pairs, arguments(WAYS_SIZES), steps.advance)
            for i, way in enumerate(WAYS, start=1):
                found = compare(rows_of(f"{pes} PEs", None, WAYS_SIZES), between(rounds, i, 0))
                section(f"Collectives, {pes} PEs: {way} and the automatic choice", comparison_table(way, "auto", found))
                tables[f"{pes}/{way}"] = as_data(found)
    return tables
