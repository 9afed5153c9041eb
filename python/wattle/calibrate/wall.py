"""Fits a machine profile to the watts at the wall socket, for a machine without a sensor: idle, one busy core, all.

The watts are typed from a plug meter, or read from a meter's log. They are those of the whole node, with the losses of
its power supply. A core's share is not the same for the first core, which wakes parts that all cores share, and for
further ones. So the active watts are the middle between the first core's step and the mean step of all cores, and
their half-width reaches both.
"""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattle.base.errors import WattleError
from wattle.calibrate.watts import Fit, Number
from wattle.meter_log.given import Given
from wattle.meter_log.load import busy
from wattle.meter_log.session import Session
from wattle.text import console

PHASES = ("idle", "one core", "all cores")
PLUG_PART, PLUG_WATTS = 0.02, 0.5  # error of a plug meter: 2 % and half a watt (assumed)
SPIN_RATIO, YIELD_RATIO = 0.97, 0.985  # to active, as in the papers' node (machines/sandybridge-e5-2670.yaml)
ASLEEP_PART = 0.02  # of active, half-width (assumed)
MOST = 1e5  # W
SETTLE_S = 2.0  # before a phase counts, for clocks and fans


@dataclass(frozen=True)
class Wall:
    """Watts of the node by phase. `meter`: its name for the profile."""

    meter: str
    idle: Number
    one: Number
    all: Number


def typed(ask: Callable[[str], str]) -> Wall:
    """Asks for the watts of each phase while it lasts. `ask` prints a prompt and returns a line."""
    found = []
    for name in PHASES:
        with _phase(name):
            found.append(_reading(ask, name))
    return Wall("plug meter (typed)", *found)


def logged(given: Given, seconds: float) -> Wall:
    """Runs each phase for some seconds and reads its watts from the meter's log."""
    with tempfile.TemporaryDirectory() as folder:
        session = Session(given, Path(folder))
        session.begin()
        for name in PHASES:
            console.note(f"{name}: {seconds:g} s")
            with _phase(name):
                time.sleep(SETTLE_S)
                with session.interval(name):
                    time.sleep(seconds)
        found = session.end()
    if found.why:
        raise WattleError(f"external meter: {found.why}")
    return Wall(f"the log {given.file.name}", *(_of_log(found.figures(name), name, seconds) for name in PHASES))


def fit(wall: Wall, cores: int, processor: dict[str, Any], ghz: float | None) -> Fit:
    """The profile. Raises WattleError where the phases contradict each other or the clock is not known."""
    if ghz is None:
        raise WattleError("the clock of this machine is not known: give it with --ghz")
    for name, more, less in (("one core", wall.one, wall.idle), ("all cores", wall.all, wall.one)):
        if more.value + more.plus_minus < less.value - less.plus_minus or (name == "one core" and cores == 0):
            raise WattleError(f"{name}: {more.value:g} W are less than {less.value:g} W before; measure again")
    steps = [wall.one.value - wall.idle.value, (wall.all.value - wall.idle.value) / cores]
    doubt = wall.idle.plus_minus + max(wall.one.plus_minus, wall.all.plus_minus / cores)
    low, high = max(0.0, min(steps)), max(0.0, *steps)
    if high <= 0:
        raise WattleError("busy cores drew no more watts than idle ones: does the meter show this machine?")
    active = (low + high) / 2
    width = (high - low) / 2 + doubt
    how = (
        f"measured with {wall.meter}, at the wall socket: {wall.idle.value:g} W idle, {wall.one.value:g} W with one "
        f"busy core, {wall.all.value:g} W with {cores}; the range reaches from the first core's step to the mean step"
    )
    states = {
        "active": Number(active, width, "W", how),
        "spin": Number(active * SPIN_RATIO, width, "W", "as active x 0.97, the ratio of the papers' node", "assumed"),
        "yield": Number(active * YIELD_RATIO, width, "W", "the middle of active and spin", "assumed"),
        "asleep": Number(
            0.0, ASLEEP_PART * active, "W", "a blocked core is idle; 2 % of active for wake-ups", "assumed"
        ),
    }
    sockets = processor["sockets"]
    idle = f"measured with {wall.meter}, nothing running; at the wall socket, so with memory, fans and power supply"
    per_byte = "No sensor separates memory; a read and a write at 10 to 70 pJ/bit together, less what the caches keep."
    return Fit(
        wall.meter,
        cores,
        sockets,
        Number(wall.idle.value / sockets, wall.idle.plus_minus / sockets, "W", idle),
        Number(0.0, 0.0, "W", "in the watts of the CPU, because the meter sees the node"),
        Number(0.3e-9, 0.28e-9, "J/B", per_byte, "assumed"),
        {ghz: states},
        ghz,
        contains="node",
        idle_at_end=False,
        where="at the wall socket",
    )


@contextmanager
def _phase(name: str) -> Iterator[None]:
    cores = sorted(os.sched_getaffinity(0))
    with busy({"idle": [], "one core": cores[:1]}.get(name, cores)):
        yield


def _reading(ask: Callable[[str], str], name: str) -> Number:
    while True:
        text = ask(f"{name}: watts of the meter, when they are steady: ").strip()
        words = text.lower().removesuffix("w").strip().replace(",", ".")
        try:
            watts = float(words)
        except ValueError:
            watts = math.nan
        if 0 < watts <= MOST:
            return Number(watts, PLUG_PART * watts + PLUG_WATTS, "W", "")
        console.note(f"{text!r} is no number of watts above 0, up to {MOST:g}")


def _of_log(figures: list[Any], name: str, seconds: float) -> Number:
    known = [figure for figure in figures if figure.known]
    if not known:
        raise WattleError(f"{name}: the log does not cover this phase")
    figure = known[0]
    length = figure.interval_s or seconds
    return Number(figure.joules / length, (figure.uncertainty or 0.0) / length, "W", "")
