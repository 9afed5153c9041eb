"""The balance of a run: how evenly its work was distributed over the PEs. Also products of joules and time.

The terms come from the dissertation, chapters 4 and 11. The slack ratio is the share of all PEs' time that was
waited. CR, the compute ratio, divides the longest computing time of a PE by the shortest. The papers divide
instruction counts instead. EC, the early core count, is the average number of PEs that wait. CI, the compute
intensity, divides the instructions that are neither branch, load or store by the loads and stores (section 11.1). An
instruction that computes with a memory operand, as x86 has them, counts as an access only. CI is then a lower bound.
Time without a core is not computing and not waiting.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from wattle.base.documents import fields
from wattle.figures import no_core, pop
from wattle.record.pe import PE, STAGES, add
from wattle.record.profile import RunProfile
from wattle.text import units
from wattle.text.provenance import Joules, amount, joule_unit, significant, total

THREADS = 1.01  # above this ratio of waited time to wall time, several threads of the PE waited at once


@dataclass(frozen=True)
class Balance:
    """Slack ratio, CR and EC of a run. None: not known."""

    slack_ratio: float | None
    compute_ratio: float | None
    early_cores: float | None

    def as_dict(self) -> dict[str, float | None]:
        return fields(self, "slack_ratio compute_ratio early_cores")


def _waited_at_once(pe: PE) -> bool:
    waited = add(pe.state_s[stage] for stage in STAGES)
    return waited is not None and pe.wall_s is not None and waited > THREADS * pe.wall_s


def balance(profile: RunProfile) -> Balance | None:
    """The balance of a run; None where it has no meaning. That is the case for one PE, for a run with missing PEs, and
    where several threads of a PE waited at once: their waits then add up to more than the PE's time.
    """
    if not profile.complete or len(profile.pes) < 2 or any(map(_waited_at_once, profile.pes)):
        return None
    waited = add(add(pe.state_s[stage] for stage in STAGES) for pe in profile.pes)
    wall = add(pe.wall_s for pe in profile.pes)
    computed = [pe.state_s["active"] for pe in profile.pes]
    known = [c for c in computed if c is not None]
    least = min(known, default=0.0)
    return Balance(
        waited / wall if waited is not None and wall else None,
        max(known) / least if len(known) == len(computed) and least > 0 and not no_core.unknown(profile) else None,
        waited / profile.wall_s if waited is not None and profile.wall_s else None,
    )


@dataclass(frozen=True)
class Intensity:
    """CI of all PEs together. `value` is None where it is not known; `why` gives the reason."""

    value: float | None
    why: str

    @property
    def words(self) -> str:
        if self.value is None:
            return f"compute intensity (CI) unavailable: {self.why}"
        return f"compute intensity (CI) {significant(self.value, 3)} by instructions counted"

    def as_dict(self) -> dict[str, Any]:
        source = "" if self.value is None else "counters of the processor"
        return {"value": self.value, "source": source, "why": self.why}


def intensity(profile: RunProfile) -> Intensity:
    if not profile.complete:
        return Intensity(None, f"{profile.noun}s left no profile")
    compute = memory = 0.0
    for pe in profile.pes:
        counted = pe.operations
        if counted is None:
            return Intensity(None, "not counted (WATTLE_COUNTERS=on counts it)")
        if None in (counted.instructions, counted.branches, counted.loads, counted.stores):
            return Intensity(None, counted.why or "not counted")
        access = (counted.loads or 0) + (counted.stores or 0)
        compute += max(0.0, (counted.instructions or 0) - (counted.branches or 0) - access)
        memory += access
    return Intensity(compute / memory, "") if memory else Intensity(None, "no load and no store was counted")


def words(found: Balance, noun: str = "PE", short: bool = False, unknown: bool = False) -> str:
    """One line, such as `Balance: 34 % of the PEs' time is slack; compute ratio (CR) 2.5; 0.68 PEs wait on average
    (EC).` `noun`: the word for a process. `short`: processes had no core, so the waits of others are partly for them.
    `unknown`: perhaps they had none.
    """
    parts = []
    if found.slack_ratio is not None:
        parts.append(f"{significant(100 * found.slack_ratio, 3)} % of the {noun}s' time is slack")
    if found.compute_ratio is not None:
        parts.append(f"compute ratio (CR) {significant(found.compute_ratio, 3)} by time")
    if found.early_cores is not None:
        parts.append(f"{significant(found.early_cores, 3)} {noun}s wait on average (EC)")
    doubt = f" Waits {'' if short else 'may '}include those for {noun}s without a core." if short or unknown else ""
    return f"Balance: {'; '.join(parts)}.{doubt}" if parts else ""


@dataclass(frozen=True)
class Product:
    """A product of joules and seconds. `uncertainty` comes from the joules alone."""

    name: str
    value: float | None
    uncertainty: float | None
    unit: str


def products(joules: Joules, seconds: float | None) -> list[Product]:
    """EDP = E t (Js), ED2P = E t^2 (Js²) and E2DP = E^2 t (J²s), as the dissertation defines them."""
    e, doubt = joules.joules, joules.uncertainty
    if e is None or seconds is None:
        return [Product(name, None, None, unit) for name, unit in (("edp", "Js"), ("ed2p", "Js²"), ("e2dp", "J²s"))]
    d = doubt if doubt is not None else None
    return [
        Product("edp", e * seconds, None if d is None else d * seconds, "Js"),
        Product("ed2p", e * seconds**2, None if d is None else d * seconds**2, "Js²"),
        Product("e2dp", e**2 * seconds, None if d is None else (2 * e * d + d * d) * seconds, "J²s"),
    ]


def of_nodes(profile: RunProfile, domains: Iterable[str]) -> Joules:
    """The joules of all nodes of the run, over the given domains."""
    return total([profile.node_joules(d) for d in domains], domain="all")


def as_dict(profile: RunProfile, domains: Iterable[str]) -> dict[str, Any]:
    """Balance, compute intensity and products as a dictionary for JSON."""
    joules = of_nodes(profile, domains)
    found = balance(profile)
    known = {"provenance": str(joules.provenance), "source": joules.source, "scope": joules.scope}
    made, short = pop.factors(profile), no_core.shortage(profile)
    return {
        "balance": found.as_dict() if found else None,
        "pop": made.as_dict() if made else None,
        "no_core": short.as_dict() if short else None,
        "no_core_unknown": [pe.pe for pe in profile.pes if no_core.is_unknown(pe)],
        "compute_intensity": intensity(profile).as_dict(),
        "products": {
            p.name: {"value": p.value, "uncertainty": p.uncertainty, "unit": p.unit, **known}
            for p in products(joules, profile.wall_s)
        },
        "recorded": dry.as_dict() if (dry := dry_run(profile)) else None,
    }


def governor_words(pes: Iterable[PE]) -> str:
    """One line, such as `Governor: energy, reactive, knob cpufreq: 68 changes of clock were made, ...`, or empty."""
    governed = [(pe, pe.clocks) for pe in pes if pe.clocks is not None]
    if not governed:
        return ""
    first = governed[0][1]
    text = f"Governor: {first.mode}, {first.scaling}, knob {first.knob}"
    why = next((c.why for _, c in governed if c.why), "")
    if first.changes is None:
        return f"{text}; nothing was governed" + (f": {why}" if why else "") + "."
    changes = sum(c.changes or 0 for _, c in governed)
    lost = [100 * c.lost_s / pe.wall_s for pe, c in governed if c.lost_s is not None and pe.wall_s]
    verb = "would have been made" if first.knob == "record" else "were made"
    text += f": {changes:.0f} changes of clock {verb}"
    if any(c.hints for _, c in governed):
        text += " as hints (which clocks came of them is not known: joules are modelled at the normal one)"
    if lost:
        text += f", at most {significant(max(lost), 2)} % of a process's time lost by its own account"
    if bound := sum(c.memory_bound_s or 0 for _, c in governed):
        text += f"; {units.seconds(bound)} were computed at a lower clock because memory set the pace"
    failed = max((c.failed for _, c in governed), key=len)  # the PE whose knob failed names the file
    text += (f"; a clock failed: {failed}" if failed else "") + "."
    counters = next((c.counters for _, c in governed if c.counters), "")
    return text + (f" It does not look for regions bound by memory: {counters}." if counters else "")


@dataclass(frozen=True)
class DryRun:
    """The joules that all PEs' CPUs would have used at the clocks of a dry run. `why`: they are not known."""

    joules: Joules
    saved: Joules
    why: str

    @property
    def words(self) -> str:
        """`At the recorded clocks ... 4.38 ± 0.5 J instead of 5.48 J, 1.10 ± 0.3 J saved: modelled ...`"""
        if self.joules.joules is None or self.saved.joules is None:
            reason = f": {self.why}; name another with --machine" if self.why else ""
            return f"The saving at the recorded clocks is not known{reason}."
        factor, unit = joule_unit(self.joules.joules)
        was = significant((self.joules.joules + self.saved.joules) / factor, 3)
        doubt = "?" if self.saved.uncertainty is None else significant(self.saved.uncertainty / factor, 2)
        would = amount(self.joules.joules, self.joules.uncertainty, factor)
        saving = f"{significant(self.saved.joules / factor, 3)} ± {doubt} {unit} saved"
        return (
            f"At the recorded clocks the cpu joules would have been {would} {unit} instead of {was} {unit}, "
            f"{saving}: {self.joules.provenance} ({self.joules.source}), nothing was changed."
        )

    def as_dict(self) -> dict[str, Any]:
        return {"joules": self.joules.as_dict(), "saved": self.saved.as_dict(), "why": self.why}


def dry_run(profile: RunProfile) -> DryRun | None:
    """The result of a dry run. None where no clock change was recorded or PEs are missing."""
    found = [pe.recorded for pe in profile.pes if pe.recorded is not None]
    if not found or not profile.complete or len(found) < len(profile.pes):
        return None
    if not any(pe.clocks.changes for pe in profile.pes if pe.clocks):
        return None
    return DryRun(
        total(j for r in found for j in r.joules),
        total(j for r in found for j in r.saved),
        next((r.why for r in found if r.why), ""),
    )
