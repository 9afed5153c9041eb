"""What waiting costs: CPU seconds of long waits, how fast they end, short waits, and whom they disturb."""

from __future__ import annotations

import argparse
import os
import statistics

from wattle import tables
from wattle.console import out, progress
from wattle.nodes import Nodes, unavailable

from bench import two_nodes, verdicts
from bench.jobs import OTHERS, Figures, Launch, Side, Toolchain, across, alternate, one_apart, pinned
from bench.pairs import DISTURBED, Comparison, Pairs, Row, as_data, between, compare
from bench.show import comparison_table, judged, section, shown_seconds

SLACK = {"wait_until": "wait_until", "wait_barrier": "barrier", "wait_lock": "lock"}
SLACK_BAR_S = 0.01  # CPU seconds in a wait of 3 s
WAKE = [Row("wake", "wake after a long sleep", bar=1.5, against="futex")]
SHORT = [Row(f"short/{us} us", f"wait of {us} us, round trip", bar=1.05) for us in (1, 5, 20)]
BESIDE = [Row("beside/waking", "computing beside waits", bar=1.01, against="beside/still")]


def run(options: argparse.Namespace, tools: Toolchain) -> dict:
    """Runs and prints the section; returns what goes into the file."""
    slack = long_waits(options, tools)
    ends = how_waits_end(options, tools)
    return {
        "bars": [*ends["bars"], *slack["bars"]],
        "limits": ends["limits"],
        "rows": ends["rows"],
        "raw": {**ends["raw"], "slack": slack["raw"]},
    }


# ---- long waits ----


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
        add_slack(result, "one node", SLACK, near, rounds, options.wait_seconds)
        if reason := unavailable():
            out.print(f"[partly]Long waits on two nodes: skipped, {reason}[/]\n")
            return result
        with Nodes(2) as nodes:
            far = sides(across(nodes, 1), two_nodes.PEER_ENV)
            rounds = alternate(far, options.wait_pairs, ["slack", seconds], steps.advance)
            stopped = alternate(far, options.wait_pairs, ["quiet", seconds], steps.advance)
        both = [[a | b for a, b in zip(*pair, strict=True)] for pair in zip(rounds, stopped, strict=True)]
        add_slack(result, "two nodes", SLACK | {"wait_quiet": "quiet"}, far, both, options.wait_seconds)
    return result


def add_slack(
    result: dict, where: str, rows: dict[str, str], sides: list[Side], rounds: list[list[Figures]], seconds: float
) -> None:
    """Prints the table. The bar holds for the first side, at its worst."""
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
        v = verdicts.of_cpu_seconds(f"{seconds:g} s of waiting", f"{label}, {where}", values[0], limit, disturbed)
        medians = [shown_seconds(statistics.median(each)) for each in values]
        table.add_row(label, *medians, v.ours, judged(f"{limit:g} s", v.verdict))
        result["bars"].append(v)
    section(f"{where.capitalize()}: CPU seconds used by a PE that waits {seconds:g} s", table)
    result["raw"][where] = rounds


# ---- how waits end ----


def how_waits_end(options: argparse.Namespace, tools: Toolchain) -> dict:
    """Wake-ups against a bare futex, short waits against spinning, others' work beside waits."""
    program, theirs = tools.ours("wakes.c"), tools.theirs("wakes.c")
    ours, spin = Side("Wattle", program, pinned(2)), Side("spin", program, pinned(2), {"WATTLE_WAIT": "spin"})
    apart = [Side("Wattle", program, one_apart(3)), *([Side("peer", theirs, one_apart(3))] if theirs else [])]
    if len(os.sched_getaffinity(0)) < 2:
        apart = []  # nobody has a core to itself
    with progress("ends of waits", options.pairs * (3 + len(apart))) as steps:
        raw = {
            "long": alternate([ours], options.pairs, ["long"], steps.advance),
            "short": alternate([ours, spin], options.pairs, ["short"], steps.advance),
            "beside": alternate(apart, options.pairs, ["beside"], steps.advance),
        }
    wake = told(WAKE, between(raw["long"], 0, 0), ("Wattle", "futex"), "Wake after 3 ms: from p to wait_until's end")
    short = told(SHORT, between(raw["short"], 0, 1), ("default", "spin"), "Waits shorter than a wake")
    beside = (
        told(BESIDE, between(raw["beside"], 0, 0), ("waking", "still"), "Own work, others waking and still")
        if apart
        else []
    )
    if len(apart) > 1:
        unbarred = [Row(row.key, row.label, against=row.against) for row in BESIDE]
        told(unbarred, between(raw["beside"], 1, 1), ("waking", "still"), "The same for the peer")
    return {
        "bars": [
            *verdicts.of_comparisons("how waits end", "futex", wake),
            *verdicts.of_comparisons("how waits end", "spin", short),
            *verdicts.of_comparisons("how waits end", "still", beside),
        ],
        "limits": [("futex wake, to another core", 0, [r[0]["futex"] for r in raw["long"] if "futex" in r[0]])],
        "rows": as_data([*wake, *short, *beside]),
        "raw": raw,
    }


def told(rows: list[Row], pairs: Pairs, sides: tuple[str, str], title: str) -> list[Comparison]:
    """Compares, prints the table and returns what it was made of."""
    found = compare(rows, pairs)
    section(title, comparison_table(*sides, found, best=True))
    return found
