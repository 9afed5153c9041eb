"""Writes a timeline as an OTF2 archive, for Vampir and other readers of that format."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from wattle.errors import WattleError
from wattle.timeline.rows import Row, Slice, Track
from wattle.visible import visible

FOLDER = "timeline-otf2"
RESOLUTION = 1_000_000_000  # nanoseconds


def write(folder: Path, rows: list[Row], tracks: list[Track] | None = None) -> Path:
    """Writes a location for each thread, a region for each call, and metrics for clock and joules. Each of `tracks` is
    a location with a metric. Returns the anchor file.
    """
    try:
        import otf2
        from _otf2 import Error
    except ImportError as error:
        raise WattleError(f"OTF2: {error}; `make deps` installs the Python package otf2") from None

    class Writer(otf2.writer.Writer):
        def __del__(self) -> None:
            """Does nothing. A trace that could not be closed would otherwise be closed again, with a traceback."""

    try:
        with closing(Writer(str(folder), timer_resolution=RESOLUTION)) as trace:
            _write(trace, rows, tracks or [], otf2.enums.Type.DOUBLE)
    except Error as error:  # from the C library, which has printed more on standard error
        raise WattleError(f"{folder}: cannot be written: {error.description}") from None
    return folder / "traces.otf2"


def _write(trace: Any, rows: list[Row], tracks: list[Track], real: Any) -> None:
    """Writes the trace. `real`: the type of a metric's values."""
    made = trace.definitions
    nodes: dict[str, object] = {}
    regions: dict[str, object] = {}
    known: dict[str, object] = {}

    def metric(name: str, unit: str) -> object:
        if name not in known:
            known[name] = made.metric(name, unit=unit, value_type=real)
        return known[name]

    def region(one: Slice) -> object:
        name = visible(one.name if one.kind in ("compute", "call") else f"{one.kind}: {one.name}")
        if name not in regions:
            regions[name] = made.region(name, source_file=visible(one.where.rpartition(":")[0] or one.where))
        return regions[name]

    for row in rows:
        if row.host not in nodes:
            nodes[row.host] = made.system_tree_node(visible(row.host) or "node", class_name="node")
        node = nodes[row.host]
        group = made.location_group(row.name, system_tree_parent=node)
        for k, slices in enumerate([row.slices, *row.others]):
            name = row.name if k == 0 else f"{row.name}, thread {k + 1}"
            out = trace.event_writer_from_location(made.location(name, group=group))
            metrics = []
            if k == 0:
                metrics = [(at, metric(row.ghz_name, "GHz"), v) for at, v in row.ghz]
                metrics += [(at, metric(f"joules, {row.joules_from}", "J"), v) for at, v in row.joules]
            _events(out, slices, metrics, region)
    if tracks:
        group = made.location_group("power of the nodes", system_tree_parent=next(iter(nodes.values())))
    for track in tracks:
        out = trace.event_writer_from_location(made.location(visible(track.name), group=group))
        _events(out, [], [(at, metric(visible(track.name), track.unit), v) for at, v in track.values], region)


def _events(out: object, slices: list[Slice], metrics: list[tuple], region: object) -> None:
    """Writes the events in order of time, as OTF2 requires. At equal times, ends precede begins."""
    found = []
    for number, one in enumerate(slices):
        where = region(one)
        found.append((one.begin, 1, number, "enter", where))
        found.append((one.end, 0 if one.end > one.begin else 2, -number, "leave", where))
    found += [(max(at, 0), 3, k, "metric", (metric, value)) for k, (at, metric, value) in enumerate(metrics)]
    for at, _, _, kind, what in sorted(found, key=lambda entry: entry[:3]):
        if kind == "metric":
            out.metric(at, *what)
        else:
            getattr(out, kind)(at, what)
