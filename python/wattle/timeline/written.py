"""Writes the timeline of a run directory in the formats of other tools."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wattle.base.errors import WattleError
from wattle.record import power_trace, profile
from wattle.record.power_trace import PowerTrace
from wattle.record.profile import RunProfile
from wattle.record.timeline_file import Timeline, load
from wattle.text import console, units
from wattle.text.provenance import significant
from wattle.timeline import otf2_trace, perfetto
from wattle.timeline.places import Places
from wattle.timeline.rows import Cost, cost, rows, tracks


def write(directory: Path, machine: Mapping[str, Any]) -> dict[str, Any]:
    """Writes DIR/timeline.pftrace and DIR/timeline-otf2, and prints their cost. Returns it for the manifest."""
    folder = profile.folder_of(directory)
    timelines = load(folder)
    found = profile.load(directory, timelines[0].n_pes, allow_damaged=True)
    price = cost(timelines, folder)
    trace, archive = _write(directory, timelines, found, machine, [])
    share = _share(price, found)
    _say(trace, archive, price, share, found.noun)
    return {
        "perfetto": perfetto.NAME,
        "otf2": f"{otf2_trace.FOLDER}/{archive.name}",
        "spans_seen": price.seen,
        "spans_kept": price.kept,
        "spans_left_out": price.left_out,
        "left_out_s": price.left_out_s,
        "bytes": price.bytes,
        "price_s": price.price_s,
        "share_of_time": share,
    }


def again(directory: Path, machine: Mapping[str, Any], powers: list[PowerTrace]) -> None:
    """Writes the timeline of a run again, if it has one, with the watts of an external meter."""
    folder = profile.folder_of(directory)
    if not (directory / perfetto.NAME).exists():
        return
    timelines = load(folder)
    found = profile.load(directory, timelines[0].n_pes, allow_damaged=True)
    shutil.rmtree(directory / otf2_trace.FOLDER, ignore_errors=True)
    _write(directory, timelines, found, machine, powers)


def _write(
    directory: Path, timelines: list[Timeline], found: RunProfile, machine: Mapping[str, Any], powers: list[PowerTrace]
) -> tuple[Path, Path]:
    """Writes both files, with the watts of the nodes' meters and of `powers`."""
    made = rows(timelines, found, machine, Places(found))
    measured = power_trace.load(profile.folder_of(directory), {pe.pe: pe.host for pe in found.pes})
    whole = tracks([*measured, *powers], timelines)
    try:
        trace = perfetto.write(directory / perfetto.NAME, made, whole)
        return trace, otf2_trace.write(directory / otf2_trace.FOLDER, made, whole)
    except OSError as error:
        raise WattleError(f"{directory}: the timeline cannot be written: {error.strerror or error}") from None


def _share(price: Cost, found: RunProfile) -> float | None:
    whole = sum(pe.wall_s or 0.0 for pe in found.pes)
    return price.price_s / whole if price.price_s is not None and whole else None


def _say(trace: Path, archive: Path, price: Cost, share: float | None, noun: str) -> None:
    console.note(f"timeline: {trace} (open it at ui.perfetto.dev), {archive} (OTF2)")
    kept = f"{units.count(price.kept)} of {units.count(price.seen)} spans kept"
    if price.left_out:
        kept += f", the shortest left out, {units.seconds(price.left_out_s)} together"
    if share is not None:
        kept += f"; keeping them took about {significant(100 * share, 2)} % of the {noun}s' time"
    console.note(f"timeline: {kept}; {units.size(price.bytes)} of raw spans")
