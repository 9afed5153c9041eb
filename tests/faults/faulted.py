"""A job of one trial: its command and settings, its processes, how far it has come, what it has left."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from governed_job import Machine, processes
from jobs import HOME, OSHCC, OSHRUN, Job
from mpi_jobs import PLAIN
from tree import ROOT
from trials import Kind, Trial
from wattle.machine.nodes import NAMED, unavailable

PROGRAMS = Path(__file__).parent / "programs"
WORK_S = 0.6
GUARD = "wattle-clock-gu"  # as the kernel shortens it
GOVERNED = {
    "WATTLE_GOVERN": "hybrid",
    "WATTLE_KNOB": "cpufreq",
    "WATTLE_SLOWDOWN": "100",
    "WATTLE_CLOCK_COST": "100us",
}


def missing(kind: Kind) -> str | None:
    """Why jobs of a kind cannot run here; None if they can."""
    launcher = {"openmpi": "mpirun.openmpi", "mpich": "mpiexec.mpich"}[kind.launcher]
    tools = [launcher] + ([f"mpicc.{kind.mpi}"] if kind.mpi else [])
    for tool in tools:
        if not shutil.which(tool):
            return f"no {tool} here"
    return unavailable() if kind.nodes > 1 else None


def compile_program(kind: Kind, folder: Path) -> Path:
    """The program of a kind, as users build it."""
    program = folder / f"{kind.program}{'-' + kind.mpi if kind.mpi else ''}"
    if program.exists():
        return program
    flags = ["-O1", "-g", "-Wall", "-Werror", str(PROGRAMS / f"{kind.program}.c"), "-o", str(program)]
    flags += ["-D_GNU_SOURCE", "-lm"]  # for traps
    if kind.program == "armci_work":
        flags += [f"-I{HOME / 'include'}", f"-L{HOME / 'lib'}", f"-Wl,-rpath,{HOME / 'lib'}", "-larmci"]
    subprocess.run([f"mpicc.{kind.mpi}" if kind.mpi else OSHCC, *flags], check=True)
    return program


@dataclass
class Faulted:
    """A running job of a trial."""

    trial: Trial
    programs: Path

    def __enter__(self) -> Faulted:
        self.folder = Path(tempfile.mkdtemp(prefix="wtlfault", dir="/tmp"))
        self.marks = self.folder / "marks"
        self.marks.mkdir()
        self.machine = Machine(self.folder / "sys") if self.trial.kind.governed else None
        self.job = Job(self.command(), env=self.settings())
        return self

    def __exit__(self, *_: object) -> None:
        for guard in self.guards():
            with contextlib.suppress(ProcessLookupError):
                os.kill(guard, signal.SIGKILL)
        self.job.__exit__()
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self) -> list[str]:
        kind = self.trial.kind
        program = [str(self.programs / f"{kind.program}{'-' + kind.mpi if kind.mpi else ''}")]
        seconds = self.trial.delay_s if self.trial.blow == "crash" else WORK_S
        program += [self.trial.place, f"{seconds:.3f}", str(self.marks)]
        program += ["traps"] if self.trial.traps == "on" else []
        if kind.program == "mpi_work":
            program = ["env", f"LD_PRELOAD={HOME / 'lib/libwattle-mpi.so'}", *program]
        if kind.nodes > 1:
            return [str(ROOT / "tools/on-nodes"), str(kind.nodes), str(self.trial.pes), *program]
        if kind.name == "plain":
            return ["mpirun.openmpi", "--oversubscribe", "-n", str(self.trial.pes), *program]
        return [str(OSHRUN), "--launcher", kind.launcher, "-n", str(self.trial.pes), *program]

    def settings(self) -> dict[str, str]:
        settings = {**PLAIN, "WATTLE_HOME": str(HOME)}
        if self.machine:
            places = {"WATTLE_SYSFS": str(self.machine.root), "WATTLE_CLOCK_STATE": str(self.folder / "state")}
            settings |= {**GOVERNED, **places}
        return settings

    def guards(self) -> list[int]:
        """They have no environment, and are known by the clocks that they hold open."""
        if not self.machine:
            return []
        root = str(self.machine.root)
        return processes(lambda entry: is_guard(entry, root))

    def victims(self) -> list[int]:
        """The processes that the blow may hit, oldest first. A second oshrun is the keeper of a directory."""
        kind, victim = self.trial.kind, self.trial.victim
        if victim == "guard":
            return self.guards()
        if victim == "nodes":
            return [self.job.process.pid] if self.job.process.poll() is None else []
        found = self.job.find(*{**kind.commands, "pe": (kind.program,), "oshrun": ("oshrun",)}[victim])
        return found if victim in ("pe", "daemon") else found[:1]

    def marked(self, what: str) -> set[int]:
        """The PEs that have come so far."""
        return {int(path.name.rpartition("-")[2]) for path in self.marks.glob(f"{what}-*")}

    def left(self) -> list[str]:
        """Remains of an ended job that the class of the job does not check."""
        found = [f"guard {guard}" for guard in self.guards()]
        found += [str(path) for path in Path(NAMED).glob(f"wtl{self.job.process.pid}x*")]
        if self.machine:
            found += [f"clocks {self.machine.limits()}"] if not self.machine.is_restored() else []
            found += [str(path) for path in (self.folder / "state").glob("[!.]*")]  # but for the claims, which stay
        return found


def is_guard(entry: Path, root: str) -> bool:
    if not (entry / "comm").read_text().startswith(GUARD):
        return False
    return any(str(fd.readlink()).startswith(root) for fd in (entry / "fd").iterdir())
