"""The judges of the study of barriers: each compares a statement of the dissertation with the samples."""

from __future__ import annotations

from dataclasses import replace

from wattle.study import papers
from wattle.study.published import NotTestable, Outcome, Verdict, verdict_of
from wattle.study.stats import Line, line, trend
from wattle.study.sweep.analysis import Analysis, Fit, Point
from wattle.text.provenance import significant

COUNTED = 3  # instructions, branches and branches not taken
LATE, SCALE = "late", "scale"
PAPERS = papers.read(__file__)
SLOPE, INTERCEPT = PAPERS.values["slope"], PAPERS.values["intercept"]  # drawn beside our line
ALIKE = 0.1  # largest relative spread of constant powers, and the smallest rise of others
LINEAR = 0.98  # smallest r2 of a straight line
FROM_MS = 5  # shorter waits include too much of the barrier's own time


def x_seconds(point: Point) -> float:
    return 1e-3 * (point.x or 0)


def waiting(point: Point) -> float:
    """The PEs that wait: all but the late one."""
    return point.pes - 1


def fits(a: Analysis) -> list[Fit]:
    """Straight lines for each wait policy: energy against T, and power against the number of PEs."""
    found = []
    for policy in a.policies(series=LATE, mode="off"):
        points = a.select(series=LATE, wait=policy, mode="off")
        for metric, whose in (("node", "node"), ("own", "PEs")):
            if made := a.fit(metric, points, x_seconds):
                words = f"energy of the {whose} against T: E = {_number(made.slope)} W x T {_signed(made.intercept)} J"
                found.append(_fit(f"time, {whose}", policy, made, words, a.provenance))
    for policy in a.policies(series=SCALE):
        points = a.select(series=SCALE, wait=policy)
        for metric, what, sign, unit in (("own_watts", "power", "P", "W"), ("own", "energy", "E", "J")):
            if made := a.fit(metric, points, waiting):
                words = f"{what} of the PEs against those that wait: {sign} = {_number(made.slope)} {unit} x n "
                found.append(
                    _fit(f"scale, {what}", policy, made, f"{words}{_signed(made.intercept)} {unit}", a.provenance)
                )
    return found


def _fit(what: str, policy: str, made: Line, words: str, provenance: str) -> Fit:
    text = f"{words}, r2 = {made.r2:.4f}, n = {made.n}"
    return Fit(what, policy, made.slope, made.intercept, made.r2, text, provenance)


def _number(value: float) -> str:
    return significant(value, 3)


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'} {significant(abs(value), 3)}"


def _of(a: Analysis, what: str, policy: str = "spin") -> Fit:
    if a.provenance == "unavailable":
        raise NotTestable("the meter gave no joules")
    found = next((f for f in fits(a) if f.what == what and f.policy == policy), None)
    if found is None:
        raise NotTestable(f"needs three values at least with WAIT={policy} and joules at each")
    return found


def _how(a: Analysis) -> str:
    """Modelled joules depend on the time on a core. Gives the share of its wait that the spinning PE was on one."""
    if a.provenance != "modelled":
        return ""
    points = a.select(series=LATE, wait="spin", mode="off")
    shares = [100 * c.median for p in points if (c := a.center("cores", p))]
    if not shares:
        return ""
    least, most = min(shares), max(shares)
    if least >= 100 * (1 - ALIKE):
        return (
            "Modelled joules depend on the time in each state, so this shows that a PE that spins is on a "
            "core all the time."
        )
    return (
        f"Modelled joules depend on the time in each state. The PE that spins was on a core for {least:.0f} to "
        f"{most:.0f} % of its wait, depending on its length; other work had the core for the rest."
    )


def linear(a: Analysis) -> Outcome:
    found = _of(a, "time, node")
    ours = f"{found.words} (WATTLE_WAIT=spin)"
    why = tuple(filter(None, (_how(a),)))
    return Outcome(ours, verdict_of(found.r2 >= LINEAR and found.slope > 0), why, a.provenance)


def slope(a: Analysis) -> Outcome:
    why = "The slope is the watts of a machine with all PEs that wait. The chapter names neither."
    return Outcome(_of(a, "time, node").words, Verdict.NOT_TESTABLE, (why,), a.provenance)


def power_constant(a: Analysis) -> Outcome:
    points = [p for p in a.select(series=LATE, wait="spin", mode="off") if (p.x or 0) >= FROM_MS]
    powers = [c.median for p in points if (c := a.center("node_watts", p))]
    if len(powers) < 3:
        raise NotTestable(f"needs three waits of {FROM_MS} ms and more with joules")
    spread = (max(powers) - min(powers)) / min(powers)
    ours = f"{_number(min(powers))} to {_number(max(powers))} W with waits of {FROM_MS} ms and more"
    return Outcome(ours, verdict_of(spread <= ALIKE), tuple(filter(None, (_how(a),))), a.provenance)


def linear_in_pes(a: Analysis, what: str) -> Outcome:
    """Judges that the power, or the energy of a wait of the same length, rises linearly with the PEs that wait."""
    found = _of(a, f"scale, {what}")
    cores = max((c.median for p in a.select(series=SCALE, wait="spin") if (c := a.center("cores", p))), default=0.0)
    most = max(p.pes for p in a.select(series=SCALE))
    holds = found.r2 >= LINEAR and found.slope * (most - 1) >= ALIKE * abs(found.intercept)
    why = (
        ()
        if holds
        else (f"{most - 1} PEs waited on {cores:.1f} cores' worth of processor: a PE without a core uses no power.",)
    )
    return Outcome(found.words, verdict_of(holds), why, a.provenance)


def _rise(a: Analysis, which: int, words: str) -> Outcome:
    """Judges that instructions, or branches, rise with the time spent waiting."""
    pairs = []
    for point in a.select(series=LATE, wait="spin", mode="off"):
        counted = (facts.numbers(COUNTED)[which] for facts in a.more(point, "counted"))
        values = [count for count in counted if count is not None]
        if values:
            pairs.append((point.x or 0, sorted(values)[len(values) // 2]))
    if len(pairs) < 3:
        raise NotTestable(f"this processor does not count {words}, or perf may not read it")
    rise = trend([x for x, _ in pairs], [v for _, v in pairs])
    ends = ", ".join(f"{count:.3g} in {ms:g} ms" for ms, count in (pairs[0], pairs[-1]))
    return Outcome(
        f"{ends}; rank correlation {rise:+.2f}", verdict_of(rise >= 0.9 and pairs[-1][1] >= (1 + ALIKE) * pairs[0][1])
    )


def instructions(a: Analysis) -> Outcome:
    return _rise(a, 0, "instructions")


def branches(a: Analysis) -> Outcome:
    """Judges the same for branches, and the share taken where it is counted, too."""
    risen = _rise(a, 1, "branches")
    both = [
        (branches, missed)
        for point in a.select(series=LATE, wait="spin", mode="off")
        for _, branches, missed, *_ in (facts.numbers(COUNTED) for facts in a.more(point, "counted"))
        if branches and missed is not None
    ]
    if not both:
        return replace(risen, ours=f"{risen.ours}; branches not taken are not counted here")
    taken = 100 * (1 - sum(missed for _, missed in both) / sum(all_ for all_, _ in both))
    holds = risen.verdict is Verdict.SAME and taken > 50
    return Outcome(f"{risen.ours}; {taken:.0f} % taken", verdict_of(holds))


def branches_apart(a: Analysis) -> Outcome:
    """Judges that branches taken less those not taken rise linearly with the time waited."""
    pairs = [
        (point.x or 0, branches - 2 * missed)
        for point in a.select(series=LATE, wait="spin", mode="off")
        for _, branches, missed, *_ in (facts.numbers(COUNTED) for facts in a.more(point, "counted"))
        if branches is not None and missed is not None
    ]
    made = line([x for x, _ in pairs], [y for _, y in pairs])
    if len(pairs) < 3:
        raise NotTestable("this processor does not count branches taken and not taken, or perf may not read them")
    ours = "does not change" if made is None else f"{made.slope:.3g} a ms waited, r2 = {made.r2:.4f}, n = {made.n}"
    return Outcome(ours, verdict_of(made is not None and made.slope > 0 and made.r2 >= LINEAR))


ROWS = PAPERS.figures(globals())
