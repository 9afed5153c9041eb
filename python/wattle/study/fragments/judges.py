"""The judges of the study of payload and fragments: each compares a statement of chapter 6 with the samples.

Energy and power are the sender's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Sized
from itertools import pairwise
from statistics import median

from wattle.study import papers
from wattle.study.fragments.analysis import METRICS, Analysis
from wattle.study.published import NotTestable, Outcome, Past, Verdict, by_form, past, verdict_of
from wattle.study.stats import line, trend
from wattle.text import units
from wattle.text.units import in_unit

KIB = 1024
SMALL = 64 * KIB  # D 6.1: small to medium messages have 2 to 65536 bytes, large ones more
LITTLE = 2 * KIB  # D 6.2: small payloads have up to 2 KB
INITIAL = 4  # fragments: the initial rise, and those of a bulk transfer; the text has no numbers
FEWEST_REPEATS = 3  # for a median that one disturbance does not move; a simulation has no disturbances
FEWEST_CELLS = 4  # payloads or numbers of fragments that a statement on most of them needs
MOST = 0.75  # share of the payloads, or of the numbers of fragments, at which a relation must hold
RISES = 0.7  # smallest rank correlation of a rise
PAPER_PROCESSOR = "E5-2670"

Values = Sequence[tuple[int, float]]


# ---- common to all rows ----


def _needs(a: Analysis, metric: str) -> None:
    if not a.place.simulated and a.repeats < FEWEST_REPEATS:
        raise NotTestable(f"n = {units.several(a.repeats, 'repeat')}; a median needs at least {FEWEST_REPEATS}")
    if not a.values(metric):
        raise NotTestable(f"{METRICS[metric].label}: not known here, because {a.why_not(metric)}")


def _enough(found: Sized, what: str) -> None:
    if len(found) < FEWEST_CELLS:
        raise NotTestable(f"needs at least {FEWEST_CELLS} {what}; these samples have {len(found)}")


def _outcome(a: Analysis, metric: str, ours: str, holds: bool, *why: str, beyond: Past | None = None) -> Outcome:
    """`why`: for a difference. A remark on the model stands with every verdict."""
    said = [*((w for w in why if w) if not holds else ()), *_of_the_model(a, metric)]
    return Outcome(ours, verdict_of(holds), tuple(said), a.provenance(metric), beyond)


def _of_the_model(a: Analysis, metric: str) -> tuple[str, ...]:
    if not METRICS[metric].energy or a.provenance(metric) != "modelled":
        return ()
    if a.place.simulated:
        return ("Joules are those of the simulated node: watts of each state times simulated time.",)
    if metric == "cpu":
        return ("CPU joules are modelled as watts times time on a core, so this is a statement on time.",)
    return ()


CALLS = "In simulation each fragment has the price of a put and a quiet, so the energy of more of them is more."
BYTES = "In simulation each byte takes time and joules, so the energy of more of them is more."


def _amounts(metric: str, values: Values, words: Callable[[int], str]) -> str:
    """Values along an axis as text: `3.1 µJ at 2 B, 5.0 µJ at 64.0 KiB`."""
    return ", ".join(f"{in_unit(v, METRICS[metric].unit)} at {words(at)}" for at, v in values)


def _at(held: int, of: int, what: str) -> str:
    return f"holds at {held} of {of} {what}"


def _pieces(n: int) -> str:
    return "one piece" if n == 1 else f"{n:,} pieces"


def _rise(values: Values, least: float) -> bool:
    """Whether values rise along the axis: by rank, and the last by the share `least` over the first."""
    first, last = values[0][1], values[-1][1]
    return trend(*zip(*values, strict=True)) >= RISES and last >= (1 + least) * first


def _factor(values: Values) -> float:
    """The largest value by the smallest; infinite where one is not above zero."""
    found = [v for _, v in values]
    return max(found) / min(found) if min(found) > 0 else math.inf


def _times(factor: float) -> str:
    return f"a factor of {factor:.3g}" if math.isfinite(factor) else "an unknown factor, as one is not above zero"


# ---- bandwidth and energy ----


def best_unfragmented(a: Analysis) -> Outcome:
    _needs(a, "bandwidth")
    by_payload = {p: v for p in a.payloads if len(v := a.along_fragments("bandwidth", p)) > 1}
    _enough(by_payload, "payloads in several numbers of fragments")
    best = {p: max(v, key=lambda entry: entry[1]) for p, v in by_payload.items()}
    missed = [p for p, v in by_payload.items() if v[0][1] < max(0.95 * best[p][1], 1.1 * v[-1][1])]
    ours = _at(len(by_payload) - len(missed), len(by_payload), "payloads")
    why = ""
    if missed:
        worst = max(missed, key=lambda p: best[p][1] / by_payload[p][0][1])
        n, most = best[worst]
        why = (
            f"{units.size(worst)} moved at {units.size(by_payload[worst][0][1])}/s in one piece and at "
            f"{units.size(most)}/s in {n}."
        )
    return _outcome(a, "bandwidth", ours, len(missed) <= 0.1 * len(by_payload), why)


def follows_instructions(a: Analysis) -> Outcome:
    for metric in ("cpu", "instructions"):
        _needs(a, metric)
    joules, counted = a.values("cpu"), a.values("instructions")
    both = sorted(joules.keys() & counted.keys())
    _enough(both, "cells with both")
    rho = trend([counted[cell] for cell in both], [joules[cell] for cell in both])
    return _outcome(a, "cpu", f"rank correlation {rho:+.2f} over {len(both)} cells", rho >= RISES)


def rises_with_fragments(a: Analysis, metric: str) -> Outcome:
    _needs(a, metric)
    if metric == "dram" and a.provenance(metric) == "modelled" and not a.place.simulated:
        raise NotTestable("DRAM joules are modelled from the bytes of puts, which fragments do not change")
    by_payload = {p: v for p in a.payloads if p >= 16 and len(v := a.along_fragments(metric, p)) >= FEWEST_CELLS}
    _enough(by_payload, "payloads of 16 B and more")
    held = [p for p, v in by_payload.items() if _rise(v, 0.1)]
    largest = max(by_payload)
    (few, first), (n, last) = by_payload[largest][0], by_payload[largest][-1]
    ours = (
        f"{_at(len(held), len(by_payload), 'payloads')}; {units.size(largest)} takes {in_unit(first, 'J')} in "
        f"{_pieces(few)} and {in_unit(last, 'J')} in {n:,}"
    )
    return by_form(a, _outcome(a, metric, ours, len(held) >= MOST * len(by_payload)), CALLS)


def flat_at_first(a: Analysis) -> Outcome:
    _needs(a, "cpu")
    bulk = {p: [e for e in a.along_fragments("cpu", p) if e[0] <= INITIAL] for p in a.payloads if p > SMALL}
    bulk = {p: v for p, v in bulk.items() if len(v) > 2}
    _enough(bulk, "payloads above 64 KiB")
    changes = {p: _factor(v) for p, v in bulk.items()}
    held = [p for p, change in changes.items() if change <= 1.2]
    worst = max(changes, key=lambda p: changes[p])
    ours = f"{_at(len(held), len(bulk), 'payloads')}; at most {_times(changes[worst])}, at {units.size(worst)}"
    why = f"{units.size(worst)}: {_amounts('cpu', bulk[worst], lambda n: units.several(n, 'fragment'))}."
    return _outcome(a, "cpu", ours, len(held) >= MOST * len(bulk), why)


def flat_with_payload(a: Analysis, metric: str, factor: float) -> Outcome:
    _needs(a, metric)
    found = {n: [e for e in a.along_payloads(metric, n) if 2 <= e[0] <= SMALL] for n in a.counts}
    found = {n: v for n, v in found.items() if len(v) >= FEWEST_CELLS}
    _enough(found, "numbers of fragments")
    changes = {n: _factor(v) for n, v in found.items()}
    held = [n for n, change in changes.items() if change <= factor]
    n, few = min(found), found[min(found)]
    ours = f"{_at(len(held), len(found), 'numbers of fragments')}; in {_pieces(n)} {_times(changes[n])}"
    why = f"In {_pieces(n)}: {_amounts(metric, few[:: len(few) - 1], units.size)}."
    return _outcome(a, metric, ours, len(held) >= MOST * len(found), why)


def rises_with_payload(a: Analysis, metric: str) -> Outcome:
    _needs(a, metric)
    found = {n: [e for e in a.along_payloads(metric, n) if e[0] >= SMALL] for n in a.counts}
    found = {n: v for n, v in found.items() if len(v) >= FEWEST_CELLS}
    _enough(found, "numbers of fragments")
    held = [n for n, v in found.items() if _rise(v, 0.5)]
    n = max(found)
    (small, first), (large, last) = found[n][0], found[n][-1]
    why = (
        f"In {n:,} fragments {units.size(small)} takes {in_unit(first, 'J')} and {units.size(large)} "
        f"{in_unit(last, 'J')}: where the calls dominate, the bytes do not count."
    )
    ours = _at(len(held), len(found), "numbers of fragments")
    return by_form(a, _outcome(a, metric, ours, len(held) >= MOST * len(found), why), BYTES)


# ---- power ----


def _class(a: Analysis, metric: str, size: str) -> list[float]:
    """The watts of the cells of a size: small (up to 2 KiB), more (4 KiB and more), bulk (more than 64 KiB in at most
    four fragments).
    """
    first, last, most = {
        "small": (1, LITTLE, math.inf),
        "more": (2 * LITTLE, math.inf, math.inf),
        "bulk": (SMALL + 1, math.inf, INITIAL),
    }[size]
    found = [v for (p, n), v in a.values(metric).items() if first <= p <= last and n <= most]
    _enough(found, f"cells of {size} payloads")
    return found


def _of_payloads(a: Analysis, metric: str) -> None:
    """Raises NotTestable for watts that cannot depend on the payload."""
    if a.provenance(metric) == "modelled" and not a.place.simulated:
        raise NotTestable("modelled watts are the profile's own, at any payload")


def _percent_more(watts: float, than: float) -> float:
    if than <= 0:
        raise NotTestable("the joules of some transfers are within their uncertainty of zero")
    return 100 * (watts / than - 1)


def watts(a: Analysis, metric: str, size: str, value: float) -> Outcome:
    _needs(a, metric)
    found = median(_class(a, metric, size))
    ours = in_unit(found, "W")
    if PAPER_PROCESSOR not in a.processor_of_watts:
        why = f"Watts depend on the processor: the papers' is a Xeon {PAPER_PROCESSOR}, here {a.processor_of_watts}."
        return Outcome(ours, Verdict.NOT_TESTABLE, (why,), a.provenance(metric))
    beyond = past(found, 0.9 * value, 1.1 * value, "W")
    return _outcome(a, metric, ours, not beyond, beyond=beyond)


def more_watts(a: Analysis, metric: str, lo: float, hi: float) -> Outcome:
    _needs(a, metric)
    _of_payloads(a, metric)
    small, bulk = (median(_class(a, metric, size)) for size in ("small", "bulk"))
    more = _percent_more(bulk, small)
    ours = f"{in_unit(small, 'W')} and {in_unit(bulk, 'W')}: {units.percent(more)}"
    return _outcome(a, metric, ours, lo <= more <= hi)


def dearer_unfragmented(a: Analysis) -> Outcome:
    _needs(a, "cpu_power")
    _of_payloads(a, "cpu_power")
    along = {p: a.along_fragments("cpu_power", p) for p in a.payloads if p > SMALL}
    bulk = {p: v for p, v in along.items() if len(v) > 1 and v[0][0] == 1}
    _enough(bulk, "payloads above 64 KiB")
    more = {p: _percent_more(v[0][1], v[-1][1]) for p, v in bulk.items()}
    held = [p for p, percent in more.items() if percent >= 1]
    ours = f"{_at(len(held), len(bulk), 'payloads')}; {units.percent(median(more.values()))} in the median"
    return _outcome(a, "cpu_power", ours, len(held) >= MOST * len(bulk))


def least_when_small(a: Analysis) -> Outcome:
    parts, holds = [], True
    for metric, name in (("cpu_power", "CPU"), ("dram_power", "DRAM")):
        _needs(a, metric)
        _of_payloads(a, metric)
        small, more = (median(_class(a, metric, size)) for size in ("small", "more"))
        parts.append(f"{name} {in_unit(small, 'W')} against {in_unit(more, 'W')}")
        holds = holds and small <= 0.995 * more
    return _outcome(a, "power", "; ".join(parts), holds)


def steps_at_caches(a: Analysis) -> Outcome:
    _needs(a, "cpu_power")
    if a.provenance("cpu_power") == "modelled":
        raise NotTestable("modelled watts do not depend on caches")
    sizes = (a.caches.l1, a.caches.l2)
    if None in sizes:
        raise NotTestable("the sizes of this machine's caches are not known")
    along = a.along_payloads("cpu_power", 1)
    _enough(along, "payloads in one piece")
    steps = {(p, q): abs(_percent_more(w, v)) for (p, v), (q, w) in pairwise(along)}
    largest = sorted(steps, key=lambda step: steps[step], reverse=True)[:2]
    ours = "; ".join(f"{steps[s]:.1f} % from {units.size(s[0])} to {units.size(s[1])}" for s in largest)
    met = [any(size is not None and low <= size <= high for low, high in largest) for size in sizes]
    return _outcome(a, "cpu_power", ours, all(met) and all(steps[s] > 1 for s in largest))


# ---- counters ----


def misses_rise(a: Analysis) -> Outcome:
    _needs(a, "misses")
    along = [entry for entry in a.along_payloads("misses", 1) if entry[0] >= (a.caches.l2 or 256 * KIB)]
    _enough(along, "payloads above the L2 cache")
    (first, fewest), (last, most) = along[0], along[-1]
    rho = trend(*zip(*along, strict=True))
    ours = (
        f"{units.count(fewest)} at {units.size(first)}, {units.count(most)} at {units.size(last)}; rank correlation "
        f"{rho:+.2f}"
    )
    return _outcome(a, "misses", ours, rho >= 0.9 and most >= fewest * 0.5 * last / first)


def packets_follow_time(a: Analysis, metric: str) -> Outcome:
    _needs(a, metric)
    packets, seconds = a.values(metric), a.values("latency")
    cells = [cell for cell in sorted(packets) if packets[cell] > 0]
    _enough(cells, "cells with packets")
    fit = line([math.log(packets[c]) for c in cells], [math.log(seconds[c]) for c in cells])
    if fit is None:
        raise NotTestable("all cells sent the same number of packets")
    ours = f"time grows with packets to the power of {fit.slope:.2f} (r² {fit.r2:.3f}, interface {a.interface})"
    why = (
        f"Packets of {a.interface} hold up to {units.size(a.bytes_a_packet())} here, those of InfiniBand at most "
        "4 KiB: larger payloads take more time, but hardly more packets."
    )
    return _outcome(a, metric, ours, 0.7 <= fit.slope <= 1.3 and fit.r2 >= 0.9, why)


ROWS = papers.read(__file__).figures(globals())
