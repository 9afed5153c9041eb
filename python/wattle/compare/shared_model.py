"""The uncertainty of the difference of two modelled figures that come from the same machine profile.

A wrong number of the profile is wrong in both runs, so it affects the difference only as far as the amounts differ.
Example: the watts of spinning are wrong by 2 W. Two runs that spun for 10 s and 9 s then differ by 2 J more or less,
not by 38 J. The half-width of a difference is a sum over the profile's numbers: the half-width of the number times
the difference of the amounts (seconds in a state, or bytes). The part of the recorded joules that the numbers do not
explain is added. A saving that exceeds this half-width keeps its sign for all numbers within their ranges.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

from wattle.figures.metrics import Metric
from wattle.record.pe import NO_CORE, PE, STATES
from wattle.record.profile import RunProfile
from wattle.record.runs import Run
from wattle.text.provenance import Joules, Provenance

CLOSE = 0.1  # largest relative part of the recorded joules that the profile's numbers may leave unexplained

CORES = ("wake", "second")  # keys of profiles that tell awake sockets and second threads of cores apart

REST = ""  # the key of the unexplained joules; it is no key of a profile

Numbers = dict[str, tuple[float, float]]  # key of the profile: value, half-width
Amounts = dict[str, float]  # key of the profile: seconds or bytes


def width(metric: Metric, before: Run, after: Run) -> float | None:
    """The half-width in J of the difference of a metric's medians. None where the runs do not share a model."""
    if metric.parts:
        widths = [width(part, before, after) for part in metric.parts]
        return None if None in widths else sum(w for w in widths if w is not None)
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
    """The clocks that have watts for every state."""
    found = sorted({key.partition(".")[0] for key in numbers if key.startswith("clocks[")})
    return [clock for clock in found if all(f"{clock}.{state}" in numbers for state in STATES)]


def _median_amounts(metric: Metric, run: Run, numbers: Numbers, clock: str) -> Amounts | None:
    """The median amounts by key of the profile, with the unexplained joules under REST. None: something is unknown."""
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
        "joules_cpu": lambda: _states(profile, clock, numbers),
        "joules_dram": lambda: _bytes(profile, numbers),
        "node_joules_cpu": lambda: _with_idle(_states(profile, clock, numbers), profile, numbers, "cpu"),
        "node_joules_dram": lambda: _with_idle(_bytes(profile, numbers), profile, numbers, "dram"),
    }
    return of[metric]() if metric in of else None


def _states(profile: RunProfile, clock: str, numbers: Numbers) -> Amounts | None:
    parts = [_drawing(pe) for pe in profile.pes]
    if any(part is None for part in parts):
        return None
    amounts = {key: sum(getattr(pe, f"{key}_s") or 0.0 for pe in profile.pes) for key in CORES if key in numbers}
    shared = [pe.second_s or 0.0 if "second" in numbers else 0.0 for pe in profile.pes]
    known = [_first_threads(part, second) for part, second in zip(parts, shared, strict=True) if part is not None]
    return amounts | {f"{clock}.{state}": sum(part[state] for part in known) for state in STATES}


def _first_threads(part: Amounts, second_s: float) -> Amounts:
    """The seconds in each state without those on a core whose other thread was busy."""
    busy = sum(part[state] for state in STATES if state != "asleep")
    share = 1 - min(1.0, second_s / busy) if busy > 0 else 1.0
    return {state: part[state] * (1 if state == "asleep" else share) for state in STATES}


def _drawing(pe: PE) -> Amounts | None:
    """The seconds in each state as the runtime gives them to the model. A PE without a core counts as asleep in any
    state, and a second thread counts like the first.
    """
    seconds: Amounts = {state: s for state in (*STATES, NO_CORE) if (s := pe.state_s[state]) is not None}
    if not set(STATES) <= set(seconds) or pe.cpu_s is None:
        return None
    seconds["asleep"] += seconds.pop(NO_CORE, 0.0)
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
