"""The judges of the study of messages: each compares a published figure with the samples."""

from __future__ import annotations

import math
import statistics

from wattle.study import papers
from wattle.study.am.analysis import Analysis, Case
from wattle.study.published import NotTestable, Outcome, enough, past, verdict_of
from wattle.study.stats import Center, trend
from wattle.text import units

MOST = 0.75  # share of the cases in which a relation must hold
RISES = 0.7  # smallest rank correlation of a rise
ALIKE = 0.2  # relative difference of "almost the same"
GROWS = 1.2  # smallest factor of a larger impact
LEAST = 0.02  # smallest relative difference that counts as one
THRESHOLD = 32  # messages in flight above which the published impact is significant
LOCKED = 0.05  # relative time that handlers lose by a mutex that others lock, too
SLOPE = (0.8, 1.2)  # slope of the logarithms that counts as "almost linearly"

DIRECTIONS = {"uni": "one direction", "bi": "both directions"}

Ratio = tuple[Case, Center]


# ---- common to all rows ----


def _ratios(a: Analysis, metric: str, series: str, test: str, over: str, under: str) -> list[Ratio]:
    """The ratio of each case that has both ways. At least two cases with enough repeats for an interval are needed."""
    cases = a.cases(series, test, ("am", over, under))
    found = [(case, c) for case in cases if (c := a.ratio(metric, case, over, under))]
    if len(found) < 2:
        raise NotTestable(f"needs two cases at least with active messages and puts; these samples have {len(found)}")
    enough(*(c for _, c in found))
    return found


def _times(value: float) -> str:
    return f"{value:.2f} x"


def _range(found: list[Ratio]) -> str:
    values = [c.median for _, c in found]
    return f"{_times(statistics.median(values))} in the median, {_times(min(values))} to {_times(max(values))}"


def _costs(a: Analysis, case: Case) -> str:
    """The cost of a message in both ways, as a reason."""
    am, put = a.center("time", case, "am"), a.center("time", case, "put")
    if not am or not put:
        return ""
    where = "between the nodes" if a.place.across else "on this node"
    if a.place.simulated:
        where = f"between two nodes of {a.place.cluster}"
    what = units.size(case.bytes) + (f", {case.in_flight:,} in flight" if case.series != "ring" else "")
    return (
        f"A message of {what} took {units.seconds(am.median)} as an active message and {units.seconds(put.median)} as "
        f"a put {where} (both with their completion)."
    )


def _how_it_works(a: Analysis) -> str:
    if a.place.across:
        return (
            "Here a request needs no round trip of its own. While an answer is pending, small messages are batched "
            "and sent together, but each blocking put is a message. The prototype sent each request by GASNet, and "
            "the network card did its puts."
        )
    return (
        "On one node a put is a copy into the other PE's memory and needs no action there. An active message is "
        "written into a ring, and the other PE reads and handles it. The published figures are of two nodes and a "
        "network card."
    )


# ---- rows ----


def below(a: Analysis, test: str) -> Outcome:
    """Judges that bandwidth by active messages is below that by puts."""
    found = _ratios(a, "bandwidth", "bandwidth", test, "am", "put")
    below = sum(c.hi < 1 - LEAST for _, c in found)
    holds = below >= MOST * len(found)
    ours = f"AM over put {_range(found)}; below at {below} of {len(found)} sizes"
    why = () if holds else (_costs(a, found[0][0]), _how_it_works(a))
    middle = statistics.median(c.median for _, c in found)
    return Outcome(ours, verdict_of(holds), why, past=past(100 * middle, 0, 100 * (1 - LEAST)))


def worse_with_size(a: Analysis) -> Outcome:
    parts, holds, first, last = [], True, None, []
    for test, words in DIRECTIONS.items():
        found = _ratios(a, "bandwidth", "bandwidth", test, "put", "am")
        first = first or found[-1][0]
        rise = trend([case.bytes for case, _ in found], [c.median for _, c in found])
        ends = f"{_times(found[0][1].median)} at {units.size(found[0][0].bytes)}, {_times(found[-1][1].median)} at "
        parts.append(f"{words}: put over AM {ends}{units.size(found[-1][0].bytes)}, rank correlation {rise:+.2f}")
        behind, more = found[-1][1].median > 1 + LEAST, found[-1][1].median >= (1 + LEAST) * found[0][1].median
        holds = holds and rise >= RISES and behind and more
        last.append(100 * found[-1][1].median)
    why = () if holds or first is None else (_costs(a, first), _copies())
    return Outcome("; ".join(parts), verdict_of(holds), why, past=past(max(last), 100 * (1 + LEAST), math.inf))


def _copies() -> str:
    return (
        "The published reason is the copies of an active message at both ends. Here the payload is copied once "
        "into the ring or the batch, and the handler reads it there. The fixed cost of a message matters less, "
        "the longer it is."
    )


def slower(a: Analysis, test: str, lo: float, hi: float) -> Outcome:
    """Judges the rate by puts over that by active messages, above the threshold."""
    found = [(c, r) for c, r in _ratios(a, "rate", "rate", test, "put", "am") if c.in_flight > THRESHOLD]
    if not found:
        raise NotTestable(f"no case with more than {THRESHOLD} messages in flight was measured in both ways")
    beyond = past(statistics.median(c.median for _, c in found), lo, hi, "times")
    why = (_costs(a, found[-1][0]), _how_it_works(a)) if beyond else ()
    return Outcome(f"put over AM {_range(found)}", verdict_of(not beyond), why, past=beyond)


def from_threshold(a: Analysis) -> Outcome:
    parts, holds, last, most = [], True, None, 0.0
    for test, words in DIRECTIONS.items():
        found = _ratios(a, "rate", "rate", test, "put", "am")
        few = [c.median for case, c in found if case.in_flight <= THRESHOLD]
        many = [c.median for case, c in found if case.in_flight > THRESHOLD]
        if not few or not many:
            raise NotTestable(f"needs cases on both sides of {THRESHOLD} messages in flight")
        before, after = statistics.median(few), statistics.median(many)
        parts.append(f"{words}: put over AM {_times(before)} up to {THRESHOLD}, {_times(after)} beyond")
        holds = holds and after > 1 and after >= GROWS * before
        last, most = found[-1][0], max(most, after)
    why = () if holds or last is None else (_costs(a, last), _how_it_works(a))
    return Outcome("; ".join(parts), verdict_of(holds), why, past=past(100 * most, 100, math.inf))


def ring_alike(a: Analysis) -> Outcome:
    found = _ratios(a, "lap", "ring", "ring", "am", "put")
    alike = sum(abs(c.median - 1) <= ALIKE for _, c in found)
    holds = alike >= MOST * len(found)
    ours = f"AM over put {_range(found)}; within {ALIKE * 100:.0f} % at {alike} of {len(found)} sizes"
    why = (_costs(a, found[0][0]), _why_dearer(a) if a.place.simulated else "")
    middle = statistics.median(c.median for _, c in found)
    beyond = past(100 * middle, 100 * (1 - ALIKE), 100 * (1 + ALIKE))
    return Outcome(ours, verdict_of(holds), () if holds else tuple(filter(None, why)), past=beyond)


def _why_dearer(a: Analysis) -> str:
    """The cores' work for a hop by an active message, which a put by a simulated card does not take."""
    message, handler = a.numbers.get("message"), a.numbers.get("handler", 0.0)
    if not message:
        return ""
    named = f"{units.seconds(2 * message)} for the message at both ends and {units.seconds(handler)} for its handler"
    sleeps = "" if a.place.wait == "spin" else " Waits are adaptive, so a PE may sleep: each hop then wakes it."
    return f"A hop by an active message takes cores {named}; a put's bytes are moved by the cards alone.{sleeps}"


GROWS_AT_ALL = 0.05  # a smaller power is no growth


def ring_linear(a: Analysis) -> Outcome:
    found = _ratios(a, "lap", "ring", "ring", "am", "put")
    laps = [(case.pes, c.median) for case, _ in found if (c := a.center("lap", case, "am"))]
    if len(laps) < 3:
        raise NotTestable(f"needs three sizes of rings at least; these samples have {len(laps)}")
    x, y = [math.log(pes) for pes, _ in laps], [math.log(lap) for _, lap in laps]
    slope = statistics.linear_regression(x, y).slope
    holds = SLOPE[0] <= slope <= SLOPE[1]
    rounds = " and ".join(f"{units.seconds(lap)} with {pes}" for pes, lap in (laps[0], laps[-1]))
    grows = f"as the number of PEs to the power of {slope:.2f}" if slope >= GROWS_AT_ALL else "it does not grow"
    ours = f"by AM {rounds} PEs: {grows}"
    return Outcome(ours, verdict_of(holds), () if holds else _why_not_linear(a, slope, laps))


def _why_not_linear(a: Analysis, slope: float, laps: list[tuple[int, float]]) -> tuple[str, ...]:
    if a.place.simulated:
        return (_why_dearer(a),)
    (few, first), (most, last) = laps[0], laps[-1]
    if a.place.across and slope < SLOPE[0] and few == 2:
        rest = max(0.0, last - first) / (most - few)
        return (
            "Half of a ring's PEs are on each node, so two hops of a round trip cross the network for any number of "
            f"PEs. With 2 PEs such a hop took {units.seconds(first / 2)}; each of the {most - few} more with {most} "
            f"added {units.seconds(rest)}.",
        )
    return (
        f"Rings of up to {most} PEs run on the cores of one machine. Where there are more PEs than cores, a hop also "
        "wakes a PE and switches a core to it; the published PEs had a core each.",
    )


def shared_costs(a: Analysis) -> Outcome:
    """Judges that handlers take longer which share data, by a mutex, with the program."""
    found = [(case, c) for case in a.handlers() if (c := a.ratio("time", case, "shared", "own"))]
    if not found:
        raise NotTestable("handlers with own and with shared data were not both measured")
    enough(*(c for _, c in found))
    holds = all(c.lo >= 1 + LOCKED for _, c in found)
    times = [units.seconds(c.median) for way in ("own", "shared") if (c := a.center("time", found[0][0], way))]
    why = f"A message took {' with own data and '.join(times)} with shared data, until its handler had run."
    return Outcome(f"shared over own {_range(found)}", verdict_of(holds), () if holds else (why,))


ROWS = papers.read(__file__).figures(globals())
