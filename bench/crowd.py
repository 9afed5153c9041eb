"""More PEs than cores: barriers and small collectives of 8, 16 and 32 PEs."""

from __future__ import annotations

from bench.jobs import stacked
from bench.pairs import Row, between, compare
from bench.part import Part

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


def run(part: Part) -> None:
    """Runs the section."""
    sides = {pes: part.tools.sides("micro.c", stacked(pes), PEER_ENV) for pes in PES}
    rounds = {pes: part.rounds(f"{pes} PEs", of, ["crowd"]) for pes, of in sides.items()}
    part.found |= {"peer_settings": PEER_ENV, "raw": {"rounds": rounds}}
    if not part.tools.peer:
        for pes in PES:
            part.alone(f"{pes} PEs, Wattle alone (no peer)", rows_of(pes), [r[0] for r in rounds[pes]])
        return
    found = [c for pes in PES for c in compare(rows_of(pes), between(rounds[pes], 0, 1))]
    title = "More PEs than cores: Wattle and its peer, which yields"
    part.show(title, ("Wattle", "peer"), found, promise="more PEs than cores")
