"""The cost of waiting: CPU seconds of long waits. With the ends of waits (wakes.py) it is one section."""

from __future__ import annotations

import argparse
import statistics

from wattle.machine.nodes import Nodes, unavailable
from wattle.text import tables
from wattle.text.console import progress

from bench import two_nodes, verdicts, wakes
from bench.jobs import OTHERS, Figures, Launch, Side, Toolchain, across, alternate, pinned
from bench.pairs import DISTURBED
from bench.show import judged, say_skipped, section, shown_seconds

SLACK = {"wait_until": "wait_until", "wait_barrier": "barrier", "wait_lock": "lock"}
SLACK_BAR_S = 0.01  # CPU seconds in a wait of 3 s


def run(options: argparse.Namespace, tools: Toolchain) -> dict:
    """Runs the section and prints it. Returns its part of the file."""
    slack = long_waits(options, tools)
    ends = wakes.run(options, tools)
    return {
        "bars": [*ends["bars"], *slack["bars"]],
        "limits": ends["limits"],
        "rows": ends["rows"],
        "raw": {**ends["raw"], "slack": slack["raw"]},
    }


def long_waits(options: argparse.Namespace, tools: Toolchain) -> dict:
    """CPU seconds on one node and on two, where a quiet can wait as well."""
    ours, theirs = tools.ours("waits.c"), tools.theirs("waits.c")
    seconds = str(options.wait_seconds)

    def sides(launch: Launch, env: dict[str, str]) -> list[Side]:
        peer = [Side("peer", theirs, launch, env)] if theirs else []
        return [Side("Wattle", ours, launch), *peer]

    near = sides(pinned(2), {})
    result: dict = {"raw": {}, "bars": []}
    with progress("long waits", 3 * options.wait_pairs * len(near)) as steps:
        rounds = alternate(near, options.wait_pairs, ["slack", seconds], steps.advance)
        add_slack(result, "one node", SLACK, near, rounds, options)
        if reason := unavailable():
            say_skipped(f"Long waits on two nodes: skipped, {reason}")
            return result
        with Nodes(2) as nodes:
            far = sides(across(nodes, 1), two_nodes.PEER_ENV)
            rounds = alternate(far, options.wait_pairs, ["slack", seconds], steps.advance)
            stopped = alternate(far, options.wait_pairs, ["quiet", seconds], steps.advance)
        both = [[a | b for a, b in zip(*pair, strict=True)] for pair in zip(rounds, stopped, strict=True)]
        add_slack(result, "two nodes", SLACK | {"wait_quiet": "quiet"}, far, both, options)
    return result


def add_slack(
    result: dict,
    where: str,
    rows: dict[str, str],
    sides: list[Side],
    rounds: list[list[Figures]],
    options: argparse.Namespace,
) -> None:
    """Prints the table. The bar applies to the worst run of the first side."""
    seconds, judge = options.wait_seconds, not options.quick
    limit = SLACK_BAR_S * max(1.0, seconds / 3)
    table = tables.table()
    table.add_column("waiting in")
    for side in sides:
        table.add_column(side.name, justify="right")
    table.add_column(f"{sides[0].name} at worst", justify="right")
    table.add_column("bar")
    disturbed = 3 * sum(r[0][OTHERS] > DISTURBED for r in rounds) > len(rounds)
    for key, label in rows.items():
        values = [[r[i][key] for r in rounds] for i in range(len(sides))]
        v = verdicts.of_cpu_seconds(
            f"{seconds:g} s of waiting", f"{label}, {where}", values[0], limit, disturbed, judge
        )
        medians = [shown_seconds(statistics.median(each)) for each in values]
        table.add_row(label, *medians, v.ours, judged(f"{limit:g} s", v.verdict))
        result["bars"].append(v)
    section(f"{where.capitalize()}: CPU seconds used by a PE that waits {seconds:g} s", table)
    result["raw"][where] = rounds
