"""Made-up machines for the study of LSMS: as published, with one effect missing."""

from __future__ import annotations

from collections.abc import Callable

import sweeps
from wattle.study.lsms import judges
from wattle.study.sweep.plan import Job

Changed = Callable[[Job, str, float, float], tuple[float, float]]


def where(changed: Changed) -> sweeps.Physics:
    """The published machine with factors for time and joules."""

    def physics(job: Job, name: str, who: str, x: float | None, y: float | None) -> tuple[float, ...]:
        s, j = sweeps.as_published(job, name, who, x, y)[:2]
        more_s, more_j = changed(job, name.split()[1], x or 0, y or 0)
        return s * more_s, j * more_j

    return physics


def alike(job: Job, pattern: str, x: float, y: float) -> tuple[float, float]:
    """All patterns cost the same."""
    factor = 1 / sweeps.LSMS_COSTS[pattern] if job.series == judges.TRANSFER else 1.0
    return factor, factor


def one_blocks_cheaply(job: Job, pattern: str, x: float, y: float) -> tuple[float, float]:
    factor = 0.5 if job.series == judges.TRANSFER and pattern == "PQPQ" else 1.0
    return factor, factor


def packing_costs_as_much(job: Job, pattern: str, x: float, y: float) -> tuple[float, float]:
    factor = 4.9 if job.series == judges.TRANSFER and pattern == "MMPQAMM" else 1.0
    return factor, factor


def waiting_is_free(job: Job, pattern: str, x: float, y: float) -> tuple[float, float]:
    return 1.0, 1.0 if job.series == judges.TRANSFER else 1 / (1 + y / 4)


def power_is_constant(job: Job, pattern: str, x: float, y: float) -> tuple[float, float]:
    return 1.0, 1.0 if job.series == judges.TRANSFER else 1 / job.pes


def modes_save_nothing(job: Job, pattern: str, x: float, y: float) -> tuple[float, float]:
    stretched = job.mode in ("energy", "hybrid") and job.scaling == "proactive"
    whole, small = 1 + y / 4, 1.25 + 0.2 * (1 + y / 4 - 1.25)
    return 1.0, whole / small if stretched else 1.0


MISSING = (
    alike,
    one_blocks_cheaply,
    packing_costs_as_much,
    waiting_is_free,
    power_is_constant,
    modes_save_nothing,
)
