"""The judges of the study of clocks under a put: each compares a statement of the dissertation with the samples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median

from wattle.base.checked import Checked
from wattle.study import energy, papers
from wattle.study.published import NotTestable, Outcome, Verdict, needed, past, verdict_of
from wattle.study.stats import center
from wattle.study.sweep.analysis import Analysis, Point
from wattle.study.sweep.knob import Knob
from wattle.text import units
from wattle.text.provenance import read_joules

PUTS, PLANES, PHASES = "puts", "planes", "phases"
WAYS = ("direct", "active", "agent")
PAPER_GHZ = (1.2, 2.4, 2.901)
SERVED = "The receiver's core served every put at its clock, for the network moved no bytes by itself."
LETTERS = "ABCDEFG"  # of the phases in table 12.1
APART = 5.0  # percent of latency that a clock of its own must save
SIMULATED = {
    "direct": "Simulated puts take no core of the receiver, at any clock.",
    "agent": "The serving agent takes every message, at the receiver's clock. It and the waiting PE share one core.",
    "active": (
        "The share of a copy's time that scales with the clock is in the cluster's description. "
        "All of a message's time scales."
    ),
    "dram": (
        "Simulated memory uses watts by time and bytes, equal at all clocks, so a longer transfer uses more joules."
    ),
}
ANY = float("inf")
VERY_MANY = 32768  # number of puts above which the text makes another statement on DRAM


def wanted_clocks(knob: Knob) -> tuple[float, ...]:
    """The available clocks nearest to the papers' three, the lowest first; empty where no clock can be set."""
    if not knob.acts:
        return ()
    return tuple(sorted({min(knob.clocks, key=lambda c: abs(c - ghz)) for ghz in PAPER_GHZ}))


def _clock(a: Analysis, ghz: float) -> float:
    """The clock nearest to the paper's."""
    clocks = wanted_clocks(a.knob)
    if len(clocks) < 2:
        raise NotTestable(f"{a.knob.words}; the receiver's clock is unchanged")
    clock = min(clocks, key=lambda c: abs(c - ghz))
    if clock == clocks[-1]:
        raise NotTestable(f"no clock near {ghz:g} GHz below the highest")
    return clock


def _edp(a: Analysis, sender: Point | None) -> list[float | None]:
    """The joules of both PEs, CPU and DRAM, times the sender's latency, by repeat."""
    receiver = a.like(sender, who="receiver") if sender else None
    if sender is None or receiver is None:
        return []
    joules = [(energy.whole(s), energy.whole(r)) for s, r in zip(a.points[sender], a.points[receiver], strict=True)]
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
            "one sensor measures both PEs of this node, so the joules of each are not known"
            if a.knows_clocks
            else "was not measured"
        )
    return found


def _outcome(
    a: Analysis, metric: str, percents: Iterable[float], within: Sequence[float], reaches: float = 0.0
) -> Outcome:
    """Judges the median over fragments, and how far one of them goes: to `reaches`, in its direction."""
    found = list(percents)
    middle, (lo, hi) = center(found), within
    if middle is None:
        raise NotTestable("so many fragments were not measured")
    ends = f"{units.percent(middle.lo)} to {units.percent(middle.hi)}"
    ours = f"{units.percent(middle.median)} in the median over fragments, {ends}"
    kind = "measured" if metric == "seconds" else a.provenance
    far = not reaches or (min(found) <= reaches if reaches < 0 else max(found) >= reaches)
    beyond = past(middle.median, lo, hi)
    return Outcome(ours, verdict_of(far and not beyond), (), kind, beyond)


def _explained(a: Analysis, found: Outcome, what: str) -> Outcome:
    """Adds the reason why a simulation differs."""
    if found.verdict is not Verdict.WORSE or not a.knob.simulated:
        return found
    return replace(found, why=(*found.why, SIMULATED[what]))


def impact(
    a: Analysis,
    way: str,
    metric: str,
    ghz: float,
    within: Sequence[float],
    who: str = "sender",
    puts: Sequence[float] = (0, ANY),
    reaches: float = 0.0,
) -> Outcome:
    """Judges a saving. `within`: percent saved, from and to. `puts`: the numbers of puts of the statement, above and up
    to. `reaches`: the percent to which one number of puts must go at least, of a statement such as "0 to -20 %".
    """
    if way == "direct" and (metric, who) != ("cpu", "receiver"):
        _by_hardware(a)
    found = _impact(a, metric, way, ghz, who)
    some = (percent for n, percent in found.items() if puts[0] < n <= puts[1])
    return _explained(a, _outcome(a, metric, some, within, reaches), "dram" if metric == "dram" else way)


def hardware_bytes(a: Analysis) -> float:
    """Bytes that the network moved by itself in the jobs of the direct way."""
    facts = (entry for p in a.select(name="direct", who="sender") for entry in a.more(p, "hardware_bytes"))
    return sum(float(entry.expect("a number").value) for entry in facts)


def _by_hardware(a: Analysis) -> None:
    """Raises NotTestable where the receiver's core moves the bytes, which the published implementation leaves to the
    network card. On one node the sender's core does.
    """
    if (a.place.across or a.knob.simulated) and not hardware_bytes(a):
        raise NotTestable(SERVED.rstrip("."))


def bandwidth(a: Analysis, way: str, ghz: float, within: Sequence[float]) -> Outcome:
    """Judges the change of the bandwidth in percent, at the clock nearest to `ghz` against the highest."""
    found = _impact(a, "seconds", way, ghz, "sender")
    changes = [100 / (1 - saved / 100) - 100 for saved in found.values() if saved < 100]
    return _explained(a, _outcome(a, "seconds", changes, within), way)


def phase(a: Analysis, way: str, letter: str, within: tuple[float, float]) -> Outcome:
    """Judges the percent of a phase's time that the lowest clock saves against the highest."""
    clock, k = _clock(a, PAPER_GHZ[0]), LETTERS.index(letter)
    if way == "direct":
        _by_hardware(a)
    who = "sender" if letter in "ABCF" else "receiver"
    low = next(iter(a.select(series=PHASES, name=way, who=who, clock=clock)), None)
    high = a.like(low, clock=wanted_clocks(a.knob)[-1]) if low else None
    if low is None or high is None:
        raise NotTestable("was not measured")
    before, after = (a.medians(point, "phase_s", len(LETTERS))[k] for point in (high, low))
    if before <= 0:
        raise NotTestable("the phase took no time")
    saved = 100 * (before - after) / before
    ours = f"{units.percent(saved)}: {units.seconds(before)} and {units.seconds(after)}, {int(low.x or 0):,} fragments"
    beyond = past(saved, *within)
    return _explained(a, Outcome(ours, verdict_of(not beyond), past=beyond), way)


def farthest(a: Analysis, way: str, metric: str, ghz: float, within: tuple[float, float]) -> Outcome:
    """Judges the largest loss over the numbers of puts, of a statement such as "down to -50 %"."""
    found = _impact(a, metric, way, ghz, "sender")
    n, worst = min(found.items(), key=lambda item: item[1])
    kind = "measured" if metric == "seconds" else a.provenance
    ours = f"{units.percent(worst)} at the worst, {units.several(int(n), 'put')}"
    beyond = past(worst, *within)
    return _explained(a, Outcome(ours, verdict_of(not beyond), (), kind, beyond), way)


def dram_falls(a: Analysis) -> Outcome:
    _by_hardware(a)
    impact = _impact(a, "dram", "direct", 1.2, "receiver")
    few, many = (center(p for n, p in impact.items() if (n > VERY_MANY) == is_many) for is_many in (False, True))
    if few is None or many is None:
        raise NotTestable("so many fragments were not measured")
    ours = f"{units.percent(many.median)} beyond {VERY_MANY:,} puts, {units.percent(few.median)} up to there"
    return _explained(a, Outcome(ours, verdict_of(few.median - many.median >= APART), (), a.provenance), "dram")


def times_of_dram(a: Analysis, way: str, ghz: float, within: tuple[float, float]) -> Outcome:
    """Judges how many times the sender's CPU energy is that of its DRAM."""
    points = a.select(series=PUTS, name=way, who="sender", clock=_clock(a, ghz))
    both = [(a.median("cpu", p), a.median("dram", p)) for p in points]
    middle = needed(center(cpu / dram for cpu, dram in both if cpu and dram), "the joules of one PE are not known")
    ours = f"{units.significant(middle.median, 3)} times"
    beyond = past(middle.median, *within, "times")
    return Outcome(ours, verdict_of(not beyond), (), a.provenance, beyond)


def planes(a: Analysis) -> Outcome:
    """Judges the latency saved by lowering only the receiver's core, against lowering both."""
    clock = _clock(a, PAPER_GHZ[0])
    pairs = ((a.like(p, series=PLANES), p) for p in a.select(series=PUTS, name="agent", who="sender", clock=clock))
    saved = [_saved(a, "seconds", plane, alone) for plane, alone in pairs]
    found = _outcome(a, "seconds", (percent for percent in saved if percent is not None), (APART, ANY))
    return _explained(a, found, "agent")


ROWS = papers.read(__file__).figures(globals())


DOMAINS = {"cpu": ("cpu",), "dram": ("dram",), "own": ("cpu", "dram")}


def phase_joules(a: Analysis, point: Point, domain: str) -> list[float]:
    """Joules of the PE in each phase, medians over the repeats; 0 for a phase that it has not. Empty where the meter
    resolves no phase. `domain`: cpu, dram, or both as own.
    """
    facts = [entry for entry in a.more(point, "phases") if entry.object()]
    if not facts:
        return []
    return [median(_joules(entry, letter, DOMAINS[domain]) for entry in facts) for letter in LETTERS]


def _joules(entry: Checked, letter: str, domains: tuple[str, ...]) -> float:
    if not entry.has(letter):
        return 0.0
    figures = [read_joules(figure) for figure in entry.get(letter).items("energy")]
    return sum(f.joules or 0.0 for f in figures if f.domain in domains and f.scope == "process")


def phase_edp(a: Analysis, point: Point) -> list[float]:
    """The joules of each phase, CPU and DRAM, times the latency at the sender."""
    latency = a.center("seconds", point)
    return [j * (latency.median if latency else 0.0) for j in phase_joules(a, point, "own")]
