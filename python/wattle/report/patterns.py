"""The page of the pattern study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wattle import manifest as manifests
from wattle import units
from wattle.manifest import Manifest
from wattle.provenance import amount
from wattle.report import patterns_figures as drawn
from wattle.report.amounts import si
from wattle.report.page import Page
from wattle.study import patterns as study_of_patterns
from wattle.study import published
from wattle.study.patterns_analysis import TRANSFORMATIONS, Analysis
from wattle.study.patterns_published import ROWS
from wattle.study.patterns_samples import PATTERNS
from wattle.study.published import Row, Verdict
from wattle.study.registry import Study
from wattle.study.stats import Center

STEPS = {
    "MPQMPQ": "copy to a pinned buffer, blocking put, quiet; for each user buffer",
    "PQPQ": "blocking put, quiet; for each user buffer",
    "MPMPQ": "copy to a pinned buffer, non-blocking put; for each user buffer; then one quiet",
    "PPQ": "non-blocking put for each user buffer; then one quiet",
    "MMPQAMM": "pack all user buffers, one put, quiet, atomic flag; the receiver polls it and unpacks",
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


def build(study: Study, directory: Path, record: Manifest) -> Page:
    """Reads and checks the directory's samples and results, and makes the page."""
    analysis: Analysis = study.load(directory, record)
    study_of_patterns.read_results(directory)
    rows = published.judge(ROWS, analysis)
    metric_figures = drawn.metric_figures(analysis)
    saving_figures = drawn.saving_figures(analysis)
    return Page(
        template="patterns.html.j2",
        title=study.title,
        subtitle=f"{study.question} {analysis.place.found} on {analysis.place.words}.",
        summary=summary(analysis, rows, record),
        record=record,
        nav=NAV,
        figures=[*metric_figures, *(f for found in saving_figures.values() for f in found)],
        content={
            "a": analysis,
            "rows": rows,
            "notes": published.notes(rows),
            "chips": {name: _chips(rows, name) for name in (*STATEMENTS, "order", "rate")},
            "tally": {published.PLURAL[v]: c for v, c in published.tally(rows).items()},
            "verdict_class": {v: v.name.lower().replace("_", "-") for v in Verdict},
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
            "uncertainty": {d: _doubt(analysis.relative_uncertainty(d)) for d in ("cpu", "dram")},
            "floor": [f for f in analysis.floor if f.known and f.interval_s],
            "u": units,
            "amount": amount,
        },
    )


def _method(directory: Path, record: Manifest) -> dict[str, Any]:
    """How the study was run, from its manifest."""
    plan = manifests.study(directory, record)
    fewest = plan.count("min_iterations") if plan.has("min_iterations") else None
    return {
        "min_iterations": fewest,
        "clear": (plan.text("clear") if plan.has("clear") else "") or "not known how",
        "pinned": plan.flag("pinned"),
        "gap": plan.count("gap"),
        "repeats": plan.integer("repeats", lo=1),
        "min_time_s": plan.number("min_time_s"),
    }


# ---- words ----


def _doubt(share: float | None) -> str | None:
    """A relative uncertainty: `± 25 %`, or `-100 to +120 %`."""
    if share is None:
        return None
    return f"± {share * 100:.0f} %" if share <= 1 else f"-100 to +{share * 100:.0f} %"


def summary(a: Analysis, rows: list[Row], record: Manifest) -> str:
    """One paragraph, every number of it from the samples."""
    parts = [_cheapest(a), _dearest(a), _nonblocking(a), _joules(a, record), _verdicts(rows)]
    if a.wrong_samples:
        parts.insert(0, f"Data arrived wrong in {a.wrong_samples} samples: nothing below can be trusted.")
    return " ".join(p for p in parts if p)


def _best(a: Analysis, n: int) -> tuple[str, Center] | None:
    found = [(p, c) for p in a.patterns if (c := a.center("latency", p, n))]
    return min(found, key=lambda entry: entry[1].median) if found else None


def _cheapest(a: Analysis) -> str:
    n = a.fragments[0]
    best = _best(a, n)
    if best is None:
        return ""
    pattern, latency = best
    energy = a.center("energy", pattern, n)
    joules = f" and {si(energy.median, 'J')} ({a.provenance('energy')})" if energy else ""
    pieces = "in one piece" if n == 1 else f"in {n} pieces"
    return (
        f"Writing {units.size(a.payload)} from one PE to another{_other_node(a)} {pieces} took the sender "
        f"{units.seconds(latency.median)}{joules} with {pattern}, the quickest pattern in the median."
    )


def _other_node(a: Analysis) -> str:
    if not a.place.across:
        return ""
    if a.place.simulated:
        return f" on another node of the simulated cluster {a.place.cluster}"
    link = f", link {a.place.link}" if a.place.link else ""
    return f" on another node (both of one machine, TCP{link})"


def _dearest(a: Analysis) -> str:
    n = a.fragments[-1]
    found = [(p, c.median) for p in a.patterns if (c := a.center("latency", p, n))]
    if n == a.fragments[0] or len(found) < 2:
        return ""
    worst, best = max(found, key=lambda e: e[1]), min(found, key=lambda e: e[1])
    return (
        f"Cut into {n:,} buffers of {units.size(a.payload / n)} the same bytes took {units.seconds(worst[1])} with "
        f"{worst[0]} and {units.seconds(best[1])} with {best[0]}, a factor of {worst[1] / best[1]:.1f}."
    )


def _nonblocking(a: Analysis) -> str:
    n = a.fragments[-1]
    nonblock, aggregate = a.saving("latency", "PQPQ", "PPQ", n), a.saving("latency", "PPQ", "MMPQAMM", n)
    if nonblock is None or aggregate is None:
        return ""
    return (
        f"There, replacing blocking puts by non-blocking ones {_time_words(nonblock.median)}; packing the buffers as "
        f"well {_time_words(aggregate.median)}, measured against the non-blocking puts."
    )


def _time_words(saving: float) -> str:
    """A percentage saved, in words, so that no sign can be read the wrong way round."""
    share = units.share(abs(saving) / 100)
    return f"saved {share} of the time" if saving >= 0 else f"cost {share} more time"


def _joules(a: Analysis, record: Manifest) -> str:
    kind = a.provenance("energy")
    if kind == "unavailable":
        return f"Joules are not known here: {a.why_no_joules()}."
    source = ", ".join(a.sources())
    if kind == "measured":
        both = " by a sensor that sees both nodes" if a.place.across else ""
        return f"Joules are measured{both} ({source})."
    why = record.meter.get("why", "")
    return f"Joules are modelled, not measured ({source})" + (f": {why.rstrip('.')}." if why else ".")


def _verdicts(rows: list[Row]) -> str:
    tally = published.tally(rows)
    return (
        f"Of {len(rows)} published figures {tally[Verdict.AGREES]} agree with what was found, "
        f"{tally[Verdict.DIFFERS]} differ, and {tally[Verdict.NOT_TESTABLE]} cannot be tested here; the report says "
        "why."
    )


# ---- tables ----


def _chips(rows: list[Row], about: str) -> list[tuple[Row, str]]:
    """A section's rows with a few words each: those of the order differ by condition, others by what was published."""
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
    """(value, what, how)."""
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


def _configurations(a: Analysis) -> list[dict[str, Any]]:
    """Median and quartiles of every metric, ready to print."""
    return [
        {
            "pattern": pattern,
            "fragments": n,
            "bytes": units.size(a.payload / n),
            "cells": [_cell(metric, a.center(metric, pattern, n)) for metric in drawn.SHOWN],
        }
        for pattern in a.patterns
        for n in a.fragments
    ]


def _cell(metric: str, found: Center | None) -> tuple[str, str]:
    if found is None:
        return units.UNKNOWN, ""
    return drawn.shown(metric, found.median), f"{drawn.shown(metric, found.p25)} to {drawn.shown(metric, found.p75)}"


def _samples(a: Analysis) -> list[list[str]]:
    """Every sample, one line each."""
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
