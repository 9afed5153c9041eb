"""Profiles of a program that marks regions, made up."""

from __future__ import annotations

from typing import Any

import fakes
from wattle.record.pe import CUT, REGION


def _wait(seconds: float, joules: float, path: int) -> dict[str, Any]:
    waits = {"wait_s": {"spin": 0.0, "yield": 0.0, "asleep": seconds}, "joules": {"cpu": joules, "dram": 0.0}}
    return fakes.site(0x10, "MPI_Recv", "wait", bytes=0, time_s=seconds, waits=1, path=path, **waits)


def profile(pe: int, n_pes: int = 2, solve_s: float = 1.0) -> dict[str, Any]:
    """A process of 2 s: 0.1 s outside regions, `solve_s` in `solve`, 0.3 s in `halo` in that, and the rest in `end`. It
    waits 0.2 s in `halo` and 0.1 s outside. Calls have 6 of its 16 J.
    """
    made = fakes.pe_profile(pe, n_pes)
    made["sites"] = [_wait(0.2, joules=4.0, path=1), _wait(0.1, joules=2.0, path=2)]
    # A path in the region `halo`, whose callers are cut off, and one in no region.
    made["paths"] = [[-1, REGION, 1], [0, CUT, 0], [-1, 0, 0x20]]
    end_s = 2.0 - 0.1 - 0.3 - solve_s
    made["regions"] = [
        {"name": "solve", "outer": -1, "times": 1, "time_s": solve_s},
        {"name": "halo", "outer": 0, "times": 10, "time_s": 0.3},
        {"name": "end", "outer": -1, "times": 1, "time_s": end_s},
        {"name": "never", "outer": -1, "times": 0, "time_s": 0.0},
    ]
    return made | {"joules": [fakes.figure("cpu", 16.0), fakes.figure("dram", 0.0)]}
