"""The page of the study of clocks under a put."""

from __future__ import annotations

from pathlib import Path

from wattle.html.figures import Figure, Look, fragments_axis
from wattle.html.page import Page
from wattle.manifest import Manifest
from wattle.study.receiver.judges import PUTS, WAYS
from wattle.study.receiver.study import SWEEP
from wattle.study.sweep import page as sweep
from wattle.study.sweep.analysis import Analysis, Point
from wattle.study.sweep.figures import OTHERS, bars, lines, look_of
from wattle.study.sweep.page import Section
from wattle.study.sweep.samples import WAITS

PHASES = ("A initiate", "B complete", "C await unpacking", "D await arrival", "E unpack", "F pack", "G agent copies")
COLOURS = ("--first", "--second", "--transfer", "--asleep", "--third", "--fourth", "--yield")
WORDS = {
    "direct": "a non-blocking put for each fragment and a quiet; the receiver waits in a barrier (listing B.1).",
    "active": "the sender packs, puts once and sets a flag; the receiver waits for the flag, unpacks and answers "
    "(listing B.2).",
    "agent": "an active message for each fragment, which the receiver's agent thread copies to its place while the "
    "receiver waits in a barrier (listing B.3).",
}


def build(directory: Path, record: Manifest) -> Page:
    return sweep.build(SWEEP, directory, record, _sections)


def _fragments(point: Point) -> float:
    return point.x or 0


def _sections(a: Analysis) -> list[Section]:
    counts = sorted({int(p.x or 0) for p in a.select(series=PUTS)})
    axis = fragments_axis(counts, False) | {"tickvals": counts, "ticktext": [f"{c:,}" for c in counts]}
    found = []
    for way in WAYS:
        figures = [
            lines(a, f"{way}-latency", "Latency at the sender", "seconds", _series(a, way, "sender"), _fragments, axis),
            lines(
                a, f"{way}-cpu", "CPU seconds of the receiver", "cpu_s", _series(a, way, "receiver"), _fragments, axis
            ),
            lines(a, f"{way}-receiver", "Energy of the receiver", "own", _series(a, way, "receiver"), _fragments, axis),
            lines(a, f"{way}-sender", "Energy of the sender", "own", _series(a, way, "sender"), _fragments, axis),
        ]
        legend = [(name, look) for name, look, _ in _series(a, way, "sender")]
        found.append(Section(way, f"{way[0].upper()}{way[1:]}", f"512 KiB: {WORDS[way]}", figures, legend))
    return [
        *found,
        Section(
            "phases",
            "Phases",
            "The time in each way, spinning: phases of table 12.1. Those of the sender and the receiver run "
            "concurrently.",
            [_phases(a)],
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


def _phases(a: Analysis) -> Figure:
    counts = sorted({p.x or 0 for p in a.select(series=PUTS)})
    few = counts[len(counts) // 2]
    heads: list[str] = []
    values: list[list[float]] = []
    for way in WAYS:
        for who in ("sender", "receiver"):
            for point in a.select(series=PUTS, name=way, who=who, wait="spin", clock=None, x=few):
                heads.append(f"{way}, {who}")
                values.append([1e3 * s for s in a.medians(point, "phase_s", len(PHASES))])
    parts = [
        (name, colour, [v[k] for v in values]) for k, (name, colour) in enumerate(zip(PHASES, COLOURS, strict=True))
    ]
    return bars("phases", f"{few:,.0f} fragments, spinning", heads, parts, "ms", "medians of the samples", 360)
