"""Made-up samples of the study of messages: each way costs what a function says, so that a test knows the answer."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
from wattle.record import manifest
from wattle.study import kept, samples
from wattle.study.am import study as am
from wattle.study.am.analysis import NO_UCX_JOULES, SCHEMA, Analysis, Case
from wattle.study.place import Place

SIZES = [1 << k for k in range(12)]
IN_FLIGHT = [1 << k for k in range(0, 21, 2)]
RINGS = [2, 4, 8, 16]
Cost = Callable[[Case, str], float]  # seconds a message


def published(case: Case, way: str) -> float:
    """Seconds as the dissertation has them: active messages behind puts, more so with size and beyond 32 in flight."""
    put = 1e-6
    if case.series == "ring":
        return {"am": 1.05 * put}.get(way, put)
    if case.series == "handlers":
        return {"shared": 1.5 * put}.get(way, put)
    if case.series == "bandwidth":
        loss = 1.2 + 0.1 * case.bytes.bit_length()
    else:
        loss = 1.1 if case.in_flight <= 32 else 3.0 if case.test == "uni" else 5.0
    return {"am": loss * put, "mpi": 2 * put}.get(way, put)


def frame(
    cost: Cost = published, repeats: int = 7, noise: float = 0.0, provenance: str = "modelled", rings: list[int] = RINGS
) -> pl.DataFrame:
    """Samples in which a message takes what the function says, each repeat off by `noise` (relative)."""
    rng = random.Random(1)
    cases = [Case("bandwidth", test, size, 64, 2) for test in ("uni", "bi") for size in SIZES]
    cases += [Case("rate", test, 4, n, 2) for test in ("uni", "bi") for n in IN_FLIGHT]
    cases += [Case("ring", "ring", 4, 1, pes) for pes in rings] + [Case("handlers", "handlers", 4, 64, 2)]
    of_series = {"ring": ("am", "put", "mpi"), "handlers": ("own", "shared")}
    rows = []
    for case in cases:
        ways = of_series.get(case.series, ("am", "put", "nbi", "mpi"))
        for r in range(repeats):
            rows += [_row(case, w, r, cost(case, w) * (1 + noise * rng.gauss(0, 1)), provenance) for w in ways]
    uni = [Case("bandwidth", "uni", size, 0, 2) for size in SIZES] + [Case("rate", "uni", 4, 0, 2)]
    rows += [_row(case, "ucx", r, 1e-6, "unavailable") for case in uni for r in range(3)]
    return pl.DataFrame(rows, schema=SCHEMA)


def _row(case: Case, way: str, repeat: int, s: float, provenance: str) -> dict[str, Any]:
    known = provenance != "unavailable"
    row: dict[str, Any] = dict.fromkeys(SCHEMA)
    row |= {"series": case.series, "test": case.test, "way": way, "bytes": case.bytes, "in_flight": case.in_flight}
    row |= {"pes": case.pes, "repeat": repeat, "turn": 0, "rounds": 10, "messages": 1000.0, "block_s": 1000 * s}
    row |= {"message_s": s, "verified": None if way == "ucx" else True, "energy_json": "[]"}
    for domain, watts in (("cpu", 16.0), ("dram", 2.0)):
        row |= {f"{domain}_J": watts * s if known else None, f"{domain}_uncertainty_J": 4 * s if known else None}
        row |= {f"{domain}_provenance": provenance, f"{domain}_source": "model made-up" if known else ""}
    why = None if known else NO_UCX_JOULES if way == "ucx" else "the meter is none"
    return row | {"energy_interval_s": s, "energy_covered_s": s, "energy_why": why}


def analysis(*arguments: Any, place: Place | None = None, **keywords: Any) -> Analysis:
    return Analysis(frame(*arguments, **keywords), place)


def make_study(directory: Path, samples_frame: pl.DataFrame | None = None, place: Place | None = None) -> Path:
    """A sound study directory."""
    directory.mkdir(parents=True)
    made = frame() if samples_frame is None else samples_frame
    samples.write(directory, made.to_dicts(), SCHEMA)
    record = manifest.start("study", ["wattle", "study", "am"], 16)
    record.wall_s, record.exit_code = 12.5, 0
    record.meter = {"name": "model", "why": "no sensor <here>"}
    floor = {"domain": "cpu-idle", "source": "model made-up", "provenance": "modelled", "scope": "node"}
    floor |= {"joules": 0.8, "uncertainty": 0.2, "interval_s": 0.2, "covered_s": 0.2}
    place = place or Place()
    plan = {"name": "am", "on": place.name, "place": place.as_dict(), "repeats": 7, "ucx_repeats": 3}
    plan |= {"bandwidth_in_flight": 64, "rate_bytes": 4, "min_time_s": 0.004, "left_out": ["rings of <a million> PEs"]}
    record.extra = {"study": {**plan, "floor": [floor]}}
    manifest.write(directory, record)
    kept.write_results(directory / kept.RESULTS, am.STUDY.judged(directory, record))
    return directory


# A stand-in for the benchmark and for MPI's: one PE says what the real one would. FAKE_BENCH makes it misbehave.
BENCH = """#!/usr/bin/python3 -IS
import os, sys
mode, pe = os.environ.get("FAKE_BENCH", ""), os.environ.get("FAKE_PE", "0")
if pe != "0":
    sys.exit("am: PE 3: no room" if mode == "no large rings" and pe == "3" else 0)
import fcntl, json, termios, time
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
ways, tests = given.get("--ways", "mpi").split(","), given["--tests"].split(",")
pes = int(os.environ.get("FAKE_PES", "2"))
if mode == "fails":
    sys.exit("am: PE 0: no room")
print(json.dumps({"kind": "setup", "meter": "model", "meter_why": "asked"}))
if mode == "babbles":
    print("hello", flush=True)
def figure(domain, joules):
    return {"domain": domain, "source": "model made-up", "provenance": "modelled", "scope": "process",
            "joules": joules, "uncertainty": joules / 4, "interval_s": 1.0, "covered_s": 1.0}
left = int(mode.split()[1]) if mode.startswith("stops") else -1
for test in tests:
    for size in map(int, given["--bytes"].split(",")):
        for n in map(int, given["--in-flight"].split(",")):
            for repeat in range(int(given["--repeat"])):
                for turn, way in enumerate(ways):
                    print(json.dumps({
                        "kind": "sample", "test": test, "way": "pigeon" if mode == "wrong" else way, "bytes": size,
                        "in_flight": n, "pes": pes, "repeat": repeat, "turn": turn, "rounds": 3, "messages": 3 * n,
                        "block_s": 3e-6 * n, "message_s": 1e-6, "verified": mode != "loses",
                        "energy_why": None, "energy": [figure("cpu", 1e-6), figure("dram", 1e-7)],
                    }))
                    left -= 1
                    if left == 0:
                        sys.stdout.flush()
                        while any(fcntl.ioctl(1, termios.FIONREAD, bytes(4))):  # so that the reader has read it all
                            time.sleep(0.01)
                        open(os.environ["FAKE_READY"], "w").close()
                        time.sleep(60)
if mode == "loses":
    sys.exit("am: messages were lost")
"""

MPIRUN = """#!/usr/bin/python3 -IS
import os, sys
i = sys.argv.index("-n")
open(os.environ["FAKE_MPIRUN"], "a").write(" ".join(sys.argv[1:i + 2]) + "\\n")
boot_id = open("/proc/sys/kernel/random/boot_id").read()
for rank in range(1, int(sys.argv[i + 1])):
    open(f"{os.environ['WATTLE_PROFILE_DIR']}/mpi-{rank}", "w").write(f"{os.uname().nodename} {boot_id}")
os.execvpe(sys.argv[i + 2], sys.argv[i + 2:], {**os.environ, "FAKE_PES": sys.argv[i + 1], "OMPI_COMM_WORLD_RANK": "0"})
"""

# As the real one: a server without a test, a caller with one; it prints its table at the end.
PERFTEST = """#!/usr/bin/python3 -IS
import sys, time
if "-t" not in sys.argv:
    time.sleep(30)
print("iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr")
print("1000,0.1,0.1,0.1,1,1,4000000,5000000")
"""
