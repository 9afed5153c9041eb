"""Jobs whose clocks are governed, on a made-up /sys: their changes and remains, and that a failing knob does not change
the program's result.

usage: governed_job.py OSHRUN PROGRAM CASE [LIBRARY]      LIBRARY: refuse.c's, for the cases of faults
"""

import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
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
PATIENCE_S = 120
TRIES = 3  # the early PE may lose its core for so long that it is the late one


class Machine:
    """A made-up /sys with a policy for each CPU of this machine."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.cpus = sorted(os.sched_getaffinity(0))
        self.make()

    def make(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        for cpu in self.cpus:
            folder = self.policy(cpu)
            folder.mkdir(parents=True)
            for name, text in {**FILES, "related_cpus": str(cpu)}.items():
                (folder / name).write_text(text + "\n")

    def policy(self, cpu: int) -> Path:
        return self.root / f"devices/system/cpu/cpu{cpu}/cpufreq"

    def put(self, name: str, text: str) -> None:
        """Gives every CPU's file another text."""
        for cpu in self.cpus:
            (self.policy(cpu) / name).write_text(text + "\n")

    def texts(self) -> dict[Path, str]:
        """The contents of all files."""
        return {file: file.read_text().strip() for file in self.root.rglob("*") if file.is_file()}

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
    """Whether it does within two minutes."""
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
        """For the next job, whose profiles replace those of the last one."""
        subprocess.run(["find", self.folder / "profile", "-mindepth", "1", "-delete"], check=True)
        return {
            **os.environ,
            "WATTLE_SYSFS": str(self.machine.root),
            "WATTLE_PROFILE_DIR": str(self.folder / "profile"),
            "WATTLE_GOVERN": "hybrid",
            "WATTLE_KNOB": "cpufreq",
            "WATTLE_SLOWDOWN": "100",
            "WATTLE_CLOCK_COST": "100us",
            "WATTLE_CLOCK_STATE": str(self.folder / "state"),
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
            timeout=300,
            check=False,
        )

    def kept(self) -> list[Path]:
        """Files in which jobs have kept what they found."""
        return [file for file in (self.folder / "state").iterdir() if not file.name.startswith(".claims-")]

    def profiles(self) -> list[dict]:
        return [json.loads(f.read_text()) for f in sorted((self.folder / "profile").glob("pe-*.json"))]

    def clocks(self) -> list[dict]:
        return [profile["clocks"] for profile in self.profiles()]


def expect(holds: bool, what: str, *more: object) -> None:
    if not holds:
        sys.exit(f"not true: {what}: {' '.join(map(str, more))}")


def counted(result: subprocess.CompletedProcess[str], rounds: int) -> bool:
    return result.returncode == 0 and result.stdout == f"count {2 * rounds}\n"


def changes_and_restores(job: Job) -> None:
    slack = []
    for _ in range(TRIES):
        result = job.run("40")
        expect(counted(result, 40), "the result is the program's", result)
        expect(job.machine.is_restored(), "the clocks are as they were", job.machine.limits())
        clocks = job.clocks()
        expect(all(c["knob"] == "cpufreq" for c in clocks), "the knob is cpufreq", clocks)
        expect(sum(c["changes"] for c in clocks) > 0, "clocks were changed", clocks)
        expect(all(40 in [r["instances"] for r in c["regions"]] for c in clocks), "each round is an instance", clocks)
        expect(job.kept() == [], "nothing is kept of what is put back", job.kept())
        slack.append([c["slack_s"] for c in clocks])
        if slack[-1][0] > slack[-1][1]:
            return
    expect(False, "the early PE has the slack", slack)


def records(job: Job) -> None:
    machine = {"WATTLE_MACHINE": "sandybridge-e5-2670", "WATTLE_WAIT": "spin"}  # whose spinning costs by the clock
    result = job.run("40", WATTLE_KNOB="record", WATTLE_GOVERN="energy", **machine)
    expect(counted(result, 40) and not result.stderr, "the result is the program's", result)
    expect(job.machine.is_restored(), "no file was touched", job.machine.limits())
    expect(sum(c["changes"] for c in job.clocks()) > 0, "it says what it would have done", job.clocks())
    saved = [p["recorded"]["saved"][0] for p in job.profiles()]
    expect(all(s["provenance"] == "modelled" for s in saved), "by the model", saved)
    expect(sum(s["joules"] for s in saved) > 0, "and what that would have saved", saved)


def counts_where_the_processor_does(job: Job) -> None:
    result = job.run("4", WATTLE_GOVERN="off", WATTLE_COUNTERS="on")
    expect(counted(result, 4) and not result.stderr, "the result is the program's", result)
    for counts in (p["operations"] for p in job.profiles()):
        numbers = [counts[kind] for kind in ("instructions", "branches", "loads", "stores")]
        expect(all(numbers) if not counts["why"] else not any(numbers), "numbers or a reason, never both", counts)


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
        kill(pes_of(job))
        process.wait(PATIENCE_S)
    expect(process.returncode != 0, "the job has failed")
    expect(job.machine.comes_back(), "the clocks come back", job.machine.limits())


def survives_its_guard(job: Job) -> None:
    rounds = 500
    process = job.start(str(rounds))
    try:
        kill(ready_guards_of(job))
        expect(process.poll() is None, "the job still runs")
    finally:
        out, err = process.communicate(timeout=300)
    expected = (0, f"count {2 * rounds}\n")
    expect((process.returncode, out) == expected, "the result is the program's", process.returncode, out, err)
    expect(job.machine.is_restored(), "the clocks are as they were", job.machine.limits())
    expect(job.kept() == [], "nothing is kept of what is put back", job.kept())


def follows_another_whose_guard_has_not_ended(job: Job) -> None:
    """A guard ends some time after its job; on a busy machine the next job has begun by then."""
    process = job.start("500")
    guards: list[int] = []
    try:
        guards = ready_guards_of(job)
        for pid in guards:
            os.kill(pid, signal.SIGSTOP)
        process.communicate(timeout=300)
        expect(job.machine.is_restored(), "the clocks are as they were", job.machine.limits())
        result = job.run("4", WATTLE_GOVERN="off", WATTLE_CLOCKS="0-1=1.5")
        expect(counted(result, 4) and result.stderr == "", "nothing is in the next job's way", result)
    finally:
        for pid in guards:
            os.kill(pid, signal.SIGCONT)


# Runs a program whose standard error is a pipe without a reader. (Python itself ignores SIGPIPE.)
UNREAD = """
import os, signal, sys
reader, writer = os.pipe()
os.close(reader)
os.dup2(writer, 2)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""


def survives_messages_that_nobody_reads(job: Job) -> None:
    shutil.rmtree(job.machine.root / "devices")  # of which there is something to say
    job.command[-1:] = [sys.executable, "-c", UNREAD, job.command[-1]]
    result = job.run("10")
    expect(counted(result, 10), "the result is the program's", result)


def a_readers_lock_does_not_stop_it(job: Job) -> None:
    """A process that may only read a clock's file can still lock it."""
    for cpu in job.machine.cpus:
        for name in ("scaling_min_freq", "scaling_max_freq"):
            fcntl.flock(os.open(job.machine.policy(cpu) / name, os.O_RDONLY), fcntl.LOCK_EX)
    result = job.run("40")
    expect(counted(result, 40) and not result.stderr, "the result is the program's", result)
    expect(sum(c["changes"] for c in job.clocks()) > 0, "clocks were changed", job.clocks())
    expect(job.machine.is_restored(), "the clocks are as they were", job.machine.limits())


def a_full_state_folder_neither_stops_nor_steers_it(job: Job) -> None:
    """Tests files that members of a group can put into the folder that they share."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    state = job.folder / "state"
    state.mkdir(mode=0o2770)
    for kind in ("clocks", "limits"):
        os.mkfifo(state / f"{kind}-{boot}-00000001")
        (state / f"{kind}-{boot}-00000002").symlink_to("/dev/zero")
        wrong = state / f"{kind}-{boot}-00000003"
        lines = "scaling_max_freq 0 1\n" if kind == "clocks" else "constraint_0_power_limit_uw 0 1\n"
        wrong.write_text(f"wattle clocks 2\nsysfs {job.machine.root}\n{lines}end\n")
    for knob in ("auto", "powercap"):
        job.machine.make()
        set_power_limit(job)
        found = job.machine.texts()
        result = job.run("8", WATTLE_KNOB=knob, WATTLE_GOVERN="off")
        expect(counted(result, 8), "the result is the program's", result)
        named = any(words in result.stderr for words in ("is not trusted", "a job with WATTLE_KNOB=powercap"))
        expect(named, "the first wrong file is named", result.stderr)
        expect(result.stderr.count("\n") == 1, "and said once", result.stderr)
        expect(job.machine.texts() == found, "nothing is written", knob)


def pes_of(job: Job) -> list[int]:
    """Processes of the program itself."""
    root = f"WATTLE_SYSFS={job.machine.root}".encode()
    program = os.path.realpath(job.command[-1])
    return processes(
        lambda p: str((p / "exe").readlink()) == program and root in (p / "environ").read_bytes().split(b"\0")
    )


def is_ready(guard: int) -> bool:
    """Has the guard reported ready? The job waits for that. Then it has closed all pipes but the one of the job."""
    try:
        return sum(str(fd.readlink()).startswith("pipe:") for fd in Path(f"/proc/{guard}/fd").iterdir()) == 1
    except OSError:
        return False


def guards_of(job: Job) -> list[int]:
    """Guards that hold files of the machine open."""
    root = f"{job.machine.root}/"
    return processes(
        lambda p: (
            (p / "comm").read_text().startswith("wattle-clock-gu")
            and any(str(fd.readlink()).startswith(root) for fd in (p / "fd").iterdir())
        )
    )


def ready_guards_of(job: Job) -> list[int]:
    found: list[int] = []

    def are_ready() -> bool:
        found[:] = guards_of(job)
        return found != [] and all(map(is_ready, found))

    expect(until(are_ready), "there is a ready guard")
    return found


def kill(pids: list[int]) -> None:
    """Kills processes. The launcher may have ended some of them after the first."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def processes(holds: Callable[[Path], bool]) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and holds(entry):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def the_next_start_repairs_what_a_killed_control_group_left(job: Job) -> None:
    process = job.start("20", "hang")
    assert process.stderr
    try:
        expect("rounds done\n" in iter(process.stderr.readline, ""), "it runs")
        expect(until(lambda: not job.machine.is_restored()), "clocks are changed")
        guards = guards_of(job)
        expect(len(guards) == 1, "there is a guard", guards)
    finally:
        kill([*guards_of(job), *pes_of(job)])
        process.wait(PATIENCE_S)
    expect(until(lambda: guards_of(job) == []), "the guard has released its locks")
    expect(not job.machine.is_restored(), "nobody was left to put the clocks back")
    result = job.run("3", WATTLE_GOVERN="off")
    expect(counted(result, 3), "the next job's result is its own", result)
    expect("clocks that a killed job had left changed are put back" in result.stderr, "it is said", result.stderr)
    expect(result.stderr.count("\n") == 1, "and said once", result.stderr)
    expect(job.machine.is_restored(), "the clocks are as they were", job.machine.limits())
    result = job.run("3", WATTLE_GOVERN="off")
    expect(counted(result, 3) and not result.stderr, "and there is nothing left to say", result)


def two_jobs_on_a_node_do_not_fight(job: Job) -> None:
    first = job.start("20", "hang", WATTLE_GOVERN="baseline")
    assert first.stderr
    try:
        expect("rounds done\n" in iter(first.stderr.readline, ""), "the first runs")
        expect(job.machine.limits() == {(MIN, BASE)}, "at the clock it asked for", job.machine.limits())
        second = job.run("20", WATTLE_GOVERN="energy")
        expect(counted(second, 20), "the second's result is its own", second)
        expect("another job has it" in second.stderr, "it says so", second.stderr)
        expect(job.machine.limits() == {(MIN, BASE)}, "and has changed nothing", job.machine.limits())
    finally:
        first.send_signal(signal.SIGTERM)
        first.wait(PATIENCE_S)
    expect(job.machine.comes_back(), "the clocks come back", job.machine.limits())


UNCORE = {
    "initial_min_freq_khz": "800000",
    "initial_max_freq_khz": "2400000",
    "min_freq_khz": "800000",
    "max_freq_khz": "2400000",
}


def put_packages(machine: Machine) -> tuple[Path, Path]:
    """Gives the machine a package with an uncore and a power limit. Returns the files of both."""
    put_power_limit(machine)
    folder = machine.root / "devices/system/cpu/intel_uncore_frequency/package_00_die_00"
    folder.mkdir(parents=True)
    for name, text in UNCORE.items():
        (folder / name).write_text(text + "\n")
    return folder / "max_freq_khz", machine.root / "class/powercap/intel-rapl:0/constraint_0_power_limit_uw"


def texts(*files: Path) -> list[str]:
    return [file.read_text().strip() for file in files]


FIXED = {"WATTLE_GOVERN": "off", "WATTLE_UNCORE": "1.6", "WATTLE_PACKAGE_LIMIT": "60W"}


def packages_have_the_users_values_and_come_back(job: Job) -> None:
    files = put_packages(job.machine)
    process = job.start("20", "hang", **FIXED)
    assert process.stderr
    try:
        expect("rounds done\n" in iter(process.stderr.readline, ""), "it runs")
        expect(texts(*files) == ["1600000", "60000000"], "the values hold for the whole job", texts(*files))
        expect(job.machine.is_restored(), "no core was touched", job.machine.limits())
        second = job.run("4", **FIXED)
        expect(counted(second, 4), "the second's result is its own", second)
        expect(second.stderr.count("another job has it") == 2, "it says so of both", second.stderr)
        expect(texts(*files) == ["1600000", "60000000"], "and has changed nothing", texts(*files))
    finally:
        kill(pes_of(job))
        process.wait(PATIENCE_S)
    expect(until(lambda: texts(*files) == ["2400000", "90000000"]), "they come back after SIGKILL", texts(*files))
    expect(until(lambda: guards_of(job) == []), "the guard has released its locks")
    result = job.run("4", **FIXED)
    expect(counted(result, 4) and not result.stderr, "nothing is in the next job's way", result)
    expect(texts(*files) == ["2400000", "90000000"], "they come back", texts(*files))
    first = job.clocks()[0]
    want = {"asked": 1.6, "set": 1.6, "unit": "GHz", "packages": 1, "why": ""}
    expect(first["uncore_limit"] == want, "it is in the profile", first)
    expect(first["package_limit"]["set"] == 60 and first["mode"] == "off", "so is the limit", first)
    expect(job.kept() == [], "nothing is kept of what is put back", job.kept())


def packages_that_cannot_be_set_are_named(job: Job) -> None:
    result = job.run("4", **FIXED)
    expect(counted(result, 4), "the result is the program's", result)
    expect("WATTLE_UNCORE: it cannot be set here: no uncore clock of package 0" in result.stderr, "named", result)
    expect("WATTLE_PACKAGE_LIMIT: it cannot be set here: no power limit of package 0" in result.stderr, "both", result)
    files = put_packages(job.machine)
    result = job.run("4", **(FIXED | {"WATTLE_UNCORE": "9 GHz", "WATTLE_PACKAGE_LIMIT": "20 W"}))
    expect(counted(result, 4), "the result is the program's", result)
    expect("9 GHz cannot be set, which is outside the limits found: 2.4 GHz is used" in result.stderr, "why", result)
    expect("20 W cannot be set, which is outside the limits found: 45 W is used" in result.stderr, "why", result)
    expect(texts(*files) == ["2400000", "90000000"], "they come back", texts(*files))
    result = job.run("4", WATTLE_GOVERN="off", WATTLE_UNCORE="wait")
    expect(counted(result, 4) and "no effect without WATTLE_GOVERN" in result.stderr, "a governor is needed", result)
    for wrong in ("fast", "-1", "nan", "1.6MHz"):
        result = job.run("4", WATTLE_UNCORE=wrong)
        expect(
            result.returncode != 0 and f"WATTLE_UNCORE={wrong} is not a value" in result.stderr, "it is named", result
        )
    result = job.run("4", WATTLE_PACKAGE_LIMIT="much")
    expect(result.returncode != 0 and "WATTLE_PACKAGE_LIMIT=much is not a value" in result.stderr, "named", result)
    result = job.run("4", WATTLE_PACKAGE_LIMIT="60", WATTLE_KNOB="powercap")
    expect(result.returncode != 0 and "use one" in result.stderr, "both would set the same files", result)


def an_uncore_is_governed_also_without_clocks_of_cores(job: Job) -> None:
    uncore, _ = put_packages(job.machine)
    settings = {"WATTLE_GOVERN": "energy", "WATTLE_UNCORE": "wait"}
    result = job.run("40", **settings)
    expect(counted(result, 40) and not result.stderr, "the result is the program's", result)
    expect(all(c["uncore"]["packages"] == 1 and not c["uncore"]["why"] for c in job.clocks()), "voted", job.clocks())
    expect(texts(uncore) == ["2400000"], "it comes back", texts(uncore))
    for cpu in job.machine.cpus:
        shutil.rmtree(job.machine.policy(cpu))
    result = job.run("40", **settings)
    expect(counted(result, 40), "the result is the program's", result)
    expect("no clock can be set here" in result.stderr, "it is said of the cores", result)
    expect(all(c["uncore"]["packages"] == 1 and c["domains"] for c in job.clocks()), "it votes", job.clocks())
    expect(texts(uncore) == ["2400000"], "it comes back", texts(uncore))


def survives_a_tree_that_vanishes(job: Job) -> None:
    process = job.start("400")
    ready_guards_of(job)
    shutil.rmtree(job.machine.root)
    out, err = process.communicate(timeout=300)
    expect(process.returncode == 0 and out == "count 800\n", "the result is the program's", out, err)


def survives_files_that_refuse(job: Job) -> None:
    for cpu in job.machine.cpus:  # writing into a folder fails for any user
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
        process.wait(PATIENCE_S)
    expect(job.machine.comes_back(), "the clocks come back", job.machine.limits())


def says_which_planned_clock_cannot_be_set(job: Job) -> None:
    high = "9.9 GHz cannot be set for PE {}, only 1.2 to 3.6 GHz: 3.6 GHz is used"
    low = "0.5 GHz cannot be set for PE {}, only 1.2 to 3.6 GHz: 1.2 GHz is used"
    for plan, words, want in (
        ("0-1=9.9", [high.format("0-1")], [3600000, 3600000]),  # once, whomever it is named for
        ("1=0.5", [low.format(1)], [2400000, 1200000]),
        ("0=0.5,1=9.9", [low.format(0), high.format(1)], [1200000, 3600000]),
        ("0-1=9.9,0=1.5", [high.format(1)], [1500000, 3600000]),  # the last entry counts
        ("7=9.9,0=9.9", [high.format(0)], [3600000, 2400000]),  # the first PE with this clock is not there
        ("0=1.19,1=3.61", [], [1200000, 3600000]),  # of few digits
        ("0-1=1.5,7=9.9", [], [1500000, 1500000]),  # there is no such PE
    ):
        result = job.run("4", WATTLE_GOVERN="off", WATTLE_CLOCKS=plan)
        expect(counted(result, 4), "the result is the program's", plan, result)
        said = sorted(line.partition("WATTLE_CLOCKS: ")[2] for line in result.stderr.splitlines())
        expect(said == words, "what cannot be set is said once", plan, said)
        got = [c["mine"][0]["planned_khz"] for c in job.clocks()]
        expect(got == want, "and the profile says what it came to", plan, got)


def says_it_for_each_range_of_clocks(job: Job) -> None:
    """As on a processor with cores of two kinds."""
    slower = job.machine.policy(job.machine.cpus[1])
    for name, khz in (("scaling_max_freq", "2000000"), ("cpuinfo_max_freq", "2000000"), ("base_frequency", "1800000")):
        (slower / name).write_text(khz + "\n")
    words = [
        "4 GHz cannot be set for PE 0, only 1.2 to 3.6 GHz: 3.6 GHz is used",
        "4 GHz cannot be set for PE 1, only 1.2 to 2 GHz: 2 GHz is used",
    ]
    for plan, want in (
        ("0-1=3.0", ["3 GHz cannot be set for PE 1, only 1.2 to 2 GHz: 2 GHz is used"]),
        ("0-1=4.0", words),
    ):
        result = job.run("4", WATTLE_GOVERN="off", WATTLE_CLOCKS=plan)
        expect(counted(result, 4), "the result is the program's", plan, result)
        said = [line.partition("WATTLE_CLOCKS: ")[2] for line in result.stderr.splitlines()]
        expect(said == want, "what cannot be set is said for each", plan, said)


def refuses_a_wrong_plan(job: Job) -> None:
    result = job.run("20", WATTLE_CLOCKS="0=fast")
    expect(result.returncode != 0 and "WATTLE_CLOCKS=0=fast is not a value" in result.stderr, "it is named", result)
    expect(job.machine.comes_back(), "the clocks come back", job.machine.limits())


BUDGET = {"WATTLE_GOVERN": "off", "WATTLE_MACHINE": "sandybridge-e5-2670", "WATTLE_POWER_BUDGET": "60%"}


def keeps_a_power_budget(job: Job) -> None:
    result = job.run("60", **BUDGET)
    expect(counted(result, 60), "the result is the program's", result)
    kept = [c["power_budget"] for c in job.clocks()]
    expect(all(b["exchanges"] > 2 and b["mean_w"] <= b["watts"] for b in kept), "watts are exchanged and kept", kept)
    expect(len({b["mean_w"] for b in kept}) == 1, "all PEs know the same", kept)
    expect(any(c["changes"] for c in job.clocks()), "clocks are changed", job.clocks())
    expect(job.machine.comes_back(), "the clocks come back", job.machine.limits())


def refuses_a_power_budget_that_it_cannot_keep(job: Job) -> None:
    for settings, words in (
        ({"WATTLE_POWER_BUDGET": "1W"}, "WATTLE_POWER_BUDGET=1W: expected "),
        ({"WATTLE_POWER_BUDGET": "40"}, "WATTLE_POWER_BUDGET=40 is not a value; expected "),
        ({"WATTLE_KNOB": "none"}, "WATTLE_POWER_BUDGET: no clock can be set here: "),
        ({"WATTLE_MACHINE": "unknown"}, "the machine profile has the watts of one clock only"),
    ):
        result = job.run("4", **(BUDGET | settings))
        said = [line for line in result.stderr.splitlines() if "WATTLE_POWER_BUDGET" in line]
        expect(result.returncode == 78 and said and all(words in line for line in said), "it is refused", result)
        expect(job.machine.comes_back(), "the clocks come back", job.machine.limits())


def a_user_without_privilege_gets_a_correct_run_and_is_told(job: Job) -> None:
    """On files that are not its own: as `nobody` where this test may become that, as root without its capabilities
    where `nobody` cannot reach the program, else as who it is."""
    home = job.folder / "home"
    home.mkdir()
    for file in job.machine.root.rglob("*"):
        file.chmod(0o555 if file.is_dir() else 0o444)
    for folder in (job.folder, home, job.folder / "profile"):
        folder.chmod(0o777)
    is_root, is_open = os.getuid() == 0, all(folder.stat().st_mode & 1 for folder in Path(__file__).resolve().parents)
    as_nobody = {"user": "nobody", "group": "nogroup", "extra_groups": []} if is_root and is_open else {}
    without_capabilities = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if is_root and not is_open else []
    places = {"HOME": str(home), "TMPDIR": str(home), "XDG_CACHE_HOME": str(home)}
    environment = {**job.environment(WATTLE_KNOB="auto", WATTLE_METER="auto"), **places}
    environment = {k: v for k, v in environment.items() if k != "XDG_RUNTIME_DIR"}
    result = subprocess.run(
        [*without_capabilities, *job.command, "10"],
        env=environment,
        cwd=home,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **as_nobody,
    )
    expect(counted(result, 10), "the result is the program's", result)
    expect("no clock can be set here: cannot open" in result.stderr, "it is said what was not possible", result.stderr)
    expect("Permission denied" in result.stderr and result.stderr.count("\n") == 1, "and why, once", result.stderr)
    joules = [j for profile in job.profiles() for j in profile["joules"]]
    expect(len(joules) > 0, "there are joules", job.profiles())
    expect(
        all(j["provenance"] == "modelled" and j["uncertainty"] > 0 for j in joules), "and marked as modelled", joules
    )


def set_speed(job: Job) -> str:
    job.machine.put("scaling_governor", "userspace")
    job.machine.put("scaling_setspeed", BASE)
    return "scaling_setspeed"


def set_limits(job: Job) -> str:
    return "scaling_max_freq"


def set_preference(job: Job) -> str:
    """Where the limits may not be written."""
    for cpu in job.machine.cpus:
        limit = job.machine.policy(cpu) / "scaling_min_freq"
        limit.unlink()
        limit.symlink_to("/dev/full/none")
    job.machine.put("energy_performance_preference", "balance_performance")
    return "energy_performance_preference"


def put_power_limit(machine: Machine) -> None:
    zone = machine.root / "class/powercap/intel-rapl:0"
    zone.mkdir(parents=True)
    for name, text in {"name": "package-0", "constraint_0_power_limit_uw": "90000000"}.items():
        (zone / name).write_text(text + "\n")
    for cpu in machine.cpus:
        topology = machine.policy(cpu).parent / "topology"
        topology.mkdir()
        (topology / "package_cpus_list").write_text(",".join(map(str, machine.cpus)) + "\n")


def set_power_limit(job: Job) -> str:
    put_power_limit(job.machine)
    return "constraint_0_power_limit_uw"


# The call that fails, its error, and the number of good calls before it.
FAULTS = (
    ("open", errno.EACCES, 0),
    ("lock", errno.EWOULDBLOCK, 0),
    ("write", errno.EACCES, 0),
    ("write", errno.EBUSY, 2),
    ("write", errno.EIO, 5),
    ("unlink", errno.ENOENT, 1),
)


def no_fault_changes_the_result(job: Job, knob: str, prepare: Callable[[Job], str]) -> None:
    for call, error, after in (*FAULTS, ("none", 0, 0)):
        job.machine.make()
        name = prepare(job)
        found = job.machine.texts()
        settings = {"LD_PRELOAD": sys.argv[4], "WTL_TEST_REFUSE": f"{call}:{name}:{error}:{after}", "WATTLE_KNOB": knob}
        result = job.run("8", **settings)
        expect(counted(result, 8), "the result is the program's", call, error, result)
        if call == "write":
            said = [text for c in job.clocks() if (text := c.get("failed") or c["why"])]
            named = [text for text in said if f"/{name}: {os.strerror(error)}" in text]
            expect(named or (after and not said), "the file is named", call, error, said)
        left = {file: text for file, text in found.items() if call != "unlink" or file.name != name}
        expect(
            until(lambda left=left: left.items() <= job.machine.texts().items()), "what was found is back", call, error
        )
    expect(
        not result.stderr and {c["knob"] for c in job.clocks()} == {knob}, "and it was this knob", result, job.clocks()
    )
    is_hint = name in ("energy_performance_preference", "constraint_0_power_limit_uw")
    expect({c["sets"] for c in job.clocks()} == {"hints" if is_hint else "clocks"}, "which is a hint or none", name)


def no_fault_of_a_clock_that_is_set_changes_the_result(job: Job) -> None:
    no_fault_changes_the_result(job, "cpufreq", set_speed)


def no_fault_of_limits_changes_the_result(job: Job) -> None:
    no_fault_changes_the_result(job, "cpufreq", set_limits)


def no_fault_of_a_preference_changes_the_result(job: Job) -> None:
    no_fault_changes_the_result(job, "cpufreq", set_preference)


def no_fault_of_a_power_limit_changes_the_result(job: Job) -> None:
    no_fault_changes_the_result(job, "powercap", set_power_limit)


CASES = {
    case.__name__: case
    for case in (
        changes_and_restores,
        records,
        counts_where_the_processor_does,
        restores_on_abort,
        restores_after_sigkill,
        survives_its_guard,
        follows_another_whose_guard_has_not_ended,
        survives_messages_that_nobody_reads,
        a_readers_lock_does_not_stop_it,
        a_full_state_folder_neither_stops_nor_steers_it,
        survives_a_tree_that_vanishes,
        survives_files_that_refuse,
        says_where_there_is_no_knob,
        holds_a_plan,
        says_which_planned_clock_cannot_be_set,
        says_it_for_each_range_of_clocks,
        refuses_a_wrong_plan,
        keeps_a_power_budget,
        refuses_a_power_budget_that_it_cannot_keep,
        the_next_start_repairs_what_a_killed_control_group_left,
        two_jobs_on_a_node_do_not_fight,
        packages_have_the_users_values_and_come_back,
        packages_that_cannot_be_set_are_named,
        an_uncore_is_governed_also_without_clocks_of_cores,
        a_user_without_privilege_gets_a_correct_run_and_is_told,
        no_fault_of_a_clock_that_is_set_changes_the_result,
        no_fault_of_limits_changes_the_result,
        no_fault_of_a_preference_changes_the_result,
        no_fault_of_a_power_limit_changes_the_result,
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
