"""Writes a timeline as an OTF2 archive, for Vampir and other readers of that format."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from wattle.base.errors import WattleError
from wattle.text.visible import visible
from wattle.timeline.rows import REGION, Row, Slice, Track

FOLDER = "timeline-otf2"
RESOLUTION = 1_000_000_000  # nanoseconds


def write(folder: Path, rows: list[Row], tracks: list[Track] | None = None) -> Path:
    """Writes a location for each thread, a region for each call and for each region that the program marks, and metrics
    for clock and joules. Call paths are attributes of the begins of calls and waits. Each of `tracks` is a location
    with a metric. Returns the anchor file.
    """
    try:
        import otf2
        from _otf2 import Error
    except ImportError as error:
        raise WattleError(f"OTF2: {error}; `make deps` installs the Python package otf2") from None

    # Without an effect at its end: a trace that could not be closed would be closed again, with a traceback.
    kind: Any = type("Writer", (otf2.writer.Writer,), {"__del__": lambda _: None})
    try:
        with closing(kind(str(folder), timer_resolution=RESOLUTION)) as trace:
            _write(trace, rows, tracks or [], _Names(trace.definitions, otf2.enums))
    except Error as error:  # from the C library, which has printed more on standard error
        raise WattleError(f"{folder}: cannot be written: {error.description}") from None
    return folder / "traces.otf2"


class _Names:
    """The definitions of a trace's regions, metrics and attributes, each made once."""

    def __init__(self, definitions: Any, enums: Any) -> None:
        self._made, self._enums = definitions, enums
        self._regions: dict[tuple[str, bool], object] = {}
        self._metrics: dict[str, object] = {}
        self._path = definitions.attribute("call path", type=enums.Type.STRING)

    def metric(self, name: str, unit: str) -> object:
        if name not in self._metrics:
            self._metrics[name] = self._made.metric(name, unit=unit, value_type=self._enums.Type.DOUBLE)
        return self._metrics[name]

    def region(self, one: Slice) -> object:
        name, is_marked = visible(one.title), one.kind == REGION
        if (name, is_marked) not in self._regions:
            file = visible(one.where.rpartition(":")[0] or one.where)
            paradigm = self._enums.Paradigm.USER if is_marked else self._enums.Paradigm.NONE
            self._regions[name, is_marked] = self._made.region(name, source_file=file, paradigm=paradigm)
        return self._regions[name, is_marked]

    def attributes(self, one: Slice) -> dict[object, str] | None:
        return {self._path: visible(one.path)} if one.path else None


def _write(trace: Any, rows: list[Row], tracks: list[Track], names: _Names) -> None:
    made = trace.definitions
    nodes: dict[str, object] = {}
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
                metrics = [(at, names.metric(row.ghz_name, "GHz"), v) for at, v in row.ghz]
                metrics += [(at, names.metric(f"joules, {row.joules_from}", "J"), v) for at, v in row.joules]
            _events(out, slices, metrics, names)
    if tracks:
        group = made.location_group("power of the nodes", system_tree_parent=next(iter(nodes.values())))
    for track in tracks:
        out = trace.event_writer_from_location(made.location(visible(track.name), group=group))
        _events(out, [], [(at, names.metric(visible(track.name), track.unit), v) for at, v in track.values], names)


def _events(out: Any, slices: list[Slice], metrics: list[tuple[int, Any, Any]], names: _Names) -> None:
    """Writes the events in order of time, as OTF2 requires. At equal times, ends precede begins."""
    found: list[tuple[int, int, int, Any, tuple[Any, ...]]] = []
    for number, one in enumerate(slices):
        where = names.region(one)
        found.append((one.begin, 1, number, out.enter, (where, names.attributes(one))))
        found.append((one.end, 0 if one.end > one.begin else 2, -number, out.leave, (where,)))
    found += [(max(at, 0), 3, k, out.metric, (metric, value)) for k, (at, metric, value) in enumerate(metrics)]
    for at, _, _, write, what in sorted(found, key=lambda entry: entry[:3]):
        write(at, *what)
