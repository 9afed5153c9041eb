"""In the machine: runs the programs of a list one after the other, each on nodes made of network namespaces.

usage: jobs.py HOME LIST SECONDS

HOME is the built project. LIST is a JSON file. SECONDS is the time limit of a program. Prints a line for each program,
the output of those that fail, and a summary. The exit code is 0 if all passed, otherwise 1.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True

from wattle.machine.nodes import NAMED, Nodes  # noqa: E402


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


@contextlib.contextmanager
def two_devices(loss: float) -> Iterator[None]:
    """Gives the second node an RDMA device of its own. Of the packets between the two, `loss` percent are lost."""
    subprocess.run([HERE / "second_device", "add"], check=True)
    try:
        lose_packets(loss)
        yield
    finally:
        subprocess.run([HERE / "second_device", "remove"], check=True)


def lose_packets(percent: float) -> None:
    for interface in ("rdma0", "rdma1"):
        loss = ["netem", "loss", f"{percent}%", "limit", "100000"]
        subprocess.run(["tc", "qdisc", "replace", "dev", interface, "root", *loss], check=True)


def packets_lost() -> int:
    text = subprocess.run(["tc", "-s", "qdisc", "show"], capture_output=True, text=True, check=True).stdout
    return sum(map(int, re.findall(r"qdisc netem.*\n.*dropped (\d+)", text)))


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


def end(job: subprocess.Popen) -> None:
    for stop, patience in ((job.terminate, 20), (job.kill, None)):
        stop()
        with contextlib.suppress(subprocess.TimeoutExpired):
            job.wait(patience)
            return


def network_of(program: dict, made: Nodes) -> contextlib.AbstractContextManager[None]:
    if program.get("one_network"):
        return in_one_network(made)
    return two_devices(program["loss"]) if "loss" in program else contextlib.nullcontext()


def sleep_failure(profiles: Path) -> str:
    """The reason why the sleeps of the PEs were not as they must be: some, and each ended by a wake-up."""
    found = [json.loads(file.read_text()) for file in profiles.glob("pe-*.json")]
    if not sum(profile["sleeps"] for profile in found):
        return "no PE slept"
    rescues = sum(profile["rescues"] for profile in found)
    return f"{rescues} wake-ups were lost" if rescues else ""


def failure_when_cut_off(command: list[str], settings: dict[str, str], seconds: float, output: IO[str]) -> str:
    """Cuts off the second node's RDMA device when the program says that it is under way. Returns the reason why the job
    did not end as it must; "" if it did.

    The launcher's messages pass the node's interface e0. So the launcher notices nothing, and the PEs must: one of them
    names the other.
    """
    pipe = subprocess.PIPE
    job = subprocess.Popen(command, env=os.environ | settings, stdout=pipe, stderr=pipe, text=True)
    limit = threading.Timer(seconds, end, [job])
    limit.start()
    assert job.stdout
    under_way = any(line.strip() == "under way" for line in job.stdout)
    time.sleep(5)  # the PEs that wait sleep by now
    lose_packets(100)
    _, errors = job.communicate()
    output.write(errors)
    limit.cancel()
    if under_way and job.returncode and re.search(r"^wattle: PE (\d): .*\bPE (?!\1)\d\b", errors, re.M):
        return ""
    return f"{'' if under_way else 'not under way, '}exit code {job.returncode}, and no PE named the other one"


def failure(home: Path, program: dict, seconds: float, profiles: Path, output: IO[str]) -> str:
    """The reason why the program failed; "" if it passed. Writes the output of the job to `output`."""
    nodes, pes = map(int, program["on"].split("x"))
    name, *arguments = program["program"].split()
    device = "on_own_device" if "loss" in program else "without_device" if program.get("without_device") else None
    by = [str(HERE / device)] if device else []
    with Nodes(nodes) as made, network_of(program, made):
        command = made.command(str(home / "bin/oshrun"), pes, *by, str(home / "bin" / name), *arguments)
        settings = {"WATTLE_PROFILE_DIR": str(profiles), "WATTLE_SILENCE": "600s", **program.get("environment", {})}
        if program.get("cut_off"):
            return failure_when_cut_off(command, settings, seconds, output)
        job = subprocess.Popen(command, env=os.environ | settings, stdout=output, stderr=output)
        try:
            code = job.wait(seconds)
        except subprocess.TimeoutExpired:
            end(job)
            return f"not done after {seconds:g} s"
        if program.get("loss") and not packets_lost():
            return "no packet was lost"
    if code != program.get("exit", 0):
        return f"exit code {code}"
    if program.get("hardware") and not moved_by_hardware(profiles):
        return "hardware moved no bytes"
    if program.get("without_device") and moved_by_hardware(profiles) != 0:
        return "hardware moved bytes, or there is no profile"
    return sleep_failure(profiles) if program.get("wakes") else ""


def main(home: Path, programs: list[dict], seconds: float) -> int:
    failed = []
    for program in programs:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile("w+", errors="replace") as output:
            profiles = Path(folder)
            why = failure(home, program, seconds, profiles, output)
            took, moved = time.monotonic() - begin, moved_by_hardware(profiles)
            by = f"{paths(profiles)}, {moved} bytes by hardware" if moved is not None else "no profile"
            output.seek(0)
            printed = output.read() if why else ""
        name = f"{program['name']} ({program['on']})"
        print(f"{'FAILED' if why else 'passed'} {name}: {why or by}; {took:.0f} s\n{printed}", end="", flush=True)
        if why:
            failed.append(f"    {name}: {why}")
    print("\n".join([f"rdma: {len(programs) - len(failed)} of {len(programs)} programs passed", *failed]), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text()), float(sys.argv[3])))
