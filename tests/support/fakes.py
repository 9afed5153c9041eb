"""A made-up home: oshrun and wattle-info as small scripts, and profiles that were not measured."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SCHEMA = 4  # of profiles
Wattle = Callable[..., subprocess.CompletedProcess[str]]  # the command as a user starts it
Interrupted = Wattle  # a study that a signal ends
LIMIT_S = 300  # until a fake is under way; other programs may use all cores meanwhile

INFO: dict[str, Any] = {
    "version": "0.1.0",
    "settings": [
        {
            "name": "SHMEM_SYMMETRIC_SIZE",
            "kind": "size",
            "unit": "bytes",
            "default": "512M",
            "value": "512M",
            "help": "Heap.",
        },
        {
            "name": "WATTLE_WAIT",
            "kind": "choice",
            "unit": "",
            "default": "adaptive",
            "choices": "spin|yield|sleep|adaptive",
            "value": "adaptive",
            "help": "How a PE waits.",
        },
        {
            "name": "WATTLE_METER",
            "kind": "choice",
            "default": "auto",
            "value": "auto",
            "help": "Where joules come from.",
        },
        {"name": "WATTLE_MACHINE", "kind": "text", "default": "auto", "value": "auto", "help": "Machine profile."},
        {"name": "WATTLE_PROFILE", "kind": "bool", "default": "on", "value": "on", "help": "Count calls."},
        {"name": "WATTLE_TIMELINE", "kind": "size", "default": "0", "value": "0", "help": "Keep a timeline."},
        {"name": "WATTLE_PROFILE_DIR", "kind": "text", "default": "", "value": "", "help": "Where to."},
    ],
    "meters": [
        {"name": "powercap", "usable": False, "why": "no /sys/class/powercap", "grant": "", "domains": []},
        {"name": "model", "usable": True, "why": "", "grant": "", "domains": ["cpu", "dram"]},
    ],
    "machine": {"name": "unknown", "file": "machines/unknown.yaml", "matched": False},
    "pmix": "4.2.2",
    "waits": {},
}

OSHRUN = """#!/usr/bin/python3 -IS
# Starts the program once for each PE; then, if asked to, leaves profiles as the runtime would.
import os, subprocess, sys
options = sys.argv[1:sys.argv.index("--")]
n = int(options[options.index("-n") + 1])
command = sys.argv[sys.argv.index("--") + 1:]
codes = [subprocess.call(command, env={**os.environ, "FAKE_PE": str(pe), "FAKE_N": str(n)}) for pe in range(n)]
target, ready = os.environ.get("WATTLE_PROFILE_DIR"), os.environ.get("FAKE_PROFILES")
if target and ready:
    import pathlib, shutil
    for file in pathlib.Path(ready).glob("pe-*.json"):
        shutil.copy(file, target)
sys.exit(next((c if c >= 0 else 128 - c for c in codes if c), 0))
"""

WATTLE_INFO = """#!/usr/bin/python3 -IS
import os, pathlib, sys
if os.environ.get("WATTLE_WAIT", "spin") not in ("spin", "yield", "sleep", "adaptive"):
    sys.exit(f"wattle-info: WATTLE_WAIT={os.environ['WATTLE_WAIT']}: expected one of spin, yield, sleep, adaptive")
print(pathlib.Path(__file__).with_name("info.json").read_text())
"""


def heed_signals() -> None:
    """For a process that a test starts. The tests' own process may ignore some of these signals (nohup, a shell's
    background job), and its children would inherit that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def started(words: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
    """`wattle` with these words, to be sent a signal."""
    return subprocess.Popen(
        [sys.executable, "-m", "wattle", *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_signals,
    )


def until_there(path: Path, process: subprocess.Popen[str]) -> None:
    """Waits for a file that a fake makes when it is under way, then until the main thread of `process` sleeps. It
    then waits for the next output of the fake, and has read all before."""
    until = time.monotonic() + LIMIT_S
    while not (path.exists() and is_asleep(process.pid)):
        assert process.poll() is None, f"the process ended: {process.communicate(timeout=10)}"
        assert time.monotonic() < until, f"{path} is {'' if path.exists() else 'not '}there; the process still runs"
        time.sleep(0.02)


def is_asleep(pid: int) -> bool:
    """Whether the main thread of this process waits for something."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"
    except OSError:
        return False


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def make_home(root: Path, info: dict[str, Any] | None = None) -> Path:
    script(root / "bin" / "oshrun", OSHRUN)
    script(root / "bin" / "oshcc", "#!/bin/sh\n")
    script(root / "bin" / "wattle-info", WATTLE_INFO)
    (root / "bin" / "info.json").write_text(json.dumps(INFO if info is None else info))
    (root / "share" / "wattle" / "machines").mkdir(parents=True)
    return root


def figure(
    domain: str, joules: float | None, provenance: str = "modelled", uncertainty: float | None = None
) -> dict[str, Any]:
    known = joules is not None
    return {
        "domain": domain,
        "provenance": provenance if known else "unavailable",
        "source": "model sandybridge-e5-2670",
        "scope": "process",
        "joules": joules,
        "uncertainty": (uncertainty if uncertainty is not None else joules * 0.25) if known else None,
        "interval_s": 2.0,
        "covered_s": 2.0 if known else 0.0,
    }


def site(
    offset: int = 0x1157, call: str = "shmem_double_put", kind: str = "transfer", **changes: Any
) -> dict[str, Any]:
    return {
        "addr": hex(0x555500000000 + offset + 1),
        "module": 0,
        "offset": hex(offset),
        "path": -1,
        "mark": 0,
        "call": call,
        "kind": kind,
        "calls": 1000,
        "bytes": 8_000_000,
        "timed_calls": 10,
        "time_s": 0.25,
        "wait_s": {"spin": 0.0, "yield": 0.0, "asleep": 0.0},
        "waits": 0,
        "joules": {"cpu": 2.5, "dram": 0.5},
    } | changes


def pe_profile(
    pe: int = 0, n_pes: int = 2, program: str = "/opt/halo", build_id: str = "ab12", **changes: Any
) -> dict[str, Any]:
    """A profile that satisfies every rule: states and times sum to the wall time, parts and idle to the node. Counts
    that a test does not name are not known.
    """
    wall = 2.0
    spin, asleep = 0.1, 0.4 + 0.1 * pe
    active = wall - spin - asleep
    cpu = 10.0 + pe
    whole = node([figure("cpu", 40.0), figure("dram", 8.0)], [figure("cpu", 19.0), figure("dram", 4.0)])
    made = {
        "schema": SCHEMA,
        "pe": pe,
        "n_pes": n_pes,
        "host": "node0",
        "boot_id": "",
        "node_number": None,
        "pid": 4000 + pe,
        "program": program,
        "build_id": build_id,
        "wattle_version": "0.1.0",
        "api": "shmem",
        "wall_s": wall,
        "cpu_s": active + spin,
        "cpu_init_s": 0.01,
        "wake_s": None,
        "second_s": None,
        "state_s": {"active": active, "spin": spin, "yield": 0.0, "asleep": asleep},
        "time_s": {"compute": active - 0.3, "transfer": 0.3, "wait": spin + asleep},
        "bytes": {"put": 8_000_000, "get": 0, "amo": 8},
        "sleeps": 12,
        "rings": 0,
        "rescues": 0,
        "handled": 0,
        "wake_price_s": None,
        "no_core": no_core(),
        "joules": [figure("cpu", cpu), figure("dram", 2.0)],
        "wait_joules": {"cpu": None, "dram": None},
        "node": whole if pe == 0 else None,
        "meter": {"name": "model", "why": "no sensor can be read here"},
        "network": None,
        "partners": None,
        "sizes": [],
        "clocks": None,
        "waited_from_s": None,
        "paths": [],
        "modules": [{"path": program, "base": "0x555500000000", "build_id": build_id}],
        "sites": [
            site(),
            site(
                0x1200,
                "shmem_barrier_all",
                "wait",
                calls=100,
                bytes=0,
                time_s=spin + asleep,
                wait_s={"spin": spin, "yield": 0.0, "asleep": asleep},
                waits=100,
                joules={"cpu": 1.0, "dram": 0.1},
            ),
        ],
    } | changes
    for times in ("state_s", "time_s"):
        made[times] = made[times] | {"no_core": made[times].get("no_core")}
    return made


def node(joules: list[dict[str, Any]], idle: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    return {"joules": joules, "idle": idle, "nested": [], "others": [], "others_cpu_s": 0} | changes


def no_core(**changes: Any) -> dict[str, Any]:
    """A process whose time without a core is not known."""
    numbers = ("in_waits_s", "other_threads_s", "other_busy_threads", "throttled_s", "quota_cores")
    return {"source": "", **dict.fromkeys(numbers), "cores": [], "cores_of_threads": []} | changes


def transfers(**changes: Any) -> dict[str, Any]:
    thresholds = {"put": 64, "get": 64, "acc": 64, "strided": 64}
    return {"mode": "aware", "learns": True, **thresholds, "polled": 0, "slept": 5, "scaled": 0, "trials": 2} | changes


NETWORK: dict[str, Any] = {
    "name": "ucx",
    "paths": "tcp/eth0",
    "dropped": {"foreign": 0, "malformed": 0},
    "messages": {"sent": 1000, "received": 900, "merged": None},
    "single": {"messages": 0, "seconds": 0, "least_s": 0},
    "bytes": {"sent": 4096000, "received": 4000000, "hardware": 0},
}


def on_nodes(nodes: int, per_node: int = 2, **changes: Any) -> list[dict[str, Any]]:
    """Profiles of a job on several nodes; each node's joules are those of its PEs and 19 J (DRAM: 4 J) idle."""
    n = nodes * per_node
    profiles = [pe_profile(pe, n, host=f"node{pe // per_node}", network=NETWORK, **changes) for pe in range(n)]
    for number in range(nodes):
        mine = profiles[number * per_node : (number + 1) * per_node]
        idle = [figure("cpu", 19.0), figure("dram", 4.0)]
        sums = [sum(pe["joules"][i]["joules"] for pe in mine) + idle[i]["joules"] for i in (0, 1)]
        for pe in mine:
            pe["node"] = None
        mine[0]["node"] = node([figure("cpu", sums[0]), figure("dram", sums[1])], idle)
    return profiles


def write_profiles(folder: Path, profiles: list[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for profile in profiles:
        (folder / f"pe-{profile['pe']:05d}.json").write_text(json.dumps(profile))
    return folder


def make_run(directory: Path, profiles: list[dict[str, Any]] | None = None, **manifest: Any) -> Path:
    """A run directory as `wattle run` leaves it."""
    profiles = [pe_profile(0), pe_profile(1)] if profiles is None else profiles
    write_profiles(directory / "profile", profiles)
    document = {
        "schema": 1,
        "kind": "run",
        "wattle_version": "0.1.0",
        "command": ["./halo", "64"],
        "n_pes": profiles[0]["n_pes"] if profiles else 2,
        "started": "2026-01-31T12:00:00Z",
        "wall_s": 2.3,
        "exit_code": 0,
        "host": {"name": "node0", "cpu": "a CPU", "cores": 2, "kernel": "6.1", "memory_bytes": 1},
        "settings": {},
        "meter": {"name": "model", "why": ""},
        "machine": "sandybridge-e5-2670",
        "versions": {},
    } | manifest
    (directory / "manifest.json").write_text(json.dumps(document))
    return directory
