"""The page of the pattern study."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from wattle.base.checked import Checked
from wattle.html.figures import (
    Figure,
    Look,
    Trace,
    fragments_axis,
    hover_text,
    line,
    percent_range,
    published_band,
    spans_a_decade,
    value_axis,
)
from wattle.study.medians import cell, hover_lines
from wattle.study.page import Block, Parts, Section, chips
from wattle.study.patterns.analysis import IMPACT_METRICS, METRICS, PATTERNS, TRANSFORMATIONS, Analysis
from wattle.study.patterns.judges import PAPERS
from wattle.study.published import Row
from wattle.study.stats import Center
from wattle.text import units
from wattle.text.units import si

STEPS = {
    "MPQMPQ": "copy to a pinned buffer, blocking put, quiet; for each user buffer",
    "PQPQ": "blocking put, quiet; for each user buffer",
    "MPMPQ": "copy to a pinned buffer, non-blocking put; for each user buffer; then one quiet",
    "PPQ": "non-blocking put for each user buffer; then one quiet",
    "MMPQAMM": "pack all user buffers, one put, quiet, atomic flag; the receiver polls the flag and unpacks",
}
ORDER = Markup(
    "<b>Published:</b> from the most expensive to the cheapest, MPQMPQ ~ PQPQ &gt; MPMPQ ~ PPQ &gt; MMPQAMM, in "
    "energy and in latency, for medium to bulk transfers (slides) and beyond 256 puts (D 8.3); the message rate flat "
    "beyond 64 puts for all but MMPQAMM. The texts at hand lack the plots, so no published curve is drawn."
)
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
NAV = {"pin": "Pinning", "non-block": "Non-blocking", "aggregate": "Aggregation", "payload": "Payload"}
NUMBER = ("published number, where it holds", Look("--published", "", "dash"))


def parts(a: Analysis, rows: list[Row], facts: Checked) -> Parts:
    return Parts(
        sections=[_patterns(a, rows), *_transformations(a, rows)],
        cards=_cards(a),
        intro=(
            "All figures that the papers give in words or numbers. They measured all except the idle watts between two "
            f"nodes over InfiniBand, one PE on each (D A.3; S); ours are of {a.place.words}.",
            "The texts at hand have numbers and sentences but no plots. D is S. Jana's dissertation (2016), S the "
            "slides of PGAS 2014. Savings are (before − after) / before. The verdicts are computed from these samples; "
            "reasons that several rows share are notes below the table.",
        ),
        rows_are="figures",
        published_nav="Published figures",
        medians_are="Medians over the repeats, and the middle half of them.",
        medians=_medians(a),
        samples=_samples(a),
        method="patterns/method.html.j2",
        more={
            "facts": {
                "min_iterations": facts.count("min_iterations") if facts.has("min_iterations") else None,
                "clear": (facts.text("clear") if facts.has("clear") else "") or "not recorded",
                "pinned": facts.flag("pinned"),
                "gap": facts.count("gap"),
                "repeats": facts.integer("repeats", lo=1),
                "min_time_s": facts.number("min_time_s"),
            },
            "doubt": {d: units.doubt(a.uncertainty(d)) for d in ("cpu", "dram")},
        },
    )


def _patterns(a: Analysis, rows: list[Row]) -> Section:
    whose = "Energy is that of both PEs: a sensor measures their machine." if a.saw_both else "Energy is the sender's."
    text = (
        f"The same {units.size(a.payload)} in 1 to {a.fragments[-1]:,} discrete user buffers. Points are medians of "
        f"{units.several(a.repeats, 'repeat')}, whiskers their middle half; axes are logarithmic where values span a "
        f"decade. {whose}"
    )
    legend = [(p, LOOKS[p], STEPS[p]) for p in PATTERNS if p in a.patterns]
    order = [
        (r, f"{r.published.split(':')[0]}, {'bulk' if r.id.endswith('bulk') else 'beyond 256'}")
        for r in rows
        if r.about == "order"
    ]
    blocks: list[Block] = [
        *(("p", text), ("legend long", legend), ("figures", metric_figures(a)), ("beside", ORDER)),
        ("chips", order + chips(rows, "rate")[1]),
    ]
    return Section("patterns", "The patterns", blocks)


def _transformations(a: Analysis, rows: list[Row]) -> list[Section]:
    smaller = ("payload", "Move a smaller payload", "MPQMPQ, each payload to its half")
    all_of = [(t.name, t.title, "; ".join(f"{x} → {y}" for _, x, y in t.forms)) for t in TRANSFORMATIONS.values()]
    found = []
    for id, title, forms in (*all_of, smaller):
        text = (
            f"{forms}. Percent saved: above zero the change saves. Whiskers are the interval of the median over "
            f"{units.several(a.repeats, 'pair')}, one for each repeat."
        )
        legend = legends(a)[id] + ([NUMBER] if id != "payload" else [])
        beside = Markup("<b>Published:</b> {}").format(STATEMENTS[id])
        blocks = [("p", text), ("beside", beside), ("legend", legend), ("small", saving_figures(a, id))]
        found.append(Section(id, title, [*blocks, chips(rows, id)], NAV[id]))
    return found


def _cards(a: Analysis) -> list[tuple[str, str, str]]:
    cards = []
    bulk = a.center("bandwidth", "PPQ", a.fragments[0])
    if bulk:
        cards.append((METRICS["bandwidth"].shown(bulk.median), "bandwidth in one piece", "PPQ, caches cleared"))
    rate = a.center("rate", "PPQ", a.fragments[-1])
    if rate:
        cards.append((METRICS["rate"].shown(rate.median), "puts, non-blocking", f"PPQ, {a.fragments[-1]:,} fragments"))
    saving = a.saving("latency", "PQPQ", "PPQ", a.fragments[-1])
    if saving:
        cards.append((units.percent(saving.median), "time saved by one quiet for all", "PQPQ → PPQ, most fragments"))
    energy = a.center("energy", "PPQ", a.fragments[0])
    if energy:
        cards.append((si(energy.median, "J"), "for one payload, CPU + DRAM", f"PPQ, {a.provenance('energy')}"))
    return cards


def _medians(a: Analysis) -> tuple[Any, ...]:
    """Median and quartiles of every metric."""
    lines = [
        [
            *(pattern, f"{n:,}", units.size(a.payload / n)),
            *(cell(a.center(m, pattern, n), METRICS[m].shown) for m in SHOWN),
        ]
        for pattern in a.patterns
        for n in a.fragments
    ]
    figures = ("CPU energy", "DRAM energy", "latency", "bandwidth", "message rate", "EDP")
    return ("pattern", "fragments", "each", *figures), lines, range(1, 9)


def _samples(a: Analysis) -> tuple[Any, ...]:
    """Every sample, one row each."""
    lines = [
        [
            row["pattern"],
            units.size(row["payload"]),
            *(str(row[key]) for key in ("fragments", "repeat", "turn", "iterations")),
            units.seconds(row["latency_s"]),
            f"{units.seconds(row['latency_p25_s'])} to {units.seconds(row['latency_p75_s'])}",
            units.seconds(row["unpack_s"]),
            METRICS["cpu"].shown(row["cpu_J"]),
            METRICS["dram"].shown(row["dram_J"]),
            row["cpu_provenance"],
            "yes" if row["verified"] else "NO",
        ]
        for row in a.frame.sort("series", "payload", "fragments", "repeat", "turn").iter_rows(named=True)
    ]
    heads = ("pattern", "payload", "fragments", "repeat", "turn", "iterations", "latency", "middle half", "unpack")
    return (*heads, "CPU", "DRAM", "joules are", "data verified"), lines, range(1, 11)


SHOWN = ("cpu", "dram", "latency", "bandwidth", "rate", "edp")

# Filled markers and solid lines: the source is copied (M). Open markers and dashed lines: it is pinned. The colour
# shows how often a quiet is called.
LOOKS = {
    "MPQMPQ": Look("--mpqmpq", "circle"),
    "PQPQ": Look("--pqpq", "circle-open", "dot"),
    "MPMPQ": Look("--mpmpq", "square"),
    "PPQ": Look("--ppq", "square-open", "dot"),
    "MMPQAMM": Look("--mmpqamm", "diamond"),
}
FORM_LOOKS = (Look("--first", "circle"), Look("--second", "square-open", "dot"), Look("--third", "diamond", "dashdot"))


def metric_figures(a: Analysis) -> list[Figure]:
    return [_metric_figure(a, name) for name in SHOWN]


def _metric_figure(a: Analysis, name: str) -> Figure:
    metric = METRICS[name]
    traces = [_pattern_line(a, name, p) for p in a.patterns]
    better = "lower is better" if metric.lower_is_better else "higher is better"
    return Figure(
        id=f"metric-{name}",
        title=metric.label,
        label=f"{metric.label} against the number of fragments, a line for each pattern",
        traces=traces,
        layout={
            "xaxis": fragments_axis(a.fragments, dense=True),
            "yaxis": value_axis(metric.unit, log=spans_a_decade(traces)),
        },
        note=better + (f"; {a.provenance(name)}" if metric.energy else ""),
    )


def _pattern_line(a: Analysis, name: str, pattern: str) -> Trace:
    found = [a.center(name, pattern, n) for n in a.fragments]
    hover = [_value_hover(a, name, pattern, n, c) for n, c in zip(a.fragments, found, strict=True)]
    quartiles = [c.p25 if c else None for c in found], [c.p75 if c else None for c in found]
    return line(a.fragments, [c.median if c else None for c in found], *quartiles, LOOKS[pattern], pattern, hover)


def _value_hover(a: Analysis, name: str, pattern: str, n: int, found: Center | None) -> str:
    if found is None:
        return ""
    return hover_text(
        pattern,
        [
            ("fragments", f"{n:,} of {units.size(a.payload / n)}"),
            *hover_lines(METRICS[name].label, found, METRICS[name].shown),
            ("repeats", str(found.n)),
            ("provenance", a.provenance(name)),
        ],
    )


# ---- savings ----


def saving_figures(a: Analysis, name: str) -> list[Figure]:
    """The figures of a transformation, one small figure for each metric."""
    if name == "payload":
        return [_payload_figure(a, m) for m in IMPACT_METRICS]
    return [_transformation_figure(a, name, m) for m in IMPACT_METRICS]


def _transformation_figure(a: Analysis, name: str, metric: str) -> Figure:
    forms = TRANSFORMATIONS[name].forms
    traces = [
        _saving_line(a, metric, label, look, a.fragments, [a.saving(metric, before, after, n) for n in a.fragments])
        for (label, before, after), look in zip(forms, FORM_LOOKS, strict=False)
    ]
    return _saving_figure(a, name, metric, a.fragments, [*_published(a, name, metric), *traces])


def _payload_figure(a: Analysis, metric: str) -> Figure:
    counts = a.payload_fragments()
    traces = [
        _saving_line(a, metric, label, look, counts, [a.payload_saving(metric, before, after, n) for n in counts])
        for (label, before, after), look in zip(_halvings(a), FORM_LOOKS, strict=False)
    ]
    return _saving_figure(a, "payload", metric, counts, traces)


def _halvings(a: Analysis) -> list[tuple[str, int, int]]:
    pairs = pairwise(a.payloads)
    return [(f"{units.size(before)} → {units.size(after)}", before, after) for before, after in pairs]


def _published(a: Analysis, name: str, metric: str) -> list[Trace]:
    if not a.fragments:
        return []
    end = a.fragments[-1]
    found = [m for m in PAPERS.marks if (m["change"], m["metric"]) == (name, metric) and m["first"] <= end]
    return [published_band(m["first"], min(m["last"], end), m["lo"], m["hi"], m["words"]) for m in found]


def _saving_figure(a: Analysis, name: str, metric: str, counts: Sequence[int], traces: list[Trace]) -> Figure:
    label = METRICS[metric].label
    title = "EDP" if metric == "edp" else label
    known = any(value is not None for trace in traces if trace["name"] != "published" for value in trace["y"])
    return Figure(
        id=f"saving-{name}-{metric}",
        title=title,
        label=f"Percent of {label} saved against the number of fragments, with the published values",
        traces=traces,
        layout={
            "xaxis": fragments_axis(counts, dense=False),
            "yaxis": {"ticksuffix": " %", "zeroline": True, "zerolinewidth": 1.5, "range": percent_range(traces)},
        },
        height=240,
        note=a.provenance(metric) if known else "not known here",
    )


def _saving_line(
    a: Analysis, metric: str, label: str, look: Look, counts: Sequence[int], found: list[Center | None]
) -> Trace:
    hover = [_saving_hover(a, metric, label, n, c) for n, c in zip(counts, found, strict=True)]
    interval = [c.lo if c else None for c in found], [c.hi if c else None for c in found]
    return line(counts, [c.median if c else None for c in found], *interval, look, label, hover)


def _saving_hover(a: Analysis, metric: str, label: str, n: int, found: Center | None) -> str:
    if found is None:
        return ""
    return hover_text(
        label,
        [
            ("fragments", f"{n:,}"),
            (f"{METRICS[metric].label} saved", units.percent(found.median)),
            (f"{found.confidence * 100:.0f} % interval", f"{units.percent(found.lo)} to {units.percent(found.hi)}"),
            ("pairs", str(found.n)),
            ("provenance", a.provenance(metric)),
        ],
    )


def legends(a: Analysis) -> dict[str, list[tuple[str, Look]]]:
    """The lines of each transformation with their looks."""
    found = {
        t.name: [(label, look) for (label, _, _), look in zip(t.forms, FORM_LOOKS, strict=False)]
        for t in TRANSFORMATIONS.values()
    }
    found["payload"] = [(label, look) for (label, _, _), look in zip(_halvings(a), FORM_LOOKS, strict=False)]
    return found
