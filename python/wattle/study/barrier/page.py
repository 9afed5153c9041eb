"""The page of the study of waiting at a barrier."""

from __future__ import annotations

from wattle.html.figures import Trace, published_band
from wattle.study.barrier.judges import INTERCEPT, LATE, SCALE, SLOPE, waiting
from wattle.study.sweep.analysis import WAITS, Analysis
from wattle.study.sweep.page import Section, at_x, by_mode, by_wait, each_metric, lines, only_records, plain_axis
from wattle.study.sweep.plan import MODES, SCALINGS

TIME_AND_ENERGY = (("seconds", "Time"), ("node", "Energy of the node"))


def sections(a: Analysis) -> list[Section]:
    ticks = sorted({p.x or 0 for p in a.select(series=LATE)})
    late = plain_axis("T, ms", True, ticks)
    pes = plain_axis("PEs that wait", False, sorted({p.pes - 1 for p in a.select(series=SCALE)}))
    waits, scale = by_wait(a, series=LATE), by_wait(a, series=SCALE)
    energy = lines(a, "late-node", "Energy of the node", "node", waits, at_x, late)
    energy.traces.append(_published(ticks))
    energy.note += "; dashed: the papers' line, of another machine"
    acts = only_records(a, "the figures show the cost of the modes and not their savings")
    return [
        Section(
            "late",
            "Waiting in time",
            "PE 1 arrives T late (it sleeps meanwhile) and PE 0 waits. There is a wait of each length under each wait "
            "policy.",
            [
                lines(a, "late-own", "Energy of the PEs", "own", waits, at_x, late),
                energy,
                lines(a, "late-cpu", "CPU seconds", "cpu_s", waits, at_x, late),
                lines(a, "late-power", "Power of the PEs", "own_watts", waits, at_x, late),
            ],
            WAITS,
        ),
        Section(
            "modes",
            "Modes",
            f"The same, spinning, with the governor in each mode.{acts}",
            [
                figure
                for s in SCALINGS
                for figure in each_metric(
                    a, f"mode-{{}}-{s}", TIME_AND_ENERGY, by_mode(a, series=LATE, scaling=s), at_x, late, f"{{}}, {s}"
                )
            ],
            MODES,
        ),
        Section(
            "scale",
            "Waiting in scale",
            "All but one PE wait, for 20 ms. Where there are more PEs than cores, they share them.",
            [
                lines(a, "scale-power", "Power of the PEs", "own_watts", scale, waiting, pes),
                lines(a, "scale-own", "Energy of the PEs", "own", scale, waiting, pes),
                lines(a, "scale-cores", "Cores in use", "cores", scale, waiting, pes),
                lines(a, "scale-time", "Time", "seconds", scale, waiting, pes),
            ],
            WAITS,
        ),
    ]


def _published(ticks: list[float]) -> Trace:
    """The papers' line, from where it is above zero."""
    found = [(t, SLOPE * 1e-3 * t + INTERCEPT) for t in ticks if SLOPE * 1e-3 * t + INTERCEPT > 0]
    trace = published_band(0, 0, 0, 0, f"E = {SLOPE} T {INTERCEPT}")
    trace["x"], trace["y"] = [t for t, _ in found], [e for _, e in found]
    trace["customdata"] = [trace["text"]] * len(found)
    return trace
