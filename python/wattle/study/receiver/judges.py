"""What the dissertation says of clocks under a put (D chapter 12), and how it is held against the samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from wattle import units
from wattle.study.published import NotTestable, Outcome, Published, Verdict, verdict_of
from wattle.study.stats import center
from wattle.study.sweep.analysis import Analysis, Point, own
from wattle.study.sweep.knob import Knob

PUTS, PLANES = "puts", "planes"
WAYS = ("direct", "active", "agent")
PAPER_GHZ = (1.2, 2.4, 2.901)
SETUP = "two nodes, Xeon E5-2690 over InfiniBand, the receiver's clock changed; HDEEM"
WIDE = 15.0  # percentage points that "about" allows
NONE = 5.0  # percent that is no impact
SERVED = "A simulated network moves nothing by itself: the receiver's core serves every put, at its clock."
SIMULATED = {
    "direct": SERVED,
    "agent": f"{SERVED} Both it and the waiting PE are on one core.",
    "active": "Half of a copy's time is taken to follow the clock (the cluster's copy_clock), and all of a message's.",
    "dram": "Simulated memory draws by time and bytes, alike at all clocks, so a longer transfer draws more of it.",
}
ANY = float("inf")
FEW, MANY, VERY_MANY = 64, 256, 32768  # puts: up to, from and beyond which the text says something else
Fragments = Callable[[float], bool]


def wanted_clocks(knob: Knob) -> tuple[float, ...]:
    """The papers' three, as near as this machine comes, the lowest first; none where nothing can be set."""
    if not knob.acts:
        return ()
    return tuple(sorted({min(knob.clocks, key=lambda c: abs(c - ghz)) for ghz in PAPER_GHZ}))


def _clock(a: Analysis, ghz: float) -> float:
    """The one nearest to the paper's."""
    clocks = wanted_clocks(a.knob)
    if len(clocks) < 2:
        raise NotTestable(f"{a.knob.words}; the receiver's clock stays as it is")
    clock = min(clocks, key=lambda c: abs(c - ghz))
    if clock == clocks[-1]:
        raise NotTestable(f"no clock near {ghz:g} GHz below the highest")
    return clock


def _edp(a: Analysis, sender: Point | None) -> list[float | None]:
    """Joules of both PEs, CPU and DRAM, times the latency at the sender, by repeat."""
    receiver = a.like(sender, who="receiver") if sender else None
    if sender is None or receiver is None:
        return []
    joules = [(own(s), own(r)) for s, r in zip(a.points[sender], a.points[receiver], strict=True)]
    times = [row["seconds"] for row in a.points[sender]]
    return [None if s is None or r is None else (s + r) * t for (s, r), t in zip(joules, times, strict=True)]


def _saved(a: Analysis, metric: str, before: Point | None, after: Point) -> float | None:
    found = a.saved(_edp(a, before), _edp(a, after)) if metric == "edp" else a.saving(metric, before, after)
    return found.median if found else None


def _impact(a: Analysis, metric: str, way: str, ghz: float, who: str) -> dict[float, float]:
    """Percent saved at the clock nearest to `ghz` against the highest, by number of fragments."""
    clock = _clock(a, ghz)
    if metric != "seconds" and not a.knows_clocks:
        raise NotTestable(a.why_no_clocks)
    found = {}
    for point in a.select(series=PUTS, name=way, who=who, clock=clock):
        saved = _saved(a, metric, a.like(point, clock=wanted_clocks(a.knob)[-1]), point)
        if saved is not None:
            found[point.x or 0.0] = saved
    if not found:
        raise NotTestable(
            "one sensor sees both PEs of this node, so neither's joules are known apart"
            if a.knows_clocks
            else "was not measured"
        )
    return found


def _outcome(a: Analysis, metric: str, percents: Iterable[float], lo: float, hi: float) -> Outcome:
    middle = center(percents)
    if middle is None:
        raise NotTestable("so many fragments were not measured")
    ends = f"{units.percent(middle.lo)} to {units.percent(middle.hi)}"
    ours = f"{units.percent(middle.median)} in the median over fragments, {ends}"
    kind = "measured" if metric == "seconds" else a.provenance
    return Outcome(ours, verdict_of(lo <= middle.median <= hi), (), kind)


def _explained(a: Analysis, found: Outcome, what: str) -> Outcome:
    """With the reason why a simulation differs."""
    if found.verdict is not Verdict.DIFFERS or not a.knob.simulated:
        return found
    return replace(found, why=(*found.why, SIMULATED[what]))


def _range(lo: float, hi: float) -> str:
    if lo == -ANY:
        return f"{units.percent(hi)} or less"
    return f"{units.percent(lo)} or more" if hi == ANY else f"{units.percent(lo)} to {units.percent(hi)}"


def _row(
    name: str,
    figure: str,
    way: str,
    says: str,
    lo: float,
    hi: float,
    metric: str,
    ghz: float,
    who: str = "sender",
    of: Fragments = lambda n: True,
    where: str = "",
) -> Published[Analysis]:
    """`of`: the numbers of fragments that the text speaks of, `where`: in words."""

    def judge(a: Analysis) -> Outcome:
        impact = _impact(a, metric, way, ghz, who)
        found = _outcome(a, metric, (percent for n, percent in impact.items() if of(n)), lo, hi)
        return _explained(a, found, "dram" if metric == "dram" else way)

    condition = f"{way}{where}; receiver at {ghz:g} GHz against 2.901"
    return Published(name, "published", f"D {figure}", condition, says, _range(lo, hi), judge, SETUP)


def _dram_falls(a: Analysis) -> Outcome:
    impact = _impact(a, "dram", "direct", 1.2, "receiver")
    few, many = (center(p for n, p in impact.items() if (n > VERY_MANY) == is_many) for is_many in (False, True))
    if few is None or many is None:
        raise NotTestable("so many fragments were not measured")
    ours = f"{units.percent(many.median)} beyond {VERY_MANY:,} puts, {units.percent(few.median)} up to there"
    return _explained(a, Outcome(ours, verdict_of(many.median < few.median), (), a.provenance), "dram")


def _planes(a: Analysis) -> Outcome:
    """Latency saved by lowering the receiver's core alone, against both at once."""
    clock = _clock(a, PAPER_GHZ[0])
    pairs = ((a.like(p, series=PLANES), p) for p in a.select(series=PUTS, name="agent", who="sender", clock=clock))
    saved = [_saved(a, "seconds", plane, alone) for plane, alone in pairs]
    found = _outcome(a, "seconds", (percent for percent in saved if percent is not None), 0, ANY)
    return _explained(a, found, "agent")


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
    Published(
        "direct-dram-many",
        "published",
        "D 12.6.1, figure 12.5d",
        "direct; receiver at 1.2 GHz against 2.901",
        "receiver's DRAM saves less beyond 32 Ki puts",
        "less than up to there",
        _dram_falls,
        SETUP,
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
        "active-sender-2.4",
        "12.6.2, figure 12.6a",
        "active",
        "sender's CPU 0 to -20 %",
        -20 - NONE,
        NONE,
        "cpu",
        2.4,
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
    _row("active-edp-2.4", "12.6.2, figure 12.6f", "active", "EDP of both +10 %", *_about(10), "edp", 2.4),
    _row("active-edp-1.2", "12.6.2, figure 12.6f", "active", "EDP down to -90 %", -90 - WIDE, 0, "edp", 1.2),
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
    _row(
        "agent-edp-2.4-few",
        "12.6.3, figure 12.7f",
        "agent",
        "EDP of both -50 %",
        *_about(-50),
        "edp",
        2.4,
        of=lambda n: n <= FEW,
        where=f", up to {FEW} puts",
    ),
    _row(
        "agent-edp-2.4-many",
        "12.6.3, figure 12.7f",
        "agent",
        "EDP of both 0",
        -NONE,
        NONE,
        "edp",
        2.4,
        of=lambda n: n > MANY,
        where=f", beyond {MANY} puts",
    ),
    _row("agent-edp-1.2", "12.6.3, figure 12.7f", "agent", "EDP of both -50 % or worse", -ANY, -50 + WIDE, "edp", 1.2),
    Published(
        "agent-planes",
        "published",
        "D 12.7, figure 12.8",
        "agent; receiver at 1.2 GHz, the other core at the highest clock or at the same",
        "a clock for each core keeps the agent's latency lower",
        "no longer than on one plane",
        _planes,
        SETUP,
    ),
]
