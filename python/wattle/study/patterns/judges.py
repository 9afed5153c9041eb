"""The judges of the pattern study: each compares a published figure with the samples. Savings are positive."""

from __future__ import annotations

import operator
import statistics
from collections.abc import Iterable
from itertools import pairwise

from wattle.study import papers
from wattle.study.patterns import reasons
from wattle.study.patterns.analysis import METRICS, PAPER_PAYLOAD, TRANSFORMATIONS, Analysis
from wattle.study.published import (
    MODELLED,
    NotTestable,
    Outcome,
    Past,
    Verdict,
    enough,
    needed,
    not_here,  # noqa: F401 (published.toml names it)
    past,
    verdict_of,
)
from wattle.study.stats import Center, trend
from wattle.text import units
from wattle.text.provenance import Joules, Provenance, amount, total

ALIKE = 20.0  # percent within which "~" holds
MOST = 0.75  # share of the fragment counts at which a relation must hold
RISES = 0.7  # smallest rank correlation of a rise (or fall, with its sign)
LEAST = 1.0  # percent that a difference must exceed
FALLS = 0.1  # smallest share that is lost in a fall
POINTS = 5.0  # percentage points that a rise must reach, and a saving that is compared with another

Form = tuple[str, str, str]
Found = tuple[Center, Form, int]
REASONS = {
    f.__name__: f for f in (reasons.copies, reasons.small_copies, reasons.fences, reasons.packing, reasons.call_rate)
}


# ---- common to all rows ----


def _fragments(a: Analysis, counts: str) -> list[int]:
    """The fragment counts of a row's condition, `up to 256`, `beyond 256`, `from 256 on` or `in all`. At least two are
    needed.
    """
    if a.payload != PAPER_PAYLOAD:
        paper, ours = units.size(PAPER_PAYLOAD), units.size(a.payload)
        raise NotTestable(f"published for a payload of {paper}; these samples moved {ours}")
    within = {"up": operator.le, "beyond": operator.gt, "from": operator.ge}
    word, *rest = counts.split()
    found = [n for n in a.fragments if word == "in" or within[word](n, int(next(filter(str.isdigit, rest))))]
    if len(found) < 2:
        raise NotTestable(f"needs at least two fragment counts {counts}; these samples have {len(found)}")
    return found


def _known(a: Analysis, metric: str) -> None:
    if a.provenance(metric) == "unavailable":
        raise NotTestable(f"no joules here: {a.why_no_joules}")


def _savings(a: Analysis, metric: str, forms: Iterable[Form], fragments: list[int]) -> list[Found]:
    _known(a, metric)
    found = []
    for form in forms:
        for n in fragments:
            saving = a.saving(metric, form[1], form[2], n)
            if saving is None:
                raise NotTestable(f"{form[1]} and {form[2]} were not both measured in {n} fragments")
            found.append((saving, form, n))
    enough(*(saving for saving, _, _ in found))
    return found


def _forms(name: str) -> tuple[Form, ...]:
    return TRANSFORMATIONS[name].forms


def _with_interval(c: Center) -> str:
    interval = f"{c.confidence * 100:.0f} %: {units.percent(c.lo)} to {units.percent(c.hi)}"
    return f"{units.percent(c.median)} ({interval}, n = {c.n})"


def _median(found: Iterable[Found]) -> float:
    return statistics.median(c.median for c, _, _ in found)


def _range(found: list[Found]) -> str:
    lo, hi = min(c.median for c, _, _ in found), max(c.median for c, _, _ in found)
    return f"{units.percent(_median(found))} in the median, {units.percent(lo)} to {units.percent(hi)} over the counts"


def _outcome(a: Analysis, metric: str, ours: str, holds: bool, *why: str, beyond: Past | None = None) -> Outcome:
    by_construction = metric == "dram" and a.provenance(metric) == "modelled"  # worth a remark even where it agrees
    network = "" if holds else reasons.network(a)
    sensor = reasons.shared_sensor(a) if METRICS[metric].energy else ""
    said = (*why, network) if by_construction or not holds else ()
    reasons_ = tuple(dict.fromkeys(w for w in (*said, sensor) if w))
    return Outcome(ours, verdict_of(holds), reasons_, a.provenance(metric), beyond)


def _why(a: Analysis, metric: str, time_reason: str, before: str, after: str) -> tuple[str, ...]:
    """The reasons that apply to a metric."""
    if metric == "dram":
        return reasons.modelled_dram(a, before, after)
    if metric in ("cpu", "edp", "energy"):
        return (time_reason, reasons.modelled_cpu(a)) if a.provenance(metric) == "modelled" else (time_reason,)
    return (time_reason,)


# ---- the order of the patterns ----

# The most expensive first; "~": similar, ">": costs more.
CHAIN = (("MPQMPQ", "~", "PQPQ"), ("PQPQ", ">", "MPMPQ"), ("MPMPQ", "~", "PPQ"), ("PPQ", ">", "MMPQAMM"))


def order(a: Analysis, metric: str, counts: str) -> Outcome:
    _known(a, metric)
    fragments = _fragments(a, counts)
    held = [sum(_relation(a, metric, relation, n) for n in fragments) for relation in CHAIN]
    sign = ">" if METRICS[metric].lower_is_better else "<"
    shown = [f"{left} {sign if op == '>' else op} {right}" for left, op, right in CHAIN]
    ours = "; ".join(f"{text} at {count} of {len(fragments)}" for text, count in zip(shown, held, strict=True))
    holds = all(count >= MOST * len(fragments) for count in held)
    failing = [r for r, count in zip(CHAIN, held, strict=True) if count < MOST * len(fragments)]
    return _outcome(a, metric, ours, holds, *_order_reasons(a, metric, failing))


def _relation(a: Analysis, metric: str, relation: tuple[str, str, str], n: int) -> bool:
    left, op, right = relation
    saving = needed(a.saving(metric, left, right, n), f"{left} and {right} were not both measured in {n} fragments")
    enough(saving)
    if op == "~":
        return abs(saving.median) <= ALIKE
    return saving.lo > LEAST if METRICS[metric].lower_is_better else saving.hi < -LEAST


def _order_reasons(a: Analysis, metric: str, failing: list[tuple[str, str, str]]) -> list[str]:
    by_relation = {
        "MPQMPQ": reasons.copies,
        "MPMPQ": reasons.copies,
        "PQPQ": reasons.fences,
        "PPQ": reasons.packing,
    }
    sentences = dict.fromkeys(by_relation[left](a) for left, _, _ in failing)
    return [*sentences, reasons.modelled_cpu(a) if metric == "energy" else ""]


# ---- savings ----


def largest(a: Analysis, metric: str, name: str, counts: str, value: float, within: float, why: str) -> Outcome:
    """Judges "as high as": the largest saving over counts and forms whose interval is above zero."""
    found = _savings(a, metric, _forms(name), _fragments(a, counts))
    sure = [entry for entry in found if entry[0].above_zero]
    best, form, n = max(sure or found, key=lambda entry: entry[0].median)
    if not sure and best.hi >= value - within:
        raise NotTestable(f"the repeats spread too much: the largest saving is {_with_interval(best)}")
    ours = f"{_with_interval(best)}, {form[0]}, {n} fragment{'s' if n > 1 else ''}"
    beyond = past(best.median, value - within, value + within)
    return _outcome(a, metric, ours, not beyond, *_why(a, metric, REASONS[why](a), form[1], form[2]), beyond=beyond)


def about(a: Analysis, metric: str, name: str, counts: str, lo: float, hi: float, why: str) -> Outcome:
    """Judges "about": the median over counts and forms is from lo to hi."""
    forms = _forms(name)
    found = _savings(a, metric, forms, _fragments(a, counts))
    beyond = past(_median(found), lo, hi)
    said = _why(a, metric, REASONS[why](a), forms[0][1], forms[0][2])
    return _outcome(a, metric, _range(found), not beyond, *said, beyond=beyond)


def rising(a: Analysis, metric: str, name: str, counts: str, why: str, gain: bool = False) -> Outcome:
    """Judges a rise with the count in every form. With `gain`, the last saving's interval must also be above zero."""
    fragments = _fragments(a, counts)
    parts, holds = [], True
    for form in _forms(name):
        found = _savings(a, metric, [form], fragments)
        rise = trend(fragments, [c.median for c, _, _ in found])
        first, last = found[0][0], found[-1][0]
        parts.append(
            f"{form[0]}: {units.percent(first.median)} at {fragments[0]}, {units.percent(last.median)} at "
            f"{fragments[-1]}, rank correlation {rise:+.2f}"
        )
        holds = holds and rise >= RISES and last.median - first.median >= POINTS and (not gain or last.above_zero)
    form = _forms(name)[0]
    return _outcome(a, metric, "; ".join(parts), holds, *_why(a, metric, REASONS[why](a), form[1], form[2]))


def oscillates(a: Analysis) -> Outcome:
    form = _forms("pin")[1]
    found = _savings(a, "dram", [form], _fragments(a, "in all"))
    steps = [b[0].median - c[0].median for c, b in pairwise(found)]
    turns = sum(x * y < 0 for x, y in pairwise(steps))
    largest = max(abs(s) for s in steps)
    ours = f"{turns} turns in {len(steps)} steps, the largest step {largest:.1f} points"
    holds = turns >= (len(steps) - 1) / 2 and largest >= 5
    return _outcome(a, "dram", ours, holds, *reasons.modelled_dram(a, form[1], form[2]))


def blocking_saves_less_dram(a: Analysis) -> Outcome:
    fragments = _fragments(a, "in all")
    blocking, other = (_savings(a, "dram", [form], fragments) for form in _forms("pin"))
    gap = statistics.median(o[0].median - b[0].median for b, o in zip(blocking, other, strict=True))
    ours = f"non-blocking saves {gap:+.1f} points more in the median"
    return _outcome(a, "dram", ours, gap > 1, *reasons.modelled_dram(a, "MPQMPQ", "PQPQ"))


def pinned_or_not(a: Analysis) -> Outcome:
    fragments = _fragments(a, "in all")
    unpinned, pinned = (_savings(a, "latency", [form], fragments) for form in _forms("non-block"))
    gaps = [abs(u[0].median - p[0].median) for u, p in zip(unpinned, pinned, strict=True)]
    both = statistics.median(c.median for c, _, _ in (*unpinned, *pinned))
    apart = f"{statistics.median(gaps):.1f} points apart in the median, {max(gaps):.1f} at most"
    ours = f"{apart}; savings of {units.percent(both)} in the median"
    return _outcome(a, "latency", ours, statistics.median(gaps) <= 10 and both >= POINTS, reasons.copies(a))


def aggregate_edp(a: Analysis) -> Outcome:
    found = _savings(a, "edp", _forms("aggregate"), _fragments(a, "in all"))
    lo, hi = min(c.median for c, _, _ in found), max(c.median for c, _, _ in found)
    ours = f"{units.percent(lo)} to {units.percent(hi)}"
    holds = abs(lo + 70) <= 15 and abs(hi - 98) <= 15
    return _outcome(a, "edp", ours, holds, reasons.packing(a), reasons.call_rate(a), reasons.modelled_cpu(a))


# ---- rates ----

SINGLE = ("MPQMPQ", "PQPQ", "MPMPQ", "PPQ")


def _medians(a: Analysis, metric: str, pattern: str, fragments: list[int]) -> list[float]:
    found = [a.center(metric, pattern, n) for n in fragments]
    if any(c is None for c in found):
        raise NotTestable(f"{pattern} was not measured at every count")
    known = [c for c in found if c is not None]
    enough(*known)
    return [c.median for c in known]


def flat_rates(a: Analysis) -> Outcome:
    fragments = _fragments(a, "from 64 on")
    rates = {p: _medians(a, "rate", p, fragments) for p in SINGLE}
    spans = {p: max(r) / min(r) for p, r in rates.items()}
    ours = "; ".join(f"{p} varies by a factor of {span:.1f}" for p, span in spans.items())
    rises = all(2 * r[-1] >= max(r) for r in rates.values())  # none that falls makes up for one that rises
    beyond = past(max(spans.values()), 0, 2, "times") if rises else None
    return _outcome(a, "rate", ours, max(spans.values()) <= 2, reasons.call_rate(a), beyond=beyond)


def aggregated_rate(a: Analysis) -> Outcome:
    fragments = _fragments(a, "from 256 on")
    rates = _medians(a, "rate", "MMPQAMM", fragments)
    rise = rates[-1] / rates[0]
    ours = (
        f"{units.count(rates[0])}/s at {fragments[0]}, {units.count(rates[-1])}/s at {fragments[-1]}: {rise:.1f} times"
    )
    others = [(p, r[-1] / r[0]) for p in SINGLE for r in [_medians(a, "rate", p, fragments)]]
    first, most = max(others, key=lambda other: other[1])
    ours += f"; {first} {most:.1f} times"
    return _outcome(a, "rate", ours, rise >= 2 * max(1.0, most), reasons.packing(a), reasons.call_rate(a))


def falling_bandwidth(a: Analysis) -> Outcome:
    fragments = _fragments(a, "from 64 on")
    found = {p: _medians(a, "bandwidth", p, fragments) for p in SINGLE}
    falls = {p: trend(fragments, values) for p, values in found.items()}
    ours = "rank correlation with the count: " + ", ".join(f"{p} {r:+.2f}" for p, r in falls.items())
    holds = all(falls[p] <= -RISES and values[-1] <= (1 - FALLS) * values[0] for p, values in found.items())
    return _outcome(a, "bandwidth", ours, holds, reasons.call_rate(a))


# ---- the idle draw ----

PAPER_NODE, SOCKETS, CORES = "sandybridge-e5-2670", 2, 8  # the profile of the papers' node; cores of a socket


def idle_draw(a: Analysis, watts: float) -> Outcome:
    known = [f for f in a.floor if f.known and f.interval_s and (f.scope == "package" or f.domain == "cpu-idle")]
    if not known:
        raise NotTestable("the idle draw is not known here")
    idle = total(known)
    ours = f"{_watts(idle)} W ({idle.provenance}: {idle.source})"
    if idle.provenance is Provenance.MODELLED and PAPER_NODE in a.profiles:
        sockets = 1 / CORES if a.place.simulated else SOCKETS
        per_socket = (idle.joules or 0.0) / (idle.interval_s or 1.0) / sockets
        return Outcome(
            f"{ours}: {per_socket:.3f} W a socket", verdict_of(abs(per_socket / watts - 1) <= 0.01), (), MODELLED
        )
    why = "Idle watts depend on the machine; the papers' are those of a shielded socket of a Xeon E5-2670."
    return Outcome(ours, Verdict.NOT_TESTABLE, (why,), str(idle.provenance))


def _watts(figure: Joules) -> str:
    if figure.joules is None or not figure.interval_s:
        return "?"
    return amount(figure.joules, figure.uncertainty, figure.interval_s)


# ---- rows ----

PAPERS = papers.read(__file__)
ROWS = PAPERS.figures(globals())
