"""ARMCI: Wattle's compared with Debian's libarmci-mpi, both under Open MPI; and the waits of transfers between
nodes.
"""

from __future__ import annotations

import os
import statistics
import subprocess
from dataclasses import dataclass

from wattle.machine.nodes import Nodes
from wattle.text.console import out

from bench import learned, schemes
from bench.jobs import Launch, Rounds, Side, across, build, crowded, home, pinned
from bench.pairs import Row, between
from bench.part import Part
from bench.show import say_skipped
from bench.two_nodes import PEER_ENV

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


def libraries() -> Libraries:
    lib = home() / "lib"
    own = (f"-I{home() / 'include'}", f"-L{lib}", f"-Wl,-rpath,{lib}", "-larmci")
    return Libraries(own, ("-larmci-openmpi",) if is_there(PEER_LIBRARY) else None)


def is_there(library: str) -> bool:
    """Whether the compiler finds the library."""
    words = [COMPILER, f"-print-file-name={library}"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip() != library


def run(part: Part) -> None:
    """Runs the section."""
    found = libraries()
    if not found.peer:
        say_skipped("No ARMCI to compare with: Debian's libarmci-mpi-dev is not installed")
    on_node(part, found)
    if is_there(ARRAYS):
        arrays(part, found)
    else:
        say_skipped("Global Arrays: skipped, Debian's libglobalarrays-dev is not installed")
    if part.has_nodes("ARMCI on two nodes"):
        with Nodes(2) as nodes:
            sides = sides_of("armci.c", found, across(nodes, 1), peer_env=PEER_ENV)
            rounds = part.rounds("ARMCI, two nodes", sides, [row.key for row in FAR_ROWS])
        show(part, "ARMCI on two nodes", FAR_ROWS, rounds, "nodes")
        part.found["peer_settings"] = PEER_ENV
        schemes.run(part)
        learned.run(part)


def sides_of(
    source: str,
    found: Libraries,
    launch: Launch,
    above: tuple[str, ...] = (),
    below: tuple[str, ...] = (),
    peer_env: dict[str, str] | None = None,
) -> list[Side]:
    """Wattle's side and, where it is installed, the peer's. `above`, `below`: libraries before and after the ARMCI.
    `peer_env`: the peer's settings.
    """
    sides = [Side("Wattle", build(COMPILER, source, "wattle", (*above, *found.own, *below)), launch)]
    if found.peer:
        program = build(COMPILER, source, "peer", (*above, *found.peer, *below))
        sides.append(Side("armci-mpi", program, launch, peer_env or {}))
    return sides


def show(part: Part, title: str, rows: list[Row], rounds: Rounds, name: str) -> None:
    """Prints the table of a comparison, or of Wattle alone, and adds it to the file."""
    part.found["raw"][name] = rounds
    if len(rounds[0]) < 2:
        part.alone(f"{title}, Wattle alone", rows, [r[0] for r in rounds])
        return
    part.compared(title, ("Wattle", "armci-mpi"), rows, between(rounds, 0, 1), keep=f"rows_{name}", promise=title)


def on_node(part: Part, found: Libraries) -> None:
    title = "ARMCI on one node"
    sides = sides_of("armci.c", found, pinned(2))
    show(part, title, ROWS, part.rounds("ARMCI", sides, [row.key for row in ROWS]), "node")
    loops = part.rounds("ARMCI and loops", sides[:1], ["acc1", "daxpy1", "acc2", "daxpy2"])
    part.found["raw"]["loop"] = loops
    part.compared(
        "Accumulate and a plain loop over the same memory",
        ("Acc", "loop"),
        AGAINST_LOOP,
        between(loops, 0, 0),
        keep="rows_loop",
        promise=title,
        other="a plain loop",
    )


def arrays(part: Part, found: Libraries) -> None:
    for n in (2, 4):
        launch = pinned(n) if n <= len(os.sched_getaffinity(0)) else crowded(n)
        sides = sides_of("arrays.c", found, launch, above=("-lga-openmpi",), below=BELOW_ARRAYS)
        title = f"Global Arrays, {n} ranks"
        rounds = part.rounds(title, sides)
        show(part, title, array_rows(n), rounds, f"arrays_{n}")
        out.print(f"sums: {same_sums(rounds)}")
        out.print()


def same_sums(rounds: Rounds) -> str:
    """Whether the results of the programs are the same with both libraries."""
    worst = 0.0
    for key in ("dgemm_sum", "jacobi_sum", "idle_sum"):
        values = [figures[key] for both in rounds for figures in both]
        middle = statistics.median(values)
        worst = max(worst, *(abs(v - middle) / max(abs(middle), 1e-300) for v in values))
    return "the same in all runs" if worst < 1e-9 else f"they differ by up to {worst:.1g} of their value"
