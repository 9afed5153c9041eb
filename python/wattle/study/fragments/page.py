"""The page of the study of payload and fragments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wattle.html.page import Page
from wattle.record import manifest as manifests
from wattle.record.manifest import Manifest
from wattle.study import published
from wattle.study.fragments import figures as drawn
from wattle.study.fragments.analysis import METRICS, Analysis
from wattle.study.fragments.figures import SHOWN, shown, shown_at
from wattle.study.fragments.study import STUDY
from wattle.text import units
from wattle.text.provenance import amount

SECTIONS = {
    "energy": ("Energy", ("cpu", "dram", "instructions")),
    "bandwidth": ("Bandwidth", ("bandwidth", "latency")),
    "power": ("Power", ("cpu_power", "dram_power", "power")),
    "counters": ("Cache misses and packets", ("misses", "sent", "received")),
}

STATEMENTS = {
    "energy": "Energy follows the number of instructions. For a fixed payload it rises with fragmentation, but that of "
    "bulk transfers not at first. With a constant number of fragments, messages of 2 B to 64 KiB cost the same, larger "
    "ones more (D 6.1).",
    "bandwidth": "For any size the most bandwidth is reached with the fewest fragments (D 6, figure 6.3).",
    "power": "Small transfers draw 16 W (CPU) and 7 W (DRAM), bulk ones 16.2 and 9 W; together 23 and 28 W. CPU power "
    "is higher with very low fragmentation, and changes at the sizes of the L1 and L2 caches (D 6.2).",
    "counters": "Last-level cache misses rise in proportion beyond the L2 cache (D 6.2). Packets sent and received are "
    "proportional to the execution time (D 6.3).",
}


def build(directory: Path, record: Manifest) -> Page:
    """Reads and checks the directory's samples and results, and makes the page."""
    analysis = STUDY.load(directory, record)
    STUDY.check_results(directory)
    rows = STUDY.judge(analysis)
    maps = {figure.id: figure for figure in drawn.maps(analysis)}
    sections = [(name, title, _of(maps, names)) for name, (title, names) in SECTIONS.items()]
    return Page(
        template=Path(__file__).with_suffix(".html.j2"),
        title=STUDY.title,
        subtitle=f"{STUDY.question} {analysis.place.found} on {analysis.place.words}.",
        summary=STUDY.summary(analysis, rows, [], record, on_page=True),
        record=record,
        nav=_nav(),
        figures=list(maps.values()),
        content={
            "a": analysis,
            **published.content(rows),
            "chips": {name: [(r, r.published) for r in rows if r.about == name] for name in SECTIONS},
            "sections": sections,
            "statements": STATEMENTS,
            "missing": {name: _missing(analysis, names) for name, (_, names) in SECTIONS.items()},
            "cards": _cards(analysis),
            "heads": [METRICS[name].label for name in SHOWN],
            "cells": _cells(analysis),
            "method": _method(directory, record),
            "provenance": {d: analysis.provenance(d) for d in ("cpu", "dram")},
            "uncertainty": {d: units.doubt(analysis.uncertainty(d)) for d in ("cpu", "dram")},
            "floor": [f for f in analysis.floor if f.known and f.interval_s],
            "u": units,
            "amount": amount,
        },
    )


def _nav() -> list[tuple[str, str]]:
    parts = [(name, title) for name, (title, _) in SECTIONS.items()]
    ends = [
        ("published", "Published figures"),
        ("cells", "Samples"),
        ("method", "How measured"),
        ("manifest", "Manifest"),
    ]
    return [("summary", "Summary"), *parts, *ends]


def _of(maps: dict[str, Any], names: tuple[str, ...]) -> list[Any]:
    ids = [f"map-{name.replace('_', '-')}" for name in names]
    return [maps[id] for id in ids if id in maps]


def _missing(a: Analysis, names: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(METRICS[name].label, a.why_not(name)) for name in names if not a.values(name)]


def _cards(a: Analysis) -> list[tuple[str, str, str]]:
    """(value, label, remark) of the cards at the top."""
    payload = a.payloads[-1]
    cards = []
    bulk, one = a.value("bandwidth", payload, 1), a.value("latency", a.payloads[0], 1)
    if bulk is not None:
        cards.append((shown("bandwidth", bulk), f"bandwidth of {units.size(payload)}", "in one piece"))
    if one is not None:
        cards.append((units.seconds(one), f"for {units.size(a.payloads[0])}", "one put and its quiet"))
    along = a.along_fragments("cpu", payload)
    if len(along) > 1 and along[0][0] == 1:
        n, last = along[-1]
        cards.append((f"{last / along[0][1]:.3g} x", "CPU energy of that payload", f"in {n:,} pieces"))
    return cards


def _cells(a: Analysis) -> list[list[str]]:
    """Every cell with every metric, as text."""
    return [
        [units.size(p), f"{n:,}", units.size(p / n), *(shown_at(a, name, p, n) for name in SHOWN)]
        for p, n in sorted(a.rows)
    ]


def _method(directory: Path, record: Manifest) -> dict[str, Any]:
    """The settings of the study, from its manifest."""
    plan = manifests.study(directory, record)
    return {
        "clear": (plan.text("clear") if plan.has("clear") else "") or "not recorded",
        "pinned": plan.has("pinned") and plan.flag("pinned"),
        "repeats": plan.integer("repeats", lo=1),
        "min_time_s": plan.number("min_time_s"),
    }
