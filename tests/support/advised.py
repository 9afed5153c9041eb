"""A made-up run with one flaw for `wattle advise`: a quiet after each put."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fakes
from wattle.record.pe import STEP_COLUMNS

PUT, QUIET = "shmem_double_put", "shmem_quiet"
CALLS = 40_000


def step(origin: int, to: int, **counts: int) -> list[Any]:
    """A pair of sites of which the second was the next call 100 times."""
    row = dict.fromkeys(STEP_COLUMNS, 0) | {"from": origin, "to": to, "times": 100, "time_s": 0.001, "area": -1}
    return [(row | counts)[name] for name in STEP_COLUMNS]


def make_run(directory: Path, n: int = 2, **changes: Any) -> Path:
    sites = [fakes.site(0x1000, PUT, calls=CALLS, time_s=0.4), fakes.site(0x1100, QUIET, calls=CALLS, time_s=0.4)]
    steps = [step(0, 1, bursts=100, burst_calls=100), step(1, 0, transfers=100, same_pe=100)]
    sequence = {"noted": 1000, "lost": 0, "timer_s": 1e-8, "columns": list(STEP_COLUMNS), "steps": steps}
    pes = [fakes.pe_profile(pe, n, **({"sites": sites, "sequence": sequence} | changes)) for pe in range(n)]
    return fakes.make_run(directory, pes)
