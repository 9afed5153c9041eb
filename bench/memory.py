"""Memory of a job after one barrier: of a PE, of an additional PE, and the part that grows with each pair of PEs."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy
from wattle.machine.nodes import Nodes
from wattle.text.console import out, progress
from wattle.text.tables import Table

from bench.held import take
from bench.jobs import Side, across, build_alone, crowded
from bench.part import Part
from bench.show import columns, judged, section

MIB = 1 << 20
PE_BAR = 8 * MIB
PAIR_BAR = 256.0  # bytes
PES = (32, 64, 128, 256)
QUICK_PES = (8, 16, 32)
PEER_MOST = 64  # the peer's PEs spin, so more of them only take time
PER_NODE = (4, 16)
COMPARED = ("Wattle", "PMIx")
# Kinds of memory to fit. Pages of mapped files are shared with other programs of the machine, so their share has little
# meaning. The kernel's page tables are not in PSS, but mapping memory of other PEs needs them.
CONTROL = "private+shared+tables"
FITTED = {
    "PSS": ("pss",),
    "private+shared": ("anonymous", "shared"),
    CONTROL: ("anonymous", "shared", "page_tables"),
}


@dataclass(frozen=True)
class Fit:
    """Bytes of a job of n PEs: once + per_pe * n + per_pair * n^2. A pair is an ordered pair of PEs, so there are n *
    n.
    """

    once: float
    per_pe: float
    per_pair: float


def fit(sizes: list[int], totals: list[float]) -> Fit:
    """A least-squares fit with relative errors, because the variation is that of every PE."""
    per_pair, per_pe, once = numpy.polyfit(sizes, totals, 2, w=[1 / n for n in sizes])
    return Fit(float(once), float(per_pe), float(per_pair))


def amount(size: float) -> str:
    """Bytes as text."""
    return f"{size / MIB:.2f} MiB" if abs(size) >= MIB else f"{size / 1024:.0f} KiB"


def median_of(samples: list[dict[str, Any]], side: str, pes: int, *path: str) -> float:
    """The median over rounds of one number of a side's jobs of one size."""
    values: list[float] = []
    for sample in samples:
        if sample["side"] == side and sample["pes"] == pes:
            value: Any = sample
            for word in path:
                value = value[word]
            values.append(value)
    return statistics.median(values)


def sizes_of(samples: list[dict[str, Any]], side: str) -> list[int]:
    """The sizes of a side's jobs."""
    return sorted({s["pes"] for s in samples if s["side"] == side})


def fits(samples: list[dict[str, Any]], side: str, kinds: tuple[str, ...]) -> list[Fit]:
    """One fit a round, of the sum of some kinds of memory."""
    sizes = sizes_of(samples, side)
    by_size = [[s["total"] for s in samples if s["side"] == side and s["pes"] == n] for n in sizes]
    return [fit(sizes, [sum(t[kind] for kind in kinds) for t in totals]) for totals in zip(*by_size, strict=True)]


def size_table(samples: list[dict[str, Any]]) -> Table:
    """A table with one line for each side and size: KiB a PE by kind, and the time of the job."""
    table = columns("", "PEs", "PSS", "private", "files", "shared", "page tables", "start", "finish")
    for side in dict.fromkeys(s["side"] for s in samples):
        for n in sizes_of(samples, side):
            kinds = ("pss", "anonymous", "files", "shared", "page_tables")
            each = [f"{median_of(samples, side, n, 'total', kind) / n / 1024:.0f}" for kind in kinds]
            times = [f"{median_of(samples, side, n, word):.2f} s" for word in ("start_s", "finish_s")]
            table.add_row(side, str(n), *each, *times)
    return table


def spread(values: list[float]) -> str:
    """Median and range."""
    middle = f"{statistics.median(values):.0f}"
    return middle if len(values) == 1 else f"{middle} ({min(values):.0f}..{max(values):.0f})"


def added_pes(samples: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Bytes of PSS of an additional PE, from each size to the next."""

    def pss(side: str, n: int) -> float:
        return median_of(samples, side, n, "total", "pss")

    return {
        f"{before} to {after}": {side: (pss(side, after) - pss(side, before)) / (after - before) for side in COMPARED}
        for before, after in pairwise(sizes_of(samples, "Wattle"))
    }


def growth(samples: list[dict[str, Any]], judge: bool) -> dict[str, Any]:
    """The project's bars on memory and their verdicts."""
    most = sizes_of(samples, "Wattle")[-1]
    each = {side: median_of(samples, side, most, "total", "pss") / most for side in COMPARED}
    found = {name: {side: fits(samples, side, kinds) for side in COMPARED} for name, kinds in FITTED.items()}
    pair = statistics.median(f.per_pair for f in found[CONTROL]["Wattle"])
    verdicts = ["met" if good else "not met" for good in (each["Wattle"] <= PE_BAR, pair <= PAIR_BAR)]
    return {
        "pes": most,
        "pss_per_pe": each,
        "added_pe": added_pes(samples),
        "fits": {name: {side: [vars(f) for f in of] for side, of in sides.items()} for name, sides in found.items()},
        "verdicts": dict(zip(("pss_per_pe", "per_pair"), verdicts if judge else ("", ""), strict=True)),
    }


def growth_table(data: dict[str, Any]) -> Table:
    """The bars as a table."""
    table = columns("", *COMPARED)
    table.add_column("bar", no_wrap=True)
    bar = judged(f"{PE_BAR // MIB} MiB", data["verdicts"]["pss_per_pe"])
    table.add_row(f"PSS a PE, {data['pes']} PEs", *map(amount, data["pss_per_pe"].values()), bar)
    for step, slopes in data["added_pe"].items():
        table.add_row(f"PSS of an added PE, {step}", *map(amount, slopes.values()))
    for name, sides in data["fits"].items():
        cells = [spread([f["per_pair"] for f in of]) for of in sides.values()]
        bar = judged(f"{PAIR_BAR:g} B", data["verdicts"]["per_pair"]) if name == CONTROL else ""
        table.add_row(f"B/pair: {name}", *cells, bar)
    return table


def on_one_node(part: Part) -> dict[str, Any]:
    """Measures all sizes on this machine, all sides alternately."""
    tools, quick = part.tools, part.options.quick
    programs = {"Wattle": tools.ours("empty.c"), "PMIx": build_alone(), "peer": tools.theirs("empty.c")}
    plan = [
        (Side(name, program, crowded(n)), n)
        for n in (QUICK_PES if quick else PES)
        for name, program in programs.items()
        if program and not (name == "peer" and n > PEER_MOST)
    ]
    samples = sample("memory", plan, part.options.memory_rounds)
    most = sizes_of(samples, "Wattle")[-1]
    section("Memory, one node, empty program after one barrier, KiB a PE (medians)", size_table(samples))
    launcher = median_of(samples, "Wattle", most, "launcher", "pss")
    out.print(f"mpirun itself, not included: {amount(launcher)} at {most} PEs", style="faint")
    out.print()
    data = growth(samples, judge=not quick)
    section("Memory, one node: an additional PE and a pair of PEs", growth_table(data))
    return {"samples": samples} | data


def on_two_nodes(part: Part) -> dict[str, Any]:
    """Measures PEs on two nodes, which also have the network's memory. There is no bar."""
    programs = {"Wattle": part.tools.ours("empty.c"), "PMIx": build_alone()}
    with Nodes(2) as nodes:
        plan = [(Side(name, program, across(nodes, n)), 2 * n) for n in PER_NODE for name, program in programs.items()]
        samples = sample("memory, two nodes", plan, part.options.memory_rounds)
    section("Memory, two nodes, empty program after one barrier, KiB a PE (medians)", size_table(samples))
    return {"samples": samples}


def sample(what: str, plan: list[tuple[Side, int]], rounds: int) -> list[dict[str, Any]]:
    """Runs every job of the plan once a round."""
    samples = []
    with progress(what, len(plan) * rounds) as steps:
        for _ in range(rounds):
            for side, pes in plan:
                samples.append(take(side, pes, lambda now: steps.advance(0, now)))
                steps.advance()
    return samples


def run(part: Part) -> None:
    """Runs the section."""
    part.found = {"one_node": on_one_node(part)}
    if part.has_nodes("Memory on two nodes", "two_nodes"):
        part.found["two_nodes"] = on_two_nodes(part)
