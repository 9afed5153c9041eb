"""The page of the study of messages."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from wattle.html.page import Page
from wattle.record import manifest as manifests
from wattle.record.manifest import Manifest
from wattle.study import published
from wattle.study.am import figures as drawn
from wattle.study.am.analysis import Analysis, Case
from wattle.study.am.figures import NAMES, shown
from wattle.study.am.study import STUDY
from wattle.study.am.words import energy_of, last_case
from wattle.study.medians import Cell, cell
from wattle.text import units
from wattle.text.provenance import amount
from wattle.text.units import si

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


def build(directory: Path, record: Manifest) -> Page:
    """Reads and checks the directory's samples and results, and makes the page."""
    analysis = STUDY.load(directory, record)
    STUDY.check_results(directory)
    rows = STUDY.judge(analysis)
    figures = {
        "bandwidth": drawn.bandwidth_figures(analysis),
        "rate": drawn.rate_figures(analysis),
        "ring": drawn.ring_figures(analysis),
        "energy": drawn.energy_figures(analysis),
    }
    return Page(
        template=Path(__file__).with_suffix(".html.j2"),
        title=STUDY.title,
        subtitle=f"{STUDY.question} {analysis.place.found} on {analysis.place.words}.",
        summary=STUDY.summary(analysis, rows, [], record, on_page=True),
        record=record,
        nav=NAV,
        figures=[f for found in figures.values() for f in found],
        content={
            "a": analysis,
            **published.content(rows),
            "chips": {name: [(r, r.published) for r in rows if r.about == name] for name in STATEMENTS},
            "sections": figures,
            "legends": {name: _legend(analysis, name) for name in figures},
            "statements": STATEMENTS,
            "cards": _cards(analysis),
            "cells": _cells(analysis),
            "samples": _samples(analysis),
            "method": _method(directory, record),
            "provenance": analysis.provenance(),
            "floor": [f for f in analysis.floor if f.known and f.interval_s],
            "u": units,
            "amount": amount,
        },
    )


def _method(directory: Path, record: Manifest) -> dict[str, Any]:
    """The settings of the study, from its manifest."""
    plan = manifests.study(directory, record)
    names = ("repeats", "ucx_repeats", "bandwidth_in_flight", "rate_bytes")
    return {name: plan.integer(name, lo=1) for name in names} | {"min_time_s": plan.number("min_time_s")}


def _legend(a: Analysis, name: str) -> list[tuple[str, Any, str]]:
    """The ways in a section's figures: name, look, description."""
    series = ("bandwidth", "rate", "ring") if name == "energy" else (name,)
    there = {way for s in series for test in ("uni", "bi", "ring") for way in a.ways(s, test)}
    if name == "energy":
        there -= {"ucx"}
    return [(NAMES[way], drawn.LOOKS[way], STEPS[way]) for way in NAMES if way in there]


def _cards(a: Analysis) -> list[tuple[str, str, str]]:
    """(value, label, remark) of the cards at the top."""
    cards = []
    if (case := last_case(a, "rate", "uni")) and (c := a.center("rate", case, "am")):
        cards.append((shown("rate", c.median), "active messages", f"4 B, {case.in_flight:,} in flight"))
    if (case := last_case(a, "rate", "uni", "put")) and (c := a.ratio("rate", case, "am", "put")):
        cards.append((f"{c.median:.2f} x", "the rate of puts", f"median of {c.n} pairs, {case.in_flight:,} in flight"))
    found = a.cases("ring", "ring", ("am",))
    if found and (c := a.center("time", found[0], "am")):
        cards.append((units.seconds(c.median), "from PE to PE", f"a ring of {found[0].pes}, by AM"))
    if (case := last_case(a, "rate", "uni")) and (c := a.center("energy", case, "am")):
        cards.append(
            (energy_of(a, case, "am")[0], "a message, CPU + DRAM", f"{a.provenance()}, {case.in_flight:,} in flight")
        )
    return cards


def _cells(a: Analysis) -> list[list[Cell]]:
    """Medians and middle halves of every case and way, as text."""
    return [
        [
            *(case.series, case.test, NAMES[way], units.size(case.bytes), _flight(case), str(case.pes)),
            *(cell(a.center(m, case, way), partial(shown, m)) for m in ("time", "rate", "bandwidth")),
            energy_of(a, case, way),
        ]
        for case, way in a.cells()
    ]


def _flight(case: Case) -> str:
    return f"{case.in_flight:,}" if case.in_flight else "any"


def _samples(a: Analysis) -> list[list[str]]:
    """Every sample, one row each."""
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
            {True: "yes", False: "NO", None: "not checked"}[row["verified"]],
        ]
        for row in a.frame.sort("series", "test", "bytes", "in_flight", "pes", "repeat", "turn").iter_rows(named=True)
    ]
