"""Profiles with call paths, made up: phases of a program that reach a library's calls through wrappers."""

from __future__ import annotations

from typing import Any

import fakes

LIBRARY = "/usr/lib/libsolver.so"
WAITS = {"spin": 0.0, "yield": 0.0}


def profile(pe: int, stacks: dict[tuple[int, ...], float], n_pes: int = 2) -> dict[str, Any]:
    """A profile. `stacks`: the offsets from the outermost frame to the frame of the call, and the seconds
    of waiting of a call from there. An offset of 0x10000 and more lies in the library.
    """
    paths: list[list[Any]] = []
    nodes: dict[tuple[int, ...], int] = {(): -1}
    sites = []
    for stack, seconds in stacks.items():
        for depth in range(1, len(stack)):
            key = stack[:depth]
            if key not in nodes:
                nodes[key] = len(paths)
                paths.append([nodes[key[:-1]], int(key[-1] >= 0x10000), key[-1]])
        where = {"module": int(stack[-1] >= 0x10000), "path": nodes[stack[:-1]], "time_s": 2 * seconds}
        waits = {"wait_s": {**WAITS, "asleep": seconds}, "joules": {"cpu": 4 * seconds, "dram": seconds}}
        sites.append(fakes.site(stack[-1], "MPI_Recv", "wait", waits=1, **where, **waits))
    made = fakes.pe_profile(pe, n_pes)
    modules = [*made["modules"], {"path": LIBRARY, "base": "0x7f0000000000", "build_id": "cd34"}]
    return made | {"modules": modules, "paths": paths, "sites": sites}


def phases(pe: int) -> dict[str, Any]:
    """Two phases that call one wrapper, and a call of a library."""
    return profile(pe, {(0x10, 0x20, 0x90): 0.3, (0x11, 0x30, 0x90): 0.2, (0x12, 0x40, 0x10050, 0x10060): 0.1})


def many(pe: int, n: int) -> dict[str, Any]:
    """Paths that branch at each of four frames: n of them, of unequal weights."""
    stacks = {(0x10, 0x1000 + i % 7, 0x2000 + i % 91, 0x3000 + i): 1e-3 / (1 + i % 37) for i in range(n)}
    return profile(pe, stacks)
