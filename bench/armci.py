"""ARMCI: Wattle's compared with Debian's libarmci-mpi, both under Open MPI; and the waits of transfers between
nodes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wattle.machine.nodes import Nodes, unavailable
from wattle.text.console import out, progress

from bench import learned, schemes, two_nodes, verdicts
from bench.jobs import ROOT, Figures, Side, Toolchain, across, alternate, build, crowded, pinned
from bench.pairs import Row, as_data, between, compare
from bench.show import comparison_table, own_table, say_skipped, section

COMPILER = "mpicc.openmpi"
PEER_LIBRARY = "libarmci-openmpi.a"
ARRAYS = "libga-openmpi.a"
BELOW_ARRAYS = ("-lscalapack-openmpi", "-llapack", "-lblas", "-lgfortran", "-lm")
DAXPY_BAR = 1 / 0.8  # ratio of times: 0.8 of the speed

ROWS = [
    Row("put_fence", "put 8 B + fence", bar=0.4),
    Row("rmw", "fetch-and-add", bar=0.4),
    Row("puts", "PutS 64 x 512 B", bar=0.3),
    Row("gets", "GetS 64 x 512 B", bar=0.3),
    Row("acc1", "Acc 64 KiB of doubles, scale 1", bar=0.9),
    Row("acc2", "the same, scale 2", bar=0.5),
]
AGAINST_LOOP = [
    Row("acc1", "Acc 64 KiB of doubles, scale 1", 65536, DAXPY_BAR, against="daxpy1"),
    Row("acc2", "the same, scale 2", 65536, DAXPY_BAR, against="daxpy2"),
]
FAR_ROWS = [
    Row("put_fence", "put 8 B + fence", bar=0.5),
    Row("rmw", "fetch-and-add", bar=0.5),
    Row("puts_fence", "PutS 64 x 512 B + fence", bar=0.5),
    Row("gets", "GetS 64 x 512 B"),
    Row("acc1_fence", "Acc 64 KiB of doubles + fence", bar=0.5),
]
FAR = [row.key for row in FAR_ROWS]
TIME_BAR, CPU_BAR = 0.95, 0.8


def array_rows(n: int) -> list[Row]:
    """The rows of Global Arrays. CPU seconds have a bar only with more ranks than cores, where ranks always wait."""
    cpu = CPU_BAR if n > len(os.sched_getaffinity(0)) else None
    found = []
    for key, label in (("dgemm", "ga_dgemm 512 x 512"), ("jacobi", "Jacobi 512 x 512")):
        found += [Row(key, f"{label}, {n} ranks", bar=TIME_BAR), Row(f"{key}_cpu", "its CPU seconds", bar=cpu)]
        if key == "dgemm":  # the time without an ARMCI
            alone = (("plain", "BLAS alone over the peer's ga_dgemm"), ("plain_cpu", "its CPU seconds"))
            found += [Row(row, words, against=row.replace("plain", key)) for row, words in alone]
    return [*found, Row("idle_cpu", f"CPU seconds, one of {n} ranks works", bar=CPU_BAR)]


@dataclass(frozen=True)
class Libraries:
    """The libraries of the programs. `peer` is None where Debian's is not installed."""

    own: tuple[str, ...]
    peer: tuple[str, ...] | None


def home() -> Path:
    return Path(os.environ.get("WATTLE_HOME") or ROOT / "build" / "release")


def libraries() -> Libraries:
    lib = home() / "lib"
    own = (f"-I{home() / 'include'}", f"-L{lib}", f"-Wl,-rpath,{lib}", "-larmci")
    return Libraries(own, ("-larmci-openmpi",) if is_there(PEER_LIBRARY) else None)


def is_there(library: str) -> bool:
    """Whether the compiler finds the library."""
    words = [COMPILER, f"-print-file-name={library}"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip() != library


def run(options: argparse.Namespace, tools: Toolchain) -> dict:
    """Runs the section and prints it. Returns its part of the file."""
    found = libraries()
    result: dict = {"bars": [], "raw": {}}
    if not found.peer:
        say_skipped("No ARMCI to compare with: Debian's libarmci-mpi-dev is not installed")
    on_node(options, found, result)
    if is_there(ARRAYS):
        arrays(options, found, result)
    else:
        say_skipped("Global Arrays: skipped, Debian's libglobalarrays-dev is not installed")
    if reason := unavailable():
        say_skipped(f"ARMCI on two nodes: skipped, {reason}")
    else:
        with Nodes(2) as nodes:
            between_nodes(options, found, result, nodes)
        schemes.run(options, result)
        learned.run(options, result)
    return result


def sides_of(source: str, found: Libraries, launch: Callable[[list[str]], list[str]], **more: object) -> list[Side]:
    """Wattle's side and, where it is installed, the peer's. `below`: libraries after the ARMCI. `peer_env`: the peer's
    settings.
    """
    below, peer_env = more.get("below", ()), more.get("peer_env", {})
    above = more.get("above", ())
    sides = [Side("Wattle", build(COMPILER, source, "wattle", (*above, *found.own, *below)), launch)]
    if found.peer:
        program = build(COMPILER, source, "peer", (*above, *found.peer, *below))
        sides.append(Side("armci-mpi", program, launch, dict(peer_env)))
    return sides


def show(title: str, rows: list[Row], rounds: list[list[Figures]], name: str, result: dict) -> None:
    """Prints the table of a comparison, or of Wattle alone, and adds it to the file."""
    result["raw"][name] = rounds
    if len(rounds[0]) < 2:
        section(f"{title}, Wattle alone", own_table(rows, [r[0] for r in rounds]))
        return
    compared = compare(rows, between(rounds, 0, 1))
    section(title, comparison_table("Wattle", "armci-mpi", compared))
    result[f"rows_{name}"] = as_data(compared)
    result["bars"] += verdicts.of_comparisons(title, "armci-mpi", compared)


def on_node(options: argparse.Namespace, found: Libraries, result: dict) -> None:
    sides = sides_of("armci.c", found, pinned(2))
    loop = Side("Wattle", sides[0].program, pinned(2))
    with progress("ARMCI", options.pairs * (len(sides) + 1)) as steps:
        rounds = alternate(sides, options.pairs, [row.key for row in ROWS], steps.advance)
        loops = alternate([loop], options.pairs, ["acc1", "daxpy1", "acc2", "daxpy2"], steps.advance)
    show("ARMCI on one node", ROWS, rounds, "node", result)
    compared = compare(AGAINST_LOOP, between(loops, 0, 0))
    section("Accumulate and a plain loop over the same memory", comparison_table("Acc", "loop", compared))
    result["rows_loop"] = as_data(compared)
    result["bars"] += verdicts.of_comparisons("ARMCI on one node", "a plain loop", compared)
    result["raw"]["loop"] = loops


def between_nodes(options: argparse.Namespace, found: Libraries, result: dict, nodes: Nodes) -> None:
    sides = sides_of("armci.c", found, across(nodes, 1), peer_env=PEER_ENV)
    with progress("ARMCI, two nodes", options.pairs * len(sides)) as steps:
        rounds = alternate(sides, options.pairs, FAR, steps.advance)
    show("ARMCI on two nodes", FAR_ROWS, rounds, "nodes", result)
    result["peer_settings"] = PEER_ENV


PEER_ENV = two_nodes.PEER_ENV


def arrays(options: argparse.Namespace, found: Libraries, result: dict) -> None:
    for n in (2, 4):
        launch = pinned(n) if n <= len(os.sched_getaffinity(0)) else crowded(n)
        sides = sides_of("arrays.c", found, launch, above=("-lga-openmpi",), below=BELOW_ARRAYS)
        with progress(f"Global Arrays, {n} ranks", options.pairs * len(sides)) as steps:
            rounds = alternate(sides, options.pairs, [], steps.advance)
        title = f"Global Arrays, {n} ranks"
        show(title, array_rows(n), rounds, f"arrays_{n}", result)
        out.print(f"sums: {same_sums(rounds)}")
        out.print()


def same_sums(rounds: list[list[Figures]]) -> str:
    """Whether the results of the programs are the same with both libraries."""
    worst = 0.0
    for key in ("dgemm_sum", "jacobi_sum", "idle_sum"):
        values = [figures[key] for both in rounds for figures in both]
        middle = statistics.median(values)
        worst = max(worst, *(abs(v - middle) / max(abs(middle), 1e-300) for v in values))
    return "the same in all runs" if worst < 1e-9 else f"they differ by up to {worst:.1g} of their value"
