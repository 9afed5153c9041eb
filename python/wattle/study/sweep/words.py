"""The summary of a study of waiting and clocks, for the terminal and the page, with numbers from the samples."""

from __future__ import annotations

from wattle import units
from wattle.manifest import Manifest
from wattle.study import published
from wattle.study.published import Row
from wattle.study.sweep.analysis import Analysis, Point
from wattle.study.sweep.plan import Sweep


def summary(
    made: Sweep, a: Analysis, rows: list[Row], bars: list[Row], record: Manifest, *, reasons: str = "below"
) -> str:
    """One paragraph with numbers from the samples. `reasons`: where the reader finds the reasons of the verdicts."""
    parts = [
        "" if made.program else _waiting(made, a),
        _fit(made, a),
        made.says(a),
        f"{_sentence(a.knob.words)}.",
        _joules(a, record),
        published.bars_sentence(bars),
        f"{published.sentence(rows)} The reasons are {reasons}." if rows else "",
    ]
    if a.wrong:
        parts.insert(0, f"{units.several(a.wrong, 'sample')} failed verification: no result below can be trusted.")
    return " ".join(p for p in parts if p)


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def _waiting(made: Sweep, a: Analysis) -> str:
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
    return f"CPU time of {who} ({case_words(made, last)}), by wait policy: {listed}."


def longest(a: Analysis) -> Point:
    """The last case of the first series, under the first wait policy."""
    first = next(iter(a.points))
    who = "receiver" if first.who == "sender" else first.who
    return a.select(series=first.series, name=first.name, who=who, wait=first.wait, mode="off", clock=None)[-1]


def case_words(made: Sweep, point: Point) -> str:
    swept = "" if point.x is None else ", " + made.at.format(x=f"{point.x:,.10g}")
    return f"{point.series}: {point.name}{swept}"


def _fit(made: Sweep, a: Analysis) -> str:
    fits = made.fits(a)
    return f"Spinning, {fits[0].words}." if fits else ""


def _joules(a: Analysis, record: Manifest) -> str:
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
