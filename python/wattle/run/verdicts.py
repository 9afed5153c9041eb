"""The most important fact of a run in a sentence or two: the first one that its reader needs."""

from __future__ import annotations

from collections.abc import Sequence

from wattle import call_paths, pop, units
from wattle.no_core import Shortage
from wattle.pe import add
from wattle.pop import Factors
from wattle.profile import RunProfile
from wattle.provenance import Joules, Provenance, total
from wattle.sites import MergedSite

NOTHING = 0.02  # share of waiting below which a change of waiting gains nothing
OF_CPU = ("cpu", "dram")


def verdict(profile: RunProfile, sites: Sequence[MergedSite], short: Shortage | None, factors: Factors | None) -> str:
    """The first sentence about a run; empty where its times are not known."""
    if short is not None and short.is_too_much:
        return f"{short.words} Waits and balance then say more about the machine than about the program."
    found = waiting(profile)
    if found is None:
        return short.words if short is not None else ""
    share, of = found
    text = f"Waiting is {units.share(share)} of {of}"
    if share < NOTHING:
        text += ": there is nothing to gain here by waiting in another way."
    else:
        text += f"{_where(sites, profile.program)}{_why(factors, profile.noun)}."
    return f"{text} {short.words}" if short is not None else text


def waiting(profile: RunProfile) -> tuple[float, str] | None:
    """The share of waiting, and the whole that it is a share of: the processes' joules where they are known, else their
    time.
    """
    joules = [_of_cpu(pe.joules) for pe in profile.pes]
    waited = add(pe.wait_joules.get(key) for pe in profile.pes for key in OF_CPU)
    whole = total(joules)
    if waited is not None and whole.joules:
        modelled = " (modelled)" if whole.provenance is not Provenance.MEASURED else " (split by the model)"
        return min(1.0, waited / whole.joules), f"the {profile.noun}s' joules{modelled}"
    waited, wall = profile.sum("time_s", "wait"), add(pe.wall_s for pe in profile.pes)
    return (waited / wall, f"the {profile.noun}s' time") if waited is not None and wall else None


def _of_cpu(figures: Sequence[Joules]) -> Joules:
    return total(j for j in figures if j.scope != "device")


def _where(sites: Sequence[MergedSite], program: str) -> str:
    """The call with the most waiting, at the nearest frame in the program, if it has a third of all waiting."""
    rows = call_paths.rows(sites, program, depth=0)
    waits = [(row.site.waiting_s or 0.0, row) for row in rows]
    whole = sum(waited for waited, _ in waits)
    most, row = max(waits, key=lambda pair: pair[0], default=(0.0, None))
    if row is None or not whole or most < whole / 3:
        return ""
    return f", {units.share(most / whole)} of it in {row.site.call} at {row.place.label}"


def _why(factors: Factors | None, noun: str) -> str:
    return "" if factors is None else f", {pop.better_first(factors, noun)}"
