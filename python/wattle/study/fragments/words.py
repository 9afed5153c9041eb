"""The summary of a study of payload and fragments, for the terminal and the page, with numbers from the samples."""

from __future__ import annotations

from wattle.record.manifest import Manifest
from wattle.study.fragments.analysis import Analysis
from wattle.study.words import joules
from wattle.text import units
from wattle.text.units import si


def sentences(a: Analysis, record: Manifest) -> list[str]:
    """Sentences with numbers from the samples."""
    return [_fragmented(a), _small(a), _joules(a, record)]


def _fragmented(a: Analysis) -> str:
    """The cost of the largest payload in one piece and in the most."""
    payload = a.payloads[-1]
    along = a.along_fragments("latency", payload)
    (_, first), (n, last) = along[0], along[-1]
    text = f"{units.size(payload)} took {units.seconds(first)} in one piece and {units.seconds(last)} in {n:,} pieces"
    energy = [a.value("cpu", payload, k) for k in (along[0][0], n)]
    if None not in energy:
        text += f"; CPU energy rose from {si(energy[0] or 0, 'J')} to {si(energy[1] or 0, 'J')}"
    return f"{text}."


def _small(a: Analysis) -> str:
    """The payload up to which the time of one call hardly depends on it."""
    along = a.along_payloads("latency", 1)
    least = min(v for _, v in along)
    flat = [p for p, v in along if v <= 1.5 * least]
    return (
        f"One call took {units.seconds(least)} at least, and less than 1.5 times as much up to {units.size(flat[-1])}."
    )


def _joules(a: Analysis, record: Manifest) -> str:
    both = " by a sensor that measures both PEs" if a.place.one_machine or not a.place.across else ""
    return joules(a.provenance("power"), a.sources, record, a.why_not("cpu"), both)
