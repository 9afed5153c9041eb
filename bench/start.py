"""The cost of starting and finishing a job, compared with PMIx_Init, a fence and PMIx_Finalize alone."""

from __future__ import annotations

from bench.jobs import Side, build_alone, crowded
from bench.pairs import Row, between, compare
from bench.part import Part

BAR = 1.5
PES = (2, 32)
OTHERS = {"PMIx": "PMIx_Init, fence, finalize alone", "peer": "its peer"}


def rows_of(pes: int, bar: float | None) -> list[Row]:
    """The rows: the whole job, and the time in the calls. Of several PEs, the slowest counts."""
    return [
        Row("job", f"{pes} PEs: whole job, mpirun", bar=bar),
        Row("init", f"{pes} PEs: init"),
        Row("finalize", f"{pes} PEs: finalize"),
    ]


def run(part: Part) -> None:
    """Runs the section."""
    tools = part.tools
    programs = {"Wattle": tools.ours("empty.c"), "PMIx": build_alone(), "peer": tools.theirs("empty.c")}
    known = {name: program for name, program in programs.items() if program}
    rounds = {}
    for pes in PES:
        sides = [Side(name, program, crowded(pes)) for name, program in known.items()]
        rounds[pes] = part.rounds(f"start-up, {pes} PEs", sides)
    part.found |= {"sides": list(known), "raw": {"rounds": rounds}}
    for i, other in enumerate(list(known)[1:], start=1):
        bar = BAR if other == "PMIx" else None
        found = [c for pes in PES for c in compare(rows_of(pes, bar), between(rounds[pes], 0, i))]
        title = f"Start-up, one node, empty program: Wattle and {OTHERS[other]}"
        part.show(title, ("Wattle", other), found, keep=f"rows_{other}", promise="start-up")
