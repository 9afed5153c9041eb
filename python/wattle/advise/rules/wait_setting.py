"""Long waits that poll to their end, as the wait policy says: `adaptive` sleeps in them. It saves joules, and time only
where PEs share cores.
"""

from __future__ import annotations

from collections.abc import Iterator

from wattle.advise.evidence import Evidence, Interval
from wattle.advise.finding import Advice, Effort, Finding, Saved, Sure
from wattle.figures.waited import Waits
from wattle.record.pe import PE
from wattle.text import units
from wattle.text.provenance import Provenance

NAME = "wait-setting"
POLLING = ("spin", "yield")
LONG_S = 1e-3  # a wait of so long is some 20 times as long as a sleep with its wake-up on the tested machines
FROM = 0.01  # of the PEs' time, polled in such waits
SAVED = Interval(0.5, 1.0)  # of the joules of this polling, which are beyond those of the idle node

CHANGE = "WATTLE_WAIT=adaptive wattle run ..."
NOT_REPLAYED = "a replay shows no wait policy; `wattle sim --what-if` compares them"


def find(evidence: Evidence) -> Iterator[Finding]:
    pes, whole = evidence.profile.pes, evidence.whole_joules
    if evidence.wait not in POLLING:
        return
    polled = {pe.pe: _polled_s(evidence, pe) for pe in pes}
    if not sum(polled.values()) > FROM * sum(pe.wall_s or 0.0 for pe in pes):
        return
    if whole.joules is None or whole.joules <= 0 or whole.uncertainty is None:
        return
    joules = sum(_joules(evidence, pe, polled[pe.pe]) for pe in pes)
    interval = SAVED.scaled(joules)
    where = sorted((s for s in evidence.spots if s.place.line), key=lambda s: -sum(o.wait_s for o in s.of.values()))[:1]
    noun = evidence.profile.noun
    long = units.seconds(LONG_S)
    seen = [
        f"{units.seconds(sum(polled.values()))} of all {noun}s' time polled in waits of {long} and more",
        *(f"{spot.words}: {units.seconds(sum(o.wait_s for o in spot.of.values()))} waited" for spot in where),
    ]
    title = f"{noun}s poll in long waits, as WATTLE_WAIT={evidence.wait} says: let them sleep there"
    rests = "The joules of waiting in this run. A sleep prolongs a wait by its wake-up, some 50 µs."
    none = Interval(0.0, 0.0)
    doubt = whole.uncertainty / whole.joules
    saved = Saved(none, none, {}, interval, doubt, Provenance.MODELLED, whole.source, [])
    yield Finding(NAME, where, Advice(title, seen, CHANGE, rests, Effort.LINE, Sure.MEDIUM), saved, NOT_REPLAYED)


def _polled_s(evidence: Evidence, pe: PE) -> float:
    """The seconds that a PE polled in long waits, at least."""
    sleeping = pe.state_s["asleep"]
    if sleeping is None:
        return 0.0
    long_s = sum(_long_s(waits) for spot in evidence.spots if pe.pe in spot.of for waits in spot.of[pe.pe].waits)
    return max(0.0, min(long_s, evidence.waited_s(pe)) - sleeping)


def _long_s(waits: Waits) -> float:
    """The seconds of the long waits, at least."""
    return sum(n * waits.ends(k)[0] for k, n in enumerate(waits.counts) if waits.ends(k)[0] >= LONG_S)


def _joules(evidence: Evidence, pe: PE, polled_s: float) -> float:
    """The PE's joules of polling for so long."""
    waited_s = evidence.waited_s(pe)
    return (pe.wait_joules.get("cpu") or 0.0) * polled_s / waited_s if waited_s > 0 else 0.0
