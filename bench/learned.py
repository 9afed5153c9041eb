"""Thresholds of transfers: the values that the runtime learns on links of three speeds, and the measured crossovers."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from wattle.machine.nodes import Nodes
from wattle.record import profile
from wattle.report.bench_file import Bar
from wattle.text import units
from wattle.text.console import progress

from bench.jobs import OTHERS, Figures, across, alternate
from bench.pairs import DISTURBED, FEWEST, quartiles
from bench.schemes import ASLEEP, AWARE, NODES, OPS, POLLING, Rings, program
from bench.show import section, side_table

RATES = ("100mbit", "1gbit", "10gbit")
SIZES = tuple(4096 << k for k in range(9))  # 4 KiB to 1 MiB
LONGER = 1.05  # times polling's time: the limit of src/govern/thresholds.c
FACTOR_BAR = 2.0
ROUNDS, LEARNING_S = 7, 0.4  # learning may cost a hundredth of the time, which a sample of this length allows


def pays(polling: list[Figures], asleep: list[Figures], op: str, size: int) -> bool | None:
    """Whether sleeping uses less CPU time and at most LONGER times the time, by the quartiles of the rounds' ratios.
    None where these give no answer.
    """
    both = list(zip(polling, asleep, strict=True))
    time, cpu = ([s[key] / p[key] for p, s in both] for key in (f"{op}/{size}", f"{op}/{size}/cpu"))
    (low, high), (low_cpu, high_cpu) = quartiles(time), quartiles(cpu)
    if high <= LONGER and high_cpu < 1:
        return True
    return None if low <= LONGER and low_cpu < 1 else False


def crossovers(polling: list[Figures], asleep: list[Figures], op: str) -> list[int]:
    """The sizes with the fewest contradicting measurements: one, or several that the measurement cannot separate. Twice
    the largest size means never.
    """
    paying = {size: pays(polling, asleep, op, size) for size in SIZES}
    wrong = {place: sum(paying[size] is (size < place) for size in SIZES) for place in (*SIZES, 2 * SIZES[-1])}
    return [place for place in wrong if wrong[place] == min(wrong.values())]


def factor(learned: int, crossing: int) -> float:
    """The ratio of the two sizes. Sizes beyond the measured range count as its ends."""
    a, b = (min(max(size, SIZES[0]), 2 * SIZES[-1]) for size in (learned, crossing))
    return max(a, b) / min(a, b)


def span(places: list[int]) -> str:
    """The range of crossovers, as text."""
    ends = dict.fromkeys((places[0], places[-1]))
    return " to ".join(units.size(at) if at <= SIZES[-1] else f"none up to {units.size(SIZES[-1])}" for at in ends)


def learn(nodes: Nodes) -> dict[str, int]:
    """PE 0's learned thresholds, by kind of transfer."""
    with tempfile.TemporaryDirectory() as folder:
        profiles = Path(folder) / "profile"
        profiles.mkdir()
        env = AWARE | {"WATTLE_PROFILE_DIR": str(profiles)}
        Rings("aware", program(), across(nodes, 1), env, SIZES, repeats=1, least=LEARNING_S).run()
        return profile.load(Path(folder), NODES).pes[0].thresholds or {}


def run(options: argparse.Namespace, result: dict) -> None:
    """Runs the comparison and prints it. Adds its part of the file to `result`."""
    bars, raw = [], {}
    with progress("ARMCI, thresholds", len(RATES) * (2 * ROUNDS + 1)) as steps:
        for rate in RATES:
            with Nodes(NODES, rate) as nodes:
                sides = [
                    Rings(name, program(), across(nodes, 1), env, SIZES, repeats=1)
                    for name, env in (("polling", POLLING), ("asleep", ASLEEP))
                ]
                rounds = alternate(list(sides), ROUNDS, [], steps.advance)
                learned = learn(nodes)
                steps.advance()
            raw[rate] = {"rounds": rounds, "learned": learned}
            bars += bars_of(rate, rounds, learned, options.pairs >= FEWEST)
    section("Learned thresholds and measured crossovers", side_table(bars, "learned", "measured", "apart"))
    result["bars"] += bars
    result["raw"]["learned"] = raw


def bars_of(rate: str, rounds: list[list[Figures]], learned: dict[str, int], judged: bool) -> list[Bar]:
    polling, asleep = ([r[side] for r in rounds] for side in (0, 1))
    disturbed = any(figures[OTHERS] > DISTURBED for both in rounds for figures in both)
    bars = []
    for op, words in OPS.items():
        own = learned[op]
        places = crossovers(polling, asleep, op)
        apart = min(factor(own, place) for place in places)
        bars.append(
            Bar(
                section="ARMCI, thresholds",
                label=f"{words}, link of {rate}",
                other_name="measured",
                ours=units.size(own),
                other=span(places),
                value=apart,
                low=apart,
                high=apart,
                best=None,
                bar=FACTOR_BAR,
                verdict="" if not judged else "met" if apart <= FACTOR_BAR else "not met",
                beyond=max(0.0, apart / FACTOR_BAR - 1),
                no_slower=None,
                disturbed=disturbed,
            )
        )
    return bars
