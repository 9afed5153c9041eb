"""The page of the study of messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from wattle.base.checked import Checked
from wattle.html.figures import Figure, Look, Trace, hover_text, short_count, spans_a_decade, value_axis
from wattle.study.am.analysis import METRICS, NAMES, Analysis, Case
from wattle.study.am.study import energy_of, last_case
from wattle.study.medians import cell, hover_lines, through
from wattle.study.page import Block, Parts, Section, chips
from wattle.study.published import Row
from wattle.study.stats import Center
from wattle.text import units
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
BESIDE = Markup("<b>Published:</b> {} The text at hand lacks the plots, so no published curve is drawn.")
ENERGY = Markup(
    'CPU and DRAM, <span class="badge {0}">{0}</span>. {1} '
    'UCX\'s own test has no meter: <span class="badge unavailable">unavailable</span>.'
)


def parts(a: Analysis, rows: list[Row], facts: Checked) -> Parts:
    told = {key: facts.integer(key, lo=1) for key in ("repeats", "ucx_repeats", "bandwidth_in_flight", "rate_bytes")}
    place = a.place
    words = {
        "bandwidth": f"Messages of 1 B to 2 KiB, {told['bandwidth_in_flight']} before a wait for completion, from PE 0 "
        f"to PE 1, and between both at once. Points are medians of {units.several(a.repeats, 'repeat')}, whiskers "
        "their middle half; axes are logarithmic where values span a decade.",
        "rate": f"Messages of {told['rate_bytes']} B, by the number sent before a wait for completion; both directions "
        "are added. UCX itself decides the number in flight, so its rate is a level.",
        "ring": f"A token of {told['rate_bytes']} B goes from PE to PE and back to PE 0. "
        + (
            "Each PE is a node of its own, so all hops are between nodes."
            if place.simulated
            else "Half of the PEs are on each node, so two hops of a round trip are between nodes."
            if place.across
            else "PEs are bound to the cores in turn; where there are more PEs than cores, the next PE must be woken, "
            "and MPI yields while it waits."
        ),
    }
    return Parts(
        sections=[
            _section(a, rows, "bandwidth", "Bandwidth", words),
            _section(a, rows, "rate", "Message rate", words),
            _section(a, rows, "ring", "Token ring", words),
            _energy(a),
        ],
        cards=_cards(a),
        intro=(
            "All figures on messages that the dissertation (D) gives in words or numbers. It measured a prototype over "
            f"GASNet between nodes with InfiniBand; ours are of {place.words}.",
            "The verdicts are computed from these samples; reasons that several rows share are notes below the table.",
        ),
        rows_are="figures",
        published_nav="Published figures",
        medians_are="Medians over the repeats, and the middle half of them.",
        medians=_medians(a),
        samples=_samples(a),
        method="am/method.html.j2",
        more={"facts": told | {"min_time_s": facts.number("min_time_s")}, "provenance": a.provenance()},
    )


def _section(a: Analysis, rows: list[Row], id: str, title: str, words: dict[str, str]) -> Section:
    beside = ("beside", BESIDE.format(STATEMENTS[id]))
    return Section(id, title, [("p", words[id]), _legend(a, id), ("figures", _figures(a, id)), beside, chips(rows, id)])


def _energy(a: Analysis) -> Section:
    kind = a.provenance()
    words = {
        "measured": "A sensor measures the machine: both PEs' joules.",
        "modelled": "PE 0's alone, modelled from its time in each state and its bytes.",
    }
    text = ENERGY.format(kind, words.get(kind) or f"Not known here: {a.why_no_joules}.")
    beside = ("beside", "The paper gives no joules for messages.")
    blocks = [("p", text), _legend(a, "energy"), ("small", _figures(a, "energy")), beside]
    return Section("energy", "Energy of a message", blocks, "Energy")


def _legend(a: Analysis, name: str) -> Block:
    """The ways in a section's figures: name, look, description."""
    series = ("bandwidth", "rate", "ring") if name == "energy" else (name,)
    there = {way for s in series for test in ("uni", "bi", "ring") for way in a.ways(s, test)}
    if name == "energy":
        there -= {"ucx"}
    return "legend long", [(NAMES[way], LOOKS[way], STEPS[way]) for way in NAMES if way in there]


def _cards(a: Analysis) -> list[tuple[str, str, str]]:
    cards = []
    if (case := last_case(a, "rate", "uni")) and (c := a.center("rate", case, "am")):
        cards.append((METRICS["rate"].shown(c.median), "active messages", f"4 B, {case.in_flight:,} in flight"))
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


def _case(case: Case, way: str) -> list[str]:
    flight = f"{case.in_flight:,}" if case.in_flight else "any"
    return [case.series, case.test, NAMES[way], units.size(case.bytes), flight, str(case.pes)]


HEADS = ("series", "test", "way", "each", "in flight", "PEs")


def _medians(a: Analysis) -> tuple[Any, ...]:
    lines = [
        [
            *_case(case, way),
            *(cell(a.center(m, case, way), METRICS[m].shown) for m in ("time", "rate", "bandwidth")),
            energy_of(a, case, way),
        ]
        for case, way in a.cells()
    ]
    return (*HEADS, "a message", "rate", "bandwidth", "joules a message"), lines, range(3, 10)


def _samples(a: Analysis) -> tuple[Any, ...]:
    """Every sample, one row each."""
    lines = [
        [
            *_case(Case(row["series"], row["test"], row["bytes"], row["in_flight"], row["pes"]), row["way"]),
            str(row["repeat"]),
            str(row["turn"]),
            f"{row['messages']:,.0f}" if row["messages"] is not None else units.UNKNOWN,
            units.seconds(row["message_s"]),
            *(units.UNKNOWN if row[f"{d}_J"] is None else si(row[f"{d}_J"], "J") for d in ("cpu", "dram")),
            row["cpu_provenance"],
            {True: "yes", False: "NO", None: "not checked"}[row["verified"]],
        ]
        for row in a.frame.sort("series", "test", "bytes", "in_flight", "pes", "repeat", "turn").iter_rows(named=True)
    ]
    heads = (*HEADS, "repeat", "turn", "messages", "a message", "CPU", "DRAM", "joules are", "verified")
    return heads, lines, range(3, 12)


LOOKS = {
    "am": Look("--first", "circle"),
    "put": Look("--second", "square-open", "dot"),
    "nbi": Look("--third", "diamond", "dashdot"),
    "mpi": Look("--fourth", "circle-open", "dash"),
    "ucx": Look("--yield", "square", "dot"),
    "own": Look("--first", "circle"),
    "shared": Look("--second", "square-open", "dot"),
}
DIRECTIONS = {"uni": "one direction", "bi": "both directions"}


# Of each section's figures: id, title, metric, series, test, the case's number along the axis, and the axis.
FIGURES = {
    "bandwidth": [
        (f"bandwidth-{test}", f"Bandwidth, {words}", "bandwidth", "bandwidth", test, "bytes", "bytes")
        for test, words in DIRECTIONS.items()
    ],
    "rate": [
        (f"rate-{test}", f"Message rate, {words}", "rate", "rate", test, "in_flight", "messages in flight")
        for test, words in DIRECTIONS.items()
    ],
    "ring": [
        ("ring-lap", "Token ring, round trip", "lap", "ring", "ring", "pes", "PEs"),
        ("ring-hop", "Token ring, a hop", "time", "ring", "ring", "pes", "PEs"),
    ],
    "energy": [
        ("energy-rate", "4 B, one direction", "energy", "rate", "uni", "in_flight", "messages in flight"),
        ("energy-size", "By size, one direction", "energy", "bandwidth", "uni", "bytes", "bytes"),
        ("energy-ring", "Token ring, a hop", "energy", "ring", "ring", "pes", "PEs"),
    ],
}


def _figures(a: Analysis, section: str) -> list[Figure]:
    return [_figure(a, *told) for told in FIGURES[section]]


def _figure(a: Analysis, id: str, title: str, metric: str, series: str, test: str, x: str, axis: str) -> Figure:
    cases = a.cases(series, test, ())
    counts = [getattr(case, x) for case in cases]
    traces = [t for way in NAMES if (t := _line(a, metric, series, test, way, x, cases))]
    lower = METRICS[metric].unit in ("s", "J")
    note = "lower is better" if lower else "higher is better"
    if metric == "energy":
        note += f"; {a.provenance()}" if traces else "; not known here"
    return Figure(
        id=id,
        title=title,
        label=f"{title}: {METRICS[metric].label} against {axis}, a line for each way of sending",
        traces=traces,
        layout={
            "xaxis": counted_axis(counts, axis),
            "yaxis": value_axis(METRICS[metric].unit, log=spans_a_decade(traces)),
        },
        note=note,
        height=280 if metric == "energy" else 320,
    )


def counted_axis(counts: Sequence[int], title: str) -> dict[str, Any]:
    """A logarithmic axis of powers of two with at most eight labels."""
    step = -(-len(counts) // 8) if counts else 1
    ticks = list(counts)[::step]
    return {
        "type": "log",
        "tickmode": "array",
        "tickvals": ticks,
        "ticktext": [short_count(t) if t < 1 << 20 else f"{t >> 20} Mi" for t in ticks],
        "title": {"text": title},
    }


def _line(a: Analysis, metric: str, series: str, test: str, way: str, x: str, cases: list[Case]) -> Trace | None:
    """A way's medians with their middle halves; None where it has none. UCX's rate has no number in flight, so it is a
    level.
    """
    level = a.only_case(series, test, way) if way == "ucx" and series == "rate" else None
    points = [(getattr(case, x), a.center(metric, level or case.sent_by(way), way)) for case in cases]
    found = [(at, c) for at, c in points if c]
    trace = through(found, LOOKS[way], NAMES[way], lambda at, c: _hover(a, metric, way, at, c))
    return {**trace, "mode": "lines"} if trace and level else trace


def _hover(a: Analysis, metric: str, way: str, at: float, c: Center) -> Markup:
    kind = METRICS[metric]
    return hover_text(
        NAMES[way],
        [
            ("at", f"{at:,}"),
            *hover_lines(kind.label, c, kind.shown),
            ("repeats", str(c.n)),
            ("provenance", a.provenance((way,)) if metric == "energy" else "measured"),
        ],
    )
