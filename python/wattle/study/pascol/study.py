"""The study of a power-aware one-sided library: displaced rings of four operations in five schemes."""

from __future__ import annotations

import os
from dataclasses import replace

from wattle.study.pascol.judges import AWARE, BARS, OPS, RING, ROWS, SCHEMES, crossover_words, learned, ratio, waits
from wattle.study.sweep.analysis import Analysis
from wattle.study.sweep.family import Sweep
from wattle.study.sweep.plan import Job, Plan
from wattle.text import units
from wattle.text.units import si

SIZES, QUICK_SIZES = tuple(2**k for k in range(21)), tuple(4**k for k in range(11))
SMALLEST_ACC = 8  # bytes of a double
REPEATS, QUICK_REPEATS = 4, 2
LEAST_S, QUICK_LEAST_S = 0.05, 0.01
PES = 2
# In simulation: the number of processes of the paper, eight of them on a node with one card. The memory of 64 processes
# limits the size.
SIMULATED_PES, SIMULATED_QUICK_PES, SIMULATED_LARGEST = 64, 16, 256 << 10
PER_NODE = 8
# Long enough for the trials of a job, which may take a quarter of a percent of it, to move its threshold.
SIMULATED_LEAST_S = 0.01
MACHINE = "nw-ice"  # the paper's node, used without a sensor and without WATTLE_MACHINE


def _jobs(plan: Plan) -> list[Job]:
    sizes = QUICK_SIZES if plan.quick or plan.simulated else SIZES
    repeats, least = (QUICK_REPEATS, QUICK_LEAST_S) if plan.quick else (REPEATS, LEAST_S)
    machine: tuple[tuple[str, str], ...] = (("WATTLE_MACHINE", os.environ.get("WATTLE_MACHINE", MACHINE)),)
    pes = PES
    if plan.simulated:  # the cluster gives the machine
        sizes, machine, repeats = tuple(n for n in sizes if n <= SIMULATED_LARGEST), (), 1
        least = SIMULATED_LEAST_S
        pes = SIMULATED_QUICK_PES if plan.quick else SIMULATED_PES
    found = []
    for op in OPS:
        cases = [str(n) for n in sizes if op != "acc" or n >= SMALLEST_ACC]
        words = ("--op", op, "--repeat", str(repeats), "--least", f"{least:g}", *cases)
        job = Job(RING, "pascol", words, repeats * len(cases), pes, lasts=True)
        for scheme in (*SCHEMES, AWARE):
            transfers = () if scheme.mode == "off" else (("WATTLE_TRANSFERS", scheme.mode),)
            record = (("WATTLE_KNOB", "record"),) if scheme.mode == "scale" and not plan.knob.acts else ()
            found.append(replace(job, wait=scheme.wait, mode=scheme.mode, settings=(*machine, *transfers, *record)))
    return found


def _table(a: Analysis) -> tuple[str, list[str], list[list[str]]]:
    """By operation: the crossover, and the ratios over polling at the largest size."""
    lines = []
    for op, published in OPS.items():
        largest = a.select(series=RING, name=op)[-1].x or 0
        values = [
            ratio(a, metric, op, scheme, largest) for metric in ("node", "seconds") for scheme in (SCHEMES[2], AWARE)
        ]
        own = learned(a, op)
        lines.append(
            [
                op,
                units.size(published),
                crossover_words(a, op),
                units.UNKNOWN if own is None else units.size(own),
                *(units.UNKNOWN if c is None else f"{c.median:.2f}" for c in values),
            ]
        )
    title = (
        "Crossovers; joules and time at the largest size over polling's: medians of "
        f"{units.several(a.repeats, 'sample')}, joules {a.provenance}"
    )
    heads = ["", "paper", "here", "learned", "J, asleep", "J, aware", "s, asleep", "s, aware"]
    return title, heads, lines


def _says(a: Analysis) -> str:
    if not waits(a):
        return "On one node operations are copies, so the schemes differ by chance only and there is no crossover."
    none = [op for op in OPS if learned(a, op) is None]
    untold = (
        f" No threshold was learned for {', '.join(none)}: too few transfers were tried the other way." if none else ""
    )
    if a.provenance == "unavailable":
        return untold.strip()
    words = ", ".join(f"{op} {crossover_words(a, op)}" for op in OPS)
    joules = a.center("node", a.select(series=RING, wait="spin", mode="off")[-1])
    last = (
        "" if joules is None else f" A ring's step of the largest strided put takes {si(joules.median, 'J')} polling."
    )
    return f"Size from which sleeping pays (energy lower, latency within 5 %): {words}.{last}{untold}"


STUDY = Sweep(
    name="pascol",
    title="A power-aware one-sided library",
    question="From which size on do sleep and a lower clock save energy until a one-sided operation is complete?",
    jobs=_jobs,
    rows=ROWS,
    bars=BARS,
    table=_table,
    paper="the paper on PASCoL (P: Vishnu et al., 2010)",
    says=_says,
    at="{x} B",
    system="nw-ice-ib",
    per_node=PER_NODE,
)
