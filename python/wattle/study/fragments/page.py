"""The page of the study of payload and fragments."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from wattle.base.checked import Checked
from wattle.html.figures import Figure, heat_map, hover_text, powers_axis, short_count
from wattle.study.fragments.analysis import METRICS, SHOWN, Analysis, missing, shown, shown_at
from wattle.study.page import Block, Parts, Section, chips
from wattle.study.published import Row
from wattle.text import units

SECTIONS = {
    "energy": (
        "Energy",
        ("cpu", "dram", "instructions"),
        "Energy follows the number of instructions. For a fixed payload it rises with fragmentation, but that of bulk "
        "transfers not at first. With a constant number of fragments, messages of 2 B to 64 KiB cost the same, larger "
        "ones more (D 6.1).",
    ),
    "bandwidth": (
        "Bandwidth",
        ("bandwidth", "latency"),
        "For any size the most bandwidth is reached with the fewest fragments (D 6, figure 6.3).",
    ),
    "power": (
        "Power",
        ("cpu_power", "dram_power", "power"),
        "Small transfers draw 16 W (CPU) and 7 W (DRAM), bulk ones 16.2 and 9 W; together 23 and 28 W. CPU power is "
        "higher with very low fragmentation, and changes at the sizes of the L1 and L2 caches (D 6.2).",
    ),
    "counters": (
        "Cache misses and packets",
        ("misses", "sent", "received"),
        "Last-level cache misses rise in proportion beyond the L2 cache (D 6.2). Packets sent and received are "
        "proportional to the execution time (D 6.3).",
    ),
}


def parts(a: Analysis, rows: list[Row], facts: Checked) -> Parts:
    return Parts(
        sections=[_section(a, rows, name) for name in SECTIONS],
        cards=_cards(a),
        intro=(
            "All statements of chapter 6 with a number or a relation. The paper measured between two nodes over "
            f"InfiniBand, one PE on each; ours are of {a.place.words}.",
            "The text at hand has numbers and sentences but no plots. D is S. Jana's dissertation (2016). The verdicts "
            "are computed from these samples; reasons that several rows share are notes below the table.",
        ),
        published_nav="Published figures",
        samples_id="cells",
        medians_are="Medians over the repeats, for one payload.",
        medians=(
            ("payload", "fragments", "each", *(METRICS[name].label for name in SHOWN)),
            [
                [units.size(p), f"{n:,}", units.size(p / n), *(shown_at(a, name, p, n) for name in SHOWN)]
                for p, n in sorted(a.rows)
            ],
            range(1, 99),
        ),
        method="fragments/method.html.j2",
        more={
            "facts": {
                "clear": (facts.text("clear") if facts.has("clear") else "") or "not recorded",
                "pinned": facts.has("pinned") and facts.flag("pinned"),
                "repeats": facts.integer("repeats", lo=1),
                "min_time_s": facts.number("min_time_s"),
            },
            "doubt": {d: units.doubt(a.uncertainty(d)) for d in ("cpu", "dram")},
        },
    )


def _section(a: Analysis, rows: list[Row], id: str) -> Section:
    title, names, statement = SECTIONS[id]
    blocks: list[Block] = []
    if id == "energy":
        text = (
            "The same bytes by one call, or in fragments by many: a blocking put and a quiet each. Along x the payload "
            "grows, along y the number of fragments, both in powers of two. Each field is the median of "
            f"{units.several(a.repeats, 'repeat')}, for one payload."
        )
        blocks.append(("p", text))
    if figures := maps(a, names):
        blocks.append(("figures", figures))
    blocks += [("p", f"{label}: not known here, because {reason}.") for label, reason in missing(a, names)]
    return Section(id, title, [*blocks, ("beside", Markup("<b>Published:</b> {}").format(statement)), chips(rows, id)])


def _cards(a: Analysis) -> list[tuple[str, str, str]]:
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


AXES = "payload in bytes along x, number of fragments along y"


def maps(a: Analysis, names: Sequence[str]) -> list[Figure]:
    return [_map(a, name) for name in names if a.values(name)]


def _map(a: Analysis, name: str) -> Figure:
    metric = METRICS[name]
    x, y = ([k.bit_length() - 1 for k in numbers] for numbers in (a.payloads, a.counts))
    values = [[a.value(name, p, n) for p in a.payloads] for n in a.counts]
    hover = [[_hover(a, name, p, n) for p in a.payloads] for n in a.counts]
    where = f"interface {a.interface}" if name in ("sent", "received") else ""
    note = a.provenance(name) if metric.energy else "simulated" if a.place.simulated else where
    return Figure(
        id=f"map-{name.replace('_', '-')}",
        title=metric.label,
        label=f"Heat map of {metric.label}: {AXES}",
        traces=[heat_map(x, y, values, metric.unit, hover)],
        layout={
            "xaxis": powers_axis(x, "payload", lambda p: units.size(p).replace(".00", "").replace(".0", "")),
            "yaxis": powers_axis(y, "fragments", short_count),
        },
        note=note,
    )


def _hover(a: Analysis, name: str, payload: int, n: int) -> str:
    value = a.value(name, payload, n)
    if value is None:
        return ""
    return hover_text(
        f"{units.size(payload)} in {n:,}",
        [
            ("each", units.size(payload / n)),
            (METRICS[name].label, shown(name, value)),
            ("repeats", str(len(a.rows[payload, n]))),
            ("provenance", a.provenance(name)),
        ],
    )
