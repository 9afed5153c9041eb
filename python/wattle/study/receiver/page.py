"""The page of the study of clocks under a put."""

from __future__ import annotations

from wattle.html.figures import Figure, Look, fragments_axis
from wattle.study.receiver.judges import PHASES, PUTS, WAYS, phase_edp, phase_joules
from wattle.study.sweep.analysis import WAITS, Analysis, Point
from wattle.study.sweep.page import OTHERS, Section, at_x, bars, lines, look_of

NAMES = ("A initiate", "B complete", "C await unpacking", "D await arrival", "E unpack", "F pack", "G agent copies")
COLOURS = ("--first", "--second", "--transfer", "--asleep", "--third", "--fourth", "--yield")
WORDS = {
    "direct": "a non-blocking put for each fragment and a quiet; the receiver waits in a barrier (listing B.1).",
    "active": "the sender packs, puts once and sets a flag; the receiver waits for the flag, unpacks and answers "
    "(listing B.2).",
    "agent": "an active message for each fragment, which the receiver's agent thread copies to its place while the "
    "receiver waits in a barrier (listing B.3).",
}


def sections(a: Analysis) -> list[Section]:
    counts = sorted({int(p.x or 0) for p in a.select(series=PUTS)})
    axis = fragments_axis(counts, False) | {"tickvals": counts, "ticktext": [f"{c:,}" for c in counts]}
    found = []
    for way in WAYS:
        sent, received = (_series(a, way, who) for who in ("sender", "receiver"))
        figures = [
            lines(a, f"{way}-latency", "Latency at the sender", "seconds", sent, at_x, axis),
            lines(a, f"{way}-cpu", "CPU seconds of the receiver", "cpu_s", received, at_x, axis),
            lines(a, f"{way}-receiver", "Energy of the receiver", "own", received, at_x, axis),
            lines(a, f"{way}-sender", "Energy of the sender", "own", sent, at_x, axis),
        ]
        legend = [(name, look) for name, look, _ in sent]
        found.append(Section(way, f"{way[0].upper()}{way[1:]}", f"512 KiB: {WORDS[way]}", figures, legend))
    return [
        *found,
        Section(
            "phases",
            "Phases",
            "Each way by the phases of table 12.1, spinning, in 1,024 fragments. Those of the sender and of "
            "the receiver run concurrently. Joules are those of the PE that has the phase, its core and memory, where "
            "the meter resolves a phase. The delay is the latency at the sender.",
            _phases(a),
            wide=True,
        ),
    ]


def _series(a: Analysis, way: str, who: str) -> list[tuple[str, Look, list[Point]]]:
    """Series by the receiver's clock if it can be set, else by wait policy."""
    waits = [(w, look_of(w), a.select(series=PUTS, name=way, who=who, wait=w, clock=None)) for w in WAITS]
    clocks = sorted({p.clock for p in a.select(series=PUTS, name=way, who=who) if p.clock is not None})
    at = [
        (f"spin, {c:g} GHz", look, a.select(series=PUTS, name=way, who=who, clock=c))
        for c, look in zip(clocks, OTHERS, strict=False)
    ]
    return at or waits


def _points(a: Analysis) -> list[tuple[str, Point]]:
    """The points whose phases are known, with their headings: spinning, at the clocks that were set."""
    found = []
    for way in WAYS:
        for who in ("sender", "receiver"):
            for point in a.select(series=PHASES, name=way, who=who, wait="spin"):
                clock = "base clock" if point.clock is None else f"{point.clock:g} GHz"
                found.append((f"{way}, {who}" + (f", {clock}" if a.knob.acts else ""), point))
    return found


def _bars(
    points: list[tuple[str, Point]], name: str, title: str, unit: str, values: list[list[float]], note: str = ""
) -> Figure:
    parts = [
        (phase, colour, [v[k] for v in values]) for k, (phase, colour) in enumerate(zip(NAMES, COLOURS, strict=True))
    ]
    heads = [head for head, _ in points]
    return bars(name, title, heads, parts, unit, f"medians of the samples{note}", 120 + 24 * len(heads))


def _phases(a: Analysis) -> list[Figure]:
    """Time, joules and energy-delay product by phase. G is part of another thread's time and is not metered."""
    points = _points(a)
    if not points:
        return []
    seconds = [a.medians(point, "phase_s", len(NAMES)) for _, point in points]
    found = [_bars(points, "phases", "Time", "ms", [[1e3 * s for s in row] for row in seconds])]
    note = ", joules modelled"  # a sensor resolves no phase
    metered = [(head, point) for head, point in points if phase_joules(a, point, "own")]
    for name, title, domain in (("phase-cpu", "CPU energy", "cpu"), ("phase-dram", "DRAM energy", "dram")):
        rows = [phase_joules(a, point, domain) for _, point in metered]
        if metered and any(map(any, rows)):
            found.append(_bars(metered, name, title, "µJ", [[1e6 * j for j in row] for row in rows], note))
    if metered:
        edp = [[1e9 * j for j in phase_edp(a, point)] for _, point in metered]
        found.append(_bars(metered, "phase-edp", "Energy x delay of the transfer", "nJ·s", edp, note))
    return found
