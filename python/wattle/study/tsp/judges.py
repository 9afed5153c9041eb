"""The judges of the travelling salesman: each compares a published statement, or a bar, with the samples."""

from __future__ import annotations

from wattle.study import papers
from wattle.study.published import NotTestable, Outcome, past, verdict_of
from wattle.study.versions.analysis import Analysis
from wattle.study.versions.judges import (
    asleep,  # noqa: F401 (published.toml names it)
    at_most,  # noqa: F401 (published.toml names it)
    counted,
    given_input,
    other,
    ratio,
    ratios_text,
    seconds,
)

FOUR, FOURTEEN, FIFTEEN = "4 cities", "14 cities", "15 cities"
CLOSE = 1.25  # ratio of times that counts as close
LOSS = 1.25  # ratio of times from which the slower one loses
WIDE = 0.1  # middle half over the median, below which nothing varies widely
MORE = 1.05  # ratio from which one value counts as larger than another


def worst_on_few(a: Analysis) -> Outcome:
    given_input(a, FOUR)
    worst, holds = [], True
    for n in a.pes:
        times = {v: seconds(a, v, FOUR, n).median for v in ("mpi", "bucket", "am")}
        worst.append((n, max(times, key=lambda v: times[v])))
        holds = holds and times["mpi"] >= MORE * max(times["bucket"], times["am"])
    ours = ", ".join(f"{version} at {n} PEs" for n, version in worst)
    return Outcome(f"slowest: {ours}", verdict_of(holds), () if holds else (other(a),))


def bucket_falls_behind(a: Analysis, given: str) -> Outcome:
    given_input(a, given)
    counts = counted(a, lambda n: n > 32, "more than 32 PEs")
    found = [ratio(a, "bucket", "am", given, n).median for n in counts]
    ours = ratios_text(a, "bucket", "am", given, counts)
    return Outcome(ours, verdict_of(all(r >= LOSS for r in found)))


def bucket_loses_ground(a: Analysis, given: str) -> Outcome:
    """Judges whether the bucket version loses ground to the active messages with more PEs."""
    given_input(a, given)
    if len(a.pes) < 2:
        raise NotTestable("one number of PEs shows no trend")
    ends = (a.pes[0], a.pes[-1])
    first, last = (ratio(a, "bucket", "am", given, n).median for n in ends)
    ours = ratios_text(a, "bucket", "am", given, ends)
    holds = last >= MORE * first
    return Outcome(ours, verdict_of(holds), () if holds else (other(a),))


def close_at_scale(a: Analysis, given: str) -> Outcome:
    given_input(a, given)
    n = a.pes[-1]
    found = ratio(a, "am", "mpi", given, n).median
    ours = ratios_text(a, "am", "mpi", given, [n])
    beyond = past(found, 1 / CLOSE, CLOSE, "times")
    return Outcome(ours, verdict_of(not beyond), (other(a),) if beyond else (), past=beyond)


def varies_with_few(a: Analysis) -> Outcome:
    given_input(a, FIFTEEN)
    if len(a.pes) < 2:
        raise NotTestable("one number of PEs cannot be compared with another")
    few, many = a.pes[0], a.pes[-1]
    spreads = {}
    for version, n in (("am", few), ("am", many), ("mpi", few)):
        seconds(a, version, FIFTEEN, n)
        spreads[version, n] = a.spread(version, FIFTEEN, n) or 0.0
    ours = ", ".join(f"{version} {value * 100:.0f} % at {n} PEs" for (version, n), value in spreads.items())
    holds = spreads["am", few] >= LOSS * max(spreads["am", many], spreads["mpi", few], WIDE)
    why = (
        ()
        if holds
        else (
            "One handler at a time runs on the master here, so handlers never wait for each other's lock: only the "
            "master's own thread and a handler can contend for it.",
        )
    )
    return Outcome(f"middle half over the median: {ours}", verdict_of(holds), why)


PAPERS = papers.read(__file__)
ROWS = PAPERS.figures(globals())
BARS = PAPERS.bars(globals())
