"""Runs a test program on several PEs and gives back the profiles its PEs wrote."""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path


def parser(doc: str) -> argparse.ArgumentParser:
    """The words every script has that judges profiles."""
    p = argparse.ArgumentParser(description=doc)
    p.add_argument("--launcher", required=True, help="oshrun, or the word threads: the program starts its PEs itself")
    p.add_argument("--pes", type=int, required=True)
    p.add_argument("command", nargs="+")
    return p


def run(launcher: str, pes: int, command: list[str], **settings: str) -> tuple[int, list[dict]]:
    """Exit code of the job, and one profile a PE in the order of PEs."""
    with tempfile.TemporaryDirectory() as out:
        env = dict(os.environ, WATTLE_PROFILE_DIR=out, WTL_TEST_PES=str(pes), **settings)
        start = [] if launcher == "threads" else [launcher, "-n", str(pes), "--"]
        code = subprocess.run([*start, *command], env=env, check=False).returncode
        return code, [json.loads(file.read_text()) for file in sorted(Path(out).glob("pe-*.json"))]
