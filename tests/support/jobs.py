"""Starts jobs and looks at what becomes of them: exit code, what they say, who is left alive, what is left on disk."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest
from tree import HOME

OSHRUN = HOME / "bin/oshrun"
OSHCC = HOME / "bin/oshcc"
TIMEOUT_S = 300  # a job that takes this long hangs, on a busy machine too
# The bound for the end of every process of a job whose launcher or PE was killed: a fraction of a second where cores
# are free; here for jobs that share two cores with a whole suite.
END_S = 120
MARK = "WTLTEST_JOB"  # in the environment of every process of a job, so that none can hide


def program(name: str) -> Path:
    """A test program, from the build tree."""
    path = HOME / "bin/tests" / name
    assert path.exists(), f"{path} is missing: cmake --build {HOME}"
    return path


def require_reachable(path: Path) -> None:
    """Skips a test that runs `path` as another user where that user cannot get to it."""
    for folder in path.resolve().parents:
        if not folder.stat().st_mode & stat.S_IXOTH:
            pytest.skip(f"{folder} is closed to other users, and {path.name} lies below it")


_compiled: dict[tuple[str, ...], Path] = {}


def compile_once(command: Sequence[str | Path], program: Path) -> Path:
    """Compiles by a command without -o into `program`, or copies the result of the same earlier command."""
    words = tuple(map(str, command))
    if words in _compiled and _compiled[words].exists():
        shutil.copy(_compiled[words], program)
    else:
        subprocess.run([*words, "-o", str(program)], check=True)
        _compiled[words] = program
    return program


def default_signals() -> None:
    """Undoes what nohup and a shell's background jobs pass on: ignored signals, which would end no job."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def clean_environment() -> dict[str, str]:
    """This process's environment without settings and without another launcher's variables."""
    prefixes = ("WATTLE_", "SHMEM_", "OMPI_", "PRTE_", "PMIX_", "PMI_", "SLURM_")
    return {k: v for k, v in os.environ.items() if not k.startswith(prefixes)}


# Open MPI warns in good jobs of plain MPI programs: version 4 by a race with its own child, and version 5 where a
# network has IPv6. Lines of several ranks may be mixed.
OF_OPEN_MPI = re.compile(
    r"[^\n]*plm:(?:rsh|ssh): Warning: setpgid[^\n]*\n?"
    r"|(\[[^\]\n]*\])?\[\[\d+,\d+\],\d+\]\[[^\]\n]*btl_tcp_proc\.c:[^\]\n]*\] ?"
    r"|Unable to find reachable pairing between local and remote interfaces\n?"
)


def complaints(err: str) -> str:
    """A job's standard error without warnings that Open MPI prints in good jobs."""
    rest, count = OF_OPEN_MPI.subn("", err)
    return re.sub(r"^\n", "", rest, flags=re.MULTILINE) if count else err  # ranks may print a line's end later


@dataclass
class Result:
    """The result of a finished job."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> list[str]:
        """The runtime's own lines."""
        return [line for line in self.err.splitlines() if line.startswith(("wattle:", "oshrun:"))]

    def __str__(self) -> str:
        return f"exit code {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


def mistakes_of(out: str, err: str) -> dict[str, tuple[str, str]]:
    """The exit code and the words of each mistake that was made in a copy of a process (tests/support/copies.h)."""
    ends = dict(re.findall(r"^(.+): (-?\d+)$", out, re.MULTILINE))
    said = re.findall(r"^mistake (.+)\n((?:(?!mistake ).*\n)*)", err, re.MULTILINE)
    return {mistake: (ends[mistake], words) for mistake, words in said}


@dataclass
class Job:
    """A running job with a temporary directory of its own, which must be empty when it has ended."""

    command: Sequence[str | Path]
    env: dict[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    stdin: bytes | None = None
    user: str | None = None
    bare_env: bool = False  # only `env`, nothing inherited
    mark: str = field(default_factory=lambda: uuid.uuid4().hex, init=False)

    def __post_init__(self) -> None:
        if self.user:
            require_reachable(Path(self.command[0]))
        self.before = shared_memory_names()
        self.tmp = Path(tempfile.mkdtemp(prefix="wtl", dir="/tmp"))  # short: Open MPI puts socket names in it
        self.files = Path(tempfile.mkdtemp(prefix="wtlout", dir="/tmp"))
        environment = {} if self.bare_env else clean_environment()
        environment |= {"TMPDIR": str(self.tmp), MARK: self.mark, **self.env}
        if self.user:
            shutil.chown(self.tmp, self.user)
        (self.files / "in").write_bytes(self.stdin or b"")
        with (
            (self.files / "in").open("rb") as stdin,
            (self.files / "out").open("wb") as out,
            (self.files / "err").open("wb") as err,
        ):
            self.process = subprocess.Popen(
                [str(word) for word in self.command],
                env=environment,
                cwd=self.cwd,
                stdin=stdin,
                stdout=out,
                stderr=err,
                user=self.user,
                extra_groups=[] if self.user else None,
                start_new_session=True,
                preexec_fn=default_signals,
            )

    @property
    def out(self) -> str:
        return (self.files / "out").read_text(errors="replace")

    @property
    def err(self) -> str:
        return complaints((self.files / "err").read_text(errors="replace"))

    def alive(self) -> dict[int, str]:
        """Every living process of the job, by its mark: {pid: command line}."""
        needle = f"{MARK}={self.mark}".encode()
        found = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                if needle not in (entry / "environ").read_bytes():
                    continue
                if (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX":
                    continue
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except (OSError, ValueError):
                continue
        return found

    def find(self, *words: str) -> list[int]:
        """Processes whose program's name contains one of `words`, oldest first."""
        names = {pid: Path(line.split(" ")[0]).name for pid, line in self.alive().items()}
        found = (pid for pid, name in names.items() if any(word in name for word in words))
        return sorted(found, key=lambda pid: (started(pid), pid))

    def launchers(self) -> list[int]:
        """Open MPI's launchers, oldest first. In Open MPI 5 mpirun becomes prterun."""
        return self.find("mpirun", "prterun")

    def until(self, condition: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while not condition():
            assert time.monotonic() < deadline, f"{what} did not happen\n{self.out}\n{self.err}"
            time.sleep(0.005)

    def until_said(self, text: str, times: int = 1) -> None:
        self.until(lambda: self.out.count(text) >= times, f'"{text}" x {times}')

    def wait(self, timeout: float = TIMEOUT_S) -> Result:
        """The end of the job's first process; a hang is a failure."""
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            alive = self.alive()
            raise AssertionError(f"hangs: {self.command}\nalive: {alive}\n{self.out}\n{self.err}") from None
        return Result(code, self.out, self.err)

    def remains(self) -> list[str]:
        """Names left in the temporary directory and in /dev/shm."""
        new = shared_memory_names() - self.before
        shared = {name for name in new if not self.is_of_another_launcher(name) and not is_kept(name)}
        # os.walk, unlike Path.rglob, bears folders that a launcher removes meanwhile, as it ends.
        files = [str(Path(top, name)) for top, folders, names in os.walk(self.tmp) for name in (*folders, *names)]
        return files + sorted(unused(shared))

    def is_of_another_launcher(self, name: str) -> bool:
        """Whether a file of processes under MPI belongs to a job beside this one, by the launcher in its name, which
        lives."""
        parts = Path(name).name.split(".")
        return parts[0] == "wattle-mpi" and parts[2] != str(self.process.pid) and Path("/proc", parts[2]).exists()

    def all_gone(self, within: float = END_S) -> None:
        """All processes end, and nothing of theirs stays behind. A file that another job is just making looks as if it
        was left behind, so only files that are there at every check count."""
        deadline = time.monotonic() + within
        left: set[str] | None = None
        while True:
            self.process.poll()  # collect it, as any parent does
            if not (alive := self.alive()):
                left = set(self.remains()) & left if left is not None else set(self.remains())
                if not left:
                    return
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
        assert not alive, f"still alive after {within} s: {alive}\n{self.out}\n{self.err}"
        assert not left, f"left behind: {left}\n{self.err}"

    def signal(self, pid: int, number: int = signal.SIGKILL) -> None:
        """Only to a process of this job. It may end before the signal comes."""
        if pid in self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: object) -> None:
        for pid in self.alive():
            self.signal(pid)
        self.process.wait()
        shutil.rmtree(self.tmp, ignore_errors=True)
        shutil.rmtree(self.files, ignore_errors=True)


def started(pid: int) -> int:
    """Start of a process, in ticks since the machine's own start; 0 if the process has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19])
    except OSError:
        return 0


def shared_memory_names() -> set[str]:
    return {str(p) for p in Path("/dev/shm").iterdir()}


def is_kept(name: str) -> bool:
    """Whether a file holds the counts of a process, or is one of Open MPI (vader of 4, sm of 5), UCX or MPICH. Those of
    a killed process stay: counts until a command collects them. So jobs beside this one leave some.
    tests/mpi/test_ended.py tests when counts stay.
    """
    by_mpi = ("vader_segment.", "sm_segment.", "ucx_shm_posix_", "mpich_shar_tmp")
    return Path(name).name.startswith(("wattle-profile.", *by_mpi))


def unused(names: set[str]) -> set[str]:
    """The names that no process maps. Memory that another running job uses is not left behind."""
    for maps in Path("/proc").glob("[0-9]*/maps") if names else ():
        with contextlib.suppress(OSError):
            mapped = maps.read_text()
            names = {name for name in names if name not in mapped}
    return names


def run(*command: str | Path, clean: bool = True, **options: object) -> Result:
    """Runs a command to its end; afterwards no process and no file of it may be left."""
    with Job(command, **options) as job:
        result = job.wait()
        if clean:
            job.all_gone()
    return result


MANY = 16  # PEs; Open MPI's launcher crashes at the end of some such jobs on a busy machine
TRIES = 4
T = TypeVar("T")


def run_again(start: Callable[[], T], broke: Callable[[T], bool]) -> T:
    """Runs a job; again if its launcher broke."""
    for _ in range(TRIES):
        result = start()
        if not broke(result):
            break
    return result


def launcher_crashed(result: Result) -> bool:
    return result.code == 128 + signal.SIGSEGV and "the launcher was ended by signal 11" in result.err


def oshrun(n: int, name: str | Path, *arguments: object, **options: object) -> Result:
    """Runs a test program as a job of n PEs. A job of many PEs is run again if its launcher crashed."""
    path = name if isinstance(name, Path) else program(name)

    def start() -> Result:
        return run(OSHRUN, "-n", str(n), path, *map(str, arguments), **options)

    return run_again(start, launcher_crashed) if n >= MANY else start()
