"""How uncertain the difference of two modelled figures is where both come from the same machine profile.

A number of the profile that is wrong is wrong in both runs, and in the difference only counts for what differs: if the
watts of spinning are off by 2 W, two runs that spun for 10 s and 9 s differ by 2 J more or less, not by 38 J. So the
half-width of a difference is the sum over the profile's numbers of half-width times difference in amount (seconds in a
state, bytes), and what the numbers do not give back of the recorded joules is added to it. A saving that is larger
keeps its sign wherever the profile's numbers lie within their ranges.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

from wattle.metrics import Metric
from wattle.pe import PE, STATES
from wattle.profile import RunProfile
from wattle.provenance import Joules, Provenance
from wattle.runs import Run

CLOSE = 0.1  # how well the profile's numbers must give back the recorded joules for this to hold

REST = ""  # no key of a profile

Numbers = dict[str, tuple[float, float]]  # key of the profile: value, half-width
Amounts = dict[str, float]  # key of the profile: seconds or bytes


def width(metric: Metric, before: Run, after: Run) -> float | None:
    """Half-width in J of the difference of a metric's medians; None where the two do not share a model."""
    numbers = _numbers(before)
    if not numbers or numbers != _numbers(after) or not _same_source(metric, before, after):
        return None
    for clock in _clocks(numbers):
        b, a = (_median_amounts(metric, run, numbers, clock) for run in (before, after))
        if b is None or a is None:
            continue
        rest = b.pop(REST) + a.pop(REST)
        if rest <= CLOSE * max(_joules(b, numbers), _joules(a, numbers)):
            return rest + sum(numbers[key][1] * abs(b.get(key, 0.0) - a.get(key, 0.0)) for key in set(b) | set(a))
    return None


def _joules(amounts: Amounts, numbers: Numbers) -> float:
    return sum(numbers[key][0] * amount for key, amount in amounts.items())


def _numbers(run: Run) -> Numbers:
    """The machine profile's numbers as the run recorded them."""
    manifest = run.samples[0].manifest
    rows = manifest.extra.get("machine_numbers") or []
    return {row["key"]: (row.get("value") or 0.0, row.get("plus_minus") or 0.0) for row in rows}


def _same_source(metric: Metric, before: Run, after: Run) -> bool:
    figures = [metric.of(sample) for run in (before, after) for sample in run.samples]
    known = [f for f in figures if isinstance(f, Joules)]
    modelled = all(f.provenance is Provenance.MODELLED for f in known)
    return len(known) == len(figures) and modelled and len({f.source for f in known}) == 1


def _clocks(numbers: Numbers) -> list[str]:
    """Those that have watts for every state."""
    found = sorted({key.partition(".")[0] for key in numbers if key.startswith("clocks[")})
    return [clock for clock in found if all(f"{clock}.{state}" in numbers for state in STATES)]


def _median_amounts(metric: Metric, run: Run, numbers: Numbers, clock: str) -> Amounts | None:
    """Median over the repeats of what the profile's numbers were multiplied with, and under REST the joules they do not
    give back; None where something is not known."""
    found = []
    for sample in run.samples:
        figure, profile = metric.of(sample), sample.profile
        if profile is None or not isinstance(figure, Joules) or figure.joules is None:
            return None
        amounts = _amounts(metric.name, profile, numbers, clock)
        if amounts is None:
            return None
        found.append(amounts | {REST: abs(_joules(amounts, numbers) - figure.joules)})
    return {key: statistics.median(a[key] for a in found) for key in found[0]}


def _amounts(metric: str, profile: RunProfile, numbers: Numbers, clock: str) -> Amounts | None:
    of: dict[str, Callable[[], Amounts | None]] = {
        "joules_cpu": lambda: _states(profile, clock),
        "joules_dram": lambda: _bytes(profile, numbers),
        "node_joules_cpu": lambda: _with_idle(_states(profile, clock), profile, numbers, "cpu"),
        "node_joules_dram": lambda: _with_idle(_bytes(profile, numbers), profile, numbers, "dram"),
    }
    return of[metric]() if metric in of else None


def _states(profile: RunProfile, clock: str) -> Amounts | None:
    parts = [_drawing(pe) for pe in profile.pes]
    if any(part is None for part in parts):
        return None
    return {f"{clock}.{state}": sum(part[state] for part in parts if part is not None) for state in STATES}


def _drawing(pe: PE) -> Amounts | None:
    """Seconds in state as the runtime gives them to the model: a PE without a core draws like one asleep, whatever it
    wanted to do, and a second thread draws like the first."""
    seconds = {state: s for state, s in pe.state_s.items() if s is not None}
    if len(seconds) < len(STATES) or pe.cpu_s is None:
        return None
    awake = seconds["active"] + seconds["spin"] + seconds["yield"]
    if pe.cpu_s >= awake:
        return seconds | {"active": seconds["active"] + pe.cpu_s - awake}
    share = pe.cpu_s / awake
    running = {state: seconds[state] * share for state in STATES if state != "asleep"}
    return running | {"asleep": seconds["asleep"] + awake - pe.cpu_s}


def _bytes(profile: RunProfile, numbers: Numbers) -> Amounts | None:
    return _worked_back(profile.joules("dram"), numbers, "dram.per_byte")


def _with_idle(busy: Amounts | None, profile: RunProfile, numbers: Numbers, domain: str) -> Amounts | None:
    idle = _worked_back(profile.idle_joules(domain), numbers, f"idle.{domain}")
    return None if busy is None or idle is None else busy | idle


def _worked_back(figure: Joules, numbers: Numbers, key: str) -> Amounts | None:
    """The amount that a single number of the profile was multiplied with."""
    if figure.joules is None or not numbers.get(key, (0.0, 0.0))[0]:
        return None
    return {key: figure.joules / numbers[key][0]}
