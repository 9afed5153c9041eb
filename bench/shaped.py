"""Large puts over a link of 1 Gbit/s: the time that sleeping costs, and the CPU seconds that it saves."""

from __future__ import annotations

import argparse

from wattle.machine.nodes import Nodes, unavailable
from wattle.text.console import progress

from bench import limits, verdicts
from bench.jobs import Side, Toolchain, across, alternate
from bench.pairs import Row, as_data, between, compare
from bench.show import comparison_table, say_skipped, section

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


def run(options: argparse.Namespace, tools: Toolchain) -> dict:
    """Runs the section and prints it. Returns its part of the file."""
    if reason := unavailable():
        say_skipped(f"A link of {RATE}: skipped, {reason}")
        return {"skipped": reason}
    with Nodes(2, RATE) as nodes:
        program = tools.ours("waits.c")
        sides = [Side(how, program, across(nodes, 1), {"WATTLE_WAIT": how}) for how in ("sleep", "spin", "adaptive")]
        arguments = ["puts", *map(str, SIZES.values())]
        with progress("a slow link", options.pairs * len(sides)) as steps:
            rounds = alternate(sides, options.pairs, arguments, steps.advance)
        plain = limits.plain_puts(nodes, SIZES, 1 if options.quick else 3)
    rows = compare(ROWS, between(rounds, 0, 1))
    section(f"Two nodes, links of {RATE}: WATTLE_WAIT=sleep and spin", comparison_table("sleep", "spin", rows))
    unbarred = [Row(row.key, row.label, row.bytes) for row in ROWS]
    usual = compare(unbarred, between(rounds, 2, 1))
    section("The same with default settings, and spin", comparison_table("adaptive", "spin", usual))
    return {
        "rows": as_data(rows),
        "rows_adaptive": as_data(usual),
        "bars": verdicts.of_comparisons(f"links of {RATE}, sleeping", "spin", rows),
        "limits": [(f"{label} ({RATE})", size, seconds) for label, size, seconds in plain],
        "raw": {"rounds": rounds},
    }
