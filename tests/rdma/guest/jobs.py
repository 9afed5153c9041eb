"""In the machine: runs the programs of a list one after the other, each on nodes made of network namespaces.

usage: jobs.py HOME LIST SECONDS

HOME is the built project. LIST is a JSON file. The exit code is the number of programs that failed.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True

from wattle.nodes import NAMED, Nodes  # noqa: E402


@contextlib.contextmanager
def in_one_network(nodes: Nodes) -> Iterator[None]:
    """Puts all nodes into the machine's own network. They keep their names.

    libfabric finds the RDMA device by an address in the network of its process. Before Linux 6.16 the device exists in
    the first network alone.
    """
    files = [f"{NAMED}/{name}" for name in nodes.names]
    for file in files:
        subprocess.run(["mount", "--bind", "/proc/1/ns/net", file], check=True)
    try:
        yield
    finally:
        for file in files:
            subprocess.run(["umount", file], check=True)


def networks(profiles: Path) -> list[dict]:
    """The networks of the profiles. A PE that died before it used one has none."""
    found = [json.loads(file.read_text())["network"] for file in profiles.glob("pe-*.json")]
    return [network for network in found if network]


def moved_by_hardware(profiles: Path) -> int | None:
    """The bytes that hardware moved, of all PEs. None: there is no profile."""
    found = networks(profiles)
    return sum(network["bytes"]["hardware"] for network in found) if found else None


def paths(profiles: Path) -> str:
    found = {network["paths"] for network in networks(profiles)}
    return " and ".join(sorted(filter(None, found))) or "no path"


def end(job: subprocess.Popen[bytes]) -> None:
    for stop, patience in ((job.terminate, 20), (job.kill, None)):
        stop()
        with contextlib.suppress(subprocess.TimeoutExpired):
            job.wait(patience)
            return


def failure(home: Path, program: dict, seconds: float, profiles: Path) -> str:
    """The reason why the program failed; "" if it passed."""
    nodes, pes = map(int, program["on"].split("x"))
    name, *arguments = program["program"].split()
    one_network = program.get("one_network")
    with Nodes(nodes) as made, in_one_network(made) if one_network else contextlib.nullcontext():
        command = made.command(str(home / "bin/oshrun"), pes, str(home / "bin" / name), *arguments)
        settings = {"WATTLE_PROFILE_DIR": str(profiles), "WATTLE_SILENCE": "120s", **program.get("environment", {})}
        job = subprocess.Popen(command, env=os.environ | settings)
        try:
            code = job.wait(seconds)
        except subprocess.TimeoutExpired:
            end(job)
            return f"not done after {seconds:g} s"
    if code != program.get("exit", 0):
        return f"exit code {code}"
    if program.get("hardware") and not moved_by_hardware(profiles):
        return "hardware moved no bytes"
    return ""


def main(home: Path, programs: list[dict], seconds: float) -> int:
    failed = 0
    for program in programs:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            profiles = Path(folder)
            why = failure(home, program, seconds, profiles)
            took, moved = time.monotonic() - begin, moved_by_hardware(profiles)
            by = f"{paths(profiles)}, {moved} bytes by hardware" if moved is not None else "no profile"
        print(
            f"{'FAILED' if why else 'passed'} {program['name']} ({program['on']}): {why or by}; {took:.0f} s",
            flush=True,
        )
        failed += bool(why)
    return failed


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text()), float(sys.argv[3])))
