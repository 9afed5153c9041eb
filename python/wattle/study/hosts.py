"""The hosts of a study: those that the user lists, and those of a Slurm allocation or of the default host file."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from wattle.base import files, input_files, limits
from wattle.base.errors import WattleError
from wattle.machine.commands import run_quietly
from wattle.run import hosts as run_hosts

REACH_S = 30.0  # longest time until a host starts a process
TIMED_OUT = 124  # exit code of `timeout` where the time was over
AT_ONCE = 16  # hosts that are tried at the same time
# Variables that name Open MPI's default host file, of versions 4 and 5. The value "none" turns the file off.
DEFAULTS = ("OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile")
NO_DEFAULT = dict.fromkeys(DEFAULTS, "none")
# Commands of Open MPI 4 and 5 that print the file in force, and where it stands in their output.
ASKS = (
    ("ompi_info --parsable --param orte all --level 9", r":param:orte_default_hostfile:value:(.+)$"),
    ("prte_info --param prte:all", r'"prte_default_hostfile" \(current value:\s*"([^"]*)"'),
)


def given(listed: str) -> tuple[str, ...]:
    """The hosts of `--hosts`. Raises WattleError for wrong names, numbers of PEs, and a host that is named twice."""
    found = [host.name for host in run_hosts.given(listed, None).hosts]
    if any(run_hosts.parts(entry)[1] for entry in run_hosts.entries(listed)):
        raise WattleError(f"--hosts {listed}: a study has its own numbers of PEs; write the names alone, as in a,b")
    if twice := [name for name in dict.fromkeys(found) if found.count(name) > 1]:
        raise WattleError(f"--hosts {listed}: {twice[0]} is named twice; a study needs different hosts")
    return tuple(found)


def by_default() -> tuple[tuple[str, ...], str]:
    """The hosts to which a launcher would distribute PEs without a list, and their source. Empty where that is one
    node.
    """
    if allocated := _allocated():
        return (allocated, "this Slurm allocation") if len(allocated) > 1 else ((), "")
    file = default_file()
    if file is None:
        return (), ""
    names = tuple(run_hosts.given(None, file).names)
    only_here = len(names) == 1 and names[0] in ("localhost", "127.0.0.1", socket.gethostname())
    return ((), "") if only_here else (names, f"the default host file {file}")


def _allocated() -> tuple[str, ...]:
    """The nodes of the Slurm allocation of this process; empty outside an allocation."""
    listed = os.environ.get("SLURM_JOB_NODELIST", "") if "SLURM_JOB_ID" in os.environ else ""
    if not listed or os.environ.get("WATTLE_LAUNCHER", "auto") not in ("auto", "srun"):
        return ()
    return tuple(run_hosts.given(listed, None).names)


def first_allocated() -> tuple[str, ...]:
    """The node for jobs on one node inside an allocation of several; empty elsewhere."""
    allocated = _allocated()
    return allocated[:1] if len(allocated) > 1 else ()


def default_file() -> Path | None:
    """Open MPI's default host file, where it exists and names hosts."""
    value = next(filter(None, map(os.environ.get, DEFAULTS)), "") or _asked()
    path = Path(value)
    if not value or value == "none" or not path.is_file():
        return None
    lines = input_files.read_text(path, limits.TEXT_BYTES).splitlines()
    return path if any(line.partition("#")[0].strip() for line in lines) else None


def _asked() -> str:
    """The path of the default host file that Open MPI's own files or its build give."""
    for line, pattern in ASKS:
        words = line.split()
        if not shutil.which(words[0]):
            continue
        try:
            said = run_quietly(words, limit_s=REACH_S).stdout
        except (OSError, subprocess.TimeoutExpired):
            continue
        if found := re.search(pattern, said, re.MULTILINE):
            return " ".join(found[1].split())  # prte_info wraps its lines at spaces
    return ""


def command(oshrun: str, names: Sequence[str], share: Sequence[int]) -> list[str]:
    """The command line of a job up to the program, with `share[k]` PEs on the host k. Without names: on this node."""
    return [oshrun, "-n", str(sum(share)), *(["--host", counted(names, share)] if names else []), "--"]


def counted(names: Sequence[str], share: Sequence[int]) -> str:
    """A list of hosts with their numbers of PEs, such as `a:2,b:2`."""
    return ",".join(f"{name}:{pes}" for name, pes in zip(names, share, strict=False))


def shared() -> Path:
    """The folder for files that all hosts must reach. It lies beside the programs that studies build."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(base).absolute() / "wattle" / "jobs"
    try:
        files.make_folder(folder)
    except OSError as error:
        raise WattleError(
            f"{folder}: cannot be used: {error.strerror}; set XDG_CACHE_HOME to a folder that all hosts share"
        ) from None
    return folder


def reach(oshrun: str, names: Sequence[str]) -> None:
    """Starts a process on each host. Raises WattleError that names a host on which that fails, with the reason."""
    if not _by_oshrun(oshrun, names):
        return
    with ThreadPoolExecutor(AT_ONCE) as at_once:
        reasons = list(at_once.map(lambda name: _by_oshrun(oshrun, [name]), names))
    failed = [(name, reason) for name, reason in zip(names, reasons, strict=True) if reason]
    if not failed:
        raise WattleError(f"--hosts {','.join(names)}: {_by_oshrun(oshrun, names) or 'reached at the second try only'}")
    more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
    raise WattleError(f"--hosts {','.join(names)}: {failed[0][0]}{more} cannot be reached: {failed[0][1]}")


def _by_oshrun(oshrun: str, names: Sequence[str]) -> str:
    return failure(command(oshrun, names, [1] * len(names)))


def failure(start: Sequence[str]) -> str:
    """The reason why a launcher's command line, up to the program, cannot start a process on all of its hosts; empty
    where it can. `timeout` ends the launcher by a signal, so that it removes its helpers.
    """
    try:
        done = run_quietly(["timeout", f"{REACH_S:g}", *start, "true"])
    except OSError as error:
        return f"timeout: {error.strerror}"
    if done.returncode == TIMED_OUT:
        return f"no answer within {REACH_S:.0f} s"
    return "" if done.returncode == 0 else _reason(done.stderr) or f"the launcher ended with {done.returncode}"


def _reason(said: str) -> str:
    """The line of a launcher's error that says most: one of ssh or of srun, else the first that holds a word."""
    lines = [" ".join(line.split()) for line in said.splitlines() if re.search(r"\w", line)]
    own = [line for line in lines if re.match(r"(ssh|rsh|srun|nsenter|oshrun)\b", line)]
    return next(iter(own or lines), "")[:300]
