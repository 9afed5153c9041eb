"""The summary of a study of a mini-app, for the terminal and the page, with numbers from the samples."""

from __future__ import annotations

from wattle import units
from wattle.manifest import Manifest
from wattle.study import published
from wattle.study.published import Row
from wattle.study.versions.analysis import Analysis
from wattle.study.versions.plan import App
from wattle.units import si, si_scale


def summary(app: App, a: Analysis, rows: list[Row], bars: list[Row], record: Manifest) -> str:
    """One paragraph with numbers from the samples."""
    parts = [_quickest(a), _held(a), _joules(a, record), published.bars_sentence(bars), published.sentence(rows)]
    if a.wrong:
        parts.insert(0, f"The answer was wrong in {a.wrong} runs: no result below can be trusted.")
    parts += [f"Version {v} is left out: {reason}." for v, reason in a.left_out.items()]
    return " ".join(p for p in parts if p)


def _quickest(a: Analysis) -> str:
    given, n = a.inputs[-1], a.pes[-1]
    found = [(v, c.median) for v in a.versions if (c := a.center("seconds", v, given, n))]
    if len(found) < 2:
        return ""
    ordered = sorted(found, key=lambda entry: entry[1])
    scale = si_scale((s for _, s in ordered), "s")
    listed = ", ".join(f"{v} {si(s, 's', scale)}" for v, s in ordered)
    where = f"{given} with {units.several(n, 'PE')}"
    return f"Medians of {units.several(a.repeats, 'run')} on {where}, the quickest first: {listed}."


def _held(a: Analysis) -> str:
    if not a.held:
        return ""
    listed = ", ".join(f"{h.version} {h.share * 100:.2g} %" for h in a.held)
    return f"Workers that had no work were on a core for this part of the time: {listed}."


def _joules(a: Analysis, record: Manifest) -> str:
    kind = a.provenance("energy")
    if kind == "unavailable":
        return "Joules are not known here."
    source = ", ".join(a.sources)
    if kind == "measured":
        return f"Joules are measured ({source})."
    why = record.meter.get("why", "")
    return f"Joules are modelled, not measured ({source})" + (f": {why.rstrip('.')}." if why else ".")
