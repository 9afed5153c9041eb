"""Runs one step as a command of its own, so that a failure or a hang ends only this step."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from wattle.acceptance import reason
from wattle.acceptance.steps import Step
from wattle.base import files
from wattle.base.errors import WattleError

OBEY_S = 30  # seconds between the request to end and the kill of a step
LOOK_S = 1.0
CLOCK_FILES = (
    "scaling_governor",
    "scaling_min_freq",
    "scaling_max_freq",
    "scaling_setspeed",
    "energy_performance_preference",
)


@dataclass
class Result:
    """The result of a step. `state` is passed, failed or not tried; `why` gives the reason where it did not pass."""

    name: str
    group: str
    what: str
    state: str
    why: str = ""
    seconds: float = 0.0
    command: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)


def left_out(step: Step, why: str, seconds: float = 0.0) -> Result:
    """The result of a step that was not tried. `seconds`: the time until it was ended."""
    return Result(step.name, step.group, step.what, "not tried", why, seconds)


def run(step: Step, folder: Path, limit_s: float, watch: Callable[[], None] = lambda: None) -> Result:
    """Runs a step. Output: FOLDER/NAME.out and NAME.err; results: FOLDER/NAME. Calls `watch` about once a second."""
    result = left_out(step, "")
    started = time.monotonic()
    before = clock_files()
    try:
        out = folder / step.name
        out.mkdir(files.FOLDER)
        result.command = step.command(out)
        with (folder / f"{step.name}.out").open("wb") as said, (folder / f"{step.name}.err").open("wb") as wrong:
            code = _ended(result.command, said, wrong, limit_s * step.patience, watch)
        result.state = "passed" if code == 0 else "failed"
        if code != 0:
            words = (folder / f"{step.name}.err").read_text(errors="replace")
            result.why = f"{_how(code)}: {reason.of(words)}"
    except WattleError as error:
        result.why = str(error)
    except subprocess.TimeoutExpired:
        result.state, result.why = "failed", f"not finished within {limit_s * step.patience:.0f} s (--limit)"
    except OSError as error:
        result.state, result.why = "failed", ": ".join(str(w) for w in (error.filename, error.strerror) if w)
    if (after := clock_files()) != before:
        changed = [path for path in before if after.get(path) != before[path]]
        result.state, result.why = "failed", f"left clocks changed: {', '.join(changed)}"
    result.seconds = time.monotonic() - started
    return result


def _how(code: int) -> str:
    return f"ended by signal {-code}" if code < 0 else f"exit code {code}"


def _ended(command: list[str], said: IO[bytes], wrong: IO[bytes], limit_s: float, watch: Callable[[], None]) -> int:
    """Runs a command and returns its exit code. SIGTERM ends it first, so that it removes what it has started."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=wrong)
    until = time.monotonic() + limit_s
    try:
        while True:
            left = until - time.monotonic()
            try:
                return process.wait(max(0.0, min(LOOK_S, left)))
            except subprocess.TimeoutExpired:
                if left <= 0:
                    raise
                watch()
    # time limit exceeded, or this process is to end and the step may not have received the signal
    except BaseException:
        process.terminate()
        try:
            process.wait(OBEY_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        raise


def clock_files() -> dict[str, str]:
    """The clock settings of the machine. No step may leave them changed."""
    root = Path(os.environ.get("WATTLE_SYSFS") or "/sys") / "devices" / "system" / "cpu"
    found = {}
    for path in sorted(p for name in CLOCK_FILES for p in root.glob(f"cpu[0-9]*/cpufreq/{name}")):
        try:
            found[str(path)] = path.read_text().strip()
        except OSError:
            continue
    return found
