"""The published figures of the pattern study, and how each is held against the samples.

Sources: D = S. Jana's dissertation (2016), S = the slides of PGAS 2014. Savings are (before - after) / before x 100:
positive is a saving. The texts have lost their plots: only what they say in words and numbers can be compared.
All but the idle draw was measured between two nodes over InfiniBand, one PE on a core of each (D A.3; S, experimental
setup).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise

from wattle import units
from wattle.provenance import Joules, Provenance, amount, total
from wattle.study.patterns import reasons
from wattle.study.patterns.analysis import METRICS, PAPER_PAYLOAD, TRANSFORMATIONS, Analysis
from wattle.study.published import NotTestable, Outcome, Published, Verdict, verdict_of
from wattle.study.stats import FEWEST, Center, trend

ALIKE = 20.0  # percent within which "~" holds
MOST = 0.75  # share of the fragment counts at which a relation must hold
RISES = 0.7  # rank correlation from which something rises (or falls, with its sign)

Fragments = Callable[[int], bool]
Form = tuple[str, str, str]
Found = tuple[Center, Form, int]


# ---- what every row needs ----


def _fragments(a: Analysis, wanted: Fragments, words: str) -> list[int]:
    """The fragment counts of a row's condition, at least two of them."""
    if a.payload != PAPER_PAYLOAD:
        paper, ours = units.size(PAPER_PAYLOAD), units.size(a.payload)
        raise NotTestable(f"published for a payload of {paper}; these samples moved {ours}")
    found = [n for n in a.fragments if wanted(n)]
    if len(found) < 2:
        raise NotTestable(f"needs at least two fragment counts {words}; these samples have {len(found)}")
    return found


def _known(a: Analysis, metric: str) -> None:
    if a.provenance(metric) == "unavailable":
        raise NotTestable(f"no joules here: {a.why_no_joules()}")


def _savings(a: Analysis, metric: str, forms: Iterable[Form], fragments: list[int]) -> list[Found]:
    _known(a, metric)
    found = []
    for form in forms:
        for n in fragments:
            saving = a.saving(metric, form[1], form[2], n)
            if saving is None:
                raise NotTestable(f"{form[1]} and {form[2]} were not both measured in {n} fragments")
            found.append((saving, form, n))
    _enough(*(saving for saving, _, _ in found))
    return found


def _enough(*centers: Center) -> None:
    """A verdict needs an interval that is worth its name."""
    n = min((c.n for c in centers), default=FEWEST)
    if n < FEWEST:
        raise NotTestable(f"n = {units.several(n, 'repeat')}; six are the least for a 95 % statement")


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


def _outcome(a: Analysis, metric: str, ours: str, holds: bool, *why: str) -> Outcome:
    by_construction = metric == "dram" and a.provenance(metric) == "modelled"  # worth saying even where it agrees
    network = "" if holds else reasons.network(a)
    sensor = reasons.shared_sensor(a) if METRICS[metric].energy else ""
    said = (*why, network) if by_construction or not holds else ()
    return Outcome(ours, verdict_of(holds), tuple(dict.fromkeys(w for w in (*said, sensor) if w)), a.provenance(metric))


def _why(a: Analysis, metric: str, time_reason: str, before: str, after: str) -> tuple[str, ...]:
    """The reasons that bear on a metric."""
    if metric == "dram":
        return reasons.modelled_dram(a, before, after)
    if metric in ("cpu", "edp", "energy"):
        return (time_reason, reasons.modelled_cpu(a))
    return (time_reason,)


# ---- the order of the patterns ----

# dearest first; "~" alike, ">" costs more
CHAIN = (("MPQMPQ", "~", "PQPQ"), ("PQPQ", ">", "MPMPQ"), ("MPMPQ", "~", "PPQ"), ("PPQ", ">", "MMPQAMM"))


def _order(metric: str, wanted: Fragments, words: str) -> Callable[[Analysis], Outcome]:
    def judge(a: Analysis) -> Outcome:
        _known(a, metric)
        fragments = _fragments(a, wanted, words)
        counts = [sum(_relation(a, metric, relation, n) for n in fragments) for relation in CHAIN]
        sign = ">" if METRICS[metric].lower_is_better else "<"
        shown = [f"{left} {sign if op == '>' else op} {right}" for left, op, right in CHAIN]
        ours = "; ".join(f"{text} at {count} of {len(fragments)}" for text, count in zip(shown, counts, strict=True))
        holds = all(count >= MOST * len(fragments) for count in counts)
        failing = [r for r, count in zip(CHAIN, counts, strict=True) if count < MOST * len(fragments)]
        return _outcome(a, metric, ours, holds, *_order_reasons(a, metric, failing))

    return judge


def _relation(a: Analysis, metric: str, relation: tuple[str, str, str], n: int) -> bool:
    left, op, right = relation
    saving = a.saving(metric, left, right, n)
    if saving is None:
        raise NotTestable(f"{left} and {right} were not both measured in {n} fragments")
    _enough(saving)
    if op == "~":
        return abs(saving.median) <= ALIKE
    beyond = saving.above_zero if METRICS[metric].lower_is_better else saving.below_zero
    return beyond and a.sign_is_sure(metric, left, right, n)


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


def _largest(
    metric: str, name: str, wanted: Fragments, words: str, value: float, within: float, why: Callable
) -> Callable:
    """As high as: the largest saving over counts and forms that is one beyond doubt."""

    def judge(a: Analysis) -> Outcome:
        found = _savings(a, metric, _forms(name), _fragments(a, wanted, words))
        sure = [entry for entry in found if entry[0].above_zero]
        best, form, n = max(sure or found, key=lambda entry: entry[0].median)
        if not sure and best.hi >= value - within:
            raise NotTestable(f"the repeats are too far apart: the largest saving is {_with_interval(best)}")
        ours = f"{_with_interval(best)}, {form[0]}, {n} fragment{'s' if n > 1 else ''}"
        holds = abs(best.median - value) <= within
        return _outcome(a, metric, ours, holds, *_why(a, metric, why(a), form[1], form[2]))

    return judge


def _about(metric: str, name: str, wanted: Fragments, words: str, lo: float, hi: float, why: Callable) -> Callable:
    """About: the median over counts and forms lies from lo to hi."""

    def judge(a: Analysis) -> Outcome:
        forms = _forms(name)
        found = _savings(a, metric, forms, _fragments(a, wanted, words))
        holds = lo <= _median(found) <= hi
        return _outcome(a, metric, _range(found), holds, *_why(a, metric, why(a), forms[0][1], forms[0][2]))

    return judge


def _rising(metric: str, name: str, wanted: Fragments, words: str, why: Callable, gain: bool = False) -> Callable:
    """Rises with the count, in every form; with `gain`, also ends as a saving beyond doubt."""

    def judge(a: Analysis) -> Outcome:
        fragments = _fragments(a, wanted, words)
        parts, holds = [], True
        for form in _forms(name):
            found = _savings(a, metric, [form], fragments)
            rise = trend(fragments, [c.median for c, _, _ in found])
            first, last = found[0][0], found[-1][0]
            parts.append(
                f"{form[0]}: {units.percent(first.median)} at {fragments[0]}, {units.percent(last.median)} at "
                f"{fragments[-1]}, rank correlation {rise:+.2f}"
            )
            holds = holds and rise >= RISES and (not gain or last.above_zero)
        form = _forms(name)[0]
        return _outcome(a, metric, "; ".join(parts), holds, *_why(a, metric, why(a), form[1], form[2]))

    return judge


def _oscillates(a: Analysis) -> Outcome:
    form = _forms("pin")[1]
    found = _savings(a, "dram", [form], _fragments(a, lambda n: True, "in all"))
    steps = [b[0].median - c[0].median for c, b in pairwise(found)]
    turns = sum(x * y < 0 for x, y in pairwise(steps))
    largest = max(abs(s) for s in steps)
    ours = f"{turns} turns in {len(steps)} steps, the largest step {largest:.1f} points"
    holds = turns >= (len(steps) - 1) / 2 and largest >= 5
    return _outcome(a, "dram", ours, holds, *reasons.modelled_dram(a, form[1], form[2]))


def _blocking_saves_less_dram(a: Analysis) -> Outcome:
    fragments = _fragments(a, lambda n: True, "in all")
    blocking, other = (_savings(a, "dram", [form], fragments) for form in _forms("pin"))
    gap = statistics.median(o[0].median - b[0].median for b, o in zip(blocking, other, strict=True))
    ours = f"non-blocking saves {gap:+.1f} points more in the median"
    return _outcome(a, "dram", ours, gap > 1, *reasons.modelled_dram(a, "MPQMPQ", "PQPQ"))


def _pinned_or_not(a: Analysis) -> Outcome:
    fragments = _fragments(a, lambda n: True, "in all")
    unpinned, pinned = (_savings(a, "latency", [form], fragments) for form in _forms("non-block"))
    gaps = [abs(u[0].median - p[0].median) for u, p in zip(unpinned, pinned, strict=True)]
    ours = f"{statistics.median(gaps):.1f} points apart in the median, {max(gaps):.1f} at most"
    return _outcome(a, "latency", ours, statistics.median(gaps) <= 10, reasons.copies(a))


def _aggregate_edp(a: Analysis) -> Outcome:
    found = _savings(a, "edp", _forms("aggregate"), _fragments(a, lambda n: True, "in all"))
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
    _enough(*known)
    return [c.median for c in known]


def _flat_rates(a: Analysis) -> Outcome:
    fragments = _fragments(a, lambda n: n >= 64, "from 64 on")
    spans = {p: max(r) / min(r) for p in SINGLE for r in [_medians(a, "rate", p, fragments)]}
    ours = "; ".join(f"{p} varies by a factor of {span:.1f}" for p, span in spans.items())
    return _outcome(a, "rate", ours, all(span <= 2 for span in spans.values()), reasons.call_rate(a))


def _aggregated_rate(a: Analysis) -> Outcome:
    fragments = _fragments(a, lambda n: n >= 256, "from 256 on")
    rates = _medians(a, "rate", "MMPQAMM", fragments)
    rise = rates[-1] / rates[0]
    ours = (
        f"{units.count(rates[0])}/s at {fragments[0]}, {units.count(rates[-1])}/s at {fragments[-1]}: {rise:.1f} times"
    )
    return _outcome(a, "rate", ours, rise >= 2, reasons.packing(a))


def _falling_bandwidth(a: Analysis) -> Outcome:
    fragments = _fragments(a, lambda n: n >= 64, "from 64 on")
    falls = {p: trend(fragments, _medians(a, "bandwidth", p, fragments)) for p in SINGLE}
    ours = "rank correlation with the count: " + ", ".join(f"{p} {r:+.2f}" for p, r in falls.items())
    return _outcome(a, "bandwidth", ours, all(r <= -RISES for r in falls.values()), reasons.call_rate(a))


# ---- what cannot be compared ----


def _payload(a: Analysis) -> Outcome:
    raise NotTestable("the text gives no number for this transformation and its plot is lost; ours are in the figure")


def _floor(a: Analysis) -> Outcome:
    known = [f for f in a.floor if f.known and f.interval_s and (f.scope == "package" or f.domain == "cpu-idle")]
    if not known:
        raise NotTestable("the idle draw is not known here")
    idle = total(known)
    ours = f"{_watts(idle)} W ({idle.provenance}: {idle.source})"
    if idle.provenance is not Provenance.MEASURED:
        why = (
            "Our idle draw is the machine profile's own number, so holding it against the papers' would prove nothing."
        )
    else:
        why = "Idle draw belongs to a machine; the papers' is that of a shielded socket of a Xeon E5-2670."
    return Outcome(ours, Verdict.NOT_TESTABLE, (why,), str(idle.provenance))


def _watts(figure: Joules) -> str:
    if figure.joules is None or not figure.interval_s:
        return "?"
    return amount(figure.joules, figure.uncertainty, figure.interval_s)


# ---- the rows ----


def _bulk(n: int) -> bool:
    return n <= 512


def _small(n: int) -> bool:
    return n > 512


def _row(
    id: str, about: str, source: str, condition: str, published: str, tolerance: str, judge: Callable
) -> Published:
    return Published(id, about, source, condition, published, tolerance, judge, "two nodes, InfiniBand")


def _order_rows() -> list[Published]:
    dear = "MPQMPQ ~ PQPQ > MPMPQ ~ PPQ > MMPQAMM"
    cheap = dear.replace(">", "<")
    share = f"each at {MOST * 100:.0f} % of the counts or more"
    rule = f"~ within {ALIKE:.0f} %, > and < beyond the 95 % interval and the profile's doubt, {share}"
    slides = ("S, performance characteristics", "medium to bulk transfers (taken as 2 KiB a buffer and more: 1-256)")
    text = ("D 8.3, figure 8.4", "beyond 256 puts (less than 2 KiB each)")
    rows = []
    for metric in ("energy", "latency", "bandwidth", "rate"):
        order = dear if METRICS[metric].lower_is_better else cheap
        label = METRICS[metric].label
        judges = _order(metric, lambda n: n <= 256, "up to 256"), _order(metric, lambda n: n > 256, "beyond 256")
        for (source, condition), judge, tag in zip((slides, text), judges, ("bulk", "small"), strict=True):
            rows.append(_row(f"order-{metric}-{tag}", "order", source, condition, f"{label}: {order}", rule, judge))
    return rows


def _pin_rows() -> list[Published]:
    source, bulk, small = "D 8.3.1, figure 8.3", "bulk: up to 512 puts (1 KiB and more each)", "more than 512 puts"
    rows = []
    for metric, value, within in (("cpu", 20, 10), ("latency", 20, 10), ("dram", 40, 15), ("edp", 40, 15)):
        judge = _largest(metric, "pin", _bulk, "up to 512", value, within, reasons.copies)
        where = "D 8.4" if metric == "edp" else source
        published = f"{METRICS[metric].label}: saves up to +{value} %"
        rows.append(_row(f"pin-{metric}-bulk", "pin", where, bulk, published, f"±{within} points", judge))
    near_zero = "median over the counts within ±5 points of zero"
    for metric, words in (("cpu", "saves less than +5 %"), ("latency", "saves almost nothing")):
        judge = _about(metric, "pin", _small, "beyond 512", -5, 5, reasons.small_copies)
        published = f"{METRICS[metric].label}: {words}"
        rows.append(_row(f"pin-{metric}-small", "pin", source, small, published, near_zero, judge))
    rule = "turns at half the counts, with a step of 5 points or more"
    everywhere = "all numbers of fragments"
    words = "DRAM energy: the saving oscillates"
    rows.append(_row("pin-dram-oscillates", "pin", source, "non-blocking puts", words, rule, _oscillates))
    words = "DRAM energy: blocking puts save less than non-blocking ones"
    rule = "by more than 1 point in the median"
    rows.append(_row("pin-dram-blocking", "pin", source, everywhere, words, rule, _blocking_saves_less_dram))
    return rows


def _nonblock_rows() -> list[Published]:
    source = "D 8.3.2, figure 8.5"
    rows = []
    for metric in ("cpu", "latency"):
        label = METRICS[metric].label
        judge = _rising(metric, "non-block", lambda n: n <= 256, "up to 256", reasons.fences)
        rule = f"rank correlation {RISES} or more"
        rows.append(
            _row(f"nonblock-{metric}-rises", "non-block", source, "1 to 256 puts", f"{label}: rises", rule, judge)
        )
        judge = _about(metric, "non-block", lambda n: n >= 256, "from 256 on", 70, 90, reasons.fences)
        published = f"{label}: saves +80 %"
        rows.append(
            _row(f"nonblock-{metric}-limit", "non-block", source, "256 puts and more", published, "±10 points", judge)
        )
    judge = _about("edp", "non-block", lambda n: n >= 256, "from 256 on", 90, 100, reasons.fences)
    published, rule = "Energy-delay product: saves +95 to +97 %", "median over the counts from 90 to 100 %"
    where = "D 8.3.2 and 8.4"
    rows.append(_row("nonblock-edp", "non-block", where, "256 puts and more", published, rule, judge))
    published, rule = "very little difference between pinned and unpinned sources", "10 points in the median (latency)"
    everywhere = "all numbers of fragments"
    rows.append(_row("nonblock-pinned", "non-block", source, everywhere, published, rule, _pinned_or_not))
    return rows


def _aggregate_rows() -> list[Published]:
    source, few, many = "D 8.3.3, figure 8.6", "up to 1024 fragments", "more than 1024 fragments"
    rows = []
    for metric, value, within in (("cpu", -25, 10), ("dram", -125, 15), ("latency", -25, 10)):
        judge = _about(
            metric, "aggregate", lambda n: n <= 1024, "up to 1024", value - within, value + within, reasons.packing
        )
        published = f"{METRICS[metric].label}: about {value} %"
        rows.append(_row(f"aggregate-{metric}-few", "aggregate", source, few, published, f"±{within} points", judge))
    for metric in ("cpu", "dram", "latency"):
        judge = _rising(metric, "aggregate", lambda n: n > 1024, "beyond 1024", reasons.call_rate, gain=True)
        published = f"{METRICS[metric].label}: gains that grow with the count"
        rule = f"rank correlation {RISES} or more, and the last interval above zero"
        rows.append(_row(f"aggregate-{metric}-many", "aggregate", source, many, published, rule, judge))
    published, rule = "Energy-delay product: -70 % to +98 %", "±15 points at either end"
    everywhere = "all numbers of fragments"
    rows.append(_row("aggregate-edp", "aggregate", "D 8.4", everywhere, published, rule, _aggregate_edp))
    return rows


def _other_rows() -> list[Published]:
    source = "D 8.3, figure 8.4"
    single = "every pattern but MMPQAMM, beyond 64 puts"
    rule = f"rank correlation -{RISES} or less"
    return [
        _row("rate-flat", "rate", source, single, "Message rate: flat", "within a factor of 2", _flat_rates),
        _row("bandwidth-falls", "rate", source, single, "Bandwidth: falls steadily", rule, _falling_bandwidth),
        _row(
            "rate-aggregated",
            "rate",
            source,
            "MMPQAMM beyond 256 user buffers",
            "Message rate (user buffers): rises sharply",
            "doubles at least",
            _aggregated_rate,
        ),
        _row("payload", "payload", "D 8.2.2", "MPQMPQ, size of the payload", "no number in the text", "-", _payload),
        replace(
            _row("floor", "floor", "D A.1", "idle, shielded socket", "3.786 W", "-", _floor),
            setup="a socket of one node",
        ),
    ]


ROWS: list[Published[Analysis]] = [
    *_order_rows(),
    *_pin_rows(),
    *_nonblock_rows(),
    *_aggregate_rows(),
    *_other_rows(),
]


# ---- published numbers to draw beside ours ----


class Mark:
    """A published saving in a figure: from lo to hi percent, over these fragment counts. lo = hi is a line."""

    def __init__(self, first: float, last: float, lo: float, hi: float, words: str) -> None:
        self.first, self.last, self.lo, self.hi, self.words = first, last, lo, hi, words


END = math.inf  # to the last fragment count there is

MARKS: dict[tuple[str, str], list[Mark]] = {
    ("pin", "cpu"): [Mark(1, 512, 20, 20, "up to +20 %"), Mark(513, END, 0, 5, "less than +5 %")],
    ("pin", "latency"): [Mark(1, 512, 20, 20, "up to +20 %"), Mark(513, END, 0, 0, "almost zero")],
    ("pin", "dram"): [Mark(1, 512, 40, 40, "up to +40 %")],
    ("pin", "edp"): [Mark(1, 512, 40, 40, "up to +40 %")],
    ("non-block", "cpu"): [Mark(256, END, 80, 80, "+80 %")],
    ("non-block", "latency"): [Mark(256, END, 80, 80, "+80 %")],
    ("non-block", "edp"): [Mark(256, END, 95, 97, "+95 to +97 %")],
    ("aggregate", "cpu"): [Mark(1, 1024, -25, -25, "about -25 %")],
    ("aggregate", "dram"): [Mark(1, 1024, -125, -125, "about -125 %")],
    ("aggregate", "latency"): [Mark(1, 1024, -25, -25, "about -25 %")],
    ("aggregate", "edp"): [Mark(1, END, -70, -70, "lowest -70 %"), Mark(1, END, 98, 98, "highest +98 %")],
}
