"""Made logs of external meters: a load with known watts, read by a meter whose clock has a known offset and drift."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from wattle.meter_log.load import AFTER, BEFORE, GUARD, Pattern


@dataclass(frozen=True)
class Load:
    """Watts that are constant between edges. `edges`: ascending moments, one more than `watts`."""

    edges: np.ndarray
    watts: np.ndarray

    def joules(self, begin: float, end: float) -> float:
        low, high = np.interp([begin, end], self.edges, self._sums)
        return float(high - low)

    def mean(self, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
        return (np.interp(end, self.edges, self._sums) - np.interp(begin, self.edges, self._sums)) / (end - begin)

    def at(self, moments: np.ndarray) -> np.ndarray:
        return self.watts[np.clip(np.searchsorted(self.edges, moments, side="right") - 1, 0, len(self.watts) - 1)]

    def joules_until(self, moments: np.ndarray) -> np.ndarray:
        return np.interp(moments, self.edges, self._sums)

    @property
    def _sums(self) -> np.ndarray:
        return np.concatenate([[0.0], np.cumsum(self.watts * np.diff(self.edges))])


@dataclass(frozen=True)
class Clock:
    """Log time = true time + offset + drift x (true time - start)."""

    offset: float
    drift: float
    start: float

    def log_time(self, moments: np.ndarray) -> np.ndarray:
        return moments + self.offset + self.drift * (moments - self.start)


def pattern(code: Sequence[int], begin: float, step: float) -> Pattern:
    """The pattern that an exact machine would make."""
    edges, now = [], 0
    for k, bit in enumerate([*code, 0]):
        if bit != now:
            edges.append(begin + (GUARD + k) * step)
            now = bit
    end = begin + (len(code) + 2 * GUARD) * step
    return Pattern(begin, end, step, tuple(zip(edges[::2], edges[1::2], strict=True)))


@dataclass(frozen=True)
class Made:
    """A run between two patterns: the job's interval, the load, and both patterns."""

    load: Load
    patterns: tuple[Pattern, Pattern]
    begin: float
    end: float


def made(seed: int, step: float, job_s: float, start: float = 1_800_000_000.0, segment_s: float = 3.0) -> Made:
    """A made run whose job has a random load in segments of `segment_s` and more. Before and after, the machine is
    idle.
    """
    random_ = random.Random(seed)
    idle, busy = random_.uniform(40, 120), random_.uniform(30, 200)
    before = pattern(BEFORE, start, step)
    begin = before.end_s + random_.uniform(0.1, 1.0)
    end = begin + job_s
    after = pattern(AFTER, end + random_.uniform(0.1, 1.0), step)
    edges, watts = [start - 100 * step], []

    def until(moment: float, power: float) -> None:
        edges.append(moment)
        watts.append(power)

    def add(one: Pattern) -> None:
        for low, high in one.busy:
            until(low, idle)
            until(high, idle + busy)
        until(one.end_s, idle)

    add(before)
    until(begin, idle)
    at = begin
    while at < end:
        at = min(end, at + random_.uniform(segment_s, 3 * segment_s))
        until(at, idle + busy * random_.random())
    add(after)
    until(after.end_s + 100 * step, idle)
    return Made(Load(np.array(edges), np.array(watts)), (before, after), begin, end)


def readings(load: Load, clock: Clock, every: float, kind: str, noise_w: float = 0.0, seed: int = 0) -> np.ndarray:
    """Rows of (log time, value). `kind`: `instant` watts, watts that are the `mean` since the reading before, or
    `joules` of a counter.
    """
    rng = np.random.default_rng(seed)
    true = np.arange(load.edges[0] + every * (1 + rng.random()), load.edges[-1], every)
    if kind == "instant":
        value = load.at(true)
    elif kind == "mean":
        value = load.mean(true - every, true)
    else:
        return np.column_stack([clock.log_time(true), load.joules_until(true)])
    return np.column_stack([clock.log_time(true), np.maximum(0.0, value + rng.normal(0, noise_w, len(true)))])


def write(path: Path, rows: np.ndarray, heads: str = "time,power_W") -> Path:
    lines = [f"{at:.6f},{value:.6f}" for at, value in rows]
    path.write_text("\n".join([heads, *lines, ""]), encoding="utf-8")
    return path
