"""The cost of waiting: CPU seconds of long waits, how fast waits end, the time of short waits, and how much waits
disturb other PEs.
"""

from __future__ import annotations

import os
import statistics
from dataclasses import replace

from wattle.machine.nodes import Nodes

from bench import two_nodes, verdicts
from bench.jobs import Rounds, Side, across, one_apart, pinned
from bench.pairs import Row, between, disturbed_rounds
from bench.part import Part
from bench.show import columns, judged, section, shown_seconds

SLACK = {"wait_until": "wait_until", "wait_barrier": "barrier", "wait_lock": "lock"}
SLACK_BAR_S = 0.01  # CPU seconds in a wait of 3 s
WAKE = [Row("wake", "wake after a long sleep", bar=1.5, against="futex")]
SHORT = [Row(f"short/{us} us", f"wait of {us} us, round trip", bar=1.05) for us in (1, 5, 20)]
BESIDE = [Row("beside/waking", "computing beside waits", bar=1.01, against="beside/still")]
PEER_BESIDE = [replace(BESIDE[0], bar=None)]
ENDS = "how waits end"


def run(part: Part) -> None:
    """Runs the section."""
    part.found["raw"] = {"slack": {}}
    long_waits(part)
    ends_of_waits(part)


def long_waits(part: Part) -> None:
    """CPU seconds on one node and on two, where a quiet can wait as well."""
    n, seconds = part.options.wait_pairs, str(part.options.wait_seconds)
    near = part.tools.sides("waits.c", pinned(2))
    add_slack(part, "one node", SLACK, near, part.rounds("long waits", near, ["slack", seconds], n))
    if not part.has_nodes("Long waits on two nodes"):
        return
    with Nodes(2) as nodes:
        far = part.tools.sides("waits.c", across(nodes, 1), two_nodes.PEER_ENV)
        rounds = part.rounds("long waits, two nodes", far, ["slack", seconds], n)
        stopped = part.rounds("a stopped PE", far, ["quiet", seconds], n)
    both = [[a | b for a, b in zip(*pair, strict=True)] for pair in zip(rounds, stopped, strict=True)]
    add_slack(part, "two nodes", SLACK | {"wait_quiet": "quiet"}, far, both)


def add_slack(part: Part, where: str, rows: dict[str, str], sides: list[Side], rounds: Rounds) -> None:
    """Prints the table. The bar applies to the worst run of the first side."""
    seconds = part.options.wait_seconds
    limit = SLACK_BAR_S * max(1.0, seconds / 3)
    table = columns("waiting in", *(side.name for side in sides), f"{sides[0].name} at worst")
    table.add_column("bar")
    disturbed = 3 * disturbed_rounds(r[:1] for r in rounds) > len(rounds)
    for key, label in rows.items():
        values = [[r[i][key] for r in rounds] for i in range(len(sides))]
        title, judge = f"{seconds:g} s of waiting", not part.options.quick
        v = verdicts.of_cpu_seconds(title, f"{label}, {where}", values[0], limit, disturbed, judge)
        medians = [shown_seconds(statistics.median(each)) for each in values]
        table.add_row(label, *medians, v.ours, judged(f"{limit:g} s", v.verdict))
        part.bars.append(v)
    section(f"{where.capitalize()}: CPU seconds used by a PE that waits {seconds:g} s", table)
    part.found["raw"]["slack"][where] = rounds


def ends_of_waits(part: Part) -> None:
    """Wake-ups compared with a bare futex, short waits with spinning, and other PEs' work beside waits."""
    ours, raw = Side("Wattle", part.tools.ours("wakes.c"), pinned(2)), part.found["raw"]
    raw["long"] = part.rounds("wakes", [ours], ["long"])
    raw["short"] = part.rounds(
        "short waits", [ours, replace(ours, name="spin", env={"WATTLE_WAIT": "spin"})], ["short"]
    )
    apart = part.tools.sides("wakes.c", one_apart(3)) if len(os.sched_getaffinity(0)) > 1 else []
    raw["beside"] = part.rounds("computing beside waits", apart, ["beside"])
    title = "Wake after 3 ms: from p to wait_until's end"
    part.compared(title, ("Wattle", "futex"), WAKE, between(raw["long"], 0, 0), promise=ENDS, best=True)
    title = "Waits shorter than a wake"
    part.compared(title, ("default", "spin"), SHORT, between(raw["short"], 0, 1), promise=ENDS, best=True)
    sides = ("waking", "still")
    if apart:
        title = "Own work, others waking and still"
        part.compared(title, sides, BESIDE, between(raw["beside"], 0, 0), promise=ENDS, best=True)
    if len(apart) > 1:
        both, keep = between(raw["beside"], 1, 1), "rows_peer"
        part.compared("The same for the peer", sides, PEER_BESIDE, both, keep=keep, best=True)
    if bare := [r[0]["futex"] for r in raw["long"] if "futex" in r[0]]:
        part.limits.append(("futex wake, to another core", 0, bare))
