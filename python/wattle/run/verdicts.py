"""The most important fact of a run in a sentence or two: the first one that its reader needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from wattle.figures import call_paths, pop
from wattle.figures.no_core import Shortage
from wattle.figures.pop import Factors
from wattle.figures.sites import MergedSite
from wattle.record.pe import CpuOrDram, add
from wattle.record.profile import RunProfile
from wattle.text import units
from wattle.text.provenance import Provenance, total

NOTHING = 0.02  # share of waiting below which a change of waiting gains nothing
OF_CPU: tuple[CpuOrDram, ...] = ("cpu", "dram")
NOT_BLOCKING = re.compile(r"MPI_(I|Start|Test|Request_|Win_test)")  # of the calls of the kinds in MAY_WAIT
MAY_WAIT = ("transfer", "wait")
LONG_S = 50e-6  # s, the mean of a call: shorter ones gain nothing from a sleep, which has about this price


def verdict(profile: RunProfile, sites: Sequence[MergedSite], short: Shortage | None, factors: Factors | None) -> str:
    """The first sentence about a run; empty where its times are not known."""
    if short is not None and short.is_too_much:
        return f"{short.words} Waits and balance then say more about the machine than about the program."
    found = waiting(profile)
    if found is None:
        return short.words if short is not None else ""
    share, of = found
    text = f"Waiting is {units.share(share)} of {of}"
    hidden = _hidden(profile, sites)
    if share >= NOTHING:
        text += f"{_where(sites, profile.program, _waiting_s)}{_why(factors, profile.noun)}."
    else:
        text += "." if hidden else ": there is nothing to gain here by waiting in another way."
    return " ".join(part for part in (text, hidden, short.words if short is not None else "") if part)


def _hidden(profile: RunProfile, sites: Sequence[MergedSite]) -> str:
    """A sentence on the time in calls in which the MPI polls and does not show it, so that it counts as transfer. Empty
    where this time is known to be little.
    """
    wall = add(pe.wall_s for pe in profile.pes)
    if not wall or all(pe.mpi is None or pe.mpi.shows_idle for pe in profile.pes):
        return ""
    unseen = [site for site in sites if _hidden_s(site)]
    share = sum(map(_hidden_s, unseen)) / wall
    if share < NOTHING:
        return ""
    where = _where(unseen, profile.program, _hidden_s)
    return (
        f"Another {units.share(share)} of the {profile.noun}s' time is in calls in which this MPI does not show "
        f"whether it waits{where}."
    )


def _hidden_s(site: MergedSite) -> float:
    """The time in the calls of a site if they may have waited and none was seen to wait. A blocking call that becomes
    its counterpart waits by tests, which are seen.
    """
    may_wait = site.kind in MAY_WAIT and not site.waits and not NOT_BLOCKING.match(site.call)
    seconds = site.time_s or 0.0
    return seconds if may_wait and seconds >= LONG_S * site.calls else 0.0


def _waiting_s(site: MergedSite) -> float:
    return site.waiting_s or 0.0


def waiting(profile: RunProfile) -> tuple[float, str] | None:
    """The share of waiting, and its whole: the processes' joules where they are known, else their time."""
    joules = [total(j for j in pe.joules if j.scope != "device") for pe in profile.pes]
    waited = add(pe.wait_joules[key] for pe in profile.pes for key in OF_CPU)
    whole = total(joules)
    if waited is not None and whole.joules:
        modelled = " (modelled)" if whole.provenance is not Provenance.MEASURED else " (split by the model)"
        return min(1.0, waited / whole.joules), f"the {profile.noun}s' joules{modelled}"
    waited, wall = profile.sum("time_s", "wait"), add(pe.wall_s for pe in profile.pes)
    return (waited / wall, f"the {profile.noun}s' time") if waited is not None and wall else None


def _where(sites: Sequence[MergedSite], program: str, seconds_of: Callable[[MergedSite], float]) -> str:
    """The call with the most of these seconds, at the nearest frame in the program, if it has a third of all."""
    rows = call_paths.rows(sites, program, depth=0)
    found = [(seconds_of(row.site), row) for row in rows]
    whole = sum(seconds for seconds, _ in found)
    most, row = max(found, key=lambda pair: pair[0], default=(0.0, None))
    if row is None or not whole or most < whole / 3:
        return ""
    return f", {units.share(most / whole)} of it in {row.site.call} at {row.place.label}"


def _why(factors: Factors | None, noun: str) -> str:
    return "" if factors is None else f", {pop.better_first(factors, noun)}"
