"""The page of the pattern study."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from wattle.html.page import Page
from wattle.record import manifest as manifests
from wattle.record.manifest import Manifest
from wattle.study import published
from wattle.study.medians import Cell, cell
from wattle.study.patterns import figures as drawn
from wattle.study.patterns.analysis import TRANSFORMATIONS, Analysis
from wattle.study.patterns.samples import PATTERNS
from wattle.study.patterns.study import STUDY
from wattle.study.published import Row
from wattle.text import units
from wattle.text.provenance import amount
from wattle.text.units import si

STEPS = {
    "MPQMPQ": "copy to a pinned buffer, blocking put, quiet; for each user buffer",
    "PQPQ": "blocking put, quiet; for each user buffer",
    "MPMPQ": "copy to a pinned buffer, non-blocking put; for each user buffer; then one quiet",
    "PPQ": "non-blocking put for each user buffer; then one quiet",
    "MMPQAMM": "pack all user buffers, one put, quiet, atomic flag; the receiver polls the flag and unpacks",
}

STATEMENTS = {
    "pin": "On bulk transfers it saves up to +20 % of CPU energy and latency, +40 % of DRAM energy and of the "
    "energy-delay product; above 512 puts less than 5 % of CPU energy and almost nothing in latency, while DRAM "
    "savings of non-blocking puts oscillate (D 8.3.1, 8.4).",
    "non-block": "Savings rise with the number of puts to +80 % of CPU energy and latency at 256 puts and stay there; "
    "+95 to +97 % of the energy-delay product (D 8.3.2, 8.4).",
    "aggregate": "Up to 1024 fragments a loss: about -25 % of CPU energy, -125 % of DRAM energy, -25 % of latency; "
    "beyond, gains that grow with the count; the energy-delay product from -70 % to +98 % overall (D 8.3.3, 8.4).",
    "payload": "Named as a transformation (D 8.2.2), with MPQMPQ at several payloads; the text gives no number for it.",
}

NAV = [
    ("summary", "Summary"),
    ("patterns", "The patterns"),
    ("pin", "Pinning"),
    ("non-block", "Non-blocking"),
    ("aggregate", "Aggregation"),
    ("payload", "Payload"),
    ("published", "Published figures"),
    ("samples", "Samples"),
    ("method", "How measured"),
    ("manifest", "Manifest"),
]


def build(directory: Path, record: Manifest) -> Page:
    """Reads and checks the directory's samples and results, and makes the page."""
    analysis = STUDY.load(directory, record)
    STUDY.check_results(directory)
    rows = STUDY.judge(analysis)
    metric_figures = drawn.metric_figures(analysis)
    saving_figures = drawn.saving_figures(analysis)
    return Page(
        template=Path(__file__).with_suffix(".html.j2"),
        title=STUDY.title,
        subtitle=f"{STUDY.question} {analysis.place.found} on {analysis.place.words}.",
        summary=STUDY.summary(analysis, rows, [], record, on_page=True),
        record=record,
        nav=NAV,
        figures=[*metric_figures, *(f for found in saving_figures.values() for f in found)],
        content={
            "a": analysis,
            **published.content(rows),
            "chips": {name: _chips(rows, name) for name in (*STATEMENTS, "order", "rate")},
            "metric_figures": metric_figures,
            "saving_figures": saving_figures,
            "legends": drawn.legends(analysis),
            "pattern_legend": [(p, drawn.LOOKS[p], STEPS[p]) for p in PATTERNS if p in analysis.patterns],
            "transformations": _transformations(),
            "statements": STATEMENTS,
            "cards": _cards(analysis),
            "configurations": _configurations(analysis),
            "samples": _samples(analysis),
            "method": _method(directory, record),
            "provenance": {d: analysis.provenance(d) for d in ("cpu", "dram")},
            "uncertainty": {d: units.doubt(analysis.uncertainty(d)) for d in ("cpu", "dram")},
            "floor": [f for f in analysis.floor if f.known and f.interval_s],
            "u": units,
            "amount": amount,
        },
    )


def _method(directory: Path, record: Manifest) -> dict[str, Any]:
    """The settings of the study, from its manifest."""
    plan = manifests.study(directory, record)
    fewest = plan.count("min_iterations") if plan.has("min_iterations") else None
    return {
        "min_iterations": fewest,
        "clear": (plan.text("clear") if plan.has("clear") else "") or "not recorded",
        "pinned": plan.flag("pinned"),
        "gap": plan.count("gap"),
        "repeats": plan.integer("repeats", lo=1),
        "min_time_s": plan.number("min_time_s"),
    }


def _chips(rows: list[Row], about: str) -> list[tuple[Row, str]]:
    """A section's rows with a short label: the condition for rows of the order, the published text for others."""
    return [(r, _chip(r)) for r in rows if r.about == about]


def _chip(row: Row) -> str:
    if row.about != "order":
        return row.published
    return f"{row.published.split(':')[0]}, {'bulk' if row.id.endswith('bulk') else 'beyond 256'}"


def _transformations() -> list[dict[str, Any]]:
    found = [
        {"id": t.name, "title": t.title, "forms": [f"{before} → {after}" for _, before, after in t.forms]}
        for t in TRANSFORMATIONS.values()
    ]
    return [*found, {"id": "payload", "title": "Move a smaller payload", "forms": ["MPQMPQ, each payload to its half"]}]


def _cards(a: Analysis) -> list[tuple[str, str, str]]:
    """(value, label, remark) of the cards at the top."""
    cards = []
    bulk = a.center("bandwidth", "PPQ", a.fragments[0])
    if bulk:
        cards.append((drawn.shown("bandwidth", bulk.median), "bandwidth in one piece", "PPQ, caches cleared"))
    rate = a.center("rate", "PPQ", a.fragments[-1])
    if rate:
        cards.append((drawn.shown("rate", rate.median), "puts, non-blocking", f"PPQ, {a.fragments[-1]:,} fragments"))
    saving = a.saving("latency", "PQPQ", "PPQ", a.fragments[-1])
    if saving:
        cards.append((units.percent(saving.median), "time saved by one quiet for all", "PQPQ → PPQ, most fragments"))
    energy = a.center("energy", "PPQ", a.fragments[0])
    if energy:
        cards.append((si(energy.median, "J"), "for one payload, CPU + DRAM", f"PPQ, {a.provenance('energy')}"))
    return cards


def _configurations(a: Analysis) -> list[list[Cell]]:
    """Median and quartiles of every metric, as text."""
    return [
        [
            *(pattern, f"{n:,}", units.size(a.payload / n)),
            *(cell(a.center(m, pattern, n), partial(drawn.shown, m)) for m in drawn.SHOWN),
        ]
        for pattern in a.patterns
        for n in a.fragments
    ]


def _samples(a: Analysis) -> list[list[str]]:
    """Every sample, one row each."""
    return [
        [
            row["pattern"],
            units.size(row["payload"]),
            str(row["fragments"]),
            str(row["repeat"]),
            str(row["turn"]),
            str(row["iterations"]),
            units.seconds(row["latency_s"]),
            f"{units.seconds(row['latency_p25_s'])} to {units.seconds(row['latency_p75_s'])}",
            units.seconds(row["unpack_s"]),
            drawn.shown("cpu", row["cpu_J"]),
            drawn.shown("dram", row["dram_J"]),
            row["cpu_provenance"],
            "yes" if row["verified"] else "NO",
        ]
        for row in a.frame.sort("series", "payload", "fragments", "repeat", "turn").iter_rows(named=True)
    ]
