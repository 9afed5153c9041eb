"""Two made nodes that are reached by ssh, as the hosts of a cluster: each runs a real sshd on its own address."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nodes_of_test import is_in_chroot
from tree import PACKAGE
from wattle.machine.nodes import Nodes, unavailable

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"
START_S = 300.0

SERVER = """\
Port 22
HostKey {folder}/host_key
PidFile none
AuthorizedKeysFile {folder}/user_key.pub
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
UsePAM no
MaxStartups 100
"""
CLIENT = """\
Host *
  IdentityFile {folder}/user_key
  IdentitiesOnly yes
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
  BatchMode yes
"""


def why_not() -> str:
    """Why there can be no such nodes here; empty where there can."""
    missing = [name for name in ("ssh", "ssh-keygen", SSHD) if not shutil.which(name)]
    if missing:
        return f"{', '.join(missing)} not found (Debian: openssh-server, openssh-client)"
    if is_in_chroot():
        return "in a chroot the nodes do not know each other's names, by which ssh reaches them"
    return unavailable() or ""


@dataclass(frozen=True)
class Cluster:
    """Nodes whose only way to each other is ssh. `environment`: that of a user on the first one."""

    nodes: Nodes
    environment: dict[str, str]

    @property
    def names(self) -> list[str]:
        return self.nodes.names

    def wattle(self, *words: object) -> list[str]:
        """The command line of `wattle` on the first node."""
        return self.nodes.inside(0, sys.executable, "-m", "wattle", *map(str, words))


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Two nodes with a running sshd each. `folder`: for keys and settings."""
    for name in ("host_key", "user_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    (folder / "sshd_config").write_text(SERVER.format(folder=folder))
    (folder / "ssh_config").write_text(CLIENT.format(folder=folder))
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # sshd's folder without rights; Debian's init makes it
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("SHMEM_", "FAKE_", "COLUMNS", "OMPI_", "PRTE_"))}
    agent = folder / "bin" / "ssh"  # all launchers find this one first, with the settings of ~/.ssh/config
    agent.parent.mkdir()
    agent.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder / "ssh_config"} "$@"\n')
    agent.chmod(0o755)
    reach = {"PATH": f"{agent.parent}:{os.environ['PATH']}", "WATTLE_LAUNCHER": "openmpi"}
    with Nodes(2) as nodes, contextlib.ExitStack() as stack:
        for i, name in enumerate(nodes.names):
            command = nodes.inside(i, SSHD, "-D", "-e", "-f", str(folder / "sshd_config"))
            with (folder / f"sshd-{i}.log").open("w") as log:
                server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            stack.callback(_end, server)
            _until_it_answers(nodes, agent, name, folder / f"sshd-{i}.log")
        yield Cluster(nodes, keep | reach | {"PYTHONPATH": str(PACKAGE)})


def _until_it_answers(nodes: Nodes, agent: Path, name: str, log: Path) -> None:
    until = time.monotonic() + START_S
    while True:
        done = subprocess.run(nodes.inside(0, str(agent), name, "hostname"), capture_output=True, text=True)
        if done.returncode == 0:
            assert done.stdout.strip() == name
            return
        assert time.monotonic() < until, f"{name}: {done.stderr}{log.read_text()}"
        time.sleep(0.1)


def _end(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    server.wait()
