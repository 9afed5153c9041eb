"""More PEs than cores: barriers and small collectives of 8, 16 and 32 PEs."""

from __future__ import annotations

import argparse

from wattle.text.console import progress

from bench import verdicts
from bench.jobs import Side, Toolchain, alternate, stacked
from bench.pairs import Row, as_data, between, compare
from bench.show import comparison_table, own_table, section

PES = (8, 16, 32)
# The fastest settings of Debian's OSHMEM 4.1.4 here: without yielding, or unbound, it was slower.
PEER_ENV = {"OMPI_MCA_mpi_yield_when_idle": "1"}
BARRIER_BAR, COLLECTIVE_BAR = 0.8, 0.6


def rows_of(pes: int) -> list[Row]:
    """The rows. Collectives have a bar only with 8 PEs."""
    bar = COLLECTIVE_BAR if pes == PES[0] else None
    return [
        Row("barrier/0/both", f"barrier, {pes} PEs", bar=BARRIER_BAR),
        Row("broadcast/8/both", f"broadcast 8 B, {pes} PEs", bar=bar),
        Row("broadcast_stream/8/both", f"same, one root, {pes} PEs"),
        Row("sum/8/both", f"sum of 8 B, {pes} PEs", bar=bar),
    ]


def run(options: argparse.Namespace, tools: Toolchain) -> dict:
    """Runs the section and prints it. Returns its part of the file."""
    ours, theirs = tools.ours("micro.c"), tools.theirs("micro.c")
    rounds = {}
    with progress("more PEs than cores", options.pairs * (2 if theirs else 1) * len(PES)) as steps:
        for pes in PES:
            peer = [Side("peer", theirs, stacked(pes), PEER_ENV)] if theirs else []
            sides = [Side("Wattle", ours, stacked(pes)), *peer]
            rounds[pes] = alternate(sides, options.pairs, ["crowd"], steps.advance)
    result: dict = {"peer_settings": PEER_ENV, "raw": {"rounds": rounds}}
    if not theirs:
        for pes in PES:
            section(f"{pes} PEs, Wattle alone (no peer)", own_table(rows_of(pes), [r[0] for r in rounds[pes]]))
        return result
    rows = [c for pes in PES for c in compare(rows_of(pes), between(rounds[pes], 0, 1))]
    section("More PEs than cores: Wattle and its peer, which yields", comparison_table("Wattle", "peer", rows))
    return result | {"rows": as_data(rows), "bars": verdicts.of_comparisons("more PEs than cores", "peer", rows)}
