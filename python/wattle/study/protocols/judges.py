"""The judges of the study of protocols: each compares a statement of the dissertation with the samples.

Bytes per joule: the payload divided by the joules of sender and receiver, CPU and DRAM, each for the duration of its
calls (equation 7.1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import fmean

from wattle.sim import cluster as clusters
from wattle.study import papers
from wattle.study.protocols.configurations import (
    ALL,
    CALLED,
    IB_EAGER,
    IB_RENDEZVOUS,
    SIMULATED,
    TCP_EAGER,
    TCP_RENDEZVOUS,
    Configuration,
)
from wattle.study.published import NotTestable, Outcome, by_form, needed, past, verdict_of
from wattle.study.sweep.analysis import Analysis, Point
from wattle.text import units
from wattle.text.units import si

NEAR = 0.9  # share of the best that still counts as the peak
MORE = 1.01  # ratio from which a value counts as larger than another
APART_W = 0.5  # watts from which a power counts as lower than another
STEP = 4  # factor between sizes of the sweep
EXAMPLE = 32768
EXPENSIVE = 2  # ratio from which registering counts as expensive
PAGE = 4096
SMALL, BULK = 1024, 32768  # D 7.2.1: payloads below and above


# ---- reading the samples ----


def efficiency(a: Analysis, sender: Point) -> float | None:
    """Bytes per joule of sender and receiver together."""
    ends = (a.center("own", p) for p in (sender, a.like(sender, who="receiver")))
    joules = [c.median for c in ends if c]
    return (sender.x or 0) / sum(joules) if len(joules) == 2 and sum(joules) > 0 else None


def power(a: Analysis, sender: Point, who: str, metric: str = "cpu") -> float | None:
    """Watts of one rank's socket, or of its memory."""
    point = a.like(sender, who=who)
    joules, seconds = a.center(metric, point), a.center("seconds", point)
    return joules.median / seconds.median if joules and seconds else None


def senders(a: Analysis, of: Configuration, wait: str = "spin") -> list[Point]:
    """The sender's points, without those whose messages went by the other protocol."""
    return [p for p in a.select(series=of.name, who="sender", wait=wait) if not strayed(a, p)]


def strayed(a: Analysis, p: Point) -> bool:
    """Whether messages of a real MPI went by another protocol than its settings ask for. A simulation says nothing."""
    return any(facts.value is not CALLED[p.series].eager for facts in a.more(p, "eager"))


def present(a: Analysis) -> list[Configuration]:
    """The configurations that were simulated or measured."""
    there = {p.series for p in a.points}
    return [c for c in ALL if c.name in there]


def pairs_of(a: Analysis) -> list[tuple[Configuration, Configuration]]:
    """Eager and rendezvous of each transport and MPI."""
    there = present(a)
    return [
        (e, r)
        for e in there
        for r in there
        if e.eager and not r.eager and e.name.removesuffix("eager") == r.name.removesuffix("rendezvous")
    ]


def _of_sockets(a: Analysis, of: Configuration) -> None:
    """For figures whose joules include the idle draw of both sockets, as the papers' and those of a simulation do."""
    efficiencies(a, of)
    if a.provenance == "modelled" and not a.simulated:
        raise NotTestable(
            "modelled joules of real ranks lack the idle draw of their sockets, so their watts and bytes per joule are "
            "not those of a sensor"
        )


def bytes_of(p: Point) -> float:
    """Bytes of one message."""
    return (p.x or 0) / (p.y or 1)


def efficiencies(a: Analysis, of: Configuration) -> dict[Point, float]:
    if of not in present(a):
        raise NotTestable(f"{of.name} was not measured here")
    found = {p: value for p in senders(a, of) if (value := efficiency(a, p)) is not None}
    if not found:
        raise NotTestable("joules are not known here")
    return found


def best(a: Analysis, of: Configuration) -> tuple[Point, float] | None:
    try:
        return _peak(a, of)
    except NotTestable:
        return None


def pays_from(a: Analysis, of: Configuration) -> float | None:
    """The smallest message size among the best."""
    top = best(a, of)
    return min(bytes_of(p) for p, v in efficiencies(a, of).items() if v >= NEAR * top[1]) if top else None


def per_joule(value: float) -> str:
    scale, unit = units.scale_for([value], ((1e9, "GB/J"), (1e6, "MB/J"), (1e3, "kB/J"), (1.0, "B/J")))
    return f"{units.significant(value / scale, 3)} {unit}"


def _peak(a: Analysis, of: Configuration) -> tuple[Point, float]:
    return max(efficiencies(a, of).items(), key=lambda item: item[1])


def _both(over: dict[Point, float], under: dict[Point, float]) -> list[tuple[float, float]]:
    """The pairs of figures of two configurations at the same payload and number of messages."""
    below = {(p.x, p.y): v for p, v in under.items()}
    return [(v, below[p.x, p.y]) for p, v in over.items() if (p.x, p.y) in below]


def _largest_ratio(a: Analysis, over: Configuration, under: Configuration) -> tuple[float, Point]:
    """The largest ratio of bytes per joule at the same payload and number of messages, and its point."""
    below = {(p.x, p.y): v for p, v in efficiencies(a, under).items()}
    ratios = {p: v / below[p.x, p.y] for p, v in efficiencies(a, over).items() if (p.x, p.y) in below}
    point = max(ratios, key=lambda p: ratios[p])
    return ratios[point], point


def _at(p: Point) -> str:
    return f"{units.size(p.x or 0)} in {units.several(int(p.y or 1), 'message')}"


# ---- rows ----


def peak_of(a: Analysis, of: str, value: float) -> Outcome:
    _of_sockets(a, CALLED[of])
    point, most = _peak(a, CALLED[of])
    receiver = a.like(point, who="receiver")
    last = a.center("seconds", receiver)
    watts = [power(a, point, who, metric) for who in ("sender", "receiver") for metric in ("cpu", "dram")]
    drawn = sum(w for w in watts if w is not None)
    rate = value * drawn
    here = "" if last is None else f" Here it is {units.size((point.x or 0) / last.median)}/s."
    why = f"At the {drawn:.0f} W of both sockets the published figure is a bandwidth of {units.size(rate)}/s.{here}"
    beyond = past(most, value / 2, value * 2, "times")
    return a.outcome("own", f"{per_joule(most)}, {_at(point)}", not beyond, why, past=beyond)


def pays_since(a: Analysis, of: str, value: int) -> Outcome:
    efficiencies(a, CALLED[of])
    since = needed(pays_from(a, CALLED[of]), "joules are not known here")
    top = _peak(a, CALLED[of])[1]
    at = [v for p, v in efficiencies(a, CALLED[of]).items() if bytes_of(p) == value]
    why = (
        f"Messages of {units.size(value)} reach {max(at) / top:.0%} of the best here: up to the size where "
        "the bytes take longer than the calls, a message costs the same at any size."
        if at
        else ""
    )
    beyond = past(since, value / STEP, value * STEP, "times")
    return a.outcome("own", units.size(since), not beyond, why, past=beyond)


def highest(a: Analysis) -> Outcome:
    peaks = {c.name: _peak(a, c)[1] for c in SIMULATED}
    first = max(peaks, key=lambda name: peaks[name])
    second = max(value for name, value in peaks.items() if name != first)
    return a.outcome(
        "own",
        f"{first}: {per_joule(peaks[first])}, {peaks[first] / second:.1f} times the next",
        first == IB_EAGER.name and NEAR * peaks[first] >= second,
        "The best of each is in the table.",
    )


def order_of_magnitude(a: Analysis) -> Outcome:
    ib, tcp = (max(_peak(a, c)[1] for c in pair) for pair in ((IB_EAGER, IB_RENDEZVOUS), (TCP_EAGER, TCP_RENDEZVOUS)))
    why = f"At their best the bandwidths of the links decide, and these are {_bandwidths(a)}."
    return a.outcome("own", f"{ib / tcp:.1f} times", 5 <= ib / tcp <= 30, why)


def _bandwidths(a: Analysis) -> str:
    """The bandwidth of the largest payload in one message, at its receiver."""
    found = []
    for c in (IB_EAGER, TCP_EAGER):
        whole = [p for p in senders(a, c) if p.y == 1]
        last = a.center("seconds", a.like(whole[-1], who="receiver")) if whole else None
        found.append("unknown" if last is None else f"{units.size((whole[-1].x or 0) / last.median)}/s ({c.name})")
    return " and ".join(found)


def largest_ratio(a: Analysis, of: str, value: float) -> Outcome:
    there = present(a)
    pairs, why = RATIOS[of]
    both = [pair for pair in pairs if set(pair) <= set(there)]
    if not both:
        raise NotTestable("no two of these transports and protocols were measured here")
    found = [(*_largest_ratio(a, over, under), over.name) for over, under in both]
    ratio, point, over = max(found, key=lambda one: one[0])
    ours = f"{ratio:.1f} times at most, {over}, {_at(point)}"
    return a.outcome("own", ours, value / 2 <= ratio <= value * 2, why)


def eager_saves(a: Analysis) -> Outcome:
    """Judges that eager messages save at each payload and number of messages."""
    shares = []
    for eager, not_eager in pairs_of(a):
        shares += [e >= MORE * r for e, r in _both(efficiencies(a, eager), efficiencies(a, not_eager))]
    why = "For a message so long that the request hardly matters, the copies that a rendezvous saves do."
    return a.outcome("own", f"at {sum(shares)} of {units.several(len(shares), 'case')}", all(shares), why)


PER_MESSAGE = "In simulation each message has a price at both ends, so fewer of them take less time and fewer joules."


def aggregating(a: Analysis) -> Outcome:
    """Judges that at each payload fewer messages give more bytes per joule."""
    steps = []
    for c in present(a):
        found = efficiencies(a, c)
        for payload in {p.x for p in found}:
            values = [v for p, v in sorted(found.items(), key=lambda item: item[0].y or 0) if p.x == payload]
            steps += [fewer >= MORE * more for fewer, more in pairwise(values)]
    ours = f"at {sum(steps)} of {units.several(len(steps), 'step')}"
    why = "Messages in sequence overlap at both ends; a single one does not."
    return by_form(a, a.outcome("own", ours, sum(steps) >= NEAR * len(steps), why), PER_MESSAGE)


def six_hundred(a: Analysis) -> Outcome:
    _of_sockets(a, TCP_EAGER)
    value = _peak(a, TCP_EAGER)[1]
    least = min(efficiencies(a, TCP_EAGER).values())
    why = (
        f"The same chapter has a peak of 0.565 MB/J for the worse protocol of the same transport, so this figure "
        f"cannot be one of whole transfers; messages of a byte give {per_joule(least)} here."
    )
    beyond = past(value, 300, 1200, "times")
    return a.outcome("own", per_joule(value), not beyond, why, past=beyond)


IN_A_CALL = (
    "In simulation a core in an MPI call uses the watts of polling, the profile's 15.85 W with its socket's idle "
    "watts, for any work of the MPI there. No source separates a sender's part of it from a receiver's."
)


def watts(a: Analysis, who: str, lo: float, hi: float) -> Outcome:
    found = needed(list(_watts(a, TCP_RENDEZVOUS, who).values()), "joules are not known here")
    ours = f"{min(found):.1f} to {max(found):.1f} W"
    beyond = past(max(found), lo, hi, "W") or past(min(found), lo, hi, "W")
    return a.outcome("own", ours, not beyond, IN_A_CALL, past=beyond)


def receiver_below(a: Analysis) -> Outcome:
    sent, received = (_watts(a, TCP_RENDEZVOUS, who) for who in ("sender", "receiver"))
    both = [(sent[p], received[p]) for p in sent if p in received]
    if not both:
        raise NotTestable("joules are not known here")
    s, r = (fmean(w) for w in zip(*both, strict=True))
    ours = f"{r:.2f} W against {s:.2f} W in the mean; below in {sum(r < s for s, r in both)} of {len(both)}"
    return a.outcome("own", ours, s - r >= APART_W, IN_A_CALL)


def bulk_draws_less(a: Analysis) -> Outcome:
    small, bulk = _by_bulk(_watts(a, TCP_RENDEZVOUS, "sender"))
    if not small or not bulk:
        raise NotTestable("so small and so large payloads were not measured")
    s, b = fmean(small), fmean(bulk)
    return a.outcome("own", f"{b:.2f} W against {s:.2f} W", s - b >= APART_W, IN_A_CALL)


def _watts(a: Analysis, of: Configuration, who: str, metric: str = "cpu") -> dict[Point, float]:
    """Watts of a rank's socket, or of its memory, by the sender's point."""
    _of_sockets(a, of)
    return {p: w for p in senders(a, of) if (w := power(a, p, who, metric)) is not None}


def _by_bulk(found: dict[Point, float]) -> tuple[list[float], list[float]]:
    """Watts of small payloads, and of bulk ones in one message."""
    small = [w for p, w in found.items() if (p.x or 0) < SMALL]
    return small, [w for p, w in found.items() if (p.x or 0) > BULK and p.y == 1]


def example(a: Analysis, fragments: int, what: str, value: float, percent: float) -> Outcome:
    found = {
        c.name: v
        for c in (IB_EAGER, IB_RENDEZVOUS)
        for p in a.select(series=c.name, who="sender", wait="spin", x=float(EXAMPLE), y=float(fragments))
        if (v := _sent(a, p, what)) is not None
    }
    if not found:
        raise NotTestable("InfiniBand was not measured here")
    unit = {"time": "s", "joules": "J", "watts": "W"}[what]
    ours = ", ".join(f"{name.split(', ')[1]} {si(v, unit)}" for name, v in found.items())
    nearest = min(found.values(), key=lambda v: abs(v / value - 1))
    beyond = past(nearest / value, 1 - percent / 100, 1 + percent / 100, "times")
    why = (
        "In print a message of 512 B takes 5.8 µs and one of 16 KiB 10 µs. Other published runs of such cards take 2 "
        "to 3 and 9 to 10 µs (machines/measured/published-runs.csv)."
    )
    return a.outcome("own", ours, not beyond, why, past=beyond)


def _sent(a: Analysis, sender: Point, what: str) -> float | None:
    """The sender's seconds, joules or watts."""
    found = a.center({"joules": "cpu"}.get(what, "seconds"), sender)
    return power(a, sender, "sender") if what == "watts" else found.median if found else None


def dropped(a: Analysis, what: str, value: float) -> Outcome:
    saved = {}
    for c in (IB_EAGER, IB_RENDEZVOUS):
        many, few = (
            next(iter(a.select(series=c.name, who="sender", wait="spin", x=float(EXAMPLE), y=float(n))), None)
            for n in (64, 2)
        )
        found = a.saving(what, many, few)
        if found:
            saved[c.name.split(", ")[1]] = found.median
    if not saved:
        raise NotTestable("InfiniBand was not measured here")
    ours = ", ".join(f"{name} {units.percent(v)}" for name, v in saved.items())
    why = "An eager sender ends when its last message has left, and two copies of 16 KiB are most of that."
    beyond = past(min(saved.values(), key=lambda v: abs(v - value)), value - 3, value + 3)
    return a.outcome("own", ours, not beyond, why, past=beyond)


DEAR = (
    "In simulation a rendezvous costs a round trip and two messages more at any size; the papers' also pins "
    "memory, at a cost that the text does not give."
)
FAR = (
    "For small messages the cost of a message decides: the assumed one of TCP (4 us at each end) "
    "against InfiniBand's (0.3 us). A factor of 760 needs TCP messages that take a millisecond, as where small "
    "ones are held back until others are acknowledged; simulated TCP holds none back."
)
RATIOS = {  # (over, under), and why they differ here
    "eager": (((TCP_EAGER, TCP_RENDEZVOUS), (IB_EAGER, IB_RENDEZVOUS)), DEAR),
    "InfiniBand": (((IB_EAGER, TCP_EAGER), (IB_RENDEZVOUS, TCP_RENDEZVOUS), (IB_EAGER, TCP_RENDEZVOUS)), FAR),
}


# ---- power of the memory ----

APART = 1.05  # ratio from which a power of the memory counts as higher than another
BY_BYTES = (
    "Simulated memory draws its idle watts, and joules for the bytes that the processor and the network move. Where "
    "the bytes take long, its watts hardly rise."
)


def memory(a: Analysis, of: str, who: str) -> dict[Point, float]:
    return _watts(a, CALLED[of], who, "dram")


def _higher(a: Analysis, what: str, less: Sequence[float], more: Sequence[float]) -> Outcome:
    """The outcome where the mean of `more` must be above that of `less`."""
    if not less or not more:
        raise NotTestable("such transfers were not measured")
    low, high = fmean(less), fmean(more)
    return a.outcome("own", f"{high:.3g} W {what} {low:.3g} W", high >= APART * low, BY_BYTES)


def memory_of_bulk(a: Analysis, of: str, who: str) -> Outcome:
    """Judges that bulk payloads in one message draw more than small ones."""
    return _higher(a, "for bulk, for small payloads", *_by_bulk(memory(a, of, who)))


def _largest(found: dict[Point, float], key: Callable[[Point], float]) -> list[tuple[float, float]]:
    """(key, watts) of the largest payload, in order of the key."""
    largest = max((p.x or 0 for p in found), default=0)
    return sorted(((key(p), w) for p, w in found.items() if p.x == largest), key=lambda pair: pair[0])


def memory_by_fragments(a: Analysis, of: str, who: str) -> Outcome:
    """Judges that the largest payload draws more in many messages than in one."""
    by_count = _largest(memory(a, of, who), lambda p: p.y or 1)
    if len(by_count) < 2:
        raise NotTestable("one number of messages shows no effect")
    (few, one), (many, other) = by_count[0], by_count[-1]
    return _higher(a, f"in {units.several(int(many), 'message')}, in {few:.0f}", [one], [other])


def memory_by_size(a: Analysis, of: str, who: str) -> Outcome:
    """Judges that a message draws more, the longer it is: of the largest payload, from each length to the next."""
    by_size = [w for _, w in _largest(memory(a, of, who), bytes_of)]
    if len(by_size) < 3:
        raise NotTestable("fewer than three lengths were measured")
    rises = sum(later > earlier for earlier, later in pairwise(by_size))
    ours = f"{by_size[0]:.3g} to {by_size[-1]:.3g} W, higher at {rises} of {units.several(len(by_size) - 1, 'step')}"
    return a.outcome("own", ours, rises == len(by_size) - 1 and by_size[-1] >= APART * by_size[0], BY_BYTES)


def memory_of_eager_receiver(a: Analysis) -> Outcome:
    """Judges that the receiver's memory draws more where messages are eager."""
    eager, other = (memory(a, c.name, "receiver") for c in (TCP_EAGER, TCP_RENDEZVOUS))
    both = _both(eager, other)
    return _higher(a, "by eager messages, by rendezvous", [r for _, r in both], [e for e, _ in both])


def pinning_on(cluster: clusters.Cluster) -> Outcome:
    """Judges whether a core works longer to register a small buffer than to copy it, at the prices of a cluster whose
    cards register memory. Registering costs a fixed time and a time a page; copying a time a byte.
    """
    fixed, page, byte = (cluster.value(key) for key in ("register", "register_page", "copy"))
    registers, copies = fixed + page * -(-SMALL // PAGE), byte * SMALL
    gained = byte - page / PAGE  # seconds a byte that registering saves beyond its fixed cost
    until = f"up to {units.size(fixed / gained)}" if gained > 0 else "at any size"
    ours = (
        f"{units.seconds(registers)} of an active core for {units.size(SMALL)}, copying {units.seconds(copies)}; "
        f"copying is cheaper {until}"
    )
    verdict = verdict_of(registers >= EXPENSIVE * copies)
    return Outcome(ours, verdict, ("From the prices of the cluster's cards and cores.",), "modelled")


def pinning(a: Analysis) -> Outcome:
    """The cost of registering memory, which only a network card needs."""
    if a.simulated:
        return pinning_on(clusters.in_force(clusters.read(IB_RENDEZVOUS.cluster)))
    names = " and ".join(sorted({c.transport for c in present(a)}))
    raise NotTestable(f"{names} registers no memory, so there is no cost of pinning")


ROWS = papers.read(__file__).figures(globals())
