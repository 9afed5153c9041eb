"""PEs that had no core for a part of the run."""

from __future__ import annotations

from collections.abc import Iterator

from wattle.advise.evidence import Evidence
from wattle.advise.finding import Advice, Effort, Finding, Interval, Saved, Sure
from wattle.pe import NO_CORE
from wattle.provenance import Provenance
from wattle.units import several
from wattle.units import share as of_all

NAME = "no-core"
FROM = 0.05  # of the PEs' time

CHANGE = "wattle run -n CORES ...   # one PE for each core, or WATTLE_SPIN=yield where there must be more"


def find(evidence: Evidence) -> Iterator[Finding]:
    profile = evidence.profile
    without = {pe.pe: pe.state_s[NO_CORE] or 0.0 for pe in profile.pes}
    walls = sum(pe.wall_s or 0.0 for pe in profile.pes)
    share = sum(without.values()) / walls if walls else 0.0
    if share < FROM:
        return
    noun = profile.noun
    title = f"The {noun}s had no core for {of_all(share)} of their time: start fewer, or leave them more cores"
    cores = {pe.pe: len(pe.cores.cores) for pe in profile.pes if pe.cores is not None and pe.cores.cores}
    seen = [f"{several(len(profile.pes), noun)}; {noun} {max(without, key=without.__getitem__)} had none for longest"]
    if cores:
        least, most = min(cores.values()), max(cores.values())
        seen.append(f"each may use {several(most, 'core') if least == most else f'{least} to {most} cores'}")
    rests = "The time without a core, which the kernel counts. What else uses the cores is not known here."
    advice = Advice(title, seen, CHANGE, rests, Effort.LINE, Sure.LOW)
    yield Finding(NAME, [], advice, _saved(evidence, without))


def _saved(evidence: Evidence, without: dict[int, float]) -> Saved:
    """A PE without a core draws nothing, so the joules are those of the idle nodes. The share is of the whole time."""
    seconds = Interval(0.0, min(max(without.values()), evidence.wall_s))
    share, whole = seconds.scaled(1 / evidence.wall_s), evidence.whole_joules
    joules = share.scaled(evidence.idle_joules) if whole.known and evidence.idle_joules else None
    provenance = Provenance.MODELLED if joules else Provenance.UNAVAILABLE
    of_pe = {pe: Interval(0.0, lost) for pe, lost in without.items()}
    return Saved(seconds, share, of_pe, joules, provenance, whole.source, [])
