"""The steps of `wattle acceptance`, in order."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wattle.base.errors import WattleError
from wattle.machine import info
from wattle.machine.paths import Home
from wattle.study.place import TWO_NODES, Place
from wattle.study.versions import launches as versions

STUDIES = {"barrier": 60, "slack": 60, "race": 15, "receiver": 25, "patterns": 40, "am": 100}  # name: usual seconds
NODE_SENSORS = ("powercap", "perf", "cray", "hwmon", "redfish")
SENSORS = (*NODE_SENSORS, "nvml")  # values of WATTLE_METER that read a sensor
BENCH_LIMIT = 3  # multiple of the time limit of other steps
BENCH_WITHIN_S = 600  # with --quick, no section of the benchmarks begins later than this


@dataclass(frozen=True)
class Step:
    """One step. `command` makes the command from the folder for its results. It raises WattleError with the reason
    where the step cannot run here. `patience` multiplies the time limit. `usual_s` is the time of a quick run on a
    virtual machine with two busy cores; it serves only to estimate the remaining time.
    """

    name: str
    group: str
    what: str
    command: Callable[[Path], list[str]]
    patience: int = 1
    usual_s: float = 1


def energy_of(meter: str) -> str:
    """The step that reads this meter."""
    return f"energy-{meter}"


def all_steps(home: Home, full: bool) -> list[Step]:
    wattle = [sys.executable, "-m", "wattle"]
    cores = len(os.sched_getaffinity(0))
    quick = [] if full else ["--quick"]
    apps = home.root / "lib" / "wattle" / "apps"
    barrier = str(apps / "barrier")
    oshrun = str(home.root / "bin" / "oshrun")

    def job(pes: int) -> Callable[[Path], list[str]]:
        return lambda _: [oshrun, "-n", str(pes), "--", barrier, "--repeat", "3", "1", "10"]

    def run(*words: str) -> Callable[[Path], list[str]]:
        """`wattle run` with --json, so that standard error holds only the program's own output."""
        return lambda out: [*wattle, "run", "--json", "-o", str(out), *words]

    def governed(mode: str) -> Callable[[Path], list[str]]:
        return run("--set", f"WATTLE_GOVERN={mode}", "-n", "2", "--", barrier, "--repeat", "10", "10")

    def energy(*settings: str) -> Callable[[Path], list[str]]:
        """A run of three seconds, because some sensors update only once a second."""
        words = [word for setting in ("WATTLE_GOVERN=off", *settings) for word in ("--set", setting)]
        return run(*words, "-n", "2", "--", barrier, "--repeat", "3", "1000")

    def energy_by(meter: str) -> Callable[[Path], list[str]]:
        """A run with one meter by name. `auto` would use one meter only, and never that of a device."""

        def command(out: Path) -> list[str]:
            facts = next((m for m in info.ask().meters if m.get("name") == meter), None)
            if facts is None:
                raise WattleError("this version knows no meter of that name")
            if not facts.get("usable"):
                raise WattleError(" ".join(str(facts.get("why") or "it cannot be read").split()))
            return energy(f"WATTLE_METER={meter}")(out)

        return command

    def study(name: str, *more: str) -> Callable[[Path], list[str]]:
        return lambda out: [*wattle, "study", name, *quick, *more, "-o", str(out)]

    def prices(out: Path) -> list[str]:
        """Measures prices into the results folder. The user's own prices stay unchanged."""
        return ["env", f"XDG_CACHE_HOME={out}", *wattle, "calibrate", "--json"]

    def fitted(out: Path) -> list[str]:
        """Fits a machine profile of this machine."""
        meters = [meter for meter in info.ask().meters if meter.get("name") in NODE_SENSORS]
        if not any(meter.get("usable") for meter in meters):
            raise WattleError("no sensor of this node can be read, so nothing can be fitted")
        return [*wattle, "calibrate", "--profile", str(out / "here.yaml"), "--seconds", "1"]

    def preloaded(out: Path) -> list[str]:
        """Runs an MPI program, unchanged, with the preload library."""
        launch = versions.launch_of(home, "mst", versions.MPI, Place())
        settings = [f"{name}={value}" for name, value in launch.environment.items()]
        job = [launch.launcher, *launch.options, "-n", "2", str(launch.program), "--repeat", "3"]
        return ["env", *settings, *run("--mpi", "--", *job)(out)]

    def two_nodes(out: Path) -> list[str]:
        try:
            Place(TWO_NODES).check()
        except WattleError as error:  # the user of this command did not give the option that the message names
            raise WattleError(str(error).removeprefix(f"--on {TWO_NODES}: ").partition("; --on ")[0]) from None
        return study("patterns", "--on", TWO_NODES)(out)

    def bench(out: Path) -> list[str]:
        script = home.shared("bench") / "run.py"
        if not script.is_file():
            raise WattleError("the benchmarks run from the repository (`make bench`), not from an installation")
        bounded = [] if full else ["--quick", "--pairs", "1", "--within", str(BENCH_WITHIN_S)]
        programs = out.parent.parent / "programs"  # apart from the results; other users may own the repository
        return ["env", f"BENCH_OUT={programs}", sys.executable, str(script), *bounded, "--out", str(out / "bench.json")]

    sizes = dict.fromkeys((2, cores, 2 * cores))
    return [
        Step("doctor", "sensors", "findings on meters, clocks and networks", lambda _: [*wattle, "doctor", "--json"]),
        Step("prices", "sensors", "prices of the ways to wait", prices, usual_s=7),
        Step("energy", "sensors", "joules of a run, with their provenance", energy(), usual_s=5),
        *(Step(energy_of(name), "sensors", f"the same by the meter {name}", energy_by(name)) for name in SENSORS),
        Step("profile", "sensors", "a machine profile, fitted to the node's meter", fitted, usual_s=20),
        *(Step(f"jobs-{n}", "transports", f"a job of {n} PEs on this node", job(n)) for n in sizes),
        Step("mpi", "transports", "an MPI program with the preload library", preloaded, usual_s=3),
        Step("two-nodes", "transports", "puts between two nodes made of namespaces, over UCX", two_nodes, usual_s=60),
        Step("timeline", "transports", "a timeline", run("--timeline", "-n", "2", "--", barrier, "1"), usual_s=3),
        *(
            Step(f"clocks-{mode}", "knobs", f"a job governed in mode {mode}", governed(mode))
            for mode in ("energy", "hybrid")
        ),
        *(Step(name, "studies", f"the study {name}", study(name), usual_s=usual) for name, usual in STUDIES.items()),
        Step("bench", "bars", "the benchmarks with their bars", bench, patience=BENCH_LIMIT, usual_s=BENCH_WITHIN_S),
    ]
