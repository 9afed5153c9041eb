"""Heat maps of the study of payload and fragments: one for each metric that is known here."""

from __future__ import annotations

from wattle.html.figures import Figure, heat_map, hover_text, powers_axis, short_count
from wattle.study.fragments.analysis import METRICS, Analysis
from wattle.text import units
from wattle.text.units import in_unit

SHOWN = (
    "cpu",
    "dram",
    "instructions",
    "bandwidth",
    "latency",
    "cpu_power",
    "dram_power",
    "power",
    "misses",
    "sent",
    "received",
)
AXES = "payload in bytes along x, number of fragments along y"


def shown(metric: str, value: float | None) -> str:
    """An amount with its unit."""
    unit = METRICS[metric].unit
    return in_unit(value, unit) if unit else units.count(value)


def shown_at(a: Analysis, metric: str, payload: int, fragments: int) -> str:
    """The amount of a cell with its unit: `below 4 µJ` where its half-width exceeds it."""
    below = a.below(metric, payload, fragments)
    return shown(metric, a.value(metric, payload, fragments)) if below is None else f"below {shown(metric, below)}"


def maps(a: Analysis) -> list[Figure]:
    return [_map(a, name) for name in SHOWN if a.values(name)]


def missing(a: Analysis) -> list[tuple[str, str]]:
    """(label, reason) of each metric that has no map."""
    return [(METRICS[name].label, a.why_not(name)) for name in SHOWN if not a.values(name)]


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
