"""Jobs whose clocks are governed, on a made-up /sys: what they change, what they leave behind, and that a knob that
fails changes nothing about the program's result.

usage: governed_job.py OSHRUN PROGRAM CASE
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

MAX, MIN, BASE = "3600000", "1200000", "2400000"
FILES = {
    "scaling_driver": "acpi-cpufreq",
    "scaling_governor": "performance",
    "cpuinfo_min_freq": MIN,
    "cpuinfo_max_freq": MAX,
    "scaling_min_freq": MIN,
    "scaling_max_freq": MAX,
    "base_frequency": BASE,
    "cpuinfo_transition_latency": "20000",
}
PATIENCE_S = 20


class Machine:
    """A made-up /sys with a policy for each CPU of this machine."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.cpus = sorted(os.sched_getaffinity(0))
        for cpu in self.cpus:
            folder = self.policy(cpu)
            folder.mkdir(parents=True)
            for name, text in {**FILES, "related_cpus": str(cpu)}.items():
                (folder / name).write_text(text + "\n")

    def policy(self, cpu: int) -> Path:
        return self.root / f"devices/system/cpu/cpu{cpu}/cpufreq"

    def limits(self) -> set[tuple[str, str]]:
        return {
            tuple((self.policy(cpu) / name).read_text().strip() for name in ("scaling_min_freq", "scaling_max_freq"))
            for cpu in self.cpus
        }

    def is_restored(self) -> bool:
        return self.limits() == {(MIN, MAX)}

    def comes_back(self) -> bool:
        return until(self.is_restored)


def until(holds: Callable[[], bool]) -> bool:
    """Whether it does within some seconds."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class Job:
    def __init__(self, oshrun: str, program: str) -> None:
        self.command = [oshrun, "-n", "2", "--", program]
        self.folder = Path(tempfile.mkdtemp())
        self.machine = Machine(self.folder / "sys")
        (self.folder / "profile").mkdir()

    def environment(self, **settings: str) -> dict[str, str]:
        return {
            **os.environ,
            "WATTLE_SYSFS": str(self.machine.root),
            "WATTLE_PROFILE_DIR": str(self.folder / "profile"),
            "WATTLE_GOVERN": "hybrid",
            "WATTLE_KNOB": "cpufreq",
            "WATTLE_SLOWDOWN": "100",
            "WATTLE_CLOCK_COST": "100us",
            **settings,
        }

    def start(self, *words: str, **settings: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [*self.command, *words], env=self.environment(**settings), stdout=pipe, stderr=pipe, text=True
        )

    def run(self, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.command, *words],
            env=self.environment(**settings),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def clocks(self) -> list[dict]:
        return [json.loads(f.read_text())["clocks"] for f in sorted((self.folder / "profile").glob("pe-*.json"))]


def expect(holds: bool, what: str, *more: object) -> None:
    if not holds:
        sys.exit(f"not true: {what}: {' '.join(map(str, more))}")


def counted(result: subprocess.CompletedProcess[str], rounds: int) -> bool:
    return result.returncode == 0 and result.stdout == f"count {2 * rounds}\n"


def changes_and_restores(job: Job) -> None:
    result = job.run("40")
    expect(counted(result, 40), "the result is the program's", result)
    expect(job.machine.is_restored(), "the clocks are as they were", job.machine.limits())
    clocks = job.clocks()
    expect(all(c["knob"] == "cpufreq" for c in clocks), "the knob is cpufreq", clocks)
    expect(sum(c["changes"] for c in clocks) > 0, "clocks were changed", clocks)
    expect(all(40 in [r["instances"] for r in c["regions"]] for c in clocks), "each round is an instance", clocks)
    expect(clocks[0]["slack_s"] > clocks[1]["slack_s"], "the early PE has the slack", clocks)


def records(job: Job) -> None:
    result = job.run("40", WATTLE_KNOB="record")
    expect(counted(result, 40) and not result.stderr, "the result is the program's", result)
    expect(job.machine.is_restored(), "no file was touched", job.machine.limits())
    expect(sum(c["changes"] for c in job.clocks()) > 0, "it says what it would have done", job.clocks())


def restores_on_abort(job: Job) -> None:
    result = job.run("20", "exit")
    expect(result.returncode == 3, "the status is the program's", result)
    expect(job.machine.comes_back(), "the clocks come back", job.machine.limits())


def restores_after_sigkill(job: Job) -> None:
    process = job.start("20", "hang")
    assert process.stderr
    try:
        expect("rounds done\n" in iter(process.stderr.readline, ""), "it runs")
        expect(until(lambda: not job.machine.is_restored()), "clocks are changed")
    finally:
        for pid in pes_of(job):
            os.kill(pid, signal.SIGKILL)
        process.wait(60)
    expect(process.returncode != 0, "the job has failed")
    expect(job.machine.comes_back(), "the clocks come back", job.machine.limits())


def pes_of(job: Job) -> list[int]:
    """Processes of the program itself."""
    program = os.path.realpath(job.command[-1])
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str((entry / "exe").readlink()) == program:
                root = f"WATTLE_SYSFS={job.machine.root}".encode()
                if root in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
        except OSError:
            continue
    return found


def survives_a_tree_that_vanishes(job: Job) -> None:
    process = job.start("400")
    time.sleep(1)
    shutil.rmtree(job.machine.root)
    out, err = process.communicate(timeout=120)
    expect(process.returncode == 0 and out == "count 800\n", "the result is the program's", out, err)


def survives_files_that_refuse(job: Job) -> None:
    for cpu in job.machine.cpus:  # writing into a folder fails, whoever one is
        file = job.machine.policy(cpu) / "scaling_max_freq"
        file.unlink()
        file.mkdir()
    result = job.run("20")
    expect(counted(result, 20), "the result is the program's", result)
    expect("no clock can be set here" in result.stderr, "it is said why", result.stderr)
    expect(result.stderr.count("\n") == 1, "and said once", result.stderr)


def says_where_there_is_no_knob(job: Job) -> None:
    shutil.rmtree(job.machine.root / "devices")
    result = job.run("20", WATTLE_KNOB="auto")
    expect(counted(result, 20), "the result is the program's", result)
    expect("no clock can be set here: no clocks under" in result.stderr, "it is said why", result.stderr)
    expect(job.clocks()[0]["knob"] == "none", "and in the profile", job.clocks())


def holds_a_plan(job: Job) -> None:
    process = job.start("20", "hang", WATTLE_GOVERN="off", WATTLE_CLOCKS="0=1.5")
    assert process.stderr
    try:
        expect("rounds done\n" in iter(process.stderr.readline, ""), "it runs")
        expect(job.machine.limits() == {(MIN, "1500000"), (MIN, BASE)}, "each PE has its clock", job.machine.limits())
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    expect(job.machine.comes_back(), "the clocks come back", job.machine.limits())


def refuses_a_wrong_plan(job: Job) -> None:
    result = job.run("20", WATTLE_CLOCKS="0=fast")
    expect(result.returncode != 0 and "WATTLE_CLOCKS=0=fast is not a value" in result.stderr, "it is named", result)
    expect(job.machine.comes_back(), "the clocks come back", job.machine.limits())


CASES = {
    case.__name__: case
    for case in (
        changes_and_restores,
        records,
        restores_on_abort,
        restores_after_sigkill,
        survives_a_tree_that_vanishes,
        survives_files_that_refuse,
        says_where_there_is_no_knob,
        holds_a_plan,
        refuses_a_wrong_plan,
    )
}


def main() -> None:
    if len(os.sched_getaffinity(0)) < 2:
        print("skipped: two PEs on one core share its clock")
        sys.exit(77)
    job = Job(*sys.argv[1:3])
    try:
        CASES[sys.argv[3]](job)
    finally:
        shutil.rmtree(job.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
