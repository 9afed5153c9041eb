"""A made-up run with one flaw for `wattle advise`: a quiet after each put. And lines for call sites of made-up runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fakes
from wattle.record.pe import PYTHON, STEP_COLUMNS

PUT, QUIET = "shmem_double_put", "shmem_quiet"
CALLS = 40_000


def with_lines(profile: dict[str, Any]) -> dict[str, Any]:
    """The profile of a Python program, whose lines are known without its file: each call site has one."""
    n = len(profile["sites"])
    return profile | {
        "sites": [site | {"path": i} for i, site in enumerate(profile["sites"])],
        "paths": [[-1, PYTHON, i] for i in range(n)],
        "python": [{"file": "/src/model.py", "function": "step", "line": 10 + i} for i in range(n)],
    }


def step(origin: int, to: int, **counts: int) -> list[Any]:
    """A pair of sites of which the second was the next call 100 times."""
    row = dict.fromkeys(STEP_COLUMNS, 0) | {"from": origin, "to": to, "times": 100, "time_s": 0.001, "area": -1}
    return [(row | counts)[name] for name in STEP_COLUMNS]


def make_run(directory: Path, n: int = 2, **changes: Any) -> Path:
    sites = [fakes.site(0x1000, PUT, calls=CALLS, time_s=0.4), fakes.site(0x1100, QUIET, calls=CALLS, time_s=0.4)]
    steps = [step(0, 1, bursts=100, burst_calls=100), step(1, 0, transfers=100, same_pe=100)]
    sequence = {"noted": 1000, "lost": 0, "timer_s": 1e-8, "columns": list(STEP_COLUMNS), "steps": steps}
    facts = {"sites": sites, "sequence": sequence} | changes
    pes = [with_lines(fakes.pe_profile(pe, n, **facts)) for pe in range(n)]
    return fakes.make_run(directory, pes)
