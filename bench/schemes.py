"""Transfers of ARMCI between nodes: sleeping or polling over a slow link, power-aware or polling for small sizes."""

from __future__ import annotations

import itertools
import os
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from wattle.machine import info
from wattle.machine.nodes import Nodes
from wattle.report.bench_file import Bar
from wattle.text.units import si

from bench import verdicts
from bench.jobs import OTHERS, Figures, Rounds, Side, across, home
from bench.load import Watch
from bench.pairs import FEWEST, Row, between, disturbed_rounds, quartiles
from bench.part import Part
from bench.show import section, side_table

RATE = "1gbit"
OPS = {"put": "put", "get": "get", "acc": "accumulate", "strided": "strided put"}
LARGE = {"64 KiB": 65536, "1 MiB": 1 << 20}
SMALL = {"8 B": 8, "1 KiB": 1024, "4 KiB": 4096}  # below every threshold, including learned ones
MACHINE = "nw-ice"  # the profile whose watts are used on any machine
NODES = SOCKETS = 2
TIME_BAR, CPU_BAR, SMALL_BAR = 1.05, 0.4, 1.02
ASLEEP, POLLING = {"WATTLE_WAIT": "sleep"}, {"WATTLE_WAIT": "spin"}
AWARE = {"WATTLE_TRANSFERS": "aware"}


def program() -> Path:
    return home() / "lib/wattle/apps/pascol"


@dataclass
class Rings(Side):
    """The ring of every operation: seconds of one by kind and size, and CPU seconds of both PEs for one of each."""

    sizes: tuple[int, ...] = ()
    repeats: int = 2
    least: float = 0.05

    def run(self, *arguments: str) -> Figures:
        watch = Watch()
        found: dict[str, list[float]] = {}
        words = ["--from", "1", "--op", "all", "--repeat", str(self.repeats), "--least", f"{self.least:g}"]
        _, lines = self.lines(*words, *map(str, self.sizes))
        for line in lines:
            if line.get("kind") == "sample":
                at = f"{line['name']}/{line['x']:.0f}"
                found.setdefault(at, []).append(line["seconds"])
                found.setdefault(f"{at}/cpu", []).append(line["cpu_s"])
        return {key: statistics.median(values) for key, values in found.items()} | {OTHERS: watch.others()}


def rings(nodes: Nodes, sizes: Iterable[int], settings: dict[str, dict[str, str]], repeats: int) -> list[Side]:
    """The sides with these settings by name."""
    launch = across(nodes, 1)
    return [Rings(name, program(), launch, env, tuple(sizes), repeats) for name, env in settings.items()]


def run(part: Part) -> None:
    """Runs both comparisons."""
    slow_link(part)
    below_thresholds(part)


def slow_link(part: Part) -> None:
    with Nodes(NODES, RATE) as nodes:
        sides = rings(nodes, LARGE.values(), {"asleep": ASLEEP, "polling": POLLING}, 2)
        rounds = part.found["raw"]["schemes"] = part.rounds(f"ARMCI, {RATE}", sides)
    rows = [
        row
        for op, words in OPS.items()
        for label, size in LARGE.items()
        for row in (
            Row(f"{op}/{size}", f"{words} {label}", bar=TIME_BAR),
            Row(f"{op}/{size}/cpu", f"{words} {label}: CPU", bar=CPU_BAR),
        )
    ]
    title, names = f"ARMCI on two nodes, links of {RATE}", ("asleep", "polling")
    both = between(rounds, 0, 1)
    part.compared(f"{title}: asleep and polling", names, rows, both, keep="rows_schemes", promise=title)
    bars = [bar for op in OPS for label in LARGE for bar in energy_bars(title, op, label, rounds)]
    section(
        f"Modelled joules of an operation ({MACHINE}), and the worst ratio within its uncertainty",
        side_table(bars, *names, "worst"),
    )
    part.bars += bars


def below_thresholds(part: Part) -> None:
    with Nodes(NODES) as nodes:
        sides = rings(nodes, SMALL.values(), {"aware": AWARE, "polling": POLLING}, 5)
        rounds = part.found["raw"]["small"] = part.rounds("ARMCI, small transfers", sides)
    rows = [
        Row(f"{op}/{size}", f"{words} {label}", bar=SMALL_BAR)
        for op, words in OPS.items()
        for label, size in SMALL.items()
    ]
    title, names = "ARMCI on two nodes, below the threshold", ("aware", "polling")
    both = between(rounds, 0, 1)
    part.compared(f"{title}: power-aware and polling", names, rows, both, keep="rows_small", promise=title)


# ---- joules ----

Corner = dict[str, float]  # W by key


def corners() -> tuple[Corner, list[Corner]]:
    """The profile's watts: the middle values, and all combinations of their ends."""
    document = info.ask({**os.environ, "WATTLE_MACHINE": MACHINE}).machine
    numbers = {row["key"]: (float(row["value"]), float(row["plus_minus"])) for row in document["numbers"]}
    keys = ("clocks[0].active", "clocks[0].asleep", "idle.cpu", "idle.dram")
    ends = [(numbers[key][0] - numbers[key][1], numbers[key][0] + numbers[key][1]) for key in keys]
    middle = {key: numbers[key][0] for key in keys}
    return middle, [dict(zip(keys, corner, strict=True)) for corner in itertools.product(*ends)]


def joules(watts: Corner, seconds: float, cpu_s: float, with_idle: bool) -> float:
    """The joules of an operation of each PE: awake while it had a core, asleep for the rest; with `with_idle` also the
    nodes' idle joules.
    """
    own = watts["clocks[0].active"] * cpu_s + watts["clocks[0].asleep"] * max(0.0, NODES * seconds - cpu_s)
    idle = NODES * SOCKETS * (watts["idle.cpu"] + watts["idle.dram"]) * seconds
    return own + (idle if with_idle else 0.0)


def energy_bars(title: str, op: str, label: str, rounds: Rounds) -> Iterable[Bar]:
    """The bars of energy. A MB is the same on both sides, so the ratio is that of an operation. The worst ratio must be
    below 1.
    """
    middle, ends = corners()
    key = f"{op}/{LARGE[label]}"
    asleep, polling = ([(r[side][key], r[side][f"{key}/cpu"]) for r in rounds] for side in (0, 1))
    for with_idle, whose in ((False, "the PEs"), (True, "the nodes")):
        worst = [
            max(joules(w, *a, with_idle) / joules(w, *p, with_idle) for w in ends)
            for a, p in zip(asleep, polling, strict=True)
        ]
        at_middle = [statistics.median(joules(middle, *s, with_idle) for s in side) for side in (asleep, polling)]
        low, high = quartiles(worst)
        yield verdicts.bar(
            statistics.median(worst),
            1.0,
            len(rounds) >= FEWEST,
            section=title,
            label=f"{OPS[op]} {label}: joules of {whose}",
            other_name="polling",
            ours=si(at_middle[0], "J"),
            other=si(at_middle[1], "J"),
            low=low,
            high=high,
            disturbed=3 * disturbed_rounds(rounds) > len(rounds),
        )
