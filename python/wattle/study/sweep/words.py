"""The summary of a study of waiting and clocks, for the terminal and the page, with numbers from the samples."""

from __future__ import annotations

from wattle.record.manifest import Manifest
from wattle.study.sweep.analysis import Analysis, Point
from wattle.text import units
from wattle.text.units import si


def costs(a: Analysis, point: Point | None, joules: str) -> list[str]:
    """Time, CPU seconds and joules of a point, medians, for a table. `joules`: the metric."""
    seconds, cpu = (units.seconds(a.median(metric, point)) for metric in ("seconds", "cpu_s"))
    return [seconds, cpu, in_joules(a, joules, point)]


def in_joules(a: Analysis, metric: str, point: Point | None) -> str:
    found = a.median(metric, point)
    return units.UNKNOWN if found is None else si(found, "J")


def changes(a: Analysis, point: Point) -> str:
    """The number of clock changes in a job of this point, for a table."""
    found = a.changes(point)
    return units.UNKNOWN if found is None else f"{found:.0f}"


def sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def waiting(a: Analysis, at: str) -> str:
    """The CPU time of the longest case of the first series, by wait policy."""
    last = longest(a)
    points = a.select(series=last.series, who=last.who, mode="off", clock=None)
    found = [
        (p, c)
        for p in points
        if (p.name, p.pes, p.x, p.y) == (last.name, last.pes, last.x, last.y) and (c := a.center("cpu_s", p))
    ]
    listed = ", ".join(f"{p.wait} {units.seconds(c.median)}" for p, c in found)
    who = "the receiver" if last.who == "receiver" else "all PEs"
    return f"CPU time of {who} ({case_words(at, last)}), by wait policy: {listed}."


def longest(a: Analysis) -> Point:
    """The last case of the first series, under the first wait policy."""
    first = next(iter(a.points))
    who = "receiver" if first.who == "sender" else first.who
    return a.select(series=first.series, name=first.name, who=who, wait=first.wait, mode="off", clock=None)[-1]


def case_words(at: str, point: Point) -> str:
    """A case as text. `at`: the form of the swept value."""
    swept = "" if point.x is None else ", " + at.format(x=f"{point.x:,.10g}")
    return f"{point.series}: {point.name}{swept}"


def joules_of(a: Analysis, record: Manifest) -> str:
    source = ", ".join(a.sources)
    if a.provenance == "unavailable":
        return "Joules are not known here."
    if a.provenance == "measured":
        return f"Joules are measured ({source}): a sensor measures the whole node."
    if a.knob.simulated:
        return (
            f"Joules are modelled, not measured ({source}): the watts of each state and clock times the simulated time."
        )
    why = record.meter.get("why", "").rstrip(".")
    return f"Joules are modelled, not measured ({source}), all at the base clock" + (f": {why}." if why else ".")
