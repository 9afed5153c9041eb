"""The summary of a study of patterns, for the terminal and the page, with numbers from the samples."""

from __future__ import annotations

from wattle.record.manifest import Manifest
from wattle.study.patterns.analysis import Analysis
from wattle.study.stats import Center
from wattle.study.words import joules
from wattle.text import units
from wattle.text.units import si


def sentences(a: Analysis, record: Manifest) -> list[str]:
    """Sentences with numbers from the samples."""
    return [_cheapest(a), _dearest(a), _nonblocking(a), _joules(a, record)]


def _best(a: Analysis, n: int) -> tuple[str, Center] | None:
    found = [(p, c) for p in a.patterns if (c := a.center("latency", p, n))]
    return min(found, key=lambda entry: entry[1].median) if found else None


def _cheapest(a: Analysis) -> str:
    n = a.fragments[0]
    best = _best(a, n)
    if best is None:
        return ""
    pattern, latency = best
    energy = a.center("energy", pattern, n)
    joules = f" and {si(energy.median, 'J')} ({a.provenance('energy')})" if energy else ""
    pieces = "in one piece" if n == 1 else f"in {n} pieces"
    return (
        f"Writing {units.size(a.payload)} from one PE to another{_other_node(a)} {pieces} took the sender "
        f"{units.seconds(latency.median)}{joules} with {pattern}, the quickest pattern in the median."
    )


def _other_node(a: Analysis) -> str:
    if not a.place.across:
        return ""
    if a.place.simulated:
        return f" on another node of the simulated cluster {a.place.cluster}"
    machine = "both of one machine, " if a.place.one_machine else ""
    link = f", link {a.place.link}" if a.place.link else ""
    return f" on another node ({machine}{a.place.network}{link})"


def _dearest(a: Analysis) -> str:
    n = a.fragments[-1]
    found = [(p, c.median) for p in a.patterns if (c := a.center("latency", p, n))]
    if n == a.fragments[0] or len(found) < 2:
        return ""
    worst, best = max(found, key=lambda e: e[1]), min(found, key=lambda e: e[1])
    return (
        f"Divided into {n:,} buffers of {units.size(a.payload / n)}, the same bytes took {units.seconds(worst[1])} "
        f"with {worst[0]} and {units.seconds(best[1])} with {best[0]}, a factor of {worst[1] / best[1]:.1f}."
    )


def _nonblocking(a: Analysis) -> str:
    n = a.fragments[-1]
    nonblock, aggregate = a.saving("latency", "PQPQ", "PPQ", n), a.saving("latency", "PPQ", "MMPQAMM", n)
    if nonblock is None or aggregate is None:
        return ""
    return (
        f"There, replacing blocking puts by non-blocking ones {_time_words(nonblock.median)}; packing the buffers as "
        f"well {_time_words(aggregate.median)}, measured against the non-blocking puts."
    )


def _time_words(saving: float) -> str:
    """A saving in percent as words, so that its sign cannot be misread."""
    share = units.share(abs(saving) / 100)
    return f"saved {share} of the time" if saving >= 0 else f"cost {share} more time"


def _joules(a: Analysis, record: Manifest) -> str:
    both = " by a sensor that measures both nodes" if a.saw_both else ""
    return joules(a.provenance("energy"), a.sources, record, a.why_no_joules, both)
