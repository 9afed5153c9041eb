"""Large puts over a link of 1 Gbit/s: the time that sleeping costs, and the CPU seconds that it saves."""

from __future__ import annotations

from wattle.machine.nodes import Nodes

from bench import limits
from bench.jobs import Side, across
from bench.pairs import Row, between, without_bars
from bench.part import Part

RATE = "1gbit"
SIZES = {"64 KiB": 65536, "1 MiB": 1 << 20}
CPU_BAR, TIME_BAR = 0.4, 1 / 0.95  # ratio of times: 0.95 of the bandwidth

ROWS = [
    row
    for label, size in SIZES.items()
    for row in (
        Row(f"puts/{size}", f"put+quiet {label}", size, TIME_BAR),
        Row(f"puts_cpu/{size}", f"{label}: CPU a put", bar=CPU_BAR),
        Row(f"puts_cpu_origin/{size}", "of that, the origin"),
        Row(f"puts_cpu_target/{size}", "of that, the target"),
    )
]


def run(part: Part) -> None:
    """Runs the section."""
    if not part.has_nodes(f"A link of {RATE}"):
        return
    with Nodes(2, RATE) as nodes:
        program = part.tools.ours("waits.c")
        sides = [Side(how, program, across(nodes, 1), {"WATTLE_WAIT": how}) for how in ("sleep", "spin", "adaptive")]
        rounds = part.rounds("a slow link", sides, ["puts", *map(str, SIZES.values())])
        plain = limits.plain_puts(nodes, SIZES, 1 if part.options.quick else 3)
    part.found["raw"] = {"rounds": rounds}
    title = f"Two nodes, links of {RATE}: WATTLE_WAIT=sleep and spin"
    part.compared(title, ("sleep", "spin"), ROWS, between(rounds, 0, 1), promise=f"links of {RATE}, sleeping")
    title = "The same with default settings, and spin"
    part.compared(title, ("adaptive", "spin"), without_bars(ROWS), between(rounds, 2, 1), keep="rows_adaptive")
    part.limits += [(f"{label} ({RATE})", size, seconds) for label, size, seconds in plain]
