"""The page of the study of waiting at a barrier."""

from __future__ import annotations

from wattle.html.figures import Trace, published_band
from wattle.study.barrier.judges import INTERCEPT, LATE, SCALE, SLOPE, waiting
from wattle.study.sweep.analysis import Analysis, Point
from wattle.study.sweep.figures import lines, look_of, plain_axis
from wattle.study.sweep.page import Section
from wattle.study.sweep.samples import WAITS


def _by_wait(a: Analysis, series: str) -> list[tuple[str, object, list[Point]]]:
    return [(wait, look_of(wait), a.select(series=series, wait=wait, mode="off")) for wait in WAITS]


def _by_mode(a: Analysis, scaling: str) -> list[tuple[str, object, list[Point]]]:
    modes = ("baseline", "performance", "energy", "hybrid")
    return [(mode, look_of(mode), a.select(series=LATE, mode=mode, scaling=scaling)) for mode in modes]


def sections(a: Analysis) -> list[Section]:
    found = a.select(series=LATE)
    ticks = sorted({p.x or 0 for p in found})
    late = plain_axis("T, ms", True, ticks)
    counts = sorted({p.pes - 1 for p in a.select(series=SCALE)})
    pes = plain_axis("PEs that wait", False, counts)

    def x(point: Point) -> float:
        return point.x or 0

    energy = lines(a, "late-node", "Energy of the node", "node", _by_wait(a, LATE), x, late)
    energy.traces.append(_published(ticks))
    energy.note += "; dashed: the papers' line, of another machine"
    acts = (
        ""
        if a.knob.acts
        else " The knob only records, so the figures show the cost of the modes and not their savings."
    )
    return [
        Section(
            "late",
            "Waiting in time",
            (
                "PE 1 arrives T late (it sleeps meanwhile) and PE 0 waits. There is a wait of each length under "
                "each wait policy."
            ),
            [
                lines(a, "late-own", "Energy of the PEs", "own", _by_wait(a, LATE), x, late),
                energy,
                lines(a, "late-cpu", "CPU seconds", "cpu_s", _by_wait(a, LATE), x, late),
                lines(a, "late-power", "Power of the PEs", "own_watts", _by_wait(a, LATE), x, late),
            ],
            WAITS,
        ),
        Section(
            "modes",
            "Modes",
            f"The same, spinning, with the governor in each mode.{acts}",
            [
                lines(a, f"mode-{metric}-{scaling}", f"{title}, {scaling}", metric, _by_mode(a, scaling), x, late)
                for scaling in ("reactive", "proactive")
                for metric, title in (("seconds", "Time"), ("node", "Energy of the node"))
            ],
            ("baseline", "performance", "energy", "hybrid"),
        ),
        Section(
            "scale",
            "Waiting in scale",
            "All but one PE wait, for 20 ms. Where there are more PEs than cores, they share them.",
            [
                lines(a, "scale-power", "Power of the PEs", "own_watts", _by_wait(a, SCALE), waiting, pes),
                lines(a, "scale-own", "Energy of the PEs", "own", _by_wait(a, SCALE), waiting, pes),
                lines(a, "scale-cores", "Cores in use", "cores", _by_wait(a, SCALE), waiting, pes),
                lines(a, "scale-time", "Time", "seconds", _by_wait(a, SCALE), waiting, pes),
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
