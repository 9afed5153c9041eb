"""Collectives of small and large sizes: 2, 8 and 32 PEs of one node, 2 and 8 PEs of two nodes; and Wattle's own
algorithms.
"""

from __future__ import annotations

from wattle.machine.nodes import Nodes

from bench.crowd import PEER_ENV
from bench.jobs import Launch, Side, across, pinned, stacked
from bench.pairs import Row, between, compare
from bench.part import Part
from bench.two_nodes import PEER_ENV as FAR_PEER_ENV

SIZES = (8, 65536)
OPERATIONS = ("broadcast", "fcollect", "sum", "alltoall")
NEAR_PES, FAR_SHAPES = (2, 8, 32), ((2, 1), (2, 4))
BAR, FAR_BAR = 0.7, 1.0  # between nodes no slower than the peer's
WAYS, WAYS_SIZES, WAYS_PES = ("small", "staged", "direct"), (8, 48, 512, 2048, 65536), (2, 8)


def size_name(size: int) -> str:
    return f"{size} B" if size < 1024 else f"{size // 1024} KiB"


def rows_of(where: str, bar: float | None, sizes: tuple[int, ...] = SIZES) -> list[Row]:
    """A row for each operation and size."""
    return [Row(f"{o}/{size}", f"{o} {size_name(size)}, {where}", bar=bar) for o in OPERATIONS for size in sizes]


def run(part: Part) -> None:
    """Runs the section."""
    shapes = [(f"{pes} PEs", launch_of(pes)) for pes in NEAR_PES]
    compared(part, "one node", shapes, PEER_ENV, BAR, "rows")
    copies(part)
    ways(part)
    if part.has_nodes("Collectives of two nodes", "nodes_skipped"):
        with Nodes(2) as nodes:
            shapes = [(f"{n}x{each} PEs", across(nodes, each)) for n, each in FAR_SHAPES]
            compared(part, "two nodes", shapes, PEER_ENV | FAR_PEER_ENV, FAR_BAR, "rows_nodes")


def launch_of(pes: int) -> Launch:
    return pinned(pes) if pes == NEAR_PES[0] else stacked(pes)


def copies(part: Part) -> None:
    """Alltoall as plain copies between two barriers, which shows the limit of memory."""
    program, size, figures = part.tools.ours("collectives.c"), SIZES[1], []
    for pes in NEAR_PES:
        rounds = part.rounds("plain copies", [Side("copies", program, launch_of(pes))], ["copies", str(size)])
        figures += [{str(pes): r[0][f"copies/{size}"]} for r in rounds]
    rows = [Row(str(pes), f"alltoall {size_name(size)}, {pes} PEs") for pes in NEAR_PES]
    part.alone("Collectives, one node: alltoall as plain copies between two barriers", rows, figures)
    part.found["copies"] = figures


def compared(
    part: Part, where: str, shapes: list[tuple[str, Launch]], peer_env: dict[str, str], bar: float, keep: str
) -> None:
    """Compares each number of PEs with the peer, alternately."""
    rounds = {}
    for name, launch in shapes:
        sides = part.tools.sides("collectives.c", launch, peer_env)
        rounds[name] = part.rounds(f"collectives, {where}, {name}", sides, map(str, SIZES))
    part.found["raw"][where] = rounds
    if not part.tools.peer:
        for name, found in rounds.items():
            title = f"Collectives, {where}, Wattle alone (no peer)"
            part.alone(title, rows_of(name, None), [r[0] for r in found])
        return
    rows = [c for name, found in rounds.items() for c in compare(rows_of(name, bar), between(found, 0, 1))]
    title = f"Collectives, {where}: Wattle and its peer"
    part.show(title, ("Wattle", "peer"), rows, keep=keep, promise=f"collectives, {where}")


def ways(part: Part) -> None:
    """Compares each algorithm that a setting can force with the automatic choice."""
    program = part.tools.ours("collectives.c")
    for pes in WAYS_PES:
        launch = launch_of(pes)
        sides = [Side(way, program, launch, {"WATTLE_COLLECTIVES": way}) for way in ("auto", *WAYS)]
        rounds = part.rounds("collectives by each way", sides, map(str, WAYS_SIZES), part.options.wait_pairs)
        rows = rows_of(f"{pes} PEs", None, WAYS_SIZES)
        for i, way in enumerate(WAYS, start=1):
            title, keep = f"Collectives, {pes} PEs: {way} and the automatic choice", f"{pes}/{way}"
            part.compared(title, (way, "auto"), rows, between(rounds, i, 0), keep=keep, under="ways")
