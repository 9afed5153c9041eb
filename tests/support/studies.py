"""Made-up samples of the pattern study: each pattern costs what a function says, so that a test knows the answer."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
from wattle.record import manifest
from wattle.study import kept, samples
from wattle.study.patterns import study as patterns
from wattle.study.patterns.analysis import PAPER_PAYLOAD, PATTERNS, SCHEMA, Analysis
from wattle.study.place import Place
from wattle.text.provenance import Joules, read_joules  # noqa: F401 (for tests that import from here)

FRAGMENTS = [1 << k for k in range(18)]
Cost = Callable[[str, int], float]  # pattern, fragments -> seconds, joules

COPY, PUT, NBI, QUIET, FLAG = 50e-6, 50e-6, 10e-9, 2e-6, 1e-6


def networked(pattern: str, n: int) -> float:
    """Seconds as a network would have them: a quiet is a round trip, a copy costs a fifth of a put."""
    put, copy, quiet = 400e-6 + n * 0.45e-6, 80e-6, 2e-6
    return {
        "MPQMPQ": copy + put + n * quiet,
        "PQPQ": put + n * quiet,
        "MPMPQ": copy + put + quiet,
        "PPQ": put + quiet,
        "MMPQAMM": copy + 400e-6 + n * 2e-9 + 2 * quiet,
    }[pattern]


def shared_memory(pattern: str, n: int) -> float:
    """Seconds as shared memory has them: a put is a copy, a quiet is a fence."""
    copy, call, fence = 30e-6, 10e-9, 20e-9
    return {
        "MPQMPQ": 2 * copy + n * (2 * call + fence),
        "PQPQ": copy + n * (call + fence),
        "MPMPQ": 2 * copy + n * 2 * call,
        "PPQ": copy + n * call,
        "MMPQAMM": 2 * copy + n * 3e-9,
    }[pattern]


def watts(power: float) -> Callable[[Cost], Cost]:
    return lambda latency: lambda pattern, n: power * latency(pattern, n)


def frame(
    latency: Cost = shared_memory,
    cpu: Cost | None = None,
    dram: Cost | None = None,
    payload: int = PAPER_PAYLOAD,
    fragments: list[int] | None = None,
    names: tuple[str, ...] = PATTERNS,
    repeats: int = 7,
    noise: float = 0.0,
    provenance: str = "modelled",
) -> pl.DataFrame:
    """Samples in which latency and joules are what the functions say, each repeat off by `noise` (relative)."""
    rng = random.Random(1)
    cpu = cpu or watts(16.0)(latency)
    dram = dram or (lambda pattern, n: 1e-4 if pattern in ("PQPQ", "PPQ") else 2e-4)
    rows = [
        _row(
            "patterns",
            p,
            payload,
            n,
            r,
            latency(p, n) * (1 + noise * rng.gauss(0, 1)),
            cpu(p, n),
            dram(p, n),
            provenance,
        )
        for r in range(repeats)
        for n in (FRAGMENTS if fragments is None else fragments)
        for p in names
    ]
    for r in range(repeats):
        for n in FRAGMENTS[:17] if fragments is None else fragments:
            for size in (payload, payload // 2):
                s = latency("MPQMPQ", n) * size / payload
                rows.append(_row("payloads", "MPQMPQ", size, n, r, s, 16 * s, 1e-4 * size / payload, provenance))
    return pl.DataFrame(rows, schema=SCHEMA)


def _row(
    series: str, pattern: str, payload: int, n: int, repeat: int, s: float, cpu: float, dram: float, provenance: str
) -> dict[str, Any]:
    known = provenance != "unavailable"
    row: dict[str, Any] = dict.fromkeys(SCHEMA)
    row |= {"series": series, "pattern": pattern, "payload": payload, "fragments": n, "fragment_bytes": payload // n}
    row |= {"repeat": repeat, "turn": 0, "iterations": 10, "block_s": 20 * s, "latency_s": s, "latency_p25_s": 0.9 * s}
    row |= {"latency_p75_s": 1.1 * s, "latency_mean_s": s, "latency_min_s": 0.9 * s}
    row |= {
        "bandwidth_Bps": payload / s,
        "message_rate_per_s": n / s,
        "unpack_s": s / 3 if pattern == "MMPQAMM" else None,
    }
    for domain, joules in (("cpu", cpu), ("dram", dram)):
        row |= {f"{domain}_J": joules if known else None, f"{domain}_uncertainty_J": joules / 4 if known else None}
        row |= {f"{domain}_provenance": provenance, f"{domain}_source": "model made-up" if known else ""}
    row |= {"energy_interval_s": s, "energy_covered_s": s, "energy_why": None if known else "the meter is none"}
    return row | {"energy_json": "[]", "clear": "clflush", "verified": True}


def analysis(*arguments: Any, place: Place | None = None, **keywords: Any) -> Analysis:
    return Analysis(frame(*arguments, **keywords), place=place)


def make_study(directory: Path, samples_frame: pl.DataFrame | None = None, place: Place | None = None) -> Path:
    """A sound study directory. Without a place it is one that was written before there was more than one."""
    directory.mkdir(parents=True)
    made = frame() if samples_frame is None else samples_frame
    samples.write(directory, made.to_dicts(), SCHEMA)
    record = manifest.start("study", ["wattle", "study", "patterns"], 2)
    record.wall_s, record.exit_code = 12.5, 0
    record.meter = {"name": "model", "why": "no sensor <here>"}
    floor = {"domain": "cpu-idle", "source": "model made-up", "provenance": "modelled", "scope": "node"}
    floor |= {"joules": 0.8, "uncertainty": 0.2, "interval_s": 0.2, "covered_s": 0.2}
    plan = {"name": "patterns", "on": "local", "quick": True, "payload": PAPER_PAYLOAD, "payloads": [PAPER_PAYLOAD]}
    plan |= {"fragments": FRAGMENTS, "repeats": 7, "min_time_s": 0.03, "clear": "clflush", "pinned": True, "gap": 64}
    if place is not None:
        plan |= {"on": place.name, "place": place.as_dict(), "min_iterations": 2 if place.across else None}
    record.extra = {"study": {**plan, "floor": [floor]}}
    manifest.write(directory, record)
    kept.write_results(directory / kept.RESULTS, patterns.STUDY.judged(directory, record))
    return directory


# A stand-in for the benchmark: one PE says what the real one would. FAKE_BENCH makes it misbehave.
BENCH = f"""#!/usr/bin/python3 -IS
import os, sys
if os.environ.get("FAKE_PE", "0") != "0":
    sys.exit(0)
import fcntl, json, termios, time
mode = os.environ.get("FAKE_BENCH", "")
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
if "FAKE_SAYS_HOST" in os.environ:
    print(os.uname().nodename, sorted(os.sched_getaffinity(0)), given, file=open(os.environ["FAKE_SAYS_HOST"], "a"))
if mode == "fills":
    open(os.environ["FAKE_FILL"], "wb").write(bytes(1 << 24))  # raises where the disk is full
if mode == "fails":
    sys.exit("patterns: PE 0: no space for 9 bytes")
setup = {{"kind": "setup", "clear": "clflush", "pinned": True, "gap": 64}}
print(json.dumps(setup | {{"meter": "model", "meter_why": "asked"}}))
if mode == "babbles":
    print("hello", flush=True)
if mode == "silent":
    sys.exit(0)
def figure(domain, joules):
    return {{"domain": domain, "source": "model made-up", "provenance": "modelled", "scope": "process",
             "joules": joules, "uncertainty": joules / 4, "interval_s": 1.0, "covered_s": 1.0}}
left = int(mode.split()[1]) if mode.startswith("stops") else -1
def stop():
    sys.stdout.flush()
    while any(fcntl.ioctl(1, termios.FIONREAD, bytes(4))):  # so that the reader has read it all
        time.sleep(0.01)
    open(os.environ["FAKE_READY"], "w").close()
    time.sleep(60)
if left == 0:
    stop()
first, dash, last = given["--fragments"].partition("-")
if dash:  # a range of powers of two: those that divide the payload
    counts = [1 << k for k in range(22) if int(first) <= 1 << k <= int(last)]
else:
    counts = list(map(int, first.split(",")))
card = {{"name": "e0", "packets_sent": 3, "packets_received": 2, "bytes_sent": 300, "bytes_received": 200}}
counted = {{"instructions": None, "cycles": None, "cache_references": None, "cache_misses": None, "why": "none here"}}
for repeat in range(int(given["--repeat"])):
    for fragments in counts:
        for payload in map(int, given["--payload"].split(",")):
            if dash and payload % fragments:
                continue
            for pattern in given.get("--patterns", "{",".join(PATTERNS)}").split(","):
                s = 1e-4 * payload / 524288 + 1e-8 * fragments
                document = {{
                    "kind": "sample", "pattern": pattern, "payload": payload, "fragments": fragments,
                    "fragment_bytes": payload // fragments, "repeat": repeat, "turn": 0, "iterations": 5,
                    "block_s": 0.1,
                    "latency_s": {{"median": s, "p25": s, "p75": s, "mean": s, "min": s}}, "unpack_s": None,
                    "bandwidth_Bps": payload / s, "message_rate_per_s": fragments / s, "clear": "clflush",
                    "verified": True, "energy_why": None, "energy": [figure("cpu", 1e-3), figure("dram", 1e-4)],
                }}
                if "--count" in given:
                    document["counted"] = counted | {{"interfaces": [card]}}
                if mode == "wrong":
                    document["pattern"] = "PQ"
                print(json.dumps(document))
                left -= 1
                if left == 0:
                    stop()
"""
