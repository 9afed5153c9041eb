"""What is tried, in order. Each step is a command of its own: one that fails or hangs ends nothing but itself."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from wattle.errors import WattleError
from wattle.paths import Home
from wattle.study.place import TWO_NODES, Place

BENCH_LIMIT = 3  # times as long as other steps may take
OBEY_S = 30  # what a step may take to end after SIGTERM
CLOCK_FILES = ("scaling_governor", "scaling_min_freq", "scaling_max_freq", "scaling_setspeed")


@dataclass(frozen=True)
class Step:
    """`command`: of words, given the folder for its results; may raise WattleError where it cannot be tried, with the
    reason. `patience`: how many times the limit."""

    name: str
    group: str
    what: str
    command: Callable[[Path], list[str]]
    patience: int = 1


@dataclass
class Result:
    """`state`: passed, failed, or not tried; `why` where it did not pass."""

    name: str
    group: str
    what: str
    state: str
    why: str = ""
    seconds: float = 0.0
    command: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)


def all_steps(home: Home, full: bool) -> list[Step]:
    wattle = [sys.executable, "-m", "wattle"]
    cores = len(os.sched_getaffinity(0))
    quick = [] if full else ["--quick"]
    barrier = str(home.root / "lib" / "wattle" / "apps" / "barrier")
    oshrun = str(home.root / "bin" / "oshrun")

    def job(pes: int) -> Callable[[Path], list[str]]:
        return lambda _: [oshrun, "-n", str(pes), "--", barrier, "--repeat", "3", "1", "10"]

    def governed(mode: str) -> Callable[[Path], list[str]]:
        words = ["--set", f"WATTLE_GOVERN={mode}", "-n", "2", "--", barrier, "--repeat", "10", "10"]
        return lambda out: [*wattle, "run", "-o", str(out), *words]

    def study(name: str, *more: str) -> Callable[[Path], list[str]]:
        return lambda out: [*wattle, "study", name, *quick, *more, "-o", str(out)]

    def two_nodes(out: Path) -> list[str]:
        Place(TWO_NODES).check()
        return study("patterns", "--on", TWO_NODES)(out)

    def bench(out: Path) -> list[str]:
        script = home.shared("bench") / "run.py"
        if not script.is_file():
            raise WattleError("the benchmarks run from the repository (`make bench`), not from an installation")
        return [sys.executable, str(script), *quick, "--out", str(out / "bench.json")]

    sizes = dict.fromkeys((2, cores, 2 * cores))
    return [
        Step("doctor", "sensors", "what can be measured and controlled", lambda _: [*wattle, "doctor", "--json"]),
        Step("prices", "sensors", "what ways of waiting cost", lambda _: [*wattle, "calibrate", "--json"]),
        Step("energy", "sensors", "joules of a run, with their provenance", governed("off")),
        *(Step(f"jobs-{n}", "transports", f"a job of {n} PEs on this node", job(n)) for n in sizes),
        Step("two-nodes", "transports", "puts between two nodes made of namespaces, over UCX", two_nodes),
        Step(
            "timeline",
            "transports",
            "a timeline",
            lambda out: [*wattle, "run", "--timeline", "-o", str(out), "--", barrier, "1"],
        ),
        *(
            Step(f"clocks-{mode}", "knobs", f"a job governed in mode {mode}", governed(mode))
            for mode in ("energy", "hybrid")
        ),
        *(
            Step(name, "studies", f"the study {name}", study(name))
            for name in ("barrier", "slack", "race", "receiver", "patterns", "am")
        ),
        Step("bench", "bars", "the benchmarks with their bars", bench, patience=BENCH_LIMIT),
    ]


def run(step: Step, folder: Path, limit_s: float) -> Result:
    """Its output goes to FOLDER/NAME.out and .err, its results to FOLDER/NAME."""
    result = Result(step.name, step.group, step.what, "not tried")
    out = folder / step.name
    out.mkdir()
    started = time.monotonic()
    before = clock_files()
    try:
        result.command = step.command(out)
        with (folder / f"{step.name}.out").open("wb") as said, (folder / f"{step.name}.err").open("wb") as wrong:
            code = _ended(result.command, said, wrong, limit_s * step.patience)
        result.state = "passed" if code == 0 else "failed"
        if code != 0:
            result.why = f"exit code {code}: {_last(folder / f'{step.name}.err')}"
    except WattleError as reason:
        result.why = str(reason)
    except subprocess.TimeoutExpired:
        result.state, result.why = "failed", f"not done within {limit_s * step.patience:.0f} s"
    except OSError as error:
        result.state, result.why = "failed", f"cannot be started: {error.strerror}"
    if (after := clock_files()) != before:
        changed = [path for path in before if after.get(path) != before[path]]
        result.state, result.why = "failed", f"left clocks changed: {', '.join(changed)}"
    result.seconds = time.monotonic() - started
    return result


def _ended(command: list[str], said: IO[bytes], wrong: IO[bytes], limit_s: float) -> int:
    """The exit code. One that takes too long is asked to end first: it takes down what it has started."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=wrong)
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            process.wait(OBEY_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        raise
    except BaseException:  # Ctrl-C: it has had its own
        process.wait()
        raise


def clock_files() -> dict[str, str]:
    """What the machine's clocks are set to: no step may leave them otherwise."""
    root = Path(os.environ.get("WATTLE_SYSFS") or "/sys") / "devices" / "system" / "cpu"
    found = {}
    for path in sorted(p for name in CLOCK_FILES for p in root.glob(f"cpu[0-9]*/cpufreq/{name}")):
        try:
            found[str(path)] = path.read_text().strip()
        except OSError:
            continue
    return found


def _last(path: Path) -> str:
    lines = [line.strip() for line in path.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1][:400] if lines else "it said nothing"
