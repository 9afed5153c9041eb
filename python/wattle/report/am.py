"""The page of the study of messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wattle import manifest as manifests
from wattle import units
from wattle.manifest import Manifest
from wattle.provenance import amount, joule_unit
from wattle.report import am_figures as drawn
from wattle.report.am_figures import NAMES, shown
from wattle.report.amounts import si
from wattle.report.page import Page
from wattle.study import am as study_of_messages
from wattle.study import published
from wattle.study.am_analysis import Analysis, Case
from wattle.study.am_published import ROWS
from wattle.study.published import Row, Verdict
from wattle.study.registry import Study

STEPS = {
    "am": "shmemx_am_request each, one shmemx_am_quiet; in a ring its handler hands the token to a PE in wait_until",
    "put": "shmem_putmem each, one shmem_quiet; in a ring shmem_p to a PE in wait_until",
    "nbi": "shmem_putmem_nbi each, one shmem_quiet",
    "mpi": "MPI_Isend and MPI_Recv each, an answer when all have come; in a ring MPI_Recv and MPI_Send",
    "ucx": "ucx_perftest's ucp_am_bw: UCX's active messages by themselves, nothing awaited",
}

STATEMENTS = {
    "bandwidth": "AM below put for all sizes from 1 B to 2 KiB, in both tests, and further below the larger the "
    "message (D 13.4.3, figures 13.3a and b).",
    "rate": "Beyond 32 messages in flight a significant drop: AM about 3 x fewer messages than put in one direction, "
    "about 5 x in both (D 13.4.3, figures 13.3c and d).",
    "ring": "The round trip is almost the same by AM and by put, and expected to grow almost linearly with the PEs (D "
    "13.4.3, figure 13.4b).",
}

NAV = [
    ("summary", "Summary"),
    ("bandwidth", "Bandwidth"),
    ("rate", "Message rate"),
    ("ring", "Token ring"),
    ("energy", "Energy"),
    ("published", "Published figures"),
    ("samples", "Samples"),
    ("method", "How measured"),
    ("manifest", "Manifest"),
]


def build(study: Study, directory: Path, record: Manifest) -> Page:
    """Reads and checks the directory's samples and results, and makes the page."""
    analysis: Analysis = study.load(directory, record)
    study_of_messages.read_results(directory)
    rows = published.judge(ROWS, analysis)
    figures = {
        "bandwidth": drawn.bandwidth_figures(analysis),
        "rate": drawn.rate_figures(analysis),
        "ring": drawn.ring_figures(analysis),
        "energy": drawn.energy_figures(analysis),
    }
    floor = study_of_messages.read_floor(directory, record)
    return Page(
        template="am.html.j2",
        title=study.title,
        subtitle=f"{study.question} {analysis.place.found} on {analysis.place.words}.",
        summary=summary(analysis, rows, record),
        record=record,
        nav=NAV,
        figures=[f for found in figures.values() for f in found],
        content={
            "a": analysis,
            "rows": rows,
            "notes": published.notes(rows),
            "chips": {name: [(r, r.published) for r in rows if r.about == name] for name in STATEMENTS},
            "tally": {published.PLURAL[v]: c for v, c in published.tally(rows).items()},
            "verdict_class": {v: v.name.lower().replace("_", "-") for v in Verdict},
            "sections": figures,
            "legends": {name: _legend(analysis, name) for name in figures},
            "statements": STATEMENTS,
            "cards": _cards(analysis),
            "cells": _cells(analysis),
            "samples": _samples(analysis),
            "method": _method(directory, record),
            "provenance": analysis.provenance(),
            "floor": [f for f in floor if f.known and f.interval_s],
            "u": units,
            "amount": amount,
        },
    )


def _method(directory: Path, record: Manifest) -> dict[str, Any]:
    """How the study was run, from its manifest."""
    plan = manifests.study(directory, record)
    names = ("repeats", "ucx_repeats", "bandwidth_in_flight", "rate_bytes")
    return {name: plan.integer(name, lo=1) for name in names} | {"min_time_s": plan.number("min_time_s")}


def _legend(a: Analysis, name: str) -> list[tuple[str, Any, str]]:
    """Ways that a section's figures have: name, look, what it does."""
    series = ("bandwidth", "rate", "ring") if name == "energy" else (name,)
    there = {way for s in series for test in ("uni", "bi", "ring") for way in a.ways(s, test)}
    if name == "energy":
        there -= {"ucx"}
    return [(NAMES[way], drawn.LOOKS[way], STEPS[way]) for way in NAMES if way in there]


# ---- words ----


def summary(a: Analysis, rows: list[Row], record: Manifest) -> str:
    """One paragraph, every number of it from the samples."""
    parts = [_rates(a), _rings(a), _joules(a, record), _verdicts(rows)]
    if a.wrong_samples:
        parts.insert(
            0, f"Messages were lost, doubled or wrong in {a.wrong_samples} samples: nothing below can be trusted."
        )
    return " ".join(p for p in parts if p)


def _last(a: Analysis, series: str, test: str, *ways: str) -> Case | None:
    found = a.cases(series, test, ("am", *ways))
    return found[-1] if found else None


def _rates(a: Analysis) -> str:
    case = _last(a, "rate", "uni", "put") or _last(a, "rate", "uni")
    mine = a.center("rate", case, "am") if case else None
    if case is None or mine is None:
        return ""
    others = [
        f"{shown('rate', c.median)} by {NAMES[way]}"
        for way in ("put", "nbi", "mpi")
        if (c := a.center("rate", case, way))
    ]
    ucx = a.only_case("rate", "uni", "ucx")
    if ucx and (c := a.center("rate", ucx, "ucx")):
        others.append(f"{shown('rate', c.median)} by {NAMES['ucx']} alone")
    beside = f"; {_and(others)}" if others else ""
    many = units.several(case.in_flight, "message")
    return f"With {many} of {units.size(case.bytes)} in flight {shown('rate', mine.median)} went by AM{beside}."


def _and(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def _rings(a: Analysis) -> str:
    case = _last(a, "ring", "ring", "put")
    if case is None:
        return ""
    am, put, mpi = (a.center("time", case, way) for way in ("am", "put", "mpi"))
    if not am or not put:
        return ""
    third = f" and {units.seconds(mpi.median)} by MPI" if mpi else ""
    by_put = f"{units.seconds(put.median)} by put{third}"
    return f"A token round {case.pes} PEs took {units.seconds(am.median)} a hop by AM, {by_put}."


def _joules(a: Analysis, record: Manifest) -> str:
    kind = a.provenance()
    if kind == "unavailable":
        return f"Joules are not known here: {a.why_no_joules()}."
    case = _last(a, "rate", "uni", "put")
    known = case and a.center("energy", case, "am") and a.center("energy", case, "put")
    am, put = (_energy(a, case, way)[0] if case and known else "" for way in ("am", "put"))
    cost = f"A message cost {am} by AM and {put} by put there. " if known else ""
    whose = "the machine's, which a sensor sees" if kind == "measured" else "PE 0's"
    why = record.meter.get("why", "").rstrip(".")
    return f"{cost}Joules are {whose}, {kind} ({', '.join(a.sources())})" + (f": {why}." if why else ".")


def _verdicts(rows: list[Row]) -> str:
    tally = published.tally(rows)
    return (
        f"Of {len(rows)} published figures {tally[Verdict.AGREES]} agree with what was found, "
        f"{tally[Verdict.DIFFERS]} differ, and {tally[Verdict.NOT_TESTABLE]} cannot be tested here; the report says "
        "why."
    )


# ---- tables ----


def _cards(a: Analysis) -> list[tuple[str, str, str]]:
    """(value, what, how)."""
    cards = []
    if (case := _last(a, "rate", "uni")) and (c := a.center("rate", case, "am")):
        cards.append((shown("rate", c.median), "active messages", f"4 B, {case.in_flight:,} in flight"))
    if (case := _last(a, "rate", "uni", "put")) and (c := a.ratio("rate", case, "am", "put")):
        cards.append((f"{c.median:.2f} x", "the rate of puts", f"median of {c.n} pairs, {case.in_flight:,} in flight"))
    found = a.cases("ring", "ring", ("am",))
    if found and (c := a.center("time", found[0], "am")):
        cards.append((units.seconds(c.median), "from PE to PE", f"a ring of {found[0].pes}, by AM"))
    if (case := _last(a, "rate", "uni")) and (c := a.center("energy", case, "am")):
        cards.append(
            (_energy(a, case, "am")[0], "a message, CPU + DRAM", f"{a.provenance()}, {case.in_flight:,} in flight")
        )
    return cards


def _cells(a: Analysis) -> list[dict[str, Any]]:
    """Medians and middle halves of every case and way, ready to print."""
    return [
        {
            "head": [case.series, case.test, NAMES[way], units.size(case.bytes), _flight(case), str(case.pes)],
            "cells": [_cell(a, metric, case, way) for metric in ("time", "rate", "bandwidth")],
            "energy": _energy(a, case, way),
        }
        for case, way in a.cells()
    ]


def _flight(case: Case) -> str:
    return f"{case.in_flight:,}" if case.in_flight else "any"


def _cell(a: Analysis, metric: str, case: Case, way: str) -> tuple[str, str]:
    found = a.center(metric, case, way)
    if found is None:
        return units.UNKNOWN, ""
    return shown(metric, found.median), f"{shown(metric, found.p25)} to {shown(metric, found.p75)}"


def _energy(a: Analysis, case: Case, way: str) -> tuple[str, str]:
    """Joules a message with their uncertainty; the provenance."""
    found, doubt = a.center("energy", case, way), a.uncertainty(case, way)
    if found is None:
        return units.UNKNOWN, "unavailable"
    factor, unit = joule_unit(found.median)
    text = si(found.median, "J") if doubt is None else f"{amount(found.median, doubt, factor)} {unit}"
    return text, a.provenance((way,))


def _samples(a: Analysis) -> list[list[str]]:
    """Every sample, one line each."""
    return [
        [
            row["series"],
            row["test"],
            NAMES[row["way"]],
            units.size(row["bytes"]),
            f"{row['in_flight']:,}" if row["in_flight"] else "any",
            str(row["pes"]),
            str(row["repeat"]),
            str(row["turn"]),
            f"{row['messages']:,.0f}" if row["messages"] is not None else units.UNKNOWN,
            units.seconds(row["message_s"]),
            units.UNKNOWN if row["cpu_J"] is None else si(row["cpu_J"], "J"),
            units.UNKNOWN if row["dram_J"] is None else si(row["dram_J"], "J"),
            row["cpu_provenance"],
            {True: "yes", False: "NO", None: "not looked at"}[row["verified"]],
        ]
        for row in a.frame.sort("series", "test", "bytes", "in_flight", "pes", "repeat", "turn").iter_rows(named=True)
    ]
