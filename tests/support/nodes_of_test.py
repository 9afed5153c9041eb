"""Shared code of the tests on several nodes: the nodes, and a job on them."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

from mpi_jobs import MPICH
from tree import HOME
from wattle.machine.nodes import Nodes

Job = subprocess.Popen[str]


def is_in_chroot() -> bool:
    """Whether the root is no mount of its own. The nodes' files of names are then not seen."""
    return not any(line.split()[4] == "/" for line in Path("/proc/self/mountinfo").read_text().splitlines())


def built(name: str) -> Path:
    """A test program of the build tree."""
    program = HOME / "bin" / name
    assert program.exists(), f"{program} is missing: cmake -DWTL_TESTS=ON {HOME} && cmake --build {HOME}"
    return program


def build(source: Path, folder: Path) -> Path:
    """The C program at `source`, built as a user would."""
    program = folder / source.stem
    subprocess.run([HOME / "bin/oshcc", "-O2", "-g", source, "-o", program], check=True)
    return program


def start(nodes: Nodes, pes: int, program: Path, *arguments: str, **settings: str) -> Job:
    """`program` with `pes` PEs on each node."""
    return launch(nodes, nodes.command(str(HOME / "bin/oshrun"), pes, str(program), *arguments), **settings)


def start_placed(nodes: Nodes, pes: list[int], options: list[str], program: Path, *arguments: str) -> Job:
    """`program` with pes[i] PEs on node i; `options` of the launcher."""
    hosts = ",".join(f"{name}:{n}" for name, n in zip(nodes.names, pes, strict=True))
    oshrun = [str(HOME / "bin/oshrun"), "-n", str(sum(pes)), "--bind-to", "none", "--host", hosts, *options]
    settings = [f"{name}={value}" for name, value in nodes.environment.items()]
    return launch(nodes, nodes.inside(0, "env", *settings, *oshrun, str(program), *arguments))


def launch(nodes: Nodes, command: list[str], **settings: str) -> Job:
    return subprocess.Popen(
        command, env=os.environ | settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def until_under_way(job: Job) -> None:
    assert job.stdout
    if (line := job.stdout.readline()) != "under way\n":
        job.kill()
        out, err = job.communicate()
        raise AssertionError(f"{job.args} is not under way ({job.returncode}):\n{line}{out}\n{err}")


def pids_on(nodes: Nodes, i: int) -> list[int]:
    """The processes of node `i`."""
    listed = subprocess.run(["ip", "netns", "pids", nodes.names[i]], capture_output=True, text=True, check=True).stdout
    return [int(pid) for pid in listed.split()]


def processes(nodes: Nodes) -> list[str]:
    """Command lines of what runs on the nodes."""
    found = []
    for i in range(len(nodes.names)):
        for pid in pids_on(nodes, i):
            with contextlib.suppress(OSError):
                found.append(Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " "))
    return found


def by_mpich(nodes: Nodes, pes: int, *words: str | Path) -> list[str]:
    """MPICH's mpiexec on the first node."""
    MPICH.require()
    return nodes.by_mpich(MPICH.launcher, pes, *map(str, words))
