"""Thresholds of transfers: the values that the runtime learns on links of three speeds, and the measured crossovers."""

from __future__ import annotations

import tempfile
from pathlib import Path

from wattle.machine.nodes import Nodes
from wattle.record import profile
from wattle.report.bench_file import Bar
from wattle.text import units

from bench import verdicts
from bench.jobs import Figures, Rounds, across
from bench.pairs import FEWEST, disturbed_rounds, quartiles
from bench.part import Part
from bench.schemes import ASLEEP, AWARE, NODES, OPS, POLLING, Rings, program, rings
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
        found = profile.load(Path(folder), NODES).pes[0].transfers
        return found.thresholds if found else {}


def run(part: Part) -> None:
    """Runs the comparison."""
    bars: list[Bar] = []
    raw = part.found["raw"]["learned"] = {}
    for rate in RATES:
        with Nodes(NODES, rate) as nodes:
            sides = rings(nodes, SIZES, {"polling": POLLING, "asleep": ASLEEP}, 1)
            rounds = part.rounds(f"ARMCI, thresholds, {rate}", sides, (), ROUNDS)
            learned = learn(nodes)
        raw[rate] = {"rounds": rounds, "learned": learned}
        bars += bars_of(rate, rounds, learned, part.options.pairs >= FEWEST)
    section("Learned thresholds and measured crossovers", side_table(bars, "learned", "measured", "apart"))
    part.bars += bars


def bars_of(rate: str, rounds: Rounds, learned: dict[str, int], judged: bool) -> list[Bar]:
    polling, asleep = ([r[side] for r in rounds] for side in (0, 1))
    bars = []
    for op, words in OPS.items():
        places = crossovers(polling, asleep, op)
        bars.append(
            verdicts.bar(
                min(factor(learned[op], place) for place in places),
                FACTOR_BAR,
                judged,
                section="ARMCI, thresholds",
                label=f"{words}, link of {rate}",
                other_name="measured",
                ours=units.size(learned[op]),
                other=span(places),
                disturbed=disturbed_rounds(rounds) > 0,
            )
        )
    return bars
