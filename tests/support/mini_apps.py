"""Made-up samples of the studies of mini-apps, and stand-ins for their programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import fakes
import polars as pl
from wattle.record import manifest
from wattle.study import kept, samples
from wattle.study.mst import study as mst
from wattle.study.tsp import study as tsp
from wattle.study.versions.analysis import SCHEMA, Analysis
from wattle.study.versions.family import App

APPS = {"tsp": tsp.STUDY, "mst": mst.STUDY}
INPUTS = {"tsp": ("4 cities", "14 cities", "15 cities"), "mst": ("uniform, 1 million edges, 2^17 vertices",)}
PES = (2, 4, 8, 16, 32)

Cost = Callable[[str, str, int], float]  # version, input, PEs -> seconds


def as_promised(version: str, given: str, pes: int) -> float:
    """Seconds as the bars want them."""
    return {"mpi": 1.2e-2, "bucket": 1e-2 * pes / 4, "am": 1e-2, "steal": 5e-3}[version]


def as_published(version: str, given: str, pes: int) -> float:
    """Seconds as the dissertation describes them: MPI slowest on few cities and close at scale, buckets ever slower."""
    if given == "4 cities" and version == "mpi":
        return 1.0
    return {"mpi": 1.1e-2, "bucket": 1e-2 * max(1.0, pes / 16), "am": 1e-2, "steal": 5e-3}[version]


def varies_with_few(version: str, pes: int) -> float:
    return 0.1 if version == "am" and pes == 2 else 0.01


def backwards(version: str, given: str, pes: int) -> float:
    """Active messages are slowest."""
    return {"mpi": 1e-2, "bucket": 1e-2, "am": 2e-2, "steal": 5e-3}[version]


def frame(
    app: str = "tsp",
    seconds: Cost = as_promised,
    pes: tuple[int, ...] = PES,
    names: tuple[str, ...] | None = None,
    repeats: int = 8,
    provenance: str = "modelled",
    held_share: float = 0.01,
    verified: bool = True,
    apart: Callable[[str, int], float] = lambda version, pes: 0.01,
) -> pl.DataFrame:
    """Samples whose times are what the function says, apart from run to run by a share of it."""
    rows = []
    job = 0
    for n in pes:
        for version in names or APPS[app].versions:
            job += 1
            for given in INPUTS[app]:
                for r in range(repeats):
                    s = seconds(version, given, n) * (1 + apart(version, n) * (r - repeats // 2))
                    rows.append(_row(version, n, given, "runs", job, r + 1, s, provenance, verified))
                rows.append(_row(version, n, given, "first", job, 0, 100.0, provenance, verified))
    if app == "tsp":
        for version in names or APPS[app].versions:
            job += 1
            row = _row(version, 4, INPUTS[app][0], "held", job, 0, 1.0, provenance, verified)
            rows.append(row | {"wait_s": 3.0, "wait_cpu_s": 3.0 * (0.5 if version == "mpi" else held_share)})
    return pl.DataFrame(rows, schema=SCHEMA)


def _row(
    version: str, pes: int, given: str, series: str, job: int, repeat: int, s: float, provenance: str, verified: bool
) -> dict[str, Any]:
    known = provenance != "unavailable"
    row: dict[str, Any] = dict.fromkeys(SCHEMA)
    row |= {"version": version, "pes": pes, "input": given, "series": series, "round": 0, "job": job}
    row |= {"repeat": repeat, "seconds": s, "cpu_s": 2 * s, "verified": verified, "energy_json": "[]"}
    for domain, joules in (("cpu", 20 * s), ("dram", s)):
        row |= {f"{domain}_J": joules if known else None, f"{domain}_uncertainty_J": joules / 4 if known else None}
        row |= {f"{domain}_provenance": provenance, f"{domain}_source": "model made-up" if known else ""}
    if version != "mpi":
        row |= {"job_active_s": 0.5, "job_spin_s": 0.1, "job_yield_s": 0.0, "job_asleep_s": 0.4}
    return row


def analysis(app: str = "tsp", left_out: dict[str, str] | None = None, **keywords: Any) -> Analysis:
    return Analysis(frame(app, **keywords), APPS[app].versions, left_out)


def make_study(directory: Path, app: str = "tsp", left_out: dict[str, str] | None = None, **keywords: Any) -> Path:
    """A sound study directory."""
    directory.mkdir(parents=True)
    made = frame(app, **keywords)
    samples.write(directory, made.to_dicts(), SCHEMA)
    record = manifest.start("study", ["wattle", "study", app], 32)
    record.wall_s, record.exit_code = 12.5, 0
    record.meter = {"name": "model", "why": "no sensor <here>"}
    record.extra = {
        "study": {"name": app, "on": "local", "rounds": 2, "each": 4, "quick": True, "left_out": left_out or {}}
    }
    manifest.write(directory, record)
    which: App = APPS[app]
    kept.write_results(directory / kept.RESULTS, which.judged(directory, record))
    return directory


# A stand-in for a version's program: one PE says what the real one would. FAKE_APP makes it misbehave.
PROGRAM = """#!/usr/bin/python3 -IS
import os, sys
if os.environ.get("FAKE_PE", "0") != "0":
    sys.exit(0)
import json, re, time
app, version = os.path.basename(sys.argv[0]).split("-")
words = sys.argv[1:]
repeats = int(words[words.index("--repeat") + 1])
held = "--hold" in words
with open(os.environ["FAKE_SAYS"], "a") as out:
    print(version, repeats, "held" if held else "runs", os.environ.get("OMPI_MCA_mpi_yield_when_idle"), file=out)
mode = os.environ.get("FAKE_APP", "")
print(json.dumps({"kind": "setup", "program": app, "version": version, "meter": "model", "meter_why": "asked"}))
if mode == "fails":
    sys.exit("no memory for anything")
if mode == "babbles":
    print("hello", flush=True)
def figure(domain, joules):
    return {"domain": domain, "source": "model made-up", "provenance": "modelled", "scope": "process",
            "joules": joules, "uncertainty": joules / 4, "interval_s": 1.0, "covered_s": 1.0}
cities = [int(re.search("tsp([0-9]+)", word).group(1)) for word in words if "tsp" in word]
inputs = [{"cities": n} for n in cities] or [{"graph": words[words.index("--graph") + 1], "log_vertices": 17,
                                              "edges": 1000000}]
for given in inputs:
    for repeat in range(repeats - (mode == "forgets")):
        sample = {"kind": "sample", "repeat": repeat, "seconds": 0.01, "cpu_s": 0.02, "verified": mode != "wrong",
                  "energy": [figure("cpu", 0.2), figure("dram", 0.01)], **given}
        if app == "tsp":
            sample |= {"wait_s": 3.0, "wait_cpu_s": 0.03}
        if mode == "odd":
            sample["seconds"] = None
        print(json.dumps(sample), flush=True)
        if mode == "stops":
            time.sleep(0.2)
            open(os.environ["FAKE_READY"], "w").close()
            time.sleep(60)
"""


def programs(home: Path, app: str, *names: str) -> None:
    """Stand-ins of these versions, and the inputs they read."""
    for version in names:
        fakes.script(home / "lib/wattle/apps" / f"{app}-{version}", PROGRAM)
    (home / "share/wattle/apps/tsp/data").mkdir(parents=True, exist_ok=True)
