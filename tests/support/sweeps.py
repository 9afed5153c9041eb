"""Made-up samples of the studies of waiting and clocks, and stand-ins for their programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import fakes
import polars as pl
from wattle.record import manifest
from wattle.study import kept, samples
from wattle.study.barrier import study as barrier
from wattle.study.budget import study as budget
from wattle.study.groups import study as groups
from wattle.study.lsms import judges as lsms_judges
from wattle.study.lsms import study as lsms
from wattle.study.lsms.recorded import STAGES
from wattle.study.pascol import study as pascol
from wattle.study.pascol.judges import OPS
from wattle.study.place import TWO_NODES, Place
from wattle.study.race import study as race
from wattle.study.receiver import study as receiver
from wattle.study.slack import study as slack
from wattle.study.sweep.analysis import SCHEMA, Analysis
from wattle.study.sweep.family import Sweep
from wattle.study.sweep.knob import Knob
from wattle.study.sweep.plan import Job, Plan

SWEEPS = {
    made.name: made
    for made in (
        barrier.STUDY,
        slack.STUDY,
        race.STUDY,
        receiver.STUDY,
        pascol.STUDY,
        lsms.STUDY,
        groups.STUDY,
        budget.STUDY,
    )
}
KNOB = Knob("cpufreq", "", (1.2, 1.5, 1.8, 2.2, 2.4, 2.6, 2.9), 2.6)
NO_KNOB = Knob("none", "no clocks under /sys")
CORES = 16  # of the made-up machine

# (job, name, who, x, y) -> (seconds, joules), or (seconds, joules of the CPU, joules of the DRAM)
Physics = Callable[[Job, str, str, float | None, float | None], tuple[float, ...]]


def cases(study: str, job: Job) -> Iterable[tuple[str, str, float | None, float | None]]:
    """The cases for which the real program would print lines: name, who, x, y."""
    words = job.arguments
    plain = [w for k, w in enumerate(words) if not w.startswith("--") and not (k and words[k - 1].startswith("--"))]
    if job.program == "kernels":
        return [(name, "all", float(plain[0]), 0.0) for name in ("fma", "copy", "scale", "add", "triad")]
    if job.program in ("mst-am", "tsp-am", "tsp-steal"):
        return [(job.program, "all", None, None)]
    found = []
    for word in plain:
        x, _, y = word.partition(":")
        name = {"barrier": "barrier", "slack": "steps" if "steps" in words else "two"}.get(job.program, "")
        if "--meet" in words:
            name = words[words.index("--meet") + 1]
        if "--kernel" in words:
            name = words[words.index("--kernel") + 1]
        if job.program == "pascol":
            name = words[words.index("--op") + 1]
        if "--pattern" in words:
            name = words[words.index("--pattern") + 1]
        if job.program.startswith("lsms-"):
            name = f"{job.program[5:]} {name}"
        if job.program == "receiver":
            name = words[words.index("--how") + 1]
        for who in ("sender", "receiver") if job.program == "receiver" else ("all",):
            found.append((name, who, float(x), float(y or 0)))
    return found


def frame(
    study: str,
    physics: Physics,
    knob: Knob = KNOB,
    provenance: str = "measured",
    rounds: int = 3,
    quick: bool = True,
    more: Callable[[Job, float | None], dict[str, Any]] = lambda job, x: {},
    source: str = "powercap made-up",
    verified: bool = True,
    learns: bool = True,
) -> pl.DataFrame:
    """Samples of the whole plan, each repeat a little off."""
    plan = Plan(quick, rounds, knob, CORES)
    rows = []
    for r in range(rounds):
        for number, job in enumerate(SWEEPS[study].jobs(plan)):
            facts = list(cases(study, job))
            words = job.arguments
            first = int(words[words.index("--seed") + 1]) if "--seed" in words else 0
            for repeat in range(first, first + job.samples // len(facts)):
                for name, who, x, y in facts:
                    s, j, dram = (*physics(job, name, who, x, y), None)[:3]
                    off = 1 + 1e-3 * ((r * 7 + repeat * 3 + number) % 5 - 2)
                    rows.append(_row(job, name, who, x, y, (r, r * 1000 + number, repeat), s * off, j * off))
                    if dram is not None:
                        rows[-1]["dram_J"] = dram * off
                    learned = {"thresholds": OPS} if job.mode == "aware" and learns else {}
                    told_more = more(job, x) | learned | lsms_stages(job, y or 0, physics)
                    if job.program.startswith("groups"):
                        told_more |= {"job_s": s, "cores_J": j, "oracle_saves": 0.2}
                    if job.program == "budget" and job.mode == "budget":
                        told_more |= {"optimum_s": 1.0, "budget_w": 100.0, "highest_w": 100.0 * min(s, 1.1)}
                    if job.program == "receiver":
                        told_more |= _phases(job, physics, name, who, x, y)
                    rows[-1] |= {"more_json": json.dumps(told_more), "verified": verified}
                    known = provenance != "unavailable"
                    for domain in ("cpu", "dram"):
                        rows[-1][f"{domain}_provenance"] = provenance
                        rows[-1][f"{domain}_source"] = source if known else ""
                        if not known:
                            rows[-1][f"{domain}_J"] = rows[-1][f"{domain}_uncertainty_J"] = None
    return pl.DataFrame(rows, schema=SCHEMA)


def _phases(job: Job, physics: Physics, name: str, who: str, x: Any, y: Any) -> dict[str, Any]:
    """Times and joules of the phases: equal parts of the transfer. Packing takes what it takes without a receiver."""
    found = [physics(job, name, who, x, y)[0] / 7] * 7
    found[5] = physics(job, "direct", who, x, y)[0] / 7
    figures = [
        {"domain": domain, "source": "model made-up", "provenance": "modelled", "scope": "process"}
        | {"joules": 0.1, "uncertainty": 0.01, "interval_s": 1.0, "covered_s": 1.0}
        for domain in ("cpu", "dram")
    ]
    return {"phase_s": found, "phases": {letter: {"energy": figures} for letter in "AB"}}


def _row(job: Job, name: str, who: str, x: Any, y: Any, at: tuple[int, int, int], s: float, j: float) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(SCHEMA)
    row |= {key: getattr(job, key) for key in ("series", "wait", "mode", "scaling", "clock", "pes")}
    row |= {"name": name, "who": who, "x": x, "y": y, "round": at[0], "job": at[1], "repeat": at[2]}
    row |= {"seconds": s, "cpu_s": s * (0.1 if job.wait == "sleep" else 1), "energy_json": "[]", "knob": ""}
    waits = [0.1 * (job.pes - pe) for pe in range(job.pes)]
    row |= {"job_changes": 4 if job.mode != "off" else None}
    row |= {"job_waits_json": json.dumps({"wall_s": 1.0, "wait_s": waits})}
    return row | {"cpu_J": 0.9 * j, "cpu_uncertainty_J": 0.1 * j, "dram_J": 0.1 * j, "dram_uncertainty_J": 0.01 * j}


def place_of(study: str) -> Place:
    """Where the study's rows can be tested."""
    return Place(TWO_NODES) if study == "pascol" else Place()


def analysis(study: str, physics: Physics, knob: Knob = KNOB, place: Place | None = None, **keywords: Any) -> Analysis:
    return Analysis(frame(study, physics, knob, **keywords), knob, place or place_of(study))


def make_study(directory: Path, study: str, physics: Physics, knob: Knob = NO_KNOB, **keywords: Any) -> Path:
    """A sound study directory."""
    directory.mkdir(parents=True)
    made: Sweep = SWEEPS[study]
    samples.write(directory, frame(study, physics, knob, **keywords).to_dicts(), SCHEMA)
    record = manifest.start("study", ["wattle", "study", study], 2)
    record.wall_s, record.exit_code = 12.5, 0
    record.meter = {"name": "model", "why": "no sensor <here>"}
    record.extra = {"study": {"name": study, "rounds": 3, "quick": True, "knob": knob.as_dict()}}
    record.extra["study"]["place"] = place_of(study).as_dict()
    manifest.write(directory, record)
    kept.write_results(directory / kept.RESULTS, made.judged(directory, record))
    return directory


def lsms_stages(job: Job, ratio: float, physics: Physics) -> dict[str, Any]:
    """The stages of each PE in a program of LSMS. As published, waits grow with CR and PEs, and a stretched PE waits
    less.
    """
    if not job.program.startswith("lsms-"):
        return {}
    stretched = job.mode in ("energy", "hybrid") and job.scaling == "proactive"
    wait = 1e-3 * ratio * (0.2 if stretched else 1)
    if physics is plain:
        wait = 1e-3 / job.pes
    if physics is backwards:
        wait = 1e-3 * ratio / job.pes**2
    begins = [0.0] * job.pes
    found: dict[str, Any] = {"groups": 2, "step_begins": 5.0, "begin": begins}
    for k, stage in enumerate(STAGES):
        found |= {f"{stage}_s": [wait] * job.pes, f"{stage}_end": [1e-3 * (k + 1)] * job.pes}
    if job.series == lsms_judges.TIMELINE:
        found["waits"] = {str(pe): [4.9, 5.0005, 0, 5.002, 5.003, 2] for pe in range(job.pes)}
    return found


# ---- made-up machines ----


def plain(job: Job, name: str, who: str, x: float | None, y: float | None) -> tuple[float, ...]:
    """Nothing matters: everything takes 10 ms and 0.1 J."""
    return 0.01, 0.1


def as_published(job: Job, name: str, who: str, x: float | None, y: float | None) -> tuple[float, ...]:
    """The dissertation's figures, where it has them."""
    known = {"barrier": _barrier, "slack": _slack, "kernels": _kernels, "receiver": _receiver, "pascol": _pascol}
    known |= {f"lsms-{version}": _lsms for version in lsms_judges.VERSIONS}
    known |= dict.fromkeys(("groups", "groups-mpi"), _groups)
    known["budget"] = _budget
    return known.get(job.program, _mini_app)(job, name, who, x or 0.0, y or 0.0)


def _barrier(job: Job, name: str, who: str, x: float, y: float) -> tuple[float, ...]:
    s = 1e-3 * x
    watts = 33.1446 if job.series == "late" else 16.0 * (job.pes - 1)
    return s, s * watts * (0.2 if job.wait == "sleep" else 1)


def _slack(job: Job, name: str, who: str, x: float, y: float) -> tuple[float, ...]:
    if name == "triad":
        return _mini_app(job, name, who, x, y)
    if name in ("barrier", "pairs"):
        time = 0.01 * (1 + (0.5 if name == "pairs" else 1) * (x - 1))
        return time, 10 * time
    if name == "steps":
        time = {"reduced": 1.27, "hybrid": 1.006}.get(job.mode, 1.0)
        return 0.01 * time, {"hybrid": 0.894, "reduced": 0.95}.get(job.mode, 1.0)
    boost = (
        {"performance": 0.05, "hybrid": 0.06, "energy": 0.02}.get(job.mode, 0.0) if job.scaling == "proactive" else 0.0
    )
    if x == 1:
        return 0.01 * (1 + (0.02 if job.mode in ("hybrid", "energy") else 0)), 0.1 * (1 + boost * y / 10)
    if x < 1.2:
        return 0.01, 0.1
    saved = boost * (x + y / 2)
    return 0.01 * x * (1 - (saved / 5 if job.mode != "energy" else 0)), 0.1 * x * (1 - saved)


LEAST_AT = {"copy": 1.2, "scale": 1.5, "add": 1.8, "triad": 2.2}  # GHz
FMA_JOULES = {1.2: 1.2, 1.5: 1.1, 1.8: 1.0, 2.2: 0.98, 2.4: 0.96, 2.6: 1.0, 2.9: 1.2}


def _kernels(job: Job, name: str, who: str, x: float, y: float) -> tuple[float, ...]:
    clock = job.clock or 2.6
    if name == "fma":
        return 1 / clock, FMA_JOULES[clock]
    return 0.1 + 0.537 / clock, 1.0 + abs(clock - LEAST_AT[name])


def _mini_app(job: Job, name: str, who: str, x: float, y: float) -> tuple[float, ...]:
    clock = job.clock or 2.6
    bound = 1.0 if name == "mst-am" else 0.25  # by the clock, up to 2.4 GHz
    return 1.0 + bound / min(clock, 2.4), clock


def _receiver(job: Job, name: str, who: str, x: float, y: float) -> tuple[float, ...]:
    clock = {1.2: 0, 2.4: 1}.get(job.clock or 2.9, 2)
    slower = {"direct": (1, 1, 1), "active": (1.76, 1.1, 1), "agent": (1.5, 0.9, 1)}[name][clock]
    helped = (1.3, 1.65 if x <= 64 else 1.11, 1)  # joules of either PE where an agent helps
    left = {"direct": (0.32, 0.5, 1), "active": (0.4, 0.5, 1), "agent": helped}[name][clock]
    dram = {"direct": (0.5, 0.5, 1), "active": (1.3, 0.75, 1), "agent": (1, 1, 1)}[name][clock]
    if name == "direct" and x > 32768 and clock < 2:
        dram = 0.8
    if name == "direct" and who == "sender":
        dram = 1
    plane = 1.1 if job.series == "planes" else 1
    return 1e-4 * slower * plane, 1e-3 * (left if who == "receiver" or name == "agent" else slower), 1e-5 * dram


def _pascol(job: Job, name: str, who: str, x: float, y: float) -> tuple[float, ...]:
    saves = {"put": 0.92}.get(name, 0.93)
    scaled = job.mode == "scale" or job.mode == "aware"
    if x < OPS[name]:
        sleeps = job.wait == "sleep"
        longer = 1.7 if sleeps and scaled else 1.5 if sleeps else 1.1 if job.mode == "scale" else 1.0
        dearer = 1.5 if sleeps and scaled else 1.3 if sleeps else 1.1 if job.mode == "scale" else 1.0
    else:
        longer = 1.0 if job.wait == "spin" else 1.02
        dearer = 1.0 if job.wait == "spin" else saves if scaled else 0.97
    time = 1e-5 + 1e-9 * x
    return time * longer, 100 * time * dearer


LSMS_COSTS = {"PQPQ": 10.0, "MPQMPQ": 10.2, "PPQ": 5.0, "MPMPQ": 5.1, "MMPQAMM": 1.0}  # of a transfer


def _lsms(job: Job, name: str, who: str, x: float, y: float) -> tuple[float, ...]:
    if job.series == lsms_judges.TRANSFER:
        cost = LSMS_COSTS[name.split()[1]]
        return 1e-3 * cost, 0.1 * cost
    uneven = 1e-2 * (1 + y / 4)
    stretched = job.mode in ("energy", "hybrid") and job.scaling == "proactive"
    joules = 5 * job.pes * (0.0125 + 0.2 * (uneven - 0.0125) if stretched else uneven)
    return uneven, joules


def _groups(job: Job, name: str, who: str, x: float, y: float) -> tuple[float, ...]:
    """A barrier of all PEs takes as long as the slowest of all, and mode energy saves 0.9 of the oracle's saving."""
    longer = 1.2 if y and name == "world" else 1.0
    return longer, 10 * longer * (0.82 if job.mode != "off" else 1)


def _budget(job: Job, name: str, who: str, x: float, y: float) -> tuple[float, ...]:
    """A budget is close to the optimum of 1 s, and equal caps cost 15 % more in time and joules."""
    return (1.01, 10.0) if job.mode == "budget" else (1.16, 11.5)


def backwards(job: Job, name: str, who: str, x: float | None, y: float | None) -> tuple[float, ...]:
    """The opposite of what is published, as far as there is one."""
    clock, x, y = job.clock or 2.6, x or 0.0, y or 0.0
    if job.program.startswith("lsms-"):
        cost = 1 / LSMS_COSTS.get(name.split()[1], 1.0) if job.series == lsms_judges.TRANSFER else 1 / (1 + y)
        return 1e-2 * cost, cost / job.pes**3
    if job.program == "barrier":
        return 1e-3 * x, (1.0 if x < 8 else 0.001) / job.pes**2
    if job.program == "slack":
        worse = {"baseline": 1.0, "standard": 1.0, "energy": 0.9, "hybrid": 1.1, "performance": 1.1}.get(job.mode, 1.0)
        even = 0.9 if x == 1 and job.mode in ("energy", "hybrid") else 1.0
        short = 1.1 if 1 < x < 1.2 and job.mode in ("energy", "hybrid") else 1.0
        shrinks = 1 - 0.01 * y if x == 1 and job.mode == "hybrid" else 1 + 0.02 * (x + y) if x > 1.2 else 1
        even = 0.9 if job.mode == "reduced" else even
        return 0.01 * worse * even * short, 0.1 * worse * shrinks
    if job.program.startswith("groups"):
        return (2.0 if name == "pairs" or job.mode != "off" else 1.0,) * 2
    if job.program == "budget":
        return (1.2, 10.0) if job.mode == "budget" else (1.0, 9.0)
    if job.program == "receiver":
        return 1e-4 * clock**4 * (0.5 if job.series == "planes" else 1), 1e-3 / clock**2
    if job.program == "pascol":
        worse = 2.0 if x > 1024 else 0.5
        worse = (1.0 if job.wait == "spin" else worse) * (0.5 if job.mode == "scale" and x <= 1024 else 1.0)
        return 1e-5 * worse, 1e-3 * worse
    return 1.0 + 0.1 * clock if job.program == "kernels" else 1 / (clock * clock), 1 / clock


# A stand-in for the programs: one PE says what the real one would. FAKE_SWEEP makes it misbehave.
PROGRAM = """#!/bin/sh
[ "$FAKE_PE" = 0 ] || exit 0
exec /usr/bin/python3 -IS - "$0" "$@" <<'END'
import json, os, pathlib, sys, time
name, mode, words = pathlib.Path(sys.argv[1]).name, os.environ.get("FAKE_SWEEP", ""), sys.argv[2:]
settings = {k: v for k, v in os.environ.items() if k.startswith("WATTLE_") and k != "WATTLE_PROFILE_DIR"}
with open(os.environ["FAKE_SAYS"], "a") as out:
    print(json.dumps({"program": name, "words": words, "settings": settings}), file=out)
def option(key, default):
    return words[words.index(key) + 1] if key in words else default
cases = [w for k, w in enumerate(words) if not w.startswith("--") and not (k and words[k - 1].startswith("--"))]
template, n = os.environ.get("FAKE_TEMPLATE"), int(os.environ["FAKE_N"])
for pe in range(n if template else 0):
    found = json.loads(template) | {"pe": pe, "n_pes": n} | ({"node": None} if pe else {})
    pathlib.Path(os.environ["WATTLE_PROFILE_DIR"], f"pe-{pe:05d}.json").write_text(json.dumps(found))
setup = {"kind": "setup", "program": name, "meter": "model", "meter_why": "asked"}
print(json.dumps(setup | {"turns": 1000.0}))
if mode == "fails":
    sys.exit("no memory for anything")
def figure(domain, joules, scope="process"):
    return {"domain": domain, "source": "model made-up", "provenance": "modelled", "scope": scope,
            "joules": joules, "uncertainty": joules / 4, "interval_s": 1.0, "covered_s": 1.0}
def say(**more):
    energy = [figure("cpu", 0.2), figure("dram", 0.01)]
    energy += [figure("cpu-idle", 1.0, "node"), figure("dram-idle", 0.5, "node")]
    line = {"kind": "sample", "seconds": 0.01, "cpu_s": 0.02, "verified": mode != "wrong", "energy": energy} | more
    if mode == "odd":
        line["seconds"] = None
    print(json.dumps(line), flush=True)
    if mode == "stops" and int(option("--repeat", 1)) > 1:
        time.sleep(0.2)
        open(os.environ["FAKE_READY"], "w").close()
        time.sleep(60)
for repeat in range(int(option("--repeat", 1)) - (mode == "forgets")):
    if name in ("mst-am", "tsp-am", "tsp-steal"):
        say(repeat=repeat)
        continue
    for case in cases:
        x, _, y = case.partition(":")
        common = {"x": float(x), "y": float(y or 0), "repeat": repeat}
        if name == "kernels":
            for kernel in ("fma", "copy", "scale", "add", "triad"):
                say(name=kernel, who="all", **common)
        elif name.startswith("lsms-"):
            n_pes = int(os.environ["FAKE_N"])
            stages = ("transfer", "compute", "sync", "collect")
            edges = {f"{stage}_{key}": [0.001] * n_pes for stage in stages for key in ("s", "end")}
            more = {"groups": 2, "step_begins": 5.0, "begin": [0.0] * n_pes, **edges}
            say(name=name[5:] + " " + option("--pattern", ""), who="all", **common, **more)
        elif name in ("groups", "budget"):
            say(name=option("--pattern", ""), who="all", **(common | {"repeat": int(option("--seed", 0))}))
        elif name == "pascol":
            say(name=option("--op", ""), who="all", rounds=1, **common)
        elif name == "receiver":
            for who in ("sender", "receiver"):
                say(name=option("--how", ""), who=who, phase_s=[0.001] * 7, **common)
        else:
            more = {"compute_s": [0.001] * 8, "slack_s": [0.002] * 8} if name == "slack" else {"counted": [None] * 3}
            slack = option("--kernel", option("--loads", "two"))
            say(name=slack if name == "slack" else name, who="all", **common, **more)
END
"""


def programs(home: Path) -> None:
    """Stand-ins of all programs, and the input that one reads."""
    for name in (
        "lsms-shmem",
        "groups",
        "budget",
        "barrier",
        "slack",
        "kernels",
        "receiver",
        "pascol",
        "mst-am",
        "tsp-am",
        "tsp-steal",
    ):
        fakes.script(home / "lib/wattle/apps" / name, PROGRAM)
    (home / "share/wattle/apps/tsp/data").mkdir(parents=True, exist_ok=True)
