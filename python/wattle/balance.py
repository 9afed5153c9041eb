"""How evenly a run's work lay on its PEs, and joules and time as one figure; words of the dissertation, ch. 4 and 11.

Slack ratio: the share of all PEs' time that was waited. CR, the compute ratio: what the PE that computes longest does
over what the one that computes least does, by time (the papers count instructions). EC, the early core count: how many
PEs wait at any moment, on average. CI, the compute intensity, needs counters of instructions and is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from wattle.pe import PE, STAGES, add
from wattle.profile import RunProfile
from wattle.provenance import Joules, significant, total


@dataclass(frozen=True)
class Balance:
    """None where it is not known."""

    slack_ratio: float | None
    compute_ratio: float | None
    early_cores: float | None

    def as_dict(self) -> dict[str, float | None]:
        return {
            "slack_ratio": self.slack_ratio,
            "compute_ratio": self.compute_ratio,
            "early_cores": self.early_cores,
            "compute_intensity": None,
        }


def balance(profile: RunProfile) -> Balance | None:
    """None for one PE, which waits for nobody, and where PEs are missing."""
    if not profile.complete or len(profile.pes) < 2:
        return None
    waited = add(add(pe.state_s[stage] for stage in STAGES) for pe in profile.pes)
    wall = add(pe.wall_s for pe in profile.pes)
    computed = [pe.state_s["active"] for pe in profile.pes]
    known = [c for c in computed if c is not None]
    least = min(known, default=0.0)
    return Balance(
        waited / wall if waited is not None and wall else None,
        max(known) / least if len(known) == len(computed) and least > 0 else None,
        waited / profile.wall_s if waited is not None and profile.wall_s else None,
    )


def words(found: Balance) -> str:
    """`Balance: 34 % of the PEs' time is slack; compute ratio (CR) 2.5; 0.68 PEs wait on average (EC).`"""
    parts = []
    if found.slack_ratio is not None:
        parts.append(f"{significant(100 * found.slack_ratio, 3)} % of the PEs' time is slack")
    if found.compute_ratio is not None:
        parts.append(f"compute ratio (CR) {significant(found.compute_ratio, 3)} by time")
    if found.early_cores is not None:
        parts.append(f"{significant(found.early_cores, 3)} PEs wait on average (EC)")
    return f"Balance: {'; '.join(parts)}." if parts else ""


@dataclass(frozen=True)
class Product:
    """Joules and seconds multiplied. The half-width is the joules' own, as it comes through."""

    name: str
    value: float | None
    uncertainty: float | None
    unit: str


def products(joules: Joules, seconds: float | None) -> list[Product]:
    """EDP = E t, ED2P = E t^2, E2DP = E^2 t (the dissertation's)."""
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
    """All joules of the run's nodes."""
    return total([profile.node_joules(d) for d in domains], domain="all")


def as_dict(profile: RunProfile, domains: Iterable[str]) -> dict[str, Any]:
    """For JSON."""
    joules = of_nodes(profile, domains)
    found = balance(profile)
    known = {"provenance": str(joules.provenance), "source": joules.source, "scope": joules.scope}
    return {
        "balance": found.as_dict() if found else None,
        "products": {
            p.name: {"value": p.value, "uncertainty": p.uncertainty, "unit": p.unit, **known}
            for p in products(joules, profile.wall_s)
        },
    }


def governor_words(pes: Iterable[PE]) -> str:
    """`Governor: energy, reactive, knob cpufreq: 68 changes of clock, 0.1 % of the time lost by its own account.`"""
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
    if lost:
        text += f", at most {significant(max(lost), 2)} % of a PE's time lost by its own account"
    failed = next((c.failed for _, c in governed if c.failed), "")
    return text + (f"; a clock failed: {failed}" if failed else "") + "."
