"""The summary of a study of a mini-app, for the terminal and the page, with numbers from the samples."""

from __future__ import annotations

from wattle.record.manifest import Manifest
from wattle.study.versions.analysis import Analysis
from wattle.study.words import joules
from wattle.text import units
from wattle.text.units import si, si_scale


def sentences(a: Analysis, record: Manifest) -> list[str]:
    """Sentences with numbers from the samples."""
    return [_quickest(a), _held(a), joules(a.provenance("energy"), a.sources, record)]


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
