"""The other jobs of the study of messages: the same cases by MPI, and UCX's own test."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from wattle.base import files
from wattle.base.errors import WattleError
from wattle.machine import paths
from wattle.machine.commands import run_quietly
from wattle.machine.paths import Home
from wattle.study.site import Site, mpirun
from wattle.text import console

PERFTEST = "ucx_perftest"  # Debian: ucx-utils
PATIENCE_S = 60.0
FAR_PORT = 17421


# ---- MPI ----


def mpi_program(home: Home) -> Path:
    """Compiles am_mpi.c with Open MPI's wrapper and keeps the program. It counts joules as Wattle's own program does.
    Raises WattleError where it cannot be compiled.
    """
    compiler = shutil.which("mpicc.openmpi") or shutil.which("mpicc")
    if not compiler or not shutil.which(mpirun()):
        raise WattleError("mpicc and mpirun are missing (Debian: libopenmpi-dev)")
    folder = home.shared("bench")
    library = paths.library(home)
    if library is None:
        raise WattleError(f"{home.root} has no libraries")
    digest = hashlib.sha256(f"{compiler} {library} {library.stat().st_mtime_ns}".encode())
    for source in (folder / "am_mpi.c", *sorted(folder.glob("*.h"))):
        digest.update(source.read_bytes())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "wattle" / "bench"
    target = cache / f"am_mpi-{digest.hexdigest()[:16]}"
    if not files.is_ours(target):
        console.note("building am_mpi.c")
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix=".build-") as scratch:
            made = Path(scratch) / target.name
            _compile([compiler, str(folder / "am_mpi.c"), "-o", str(made)], home, library.parent)
            made.chmod(files.PROGRAM)
            made.replace(target)
    return target


def _compile(command: list[str], home: Home, folder: Path) -> None:
    joules = ["-DUSE_WATTLE", f"-I{home.root / 'include'}", f"-L{folder}", f"-Wl,-rpath,{folder}", "-lwattle", "-lm"]
    words = [*command, "-O3", "-g", *joules]
    done = run_quietly(words)
    if done.returncode:
        raise WattleError(f"{' '.join(words)} failed: {' '.join(done.stderr.split())[:400]}")


# ---- UCX ----


def ucx_rate(site: Site, size: int, messages: int) -> float:
    """Messages a second of UCX's active messages in one direction, measured by UCX's own test. Raises WattleError where
    the test gives no rate.
    """
    port = FAR_PORT if site.across else _free_port()
    common = [*(["env", *site.ucx] if site.ucx else []), PERFTEST, "-p", str(port)]
    test = ["-t", "ucp_am_bw", "-s", str(size), "-n", str(messages), "-w", "100", "-f", "-v", site.address]
    none = subprocess.DEVNULL
    with subprocess.Popen(site.inside(0, common), stdin=none, stdout=none, stderr=none) as server:
        try:
            said = _called(site.inside(1, [*common, *test]), server)
        finally:
            if server.poll() is None:
                server.terminate()
    lines = [line.split(",") for line in said.splitlines() if "," in line]
    for head, values in pairwise(lines):
        if "overall_mr" in head:
            return float(values[head.index("overall_mr")])
    raise WattleError(f"{PERFTEST} gave no message rate: {' '.join(said.split())[:200]}")


def _called(command: list[str], server: subprocess.Popen[bytes]) -> str:
    """The client's output. The client is restarted while the server does not listen yet, because the server does not
    report when it does.
    """
    deadline = time.monotonic() + PATIENCE_S
    while True:
        time.sleep(0.05)
        try:
            done = run_quietly(command, limit_s=PATIENCE_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise WattleError(f"{PERFTEST}: {error}") from None
        if done.returncode == 0 or server.poll() is not None or time.monotonic() > deadline:
            return done.stdout if done.returncode == 0 else done.stderr


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
