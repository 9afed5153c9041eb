"""Made-up samples of the study of payload and fragments: each cell costs what functions say, so that a test knows the
answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl
from wattle.record import manifest
from wattle.study import kept, samples
from wattle.study.fragments import study
from wattle.study.fragments.analysis import SCHEMA, Analysis, Caches
from wattle.study.fragments.plan import PATTERN
from wattle.study.place import TWO_NODES, Place

KIB = 1024
PAYLOADS = [1 << k for k in range(22)]
CACHES = Caches(32 * KIB, 256 * KIB)
Of = Callable[[int, int], float]  # payload, fragments -> a figure


def seconds(p: int, n: int) -> float:
    """As published: each fragment beyond four costs as much, and bytes count above 64 KiB only."""
    return 2e-6 * (1 if n <= 4 else n) * max(1.0, p / (64 * KIB))


def cpu_watts(p: int, n: int) -> float:
    """As published: least up to 2 KiB, steps at 32 and 256 KiB, most for bulk in few fragments."""
    if p <= 2 * KIB:
        return 15.9
    if p > 64 * KIB and n > 4:
        return 16.05
    return 15.98 if p < 32 * KIB else 16.25 if p < 256 * KIB else 16.55


def dram_watts(p: int, n: int) -> float:
    return 7.0 if p <= 2 * KIB else 7.5 if p <= 64 * KIB else 9.4 if n <= 4 else 8.0


@dataclass(frozen=True)
class World:
    """The cost of a transfer. The default is as the dissertation says."""

    seconds: Of = seconds
    cpu_watts: Of = cpu_watts
    dram_watts: Of = dram_watts
    instructions: Of | None = lambda p, n: 1e9 * seconds(p, n)
    misses: Of = lambda p, n: max(1.0, p / 64)
    packets: Of | None = lambda p, n: 1e6 * seconds(p, n)
    provenance: str = "measured"
    source: str = "powercap package-0"
    half_width: float = 0.25  # of modelled joules, relative
    repeats: int = 3
    most: int = 2 << 20


AS_PUBLISHED = World()


def times(of: Of, factor: float) -> Of:
    return lambda p, n: factor * of(p, n)


def by_call(p: int, n: int) -> float:
    return 2e-6 * n * max(1.0, p / (64 * KIB))


def by_byte(p: int, n: int) -> float:
    return 1e-9 * p * (1 if n <= 4 else n)


# For each published row, samples that contradict it.
CONTRARY = {
    "bandwidth-unfragmented": replace(AS_PUBLISHED, seconds=lambda p, n: (2 if n == 1 else 1) * seconds(p, n)),
    "energy-instructions": replace(AS_PUBLISHED, instructions=lambda p, n: 1 / seconds(p, n)),
    "energy-fragments-cpu": replace(AS_PUBLISHED, seconds=lambda p, n: seconds(p, 1)),
    "energy-fragments-dram": replace(AS_PUBLISHED, seconds=lambda p, n: seconds(p, 1)),
    "energy-bulk-flat": replace(AS_PUBLISHED, seconds=by_call),
    "energy-small-flat": replace(AS_PUBLISHED, seconds=by_byte),
    "bandwidth-small-steady": AS_PUBLISHED,
    "energy-bulk-rises": replace(AS_PUBLISHED, seconds=lambda p, n: seconds(1, n)),
    "power-cpu-small": replace(AS_PUBLISHED, cpu_watts=times(cpu_watts, 0.8)),
    "power-cpu-bulk": replace(AS_PUBLISHED, cpu_watts=times(cpu_watts, 1.2)),
    "power-cpu-more": replace(AS_PUBLISHED, cpu_watts=lambda p, n: 16.0),
    "power-dram-small": replace(AS_PUBLISHED, dram_watts=times(dram_watts, 0.8)),
    "power-dram-bulk": replace(AS_PUBLISHED, dram_watts=times(dram_watts, 1.2)),
    "power-dram-more": replace(AS_PUBLISHED, dram_watts=lambda p, n: 7.0),
    "power-both-small": replace(AS_PUBLISHED, dram_watts=times(dram_watts, 2)),
    "power-both-bulk": replace(AS_PUBLISHED, dram_watts=lambda p, n: 7.0),
    "power-both-more": replace(AS_PUBLISHED, dram_watts=lambda p, n: 7.0),
    "power-unfragmented": replace(AS_PUBLISHED, cpu_watts=lambda p, n: 16.0),
    "power-small-least": replace(AS_PUBLISHED, dram_watts=lambda p, n: 7.0),
    "power-cache-steps": replace(AS_PUBLISHED, cpu_watts=lambda p, n: 16.0 if p < 4 * KIB else 16.5),
    "misses-rise": replace(AS_PUBLISHED, misses=lambda p, n: 100.0 + p / 64 / 1024),
    "packets-sent-time": replace(AS_PUBLISHED, packets=lambda p, n: 1 + p / 4096),
    "packets-received-time": replace(AS_PUBLISHED, packets=lambda p, n: 1 + p / 4096),
}
STEADY = replace(
    AS_PUBLISHED, seconds=lambda p, n: 1e-9 * p
)  # the two statements on small transfers exclude each other
NOTHING = World(  # nothing has an effect
    seconds=lambda p, n: 1e-3,
    cpu_watts=lambda p, n: 30.0,
    dram_watts=lambda p, n: 30.0,
    instructions=lambda p, n: 1e6,
    misses=lambda p, n: 100.0,
    packets=lambda p, n: 10.0,
)


def frame(world: World) -> pl.DataFrame:
    cells = [(p, n) for p in PAYLOADS for n in PAYLOADS if n <= min(p, world.most)]
    return pl.DataFrame([_row(world, p, n, r) for r in range(world.repeats) for p, n in cells], schema=SCHEMA)


def _row(world: World, p: int, n: int, repeat: int) -> dict[str, Any]:
    s = world.seconds(p, n)
    row: dict[str, Any] = dict.fromkeys(SCHEMA)
    row |= {"pattern": PATTERN, "payload": p, "fragments": n, "fragment_bytes": p // n, "repeat": repeat}
    row |= {"iterations": 5, "block_s": 10 * s, "bandwidth_Bps": p / s}
    row |= dict.fromkeys(("latency_s", "latency_p25_s", "latency_p75_s", "latency_mean_s"), s)
    known = world.provenance != "unavailable"
    for domain, watts in (("cpu", world.cpu_watts), ("dram", world.dram_watts)):
        joules = watts(p, n) * s
        row |= {f"{domain}_J": joules if known else None, f"{domain}_provenance": world.provenance}
        row |= {f"{domain}_uncertainty_J": world.half_width * joules if known else None}
        row |= {f"{domain}_source": world.source if known else ""}
    if world.instructions:
        row |= {"instructions": world.instructions(p, n), "cache_misses": world.misses(p, n)}
    row |= {"counted_why": "" if world.instructions else "no counters in this virtual machine"}
    row |= {"energy_why": None if known else "the meter is none", "energy_json": "[]"}
    cards = [_card("lo", 1e9)] if world.packets is None else [_card("lo", 1e9), _card("e0", world.packets(p, n))]
    return row | {"interfaces_json": json.dumps(cards), "clear": "clflush", "verified": True}


def _card(name: str, packets: float) -> dict[str, Any]:
    sizes = {"bytes_sent": 1000 * packets, "bytes_received": 100 * packets}
    return {"name": name, "packets_sent": packets, "packets_received": packets / 2, **sizes}


def analysis(world: World, place: Place | None = None, processor: str = "Intel(R) Xeon(R) E5-2670") -> Analysis:
    return Analysis(frame(world), (), place or Place(TWO_NODES), CACHES, processor)


def make_study(directory: Path, world: World | None = None, place: Place | None = None) -> Path:
    """A sound study directory."""
    directory.mkdir(parents=True)
    samples.write(directory, frame(world or World()).to_dicts(), SCHEMA)
    record = manifest.start("study", ["wattle", "study", "fragments"], 2)
    record.wall_s, record.exit_code = 12.5, 0
    record.meter = {"name": "powercap", "why": ""}
    place = place or Place(TWO_NODES)
    plan = {"name": "fragments", "on": place.name, "place": place.as_dict(), "quick": True, "pattern": PATTERN}
    plan |= {"most_fragments": 2 << 20, "repeats": 3, "min_time_s": 0.005, "clear": "clflush", "pinned": True}
    plan |= {"caches": vars(CACHES), "floor": []}
    record.extra = {"study": plan}
    manifest.write(directory, record)
    kept.write_results(directory / kept.RESULTS, study.STUDY.judged(directory, record))
    return directory
