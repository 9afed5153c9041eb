"""The judges of the study of LSMS: each compares a statement of the dissertation with the samples."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from wattle.study import papers
from wattle.study.published import NotTestable, Outcome, needed, verdict_of
from wattle.study.stats import FEWEST, Center, center
from wattle.study.sweep.analysis import METRICS, ONLY_RECORDS, Analysis, Point
from wattle.text import units

SYNC, TRANSFER, SCALE, TIMELINE = "sync", "transfer", "scale", "timeline"
VERSIONS = ("shmem", "mpi")
PATTERNS = ("PQPQ", "PPQ", "MPQMPQ", "MPMPQ", "MMPQAMM")
BLOCKING, NON_BLOCKING, AGGREGATED = ("PQPQ", "MPQMPQ"), ("PPQ", "MPMPQ"), "MMPQAMM"
MARGIN = 5.0  # percent from which a difference counts as an effect
MANY = 256  # parameters of less than 2 KiB, beyond which the text describes the patterns
EVEN = 1.0  # CR of equal work
KINDS = {"energy": "node", "time": "seconds"}  # in published.toml: metric


# ---- reading the samples ----


def sync_s(a: Analysis, point: Point) -> float:
    """PE-seconds at the barrier of a step."""
    return sum(a.medians(point, "sync_s", point.pes))


def of_pattern(a: Analysis, version: str, pattern: str, x: float) -> Point:
    """The point of a transfer: the wait policy is the first that ran."""
    found = needed(a.select(series=TRANSFER, name=f"{version} {pattern}", x=x), f"{version} {pattern} was not measured")
    return found[0]


def largest(a: Analysis) -> float:
    """The most parameters of a transfer; 0 without transfers."""
    return max((p.x or 0.0 for p in a.select(series=TRANSFER)), default=0.0)


def ungoverned(a: Analysis, version: str, series: str, ratio: float) -> list[Point]:
    """The points of a version without a governor at this CR, by number of PEs: spinning, where they do."""
    found = [p for p in a.select(series=series, mode="off", y=ratio) if p.name.startswith(f"{version} ")]
    if not found:
        raise NotTestable(f"{version} was not measured at CR {ratio:g}")
    return [p for p in found if p.wait == "spin"] or found


def spinning(a: Analysis, version: str, series: str, ratio: float) -> list[Point]:
    """The same, for statements about the energy of PEs that spin, as the papers' do."""
    found = ungoverned(a, version, series, ratio)
    if found[0].wait != "spin":
        raise NotTestable("the papers' PEs spin, each on a core of its own; here PEs share cores, so they sleep")
    return found


def most(a: Analysis, series: str) -> float:
    """The largest CR of a series."""
    return max((p.y or 0.0 for p in a.select(series=series)), default=0.0)


def _certain(a: Analysis, found: Center) -> None:
    if not a.knob.simulated and found.n < FEWEST:
        raise NotTestable(f"{units.several(found.n, 'repeat')} are too few; {FEWEST} are needed")


def _beyond(a: Analysis, found: Center | None, least: float, what: str, why: str = "") -> Outcome:
    """The outcome for a saving or a loss in percent that must be `least` or more with its whole interval."""
    if found is None:
        raise NotTestable("was not measured")
    _certain(a, found)
    ours = f"{what} {units.percent(found.median)}"
    if found.lo < least <= found.hi:
        raise NotTestable(f"the repeats spread around {least:g} % ({ours}, {found.lo:.3g} to {found.hi:.3g} %)")
    holds = found.lo >= least
    return Outcome(ours, verdict_of(holds), (why,) if why and not holds else (), a.provenance)


def _version(a: Analysis, version: str) -> None:
    if not any(p.name.startswith(f"{version} ") for p in a.points):
        raise NotTestable(f"the version {version} did not run here")


# ---- transfers ----

COPIED = (
    "Within a node a put is a copy and complete when it returns, so a quiet costs a fence only, and another pattern "
    "can save little."
)


def _copied(a: Analysis, version: str) -> str:
    return "" if a.place.across or a.knob.simulated or version == "mpi" else COPIED


def pattern_saves(a: Analysis, version: str) -> Outcome:
    """Judges that another pattern than PQPQ saves energy in the transfer stage."""
    _version(a, version)
    a.needs_joules()
    x = largest(a)
    before = of_pattern(a, version, "PQPQ", x)
    savings = {p: c for p in PATTERNS[1:] if (c := a.saving("node", before, of_pattern(a, version, p, x)))}
    if not savings:
        raise NotTestable("joules are not known here")
    best = max(savings, key=lambda p: savings[p].median)
    why = _copied(a, version) or "None of the other patterns changes what the transfers cost here."
    return _beyond(a, savings[best], MARGIN, f"{best} saves", why)


def _order(a: Analysis, version: str, metric: str) -> tuple[float, dict[str, Center]]:
    """(parameters, the figure by pattern) of the largest transfer, which must be beyond 256 parameters."""
    _version(a, version)
    if metric == "energy":
        a.needs_joules()
    x = largest(a)
    if x <= MANY:
        raise NotTestable(f"no transfer of more than {MANY} parameters was measured")
    found = {p: c for p in PATTERNS if (c := a.center(KINDS[metric], of_pattern(a, version, p, x)))}
    if len(found) < len(PATTERNS):
        raise NotTestable("not all patterns were measured")
    for one in found.values():
        _certain(a, one)
    return x, found


def _listed(found: dict[str, Center], metric: str) -> str:
    unit = METRICS[KINDS[metric]].unit
    ordered = sorted(found, key=lambda p: -found[p].median)
    return " > ".join(f"{p} {units.in_unit(found[p].median, unit)}" for p in ordered)


def _outcome(a: Analysis, metric: str, ours: str, holds: bool | None, why: str = "") -> Outcome:
    """The outcome for a figure. `holds`: None where the repeats spread too far for a verdict."""
    if holds is None:
        raise NotTestable(f"the repeats spread too far for a verdict ({ours})")
    provenance = a.provenance if metric == "energy" else "measured"
    return Outcome(ours, verdict_of(holds), (why,) if why and not holds else (), provenance)


def _all_above(higher: Sequence[Center], lower: Sequence[Center], margin: float = MARGIN) -> bool | None:
    """Whether each of `higher` is above each of `lower` by the margin in percent, with their whole intervals. None
    where only the medians are.
    """
    factor = 1 + margin / 100
    if min(c.lo for c in higher) > factor * max(c.hi for c in lower):
        return True
    return None if min(c.median for c in higher) > factor * max(c.median for c in lower) else False


def blocking_costs_most(a: Analysis, version: str, metric: str) -> Outcome:
    """Judges that each blocking pattern costs more than each other one, beyond the margin and the repeats' spread."""
    _, found = _order(a, version, metric)
    holds = _all_above([found[p] for p in BLOCKING], [c for p, c in found.items() if p not in BLOCKING])
    return _outcome(a, metric, _listed(found, metric), holds, _copied(a, version) or FEW_WAITS)


FEW_WAITS = "A blocking transfer costs no more here than one that does not block, so its waits are short."
PACKED = (
    "The parameters here are 64 B, so that packing and unpacking each of them costs about as much as a put that the "
    "network batches with others."
)


def aggregation_costs_least(a: Analysis, version: str, metric: str) -> Outcome:
    """Judges that aggregation costs less than each other pattern, beyond the margin and the repeats' spread."""
    _, found = _order(a, version, metric)
    holds = _all_above([c for p, c in found.items() if p != AGGREGATED], [found[AGGREGATED]])
    return _outcome(a, metric, _listed(found, metric), holds, PACKED)


# ---- waits ----


CHANCE = "Where PEs share cores, their waits depend on the order in which the kernel runs them."
HARDLY = "A step whose PEs wait longer took hardly more energy here."


def waiting_grows(a: Analysis, version: str) -> Outcome:
    """Judges that the PE-seconds at the barrier grow with the number of PEs. Times of all PEs are measured."""
    _version(a, version)
    points = ungoverned(a, version, SCALE, most(a, SCALE))
    if len(points) < 2:
        raise NotTestable("one number of PEs shows no growth")
    found = [sync_s(a, p) for p in points]
    ours = ", ".join(f"{units.several(p.pes, 'PE')} {units.seconds(s)}" for p, s in zip(points, found, strict=True))
    holds = all(later > earlier * (1 + MARGIN / 100) for earlier, later in pairwise(found))
    return Outcome(ours, verdict_of(holds), () if holds else (CHANCE,))


def loss(a: Analysis, uneven: Point) -> Center | None:
    """Percent of the energy of a step with unequal work that one with equal work saves."""
    return a.saving("node", uneven, a.like(uneven, y=EVEN))


def waiting_costs(a: Analysis, version: str) -> Outcome:
    """Judges that unequal work costs energy, at the largest number of PEs. The sum of the work is the same."""
    _version(a, version)
    a.needs_joules()
    point = spinning(a, version, SCALE, most(a, SCALE))[-1]
    return _beyond(a, loss(a, point), MARGIN, f"{units.several(point.pes, 'PE')}, equal work would save", HARDLY)


def costs_by_time(a: Analysis, version: str) -> Outcome:
    """Judges that the energy of a step rises with the time in its barrier: from one CR to the next."""
    _version(a, version)
    a.needs_joules()
    ratios = sorted({p.y or 0.0 for p in a.select(series=SYNC, mode="off")})
    if len(ratios) < 2:
        raise NotTestable("one CR shows no growth")
    points = [spinning(a, version, SYNC, ratio)[0] for ratio in ratios]
    centers = [a.center("node", p) for p in points]
    if any(c is None for c in centers):
        raise NotTestable("joules are not known here")
    known = [c for c in centers if c]
    _certain(a, known[0])
    ours = "; ".join(
        f"CR {p.y:g}: {units.seconds(sync_s(a, p))} at the barrier, {units.in_unit(c.median, 'J')}"
        for p, c in zip(points, known, strict=True)
    )
    steps = [_all_above([later], [earlier], 0.0) for earlier, later in pairwise(known)]
    steps.append(_all_above(known[-1:], known[:1]))
    return _outcome(a, "energy", ours, False if False in steps else None if None in steps else True, HARDLY)


def power_by_pes(a: Analysis, version: str) -> Outcome:
    """Judges that the power rises with the number of PEs that take part."""
    _version(a, version)
    a.needs_joules()
    points = spinning(a, version, SCALE, most(a, SCALE))
    found = [c for p in (points[0], points[-1]) if (c := a.center("own_watts", p))]
    if len(points) < 2 or len(found) < 2:
        raise NotTestable("two numbers of PEs with joules are needed")
    ours = ", ".join(
        f"{units.several(p.pes, 'PE')} {units.in_unit(c.median, 'W')}"
        for p, c in zip((points[0], points[-1]), found, strict=True)
    )
    return _outcome(
        a,
        "energy",
        ours,
        _all_above(found[1:], found[:1]),
        "A sensor measures the nodes, of which each has several PEs.",
    )


# ---- the governor ----

TOGETHER = (("energy", "proactive"), ("hybrid", "proactive"))
HALF = 50.0  # percent of the waiting, or of its energy, that must go


def reach(a: Analysis) -> float:
    """How many times as long computing takes at the lowest clock as at the base clock, at most."""
    return (a.knob.base or a.knob.clocks[-1]) / a.knob.clocks[0]


def _governed(a: Analysis, version: str) -> list[Point]:
    """The modes that stretch computing, at the largest CR that the clocks can even out."""
    a.needs_clocks(otherwise=ONLY_RECORDS)
    ratios = {p.y or 0.0 for p in a.select(series=SYNC)}
    ratio = max((r for r in ratios if EVEN < r <= reach(a)), default=0.0)
    points = [
        p
        for mode, scaling in TOGETHER
        for p in a.select(series=SYNC, mode=mode, scaling=scaling, y=ratio)
        if p.name.startswith(f"{version} ")
    ]
    if not points:
        raise NotTestable(f"{version} did not run under a governor that stretches computing")
    return points


def members_s(a: Analysis, point: Point) -> float:
    """PE-seconds at the barrier of those that compute. The root computes nothing, so it waits in any case."""
    return sum(a.medians(point, "sync_s", point.pes)[1:])


def arrive_together(a: Analysis, version: str) -> Outcome:
    """Judges that stretched computing takes away half of the waiting, in the better of two modes."""
    _version(a, version)
    gone, points = {}, _governed(a, version)
    for p in points:
        before = a.like(p, mode="baseline")
        if before and (whole := members_s(a, before)) > 0:
            gone[p.mode] = 100 * (1 - members_s(a, p) / whole)
    if not gone:
        raise NotTestable("the baseline was not measured")
    ours = ", ".join(f"{mode} {units.percent(v)}" for mode, v in gone.items())
    best = max(gone, key=lambda mode: gone[mode])
    left = sum(members_s(a, p) for p in points if p.mode == best)
    why = f"In mode {best} the PEs that compute still wait {units.seconds(left)} in a step, added up."
    return Outcome(f"waiting saved: {ours}", verdict_of(gone[best] >= HALF), () if gone[best] >= HALF else (why,))


ROOT = "The root computes nothing, so it waits in any case; the energy of its waits is part of these sums."


def recovered(a: Analysis, governed: Point) -> Center | None:
    """Percent of the energy lost by unequal work that a mode saves, by repeat."""
    before = a.like(governed, mode="baseline")
    even = a.like(before, y=EVEN) if before else None
    if not before or not even:
        return None
    value = METRICS["node"].value
    rows = zip(a.points[before], a.points[even], a.points[governed], strict=False)
    figures = [(value(b), value(e), value(g)) for b, e, g in rows]
    return center(
        100 * (b - g) / (b - e) for b, e, g in figures if b is not None and e is not None and g is not None and b > e
    )


def cost_is_nullified(a: Analysis, version: str) -> Outcome:
    """Judges that the better of two modes saves half of the energy that unequal work costs."""
    _version(a, version)
    points = _governed(a, version)
    if not a.knows_clocks:
        raise NotTestable(a.why_no_clocks)
    lost = [c for p in points if (b := a.like(p, mode="baseline")) and (c := loss(a, b))]
    if not lost or lost[0].lo < MARGIN:
        raise NotTestable(f"unequal work costs less than {MARGIN:g} % here, so there is no loss to nullify")
    found = needed({p.mode: c for p in points if (c := recovered(a, p))}, "the baseline was not measured")
    best = max(found, key=lambda mode: found[mode].median)
    return _beyond(a, found[best], HALF, f"of the loss, {best} saves", ROOT)


ROWS = papers.read(__file__).figures(globals())
