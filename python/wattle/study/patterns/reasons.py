"""Reasons why figures of the pattern study differ from the published ones, with figures of the same samples."""

from __future__ import annotations

from wattle.study.patterns.analysis import Analysis
from wattle.study.published import NotTestable
from wattle.text import units

# The difference between two nodes of one machine and the papers' two nodes. Added to every figure that differs.
NETWORK = (
    "The papers' nodes were two machines, and an InfiniBand card moved the bytes by itself (D A.3). Here both nodes "
    "are on one machine, and its processors carry every byte through TCP."
)
ON_HOSTS = (
    "The papers' nodes were joined by InfiniBand, whose card (ConnectX-3, D A.3) moved the bytes; these are joined "
    "by {}."
)

SIMULATION = (
    "Time and watts come from the cluster's description. Its network cards move the bytes of puts, as the papers' did "
    "(D A.3), if it describes any; otherwise a processor carries every byte."
)


def network(a: Analysis) -> str:
    """A reason for differences between nodes. Empty on one node."""
    if not a.place.across:
        return ""
    if a.place.simulated:
        return SIMULATION
    return NETWORK if a.place.one_machine else ON_HOSTS.format(a.place.network)


def latency(a: Analysis, pattern: str, fragments: int) -> float:
    """The median latency in seconds. Raises NotTestable where it was not measured."""
    found = a.center("latency", pattern, fragments)
    if found is None:
        raise NotTestable(f"{pattern} in {fragments} fragments was not measured")
    return found.median


def each(a: Analysis, pattern: str, fragments: int) -> float:
    """Seconds for one fragment."""
    return latency(a, pattern, fragments) / fragments


def copies(a: Analysis) -> str:
    """Bulk: the cost of a put and of a copy of the payload."""
    n = a.fragments[0]
    put, copied = latency(a, "PPQ", n), latency(a, "MPMPQ", n)
    what = (
        f"nodes a put is a message over {_carrier(a)}"
        if a.place.across
        else "PEs of one node a put is one copy through shared memory"
    )
    start = f"Between {what}: {units.seconds(put)} for the payload in {_pieces(n)}, {units.size(a.payload / put)}/s"
    if copied <= put:
        return f"{start}; the copy into the pinned buffer before it has no visible cost."
    share = (copied - put) / copied * 100
    more = units.seconds(copied - put)
    return f"{start}; the copy into the pinned buffer adds {more}, {share:.0f} % of the whole."


def small_copies(a: Analysis) -> str:
    """Many fragments: the time that the copy adds to a put."""
    n = a.fragments[-1]
    put, copied = each(a, "PQPQ", n), each(a, "MPQMPQ", n)
    start = (
        f"At {n} fragments a put with its quiet takes {units.seconds(put)} and with the copy {units.seconds(copied)}"
    )
    if a.place.across:
        alone = max(each(a, "MPMPQ", n) - each(a, "PPQ", n), 0.0)
        return (
            f"{start}; to a non-blocking put the copy adds {units.seconds(alone)}, so the rest is the wait "
            "of the quiets."
        )
    return f"{start}: such a short put does not hide the copy."


def fences(a: Analysis) -> str:
    """The cost of a quiet."""
    n = a.fragments[-1]
    with_quiet, without = each(a, "PQPQ", n), each(a, "PPQ", n)
    start = (
        "A quiet waits for the other node's answer"
        if a.place.across
        else "A put to a PE of the same node is complete when the call returns, so a quiet is a fence and waits for no "
        "round trip"
    )
    text = (
        f"{start}: at {n} fragments put and quiet take {units.seconds(with_quiet)}, a non-blocking put "
        f"{units.seconds(without)}"
    )
    if 256 in a.fragments:
        share = (1 - latency(a, "PPQ", 256) / latency(a, "PQPQ", 256)) * 100
        text += f"; at 256 the quiets are {max(share, 0):.0f} % of the time"
    return f"{text}."


def packing(a: Analysis) -> str:
    """Bulk: one copy compared with two."""
    n = a.fragments[0]
    put, packed = latency(a, "PPQ", n), latency(a, "MMPQAMM", n)
    unpack = a.center("unpack", "MMPQAMM", n)
    not_counted = f"; the receiver's unpacking, {units.seconds(unpack.median)}, is not counted" if unpack else ""
    if a.place.across:
        return (
            f"The sender puts the payload in {_pieces(n)} in PPQ ({units.seconds(put)}); in MMPQAMM it packs it, puts "
            f"it in one, and waits for the quiet and for the atomic flag ({units.seconds(packed)}{not_counted})."
        )
    return (
        f"The sender moves the payload once in PPQ ({units.seconds(put)} in {_pieces(n)}) and twice in MMPQAMM "
        f"({units.seconds(packed)}{not_counted}): through shared memory a put costs about as much as a copy."
    )


def call_rate(a: Analysis) -> str:
    """The cost of a call compared with that of its bytes."""
    few = min((n for n in a.fragments if n >= 64), default=a.fragments[-1])
    many = a.fragments[-1]
    start = (
        f"A non-blocking put takes {units.seconds(each(a, 'PPQ', few))} at {few} fragments and "
        f"{units.seconds(each(a, 'PPQ', many))} at {many}"
    )
    if a.place.simulated:
        return f"{start}."
    if a.place.across:
        return f"{start}: many small ones travel in one message, which is impossible for a blocking put."
    return (
        f"{start}: no network card limits the messages, so smaller puts are faster until the cost of the call "
        "dominates."
    )


def modelled_cpu(a: Analysis) -> str:
    """How closely modelled CPU joules follow time, in savings."""
    if a.provenance("cpu") != "modelled":
        return ""
    gaps = [
        abs(cpu.median - time.median)
        for before, after in (("MPQMPQ", "PQPQ"), ("PQPQ", "PPQ"), ("PPQ", "MMPQAMM"))
        for n in a.fragments
        if (cpu := a.saving("cpu", before, after, n)) and (time := a.saving("latency", before, after, n))
    ]
    if not gaps:
        return ""
    middle = sorted(gaps)[len(gaps) // 2]
    if a.place.across:
        return (
            "CPU joules are modelled as watts times time on a core, and a PE that sleeps until the other node "
            f"answers is on none (savings differ from those in latency by {middle:.1f} points in the median)."
        )
    return (
        "CPU joules are modelled as watts times time, so they follow latency (savings differ by "
        f"{middle:.1f} points in the median)."
    )


def modelled_dram(a: Analysis, before: str, after: str) -> tuple[str, ...]:
    """The basis of modelled DRAM joules, and their ratio."""
    if a.provenance("dram") == "measured":
        return ("The sensor of the DRAM measures the CPU's accesses to memory; there is no network card's DMA here.",)
    if a.provenance("dram") != "modelled":
        return ()
    uncounted = "; TCP's own copies are not included" if a.place.across and a.place.one_machine else ""
    few, many = a.fragments[0], a.fragments[-1]
    ratios = [_ratio(a, before, after, n) for n in (few, many)]
    return (
        "DRAM joules are modelled from the bytes of puts and copies, not from the work of the memory controller"
        f"{uncounted}.",
        f"{before} takes {ratios[0]} times the DRAM joules of {after} in {_pieces(few)}, {ratios[1]} times in {many}.",
    )


def shared_sensor(a: Analysis) -> str:
    """A remark on measured joules of two nodes, also for figures that agree. Empty where it does not apply."""
    if not (a.place.across and a.saw_both):
        return ""
    return "The sensor measured both nodes, because they are one machine; the papers' measured the sender's alone."


def _ratio(a: Analysis, before: str, after: str, n: int) -> str:
    first, second = a.center("dram", before, n), a.center("dram", after, n)
    if first is None or second is None or second.median == 0:
        return "?"
    return f"{first.median / second.median:.2f}"


def _carrier(a: Analysis) -> str:
    return a.place.network


def _pieces(n: int) -> str:
    return "one piece" if n == 1 else f"{n} pieces"
