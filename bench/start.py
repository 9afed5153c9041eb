"""The cost of starting and finishing a job, compared with PMIx_Init, a fence and PMIx_Finalize alone."""

from __future__ import annotations

import argparse

from wattle.text.console import progress

from bench import verdicts
from bench.jobs import Side, Toolchain, alternate, build_alone, crowded
from bench.pairs import Row, as_data, between, compare
from bench.show import comparison_table, section

BAR = 1.5
PES = (2, 32)


def rows_of(pes: int, bar: float | None) -> list[Row]:
    """The rows: the whole job, and the time in the calls. Of several PEs, the slowest counts."""
    return [
        Row("job", f"{pes} PEs: whole job, mpirun", bar=bar),
        Row("init", f"{pes} PEs: init"),
        Row("finalize", f"{pes} PEs: finalize"),
    ]


def run(options: argparse.Namespace, tools: Toolchain) -> dict:
    """Runs the section and prints it. Returns its part of the file."""
    programs = {"Wattle": tools.ours("empty.c"), "PMIx": build_alone(), "peer": tools.theirs("empty.c")}
    known = {name: program for name, program in programs.items() if program}
    rounds = {}
    with progress("start-up", options.pairs * len(known) * len(PES)) as steps:
        for pes in PES:
            sides = [Side(name, program, crowded(pes)) for name, program in known.items()]
            rounds[pes] = alternate(sides, options.pairs, [], steps.advance)

    result: dict = {"sides": list(known), "bars": [], "raw": {"rounds": rounds}}
    for i, other in enumerate(known):
        if other == "Wattle":
            continue
        bar = BAR if other == "PMIx" else None
        rows = [c for pes in PES for c in compare(rows_of(pes, bar), between(rounds[pes], 0, i))]
        what = "PMIx_Init, fence, finalize alone" if other == "PMIx" else "its peer"
        section(f"Start-up, one node, empty program: Wattle and {what}", comparison_table("Wattle", other, rows))
        result[f"rows_{other}"] = as_data(rows)
        result["bars"] += verdicts.of_comparisons("start-up", other, rows)
    return result
