#!/usr/bin/env python3
"""Runs programs of the tests over a real RDMA device in a virtual machine (machine.py), all in one boot.

Needs root, a Debian with QEMU (qemu-system-x86), and at the first time Debian's archive. Nothing is installed. The
build is build/release with -DWTL_TESTS=ON, or WATTLE_HOME.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

import machine  # noqa: E402

# A limit for a program that hangs. Emulated, a program takes half a minute to three, and several times as long where
# other work has the host's cores.
SECONDS_A_PROGRAM = 1800


def chosen(quick: bool, words: list[str]) -> list[dict]:
    programs = tomllib.loads((HERE / "programs.toml").read_text())["program"]
    if words:
        return [p for p in programs if any(word in f"{p['name']} {p['program']}" for word in words)]
    return [p for p in programs if p.get("quick") or not quick]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only the programs of the quick form")
    parser.add_argument("--prepare", action="store_true", help="only fetch and unpack what is needed")
    parser.add_argument("--timeout", type=float, metavar="S", help="seconds for all of it")
    parser.add_argument("only", nargs="*", metavar="WORD", help="only programs with this word in name or command")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the machine ends, too
    home = Path(os.environ.get("WATTLE_HOME") or ROOT / "build/release").resolve()
    programs = chosen(options.quick, options.only)
    if not programs:
        parser.error(f"no program of programs.toml has {' or '.join(options.only)} in it")
    missing = sorted(
        {p["program"].split()[0] for p in programs if not (home / "bin" / p["program"].split()[0]).exists()}
    )
    if missing and not options.prepare:
        print(f"rdma: {home}/bin has no {', '.join(missing)}: build with -DWTL_TESTS=ON", file=sys.stderr)
        return 69
    try:
        machine.prepare()
    except machine.Unavailable as reason:
        print(f"rdma: {reason}", file=sys.stderr)
        return 69
    if options.prepare:
        return 0
    with tempfile.TemporaryDirectory(prefix="wattle-rdma-list-", dir=home) as folder:
        todo = Path(folder) / "programs.json"
        todo.write_text(json.dumps(programs))
        seconds = options.timeout or 600 + SECONDS_A_PROGRAM * len(programs)
        words = ["python3", str(HERE / "guest/jobs.py"), str(home), str(todo), str(SECONDS_A_PROGRAM)]
        code = machine.run(words, seconds)
    if code == machine.OUT_OF_TIME:
        print(f"rdma: not done after {seconds:g} s")
    elif code not in (0, 1):  # the machine has printed the reason
        print(f"rdma: not all programs ran (exit code {code})")
    return min(code, 1)


if __name__ == "__main__":
    sys.exit(main())
