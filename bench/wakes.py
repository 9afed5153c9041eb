"""How fast waits end, the time of short waits, and how much waits disturb other PEs."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from wattle.text.console import progress

from bench import verdicts
from bench.jobs import Side, Toolchain, alternate, one_apart, pinned
from bench.pairs import Comparison, Pairs, Row, as_data, between, compare
from bench.show import comparison_table, section

WAKE = [Row("wake", "wake after a long sleep", bar=1.5, against="futex")]
SHORT = [Row(f"short/{us} us", f"wait of {us} us, round trip", bar=1.05) for us in (1, 5, 20)]
BESIDE = [Row("beside/waking", "computing beside waits", bar=1.01, against="beside/still")]
PEER_BESIDE = [Row("beside/waking", "computing beside waits", against="beside/still")]


def sides_apart(program: Path, theirs: Path | None) -> list[Side]:
    """PE 0 on its own core; empty where there is only one core."""
    if len(os.sched_getaffinity(0)) < 2:
        return []
    return [Side(name, each, one_apart(3)) for name, each in (("Wattle", program), ("peer", theirs)) if each]


def run(options: argparse.Namespace, tools: Toolchain) -> dict:
    """Wake-ups compared with a bare futex, short waits with spinning, and other PEs' work beside waits."""
    program, theirs = tools.ours("wakes.c"), tools.theirs("wakes.c")
    ours, spin = Side("Wattle", program, pinned(2)), Side("spin", program, pinned(2), {"WATTLE_WAIT": "spin"})
    apart = sides_apart(program, theirs)
    with progress("ends of waits", options.pairs * (3 + len(apart))) as steps:
        raw = {
            "long": alternate([ours], options.pairs, ["long"], steps.advance),
            "short": alternate([ours, spin], options.pairs, ["short"], steps.advance),
            "beside": alternate(apart, options.pairs, ["beside"], steps.advance),
        }
    bare = [r[0]["futex"] for r in raw["long"] if "futex" in r[0]]
    wake = facts(WAKE, between(raw["long"], 0, 0), ("Wattle", "futex"), "Wake after 3 ms: from p to wait_until's end")
    beside: list[Comparison] = []
    short = facts(SHORT, between(raw["short"], 0, 1), ("default", "spin"), "Waits shorter than a wake")
    if apart:
        beside = facts(BESIDE, between(raw["beside"], 0, 0), ("waking", "still"), "Own work, others waking and still")
    if len(apart) > 1:
        facts(PEER_BESIDE, between(raw["beside"], 1, 1), ("waking", "still"), "The same for the peer")
    return {
        "bars": [
            *verdicts.of_comparisons("how waits end", "futex", wake),
            *verdicts.of_comparisons("how waits end", "spin", short),
            *verdicts.of_comparisons("how waits end", "still", beside),
        ],
        "limits": [("futex wake, to another core", 0, bare)] if bare else [],
        "rows": as_data([*wake, *short, *beside]),
        "raw": raw,
    }


def facts(rows: list[Row], pairs: Pairs, sides: tuple[str, str], title: str) -> list[Comparison]:
    """Compares, prints the table and returns its comparisons."""
    found = compare(rows, pairs)
    section(title, comparison_table(*sides, found, best=True))
    return found
