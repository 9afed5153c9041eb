"""Runs one trial: starts the job, strikes, and judges how it ended."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from faulted import Faulted
from trials import BLOWS, HARMLESS, Trial

END_S = 30  # all of a job that was struck is gone by then
UNSTRUCK_S = 300  # one that was not, and takes this long, hangs
# Open MPI 4.1 can deadlock with itself where a PE dies while it joins; the code is then documented as 137.
LAUNCHER_KILLED = "oshrun: the launcher does not end, although its PEs or one of its nodes have ended; ended it"
LAUNCHER_DIED = re.compile(r"oshrun: the launcher was ended by signal \d+")
CRASH = "*** Process received signal ***"  # Open MPI's trace of a launcher, a daemon or a rank
SESSION = "/ompi."  # part of the names in the session folder of Open MPI's launcher, which it removes at its end


@dataclass
class Verdict:
    """The result of a trial."""

    trial: Trial
    struck: bool = False
    code: int | None = None
    wrong: list[tuple[str, str]] = field(default_factory=list)  # class of the fault, what is wrong
    evidence: str = ""
    seconds: float = 0

    @property
    def kinds_of_wrong(self) -> set[str]:
        return {kind for kind, _ in self.wrong}


@dataclass
class Hit:
    """A blow that reached its victim."""

    pid: int
    rank: int | None
    number: signal.Signals  # the last signal
    at: float


def rank_of(pid: int) -> int | None:
    """The number of a PE, from its launcher's environment variables."""
    words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    for name in (b"PMIX_RANK=", b"PMI_RANK="):
        for word in words:
            if word.startswith(name):
                return int(word.removeprefix(name))
    return None


def await_moment(faulted: Faulted) -> None:
    """Until the trial's moment, or the job's end."""
    trial = faulted.trial
    reached: Callable[[], bool] = {
        "boot": lambda: True,
        "work": lambda: len(faulted.marked("there")) == trial.n,
        "end": lambda: bool(faulted.marked("ending")),
    }[trial.moment]
    deadline = time.monotonic() + UNSTRUCK_S
    while not reached() and faulted.job.process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(trial.delay_s)


def strike(faulted: Faulted) -> Hit | None:
    """None: the job had ended before there was anything to hit."""
    trial = faulted.trial
    await_moment(faulted)
    deadline = time.monotonic() + UNSTRUCK_S
    while not (found := faulted.victims()):
        if faulted.job.process.poll() is not None or time.monotonic() > deadline:
            return None
        time.sleep(0.005)
    pid = found[trial.which % len(found)]
    try:
        handle = os.pidfd_open(pid)
        rank = rank_of(pid) if trial.victim == "pe" else None
        for i, number in enumerate(BLOWS[trial.blow]):
            if i:
                time.sleep(trial.hold_s)
            signal.pidfd_send_signal(handle, number)
        os.close(handle)
    except (ProcessLookupError, FileNotFoundError):
        return None  # it had ended by itself
    return Hit(pid, rank, number, time.monotonic())


def crash_of_its_own(faulted: Faulted) -> Hit:
    while faulted.job.process.poll() is None and not faulted.marked("there"):
        time.sleep(0.02)
    time.sleep(faulted.trial.delay_s)
    return Hit(0, None, signal.SIGSEGV, time.monotonic())


def is_struck_in_vain(trial: Trial, hit: Hit | None, ended: set[int]) -> bool:
    """May the job's code be 0, because what was struck had done its work, or did not mind?"""
    if not hit or trial.blow == HARMLESS or trial.victim == "guard":
        return True
    return hit.rank in ended if hit.rank is not None else len(ended) == trial.n


def wrong_code(trial: Trial, hit: Hit | None, ended: set[int], code: int) -> str | None:
    """Differences of the exit code from docs/launching.md."""
    if is_struck_in_vain(trial, hit, ended):
        must_be_0 = not hit or trial.blow == HARMLESS or trial.victim == "guard"
        return f"exit code {code}, although nothing was struck that the job needs" if code and must_be_0 else None
    assert hit
    if code == 0:
        return "exit code 0, although it was struck before its end"
    by_signal = trial.kind.launcher == "openmpi" and trial.kind.nodes == 1
    if trial.victim == "pe" and by_signal and code != 128 + hit.number:
        return f"exit code {code}; {128 + hit.number} is right"
    first = "nodes" if trial.kind.nodes > 1 else "oshrun"
    if trial.victim == first and code != 128 + hit.number:
        return f"exit code {code}; {128 + hit.number} is right"
    return None


def evidence_of(pids: dict[int, str]) -> str:
    """Where processes that do not end wait."""
    parts = []
    for pid, command in pids.items():
        parts.append(f"--- {pid} {command}")
        for name in ("wchan", "syscall", "stack"):
            try:
                parts.append(f"{name}: {(Path('/proc') / str(pid) / name).read_text().strip()}")
            except OSError as error:
                parts.append(f"{name}: {error.strerror}")
        if gdb := shutil.which("gdb"):
            words = [gdb, "-p", str(pid), "-batch", "-ex", "thread apply all bt 24"]
            done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
            parts.append(done.stdout[-12000:])
    return "\n".join(parts)


def gone_within(faulted: Faulted, deadline: float) -> tuple[dict[int, str], list[str]]:
    """Processes that live after the time limit. If there are none: other remains, present at every check."""
    job = faulted.job
    while (alive := job.alive()) or job.process.poll() is None:
        if time.monotonic() > deadline:
            return alive, []
        time.sleep(0.05)
    left = {*job.remains(), *faulted.left()}
    deadline = time.monotonic() + END_S / 3
    while left and time.monotonic() < deadline:
        time.sleep(0.05)
        left &= {*job.remains(), *faulted.left()}
    return {}, sorted(left)


LEFT_BY_MPI = ("/dev/shm/ucx_shm_posix_", "/dev/shm/mpich_shar_tmp", "/dev/shm/open_mpi.")


def left_by_mpi(names: list[str]) -> list[str]:
    """Names of MPI's shared memory. UCX, MPICH and Open MPI remove them as soon as all have the memory. Where a process
    is killed in MPI_Init they stay, without the library, too. The name does not tell which job it was of: it counts for
    all of that time."""
    return [name for name in names if name.startswith(LEFT_BY_MPI)]


def is_others_own(trial: Trial, err: str) -> bool:
    """Is it MPICH's mpiexec, which may tell 0 when it is sent SIGTERM? Or did the launcher die by itself, or Open MPI's
    handler of signals, which allocates memory?"""
    if trial.kind.name == "plain" and CRASH in err:
        return True
    if trial.victim == "launcher":
        return trial.kind.launcher == "mpich" and trial.blow == "term"
    return bool(LAUNCHER_DIED.search(err)) or (trial.kind.mpi == "openmpi" and "Signal: Aborted (6)" in err)


def judge(faulted: Faulted, hit: Hit | None, verdict: Verdict) -> None:
    trial, job = faulted.trial, faulted.job
    deadline = hit.at + END_S if hit else time.monotonic() + UNSTRUCK_S
    alive, left = gone_within(faulted, deadline)
    verdict.code = job.process.poll()
    if verdict.code is not None and verdict.code < 0:
        verdict.code = 128 - verdict.code  # as a shell tells it
    if verdict.code is None or alive:
        pes = [line for line in alive.values() if trial.kind.program in line.split(" ")[0]]
        of_launcher = "MPI's own" if trial.kind.name == "plain" else "hang of the launcher"  # oshrun would end it
        whose = "hang" if pes or not alive else of_launcher
        verdict.wrong.append((whose, f"alive after {END_S} s: {sorted(alive.values())}"))
        verdict.evidence = evidence_of(alive)
    of_mpi = left_by_mpi(left)
    if LAUNCHER_DIED.search(job.err) or CRASH in job.err:
        of_mpi += [name for name in left if SESSION in name]
    for whose, names in (("left by MPI", of_mpi), ("leftover", [*{*left} - {*of_mpi}])):
        if names:
            verdict.wrong.append((whose, f"left: {sorted(names)}"))
    if verdict.code is None:
        return
    wrong = wrong_code(trial, hit, faulted.marked("end"), verdict.code)
    if hit and verdict.code == 128 + signal.SIGKILL and LAUNCHER_KILLED in job.err:
        wrong = None
    if wrong and is_others_own(trial, job.err):
        verdict.wrong.append(("MPI's own", wrong))
    elif wrong:
        verdict.wrong.append(("code", wrong))


def run_trial(trial: Trial, programs: Path) -> Verdict:
    verdict = Verdict(trial)
    start = time.monotonic()
    with Faulted(trial, programs) as faulted:
        hit = crash_of_its_own(faulted) if trial.blow == "crash" else strike(faulted)
        verdict.struck = hit is not None
        judge(faulted, hit, verdict)
        if verdict.wrong:
            told = f"marks: {sorted(path.name for path in faulted.marks.iterdir())}; hit: {hit}"
            verdict.evidence += f"\n--- {told}\n--- stdout\n{faulted.job.out}\n--- stderr\n{faulted.job.err}"
    verdict.seconds = time.monotonic() - start
    return verdict
