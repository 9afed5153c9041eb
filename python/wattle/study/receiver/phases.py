"""The phases of table 12.1 in the samples: joules of each, and energy-delay products."""

from __future__ import annotations

from statistics import median

from wattle.base.checked import Checked
from wattle.study.receiver.judges import LETTERS
from wattle.study.sweep.analysis import Analysis, Point
from wattle.text.provenance import read_joules

DOMAINS = {"cpu": ("cpu",), "dram": ("dram",), "own": ("cpu", "dram")}


def phase_joules(a: Analysis, point: Point, domain: str) -> list[float]:
    """Joules of the PE in each phase, medians over the repeats; 0 for a phase that it has not. Empty where the meter
    resolves no phase. `domain`: cpu, dram, or both as own.
    """
    facts = [entry for entry in a.more(point, "phases") if entry.object()]
    if not facts:
        return []
    return [median(_joules(entry, letter, DOMAINS[domain]) for entry in facts) for letter in LETTERS]


def _joules(entry: Checked, letter: str, domains: tuple[str, ...]) -> float:
    if not entry.has(letter):
        return 0.0
    figures = [read_joules(figure) for figure in entry.get(letter).items("energy")]
    return sum(f.joules or 0.0 for f in figures if f.domain in domains and f.scope == "process")


def phase_edp(a: Analysis, point: Point) -> list[float]:
    """The joules of each phase, CPU and DRAM, times the latency at the sender."""
    latency = a.center("seconds", point)
    return [j * (latency.median if latency else 0.0) for j in phase_joules(a, point, "own")]
