"""Runs a test program on several PEs and returns the profiles that its PEs wrote."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tree import ROOT

ON_NODES = ROOT / "tools/on-nodes"


def parser(doc: str) -> argparse.ArgumentParser:
    """The words every script has that judges profiles."""
    p = argparse.ArgumentParser(description=doc)
    p.add_argument(
        "--launcher",
        required=True,
        help="oshrun; nodes:2x3 for 3 PEs on each of 2 nodes; or the word threads: the program starts its PEs itself",
    )
    p.add_argument("--pes", type=int, required=True)
    p.add_argument("command", nargs="+")
    return p


def start_of(launcher: str, pes: int) -> list[str]:
    """The words before a program in a command."""
    if launcher == "threads":
        return []
    if launcher.startswith("nodes:"):
        return [str(ON_NODES), *launcher.removeprefix("nodes:").split("x")]
    return [launcher, "-n", str(pes), "--"]


def pes_a_node(launcher: str, pes: int) -> int:
    """How many PEs each node has; the first ones of the job are those of the first node."""
    if launcher.startswith("nodes:"):
        return int(launcher.rsplit("x", 1)[1])
    return pes // int(os.environ.get("WTL_TEST_NODES", "1"))


def run(launcher: str, pes: int, command: list[str], **settings: str) -> tuple[int, list[dict]]:
    """Exit code of the job, and one profile a PE in the order of PEs. Skips the test where the job was skipped."""
    with tempfile.TemporaryDirectory() as out:
        env = dict(os.environ, WATTLE_PROFILE_DIR=out, WTL_TEST_PES=str(pes), **settings)
        code = subprocess.run([*start_of(launcher, pes), *command], env=env, check=False).returncode
        if code == 77:
            sys.exit(code)
        return code, [json.loads(file.read_text()) for file in sorted(Path(out).glob("pe-*.json"))]
