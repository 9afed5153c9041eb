"""Common judges of studies of a mini-app, which compare the times of versions by number of PEs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wattle.study.published import NotTestable, Outcome, Verdict, enough, needed, verdict_of
from wattle.study.stats import Center
from wattle.study.versions.analysis import Analysis

Counts = Callable[[int], bool]  # selects numbers of PEs

OTHER_MACHINE = (
    "The papers ran one PE on each core of many nodes over InfiniBand. Here all PEs share the cores of one node, so a "
    "PE that waits on a core takes time from those that work."
)
SIMULATED = (
    "In simulation each PE has its own core and link, computing is counted by basic blocks of one price, and there is "
    "no noise. What remains is the order in which work is distributed, and the time of its messages."
)


def other(a: Analysis) -> str:
    """The reason why a place differs from the papers'."""
    return SIMULATED if a.place.simulated else OTHER_MACHINE


def seconds(a: Analysis, version: str, given: str, pes: int) -> Center:
    """The time of a version in seconds. Raises NotTestable where there are no runs, or too few."""
    if version in a.left_out:
        raise NotTestable(f"version {version} did not run here: {a.left_out[version]}")
    found = needed(a.center("seconds", version, given, pes), f"version {version} was not run on {given} with {pes} PEs")
    enough(found)
    return found


def counted(a: Analysis, wanted: Counts, words: str) -> list[int]:
    """The numbers of PEs of this study to which a statement applies."""
    found = needed([n for n in a.pes if wanted(n)], f"no run with {words}: this study ran {', '.join(map(str, a.pes))}")
    return found


def given_input(a: Analysis, name: str) -> str:
    if name not in a.inputs:
        raise NotTestable(f"{name} was not run")
    return name


def ratio(a: Analysis, version: str, other: str, given: str, pes: int) -> Center:
    """The time of a version divided by that of another."""
    seconds(a, version, given, pes)
    seconds(a, other, given, pes)
    found = a.ratio("seconds", version, other, given, pes)
    if found is None:
        raise NotTestable(f"{version} and {other} were not both measured on {given} with {pes} PEs")
    return found


def ratios_text(a: Analysis, version: str, other: str, given: str, counts: Sequence[int]) -> str:
    """Ratios as text, such as `am / mpi: 0.52 (pairs 0.48 to 0.60) at 2 PEs, ...`: the quotient of the medians, and the
    middle half of the pairs' ratios, which need not contain it.
    """
    found = [(n, ratio(a, version, other, given, n)) for n in counts]
    parts = [f"{r.median:.2f} (pairs {r.p25:.2f} to {r.p75:.2f}) at {n} PEs" for n, r in found]
    return f"{version} / {other}: {', '.join(parts)}"


def at_most(a: Analysis, version: str, other: str, given: str, bar: float, least: int, most: int) -> Outcome:
    """A bar: the median time of a version is at most `bar` times that of another, at each number of PEs from `least` to
    `most`. It can hold only where both ends were run.
    """
    given_input(a, given)
    counts = counted(a, lambda n: least <= n <= most, f"{least} to {most} PEs")
    missed = [n for n in counts if ratio(a, version, other, given, n).median > bar]
    ours = ratios_text(a, version, other, given, counts)
    if missed:
        return Outcome(ours, Verdict.WORSE, (f"Missed at {', '.join(map(str, missed))} PEs.",))
    left_out = [n for n in (least, most) if n not in counts]
    if left_out:
        return Outcome(ours, Verdict.NOT_TESTABLE, (f"Not run with {' and '.join(map(str, left_out))} PEs.",))
    return Outcome(ours, Verdict.SAME)


def asleep(a: Analysis, versions: Sequence[str], most: float) -> Outcome:
    """A bar: workers without work are on a core for at most this share of the time."""
    held = [h for h in a.held if h.version in versions]
    if not held:
        raise NotTestable("no job was held back")
    ours = ", ".join(f"{h.version} {h.share * 100:.2g} % at {h.pes} PEs" for h in held)
    return Outcome(ours, verdict_of(all(h.share <= most for h in held)))
