"""What the dissertation says of clocks under a put (D chapter 12), and how it is held against the samples."""

from __future__ import annotations

from collections.abc import Callable

from wattle import units
from wattle.study.knob import Knob
from wattle.study.published import NotTestable, Outcome, Published, verdict_of
from wattle.study.stats import center
from wattle.study.sweep_analysis import Analysis, Point

PUTS, PLANES = "puts", "planes"
WAYS = ("direct", "active", "agent")
PAPER_GHZ = (1.2, 2.4, 2.901)
SETUP = "two nodes, Xeon E5-2690 over InfiniBand, the receiver's clock changed; HDEEM"
WIDE = 15.0  # percentage points that "about" allows
NONE = 5.0  # percent that is no impact


def wanted_clocks(knob: Knob) -> tuple[float, ...]:
    """The papers' three, as near as this machine comes, the lowest first; none where nothing can be set."""
    if not knob.acts:
        return ()
    return tuple(sorted({min(knob.clocks, key=lambda c: abs(c - ghz)) for ghz in PAPER_GHZ}))


def _impact(metric: str, way: str, ghz: float, who: str) -> Callable[[Analysis], list[tuple[Point, float]]]:
    """Percent saved at the clock nearest to `ghz` against the highest, by number of fragments."""

    def found(a: Analysis) -> list[tuple[Point, float]]:
        clocks = wanted_clocks(a.knob)
        if len(clocks) < 2:
            raise NotTestable(f"{a.knob.words}; the receiver's clock stays as it is")
        if metric in ("cpu", "dram", "own", "edp") and not (a.knows_clocks and a.select(who=who, series=PUTS)):
            raise NotTestable(f"joules are {a.provenance} here and do not follow the clock")
        clock = min(clocks, key=lambda c: abs(c - ghz))
        if clock == clocks[-1]:
            raise NotTestable(f"no clock near {ghz:g} GHz below the highest")
        pairs = []
        for point in a.select(series=PUTS, name=way, who=who, clock=clock):
            saved = a.saving(metric, a.like(point, clock=clocks[-1]), point)
            if saved is not None:
                pairs.append((point, saved.median))
        if not pairs:
            raise NotTestable(
                "one sensor sees both PEs of this node, so neither's joules are known apart"
                if a.knows_clocks
                else "was not measured"
            )
        return pairs

    return found


def _within(metric: str, way: str, ghz: float, who: str, lo: float, hi: float) -> Callable[[Analysis], Outcome]:
    def judge(a: Analysis) -> Outcome:
        pairs = _impact(metric, way, ghz, who)(a)
        middle = center(value for _, value in pairs)
        assert middle is not None
        ends = f"{units.percent(middle.lo)} to {units.percent(middle.hi)}"
        ours = f"{units.percent(middle.median)} in the median over fragments, {ends}"
        kind = "measured" if metric == "seconds" else a.provenance
        return Outcome(ours, verdict_of(lo <= middle.median <= hi), (), kind)

    return judge


def _row(
    name: str, figure: str, way: str, says: str, lo: float, hi: float, metric: str, ghz: float, who: str
) -> Published[Analysis]:
    tolerance = f"{units.percent(lo)} to {units.percent(hi)}"
    judge = _within(metric, way, ghz, who, lo, hi)
    condition = f"{way}; receiver at {ghz:g} GHz against 2.901"
    return Published(name, "published", f"D {figure}", condition, says, tolerance, judge, SETUP)


def _about(value: float) -> tuple[float, float]:
    return value - WIDE, value + WIDE


ROWS: list[Published[Analysis]] = [
    _row(
        "direct-cpu-2.4", "12.6.1, figure 12.5c", "direct", "receiver's CPU +50 %", *_about(50), "cpu", 2.4, "receiver"
    ),
    _row(
        "direct-cpu-1.2", "12.6.1, figure 12.5c", "direct", "receiver's CPU +68 %", *_about(68), "cpu", 1.2, "receiver"
    ),
    _row(
        "direct-dram",
        "12.6.1, figure 12.5d",
        "direct",
        "receiver's DRAM about +50 %",
        *_about(50),
        "dram",
        1.2,
        "receiver",
    ),
    _row("direct-sender", "12.6.1, figure 12.5a", "direct", "sender's CPU 0", -NONE, NONE, "cpu", 1.2, "sender"),
    _row("direct-latency", "12.6.1, figure 12.5e", "direct", "latency 0", -NONE, NONE, "seconds", 1.2, "sender"),
    _row("active-cpu", "12.6.2, figure 12.6c", "active", "receiver's CPU +50 %", *_about(50), "cpu", 2.4, "receiver"),
    _row(
        "active-dram-2.4",
        "12.6.2, figure 12.6d",
        "active",
        "receiver's DRAM +25 %",
        *_about(25),
        "dram",
        2.4,
        "receiver",
    ),
    _row(
        "active-dram-1.2",
        "12.6.2, figure 12.6d",
        "active",
        "receiver's DRAM -30 %",
        *_about(-30),
        "dram",
        1.2,
        "receiver",
    ),
    _row(
        "active-latency-2.4",
        "12.6.2, figure 12.6e",
        "active",
        "latency 0 to -20 %",
        -20 - NONE,
        NONE,
        "seconds",
        2.4,
        "sender",
    ),
    _row(
        "active-latency-1.2",
        "12.6.2, figure 12.6e",
        "active",
        "latency -75 to -98 %",
        -98 - NONE,
        -75 + NONE,
        "seconds",
        1.2,
        "sender",
    ),
    _row(
        "active-sender-1.2",
        "12.6.2, figure 12.6a",
        "active",
        "sender's CPU -75 to -98 %",
        -98 - NONE,
        -75 + NONE,
        "cpu",
        1.2,
        "sender",
    ),
    _row(
        "agent-latency-2.4",
        "12.6.3, figure 12.7e",
        "agent",
        "latency 0 to +20 %",
        -NONE,
        20 + NONE,
        "seconds",
        2.4,
        "sender",
    ),
    _row(
        "agent-latency-1.2",
        "12.6.3, figure 12.7e",
        "agent",
        "latency down to -50 %",
        -50 - NONE,
        0,
        "seconds",
        1.2,
        "sender",
    ),
]
