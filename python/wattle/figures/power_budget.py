"""The power budget of a job: the watts drawn, and those that moved from node to node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wattle.record import pe as pes
from wattle.record.profile import RunProfile
from wattle.text import units
from wattle.text.provenance import significant

PROVENANCE = "modelled"  # the runtime's meter of a budget is the machine profile


@dataclass(frozen=True)
class Spent:
    """A job's budget. `moved`: by host, the watts above its PEs' equal parts. None of them: a PE left no figure."""

    job: pes.PowerBudget
    moved: dict[str, float] | None
    acts: bool

    @property
    def words(self) -> str:
        """`Power budget 242 W (55%): 240 W in the mean, 242 W in the highest second, ...`"""
        job, kept = self.job, "would have drawn " if not self.acts else ""
        text = f"Power budget {_w(job.watts)} ({job.asked}): {kept}{_w(job.mean_w)} in the mean"
        if job.highest_w is not None:
            text += (
                f", {_w(job.highest_w)} in the highest second, {job.above_s:g} of {units.seconds(job.seconds)} above"
            )
        text += f": {PROVENANCE}."
        if self.moved is None or len(self.moved) < 2:
            return text
        most, least = (pick(self.moved, key=self.moved.__getitem__) for pick in (max, min))
        return f"{text} Watts moved: {self.moved[most]:+.3g} W to {most}, {self.moved[least]:+.3g} W to {least}."

    def as_dict(self) -> dict[str, Any]:
        fields = {
            name: getattr(self.job, name) for name in self.job.__struct_fields__ if name not in ("own_w", "equal_w")
        }
        return {**fields, "provenance": PROVENANCE, "moved_w": self.moved}


def _w(watts: float | None) -> str:
    return units.UNKNOWN if watts is None else f"{significant(watts, 3)} W"


def of(profile: RunProfile) -> Spent | None:
    """The budget of a job. None: it had none. All PEs keep the same figures of the job."""
    found = [(pe.host, pe.clocks, b) for pe in profile.pes if pe.clocks and (b := pe.clocks.power_budget)]
    if not found:
        return None
    moved = dict.fromkeys((host for host, _, _ in found), 0.0)
    for host, _, budget in found:
        moved[host] += (budget.own_w or 0.0) - budget.equal_w
    known = all(budget.own_w is not None for _, _, budget in found)
    _, clocks, first = found[0]
    return Spent(first, moved if known else None, clocks.knob != "record")
