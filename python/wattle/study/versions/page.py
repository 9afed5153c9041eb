"""The page of a study of a mini-app's versions."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from wattle.base.checked import Checked
from wattle.html.figures import Figure, Look, Trace, amounts_axis, hover_text
from wattle.study.medians import cell, hover_lines
from wattle.study.page import Block, Parts, Section
from wattle.study.stats import Center
from wattle.study.versions.analysis import METRICS, STAGES, Analysis
from wattle.text import units
from wattle.text.units import si, si_scale

VERSIONS = (
    "They differ only in the way they send messages. Each point below is one run. A box is the middle half of the runs "
    "with the median in it; whiskers reach up to one and a half times its height."
)
HELD = "Workers without work: the first work was held back, so that they only waited. Their use of a core meanwhile:"
WAITS = (
    "Waits by stage, of whole jobs. They include start-up, reading and checking, during which all but PE 0 wait. A PE "
    "that waits first polls for as long as a sleep would cost: it spins, or yields where there are more PEs than "
    "cores. Then it sleeps. Scanning buckets counts as active."
)


def parts(a: Analysis, words: dict[str, str], facts: Checked) -> Parts:
    return Parts(
        sections=[*_versions(a, words), *_waiting(a)],
        cards=_cards(a),
        intro=(
            "The dissertation's statements in words; the text at hand lacks the plots.",
            "D is S. Jana's dissertation (2016). Ratios are quotients of medians. The brackets hold the middle half of "
            "the runs' ratios, paired in the order of the runs.",
        ),
        medians_are="Medians over the runs, and the middle half of them.",
        medians=_medians(a),
        samples=_samples(a),
        method="versions/method.html.j2",
        more={
            "facts": {key: facts.integer(key, lo=1) for key in ("rounds", "each")},
            "doubt": units.doubt(a.uncertainty),
        },
    )


def _versions(a: Analysis, words: dict[str, str]) -> list[Section]:
    """The versions, and the figures of each input."""
    looks = [(v, LOOKS[v]) for v in a.versions]
    legend: list[tuple[str, Look | None, str]] = [(name, look, words[name]) for name, look in looks]
    legend += [(name, None, f"left out: {reason}") for name, reason in a.left_out.items()]
    found = [Section("versions", "The versions", [("p", VERSIONS), ("legend long", legend)])]
    for given in a.inputs:
        blocks = [("legend", looks), ("small", metric_figures(a, given))]
        found.append(Section(figure_id("on", given), _begun(given), blocks, _begun(given.split(",")[0])))
    return found


def _begun(words: str) -> str:
    return words[:1].upper() + words[1:]


def _waiting(a: Analysis) -> list[Section]:
    blocks: list[Block] = []
    if a.held:
        lines = [
            [h.version, str(h.pes), units.seconds(h.wait_s), units.seconds(h.wait_cpu_s), f"{h.share * 100:.2g} %"]
            for h in a.held
        ]
        heads = ("version", "PEs", "waited, in total", "on a core", "share")
        blocks += [("p", HELD), ("table", (heads, lines, range(1, 5)))]
    if waits := waits_figure(a):
        blocks += [("p", WAITS), ("single", [waits])]
    return [Section("waiting", "Waiting", blocks)] if blocks else []


def _cards(a: Analysis) -> list[tuple[str, str, str]]:
    given, n = a.inputs[-1], a.pes[-1]
    where = f"{given.split(',')[0]}, {units.several(n, 'PE')}, ratio of the medians"
    pairs = [(other, a.ratio("seconds", "am", other, given, n)) for other in a.versions if other != "am"]
    cards = [(f"{found.median:.2f}", f"time of am over {other}", where) for other, found in pairs if found]
    held = [
        (f"{h.share * 100:.2g} %", "of the time on a core, without work", f"am, {units.several(h.pes, 'PE')}")
        for h in a.held
        if h.version == "am"
    ]
    return [*cards, *held]


def _medians(a: Analysis) -> tuple[Any, ...]:
    """Median and quartiles of every metric. Versions that are compared share a unit."""
    lines = []
    for given in a.inputs:
        for n in a.pes:
            scales = {m: _scale(m, [a.center(m, v, given, n) for v in a.versions]) for m in METRICS}
            for version in a.versions:
                cells = (
                    cell(a.center(m, version, given, n), partial(amount, m, scale=scale)) for m, scale in scales.items()
                )
                lines.append([given, str(n), version, *cells])
    heads = ("input", "PEs", "version", *(metric.label for metric in METRICS.values()))
    return heads, lines, (1, *range(3, 99))


def _scale(metric: str, found: list[Center | None]) -> units.Scale:
    return si_scale((c.median for c in found if c), METRICS[metric].unit)


def _samples(a: Analysis) -> tuple[Any, ...]:
    """Every sample, one row each."""
    lines = [
        [
            *(str(row[key]) for key in ("input", "series", "version", "pes", "round", "repeat")),
            *(units.seconds(row[key]) for key in ("seconds", "cpu_s", "wait_s", "wait_cpu_s")),
            amount("energy", row["cpu_J"]),
            row["cpu_provenance"],
            {True: "yes", False: "NO", None: "not checked"}[row["verified"]],
        ]
        for row in a.frame.sort("input", "series", "pes", "job", "repeat").iter_rows(named=True)
    ]
    heads = ("input", "series", "version", "PEs", "round", "repeat", "time", "CPU", "waited for work", "on a core")
    return (*heads, "CPU energy", "joules are", "verified"), lines, range(3, 11)


LOOKS = {
    "mpi": Look("--first", "circle"),
    "bucket": Look("--second", "square-open"),
    "am": Look("--third", "diamond"),
    "steal": Look("--fourth", "circle-open"),
}
STAGE_COLOURS = {"active": "--compute", "spin": "--spin", "yield": "--yield", "asleep": "--asleep"}
LEGEND_PX = 26


def figure_id(*parts: str) -> str:
    return "-".join(re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts)


def metric_figures(a: Analysis, given: str) -> list[Figure]:
    """Time, CPU seconds and joules of one input."""
    return [_boxes(a, metric, given) for metric in METRICS]


def amount(metric: str, value: float | None, scale: units.Scale | None = None) -> str:
    if value is None:
        return units.UNKNOWN
    return si(value, METRICS[metric].unit, scale)


def _boxes(a: Analysis, metric: str, given: str) -> Figure:
    kind = METRICS[metric]
    traces = [trace for version in a.versions if (trace := _box(a, metric, version, given))["y"]]
    note = a.provenance(metric) if kind.energy else "lower is better"
    return Figure(
        id=figure_id(metric, given),
        title=kind.label,
        label=f"{kind.label} of {given}: a box of all runs for each version and number of PEs",
        traces=traces,
        layout={
            "boxmode": "group",
            "boxgap": 0.25,
            "boxgroupgap": 0.15,
            "xaxis": {"type": "category", "title": {"text": "PEs"}, "categoryarray": [str(n) for n in a.pes]},
            "yaxis": amounts_axis(traces, kind.unit),
        },
        note=note,
    )


def _box(a: Analysis, metric: str, version: str, given: str) -> Trace:
    x: list[str] = []
    y: list[float] = []
    hover: list[str] = []
    for n in a.pes:
        values = [v for v in a.values(metric, version, given, n) if v is not None]
        found = a.center(metric, version, given, n)
        if found is None:
            continue
        x += [str(n)] * len(values)
        y += values
        text = hover_text(
            f"{version}, {units.several(n, 'PE')}",
            [
                *hover_lines("median", found, partial(amount, metric)),
                ("lowest, highest", f"{amount(metric, min(values))}, {amount(metric, max(values))}"),
                ("runs", str(found.n)),
            ],
        )
        hover += [text] * len(values)
    look = LOOKS[version]
    return {
        "type": "box",
        "name": version,
        "x": x,
        "y": y,
        "text": hover,
        "customdata": hover,
        "hoverinfo": "text",
        "hoveron": "points",
        "hovertemplate": "%{customdata}<extra></extra>",
        "boxpoints": "all",
        "jitter": 0.5,
        "pointpos": 0,
        "offsetgroup": version,
        "line": {"color": look.colour, "width": 1.4},
        "fillcolor": "rgba(0,0,0,0)",
        "marker": {"color": look.colour, "size": 3.5, "opacity": 0.55, "symbol": look.symbol},
    }


def waits_figure(a: Analysis) -> Figure | None:
    """PE-seconds by stage, version and number of PEs. None where no version counted them."""
    points = [(v, n, shares) for n in a.pes for v in a.versions if (shares := a.waits(v, n))]
    if not points:
        return None
    # Two rows of labels: the versions, and below them the numbers of PEs.
    x = [[units.several(n, "PE") for _, n, _ in points], [v for v, _, _ in points]]
    return Figure(
        id="waits",
        title="PE-seconds from init to finalize, by state of the PE",
        label="Shares of all PE-seconds: active, spinning, yielding, asleep; a bar for each version and number of PEs",
        traces=[
            {
                "type": "bar",
                "name": stage,
                "x": x,
                "y": [shares[stage] * 100 for _, _, shares in points],
                "marker": {"color": STAGE_COLOURS[stage]},
                "customdata": [
                    hover_text(f"{v}, {units.several(n, 'PE')}", [(stage, f"{shares[stage] * 100:.1f} %")])
                    for v, n, shares in points
                ],
                "hovertemplate": "%{customdata}<extra></extra>",
            }
            for stage in STAGES
        ],
        layout={
            "barmode": "stack",
            "bargap": 0.25,
            "showlegend": True,
            "xaxis": {"type": "multicategory"},
            "yaxis": {"ticksuffix": " %", "range": [0, 100]},
            "margin": {"l": 8, "r": 14, "t": 12 + LEGEND_PX, "b": 8},
        },
        height=360,
        note="counted by the runtime; MPI's own waits are not",
    )
