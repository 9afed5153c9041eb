"""Compares this revision with another revision of Wattle: local operations in pairs of runs, and memory of a PE.

usage: bench/against.py REVISION [--pairs N] [--quick] [--out FILE]

The other revision is built from git into build/against. The benchmark programs are those of this revision. They are
compiled once for each of the two, so both sides do the same. docs/bench.md explains ratios.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "python")]

from wattle.base import files  # noqa: E402
from wattle.record import manifest  # noqa: E402
from wattle.text.console import json_text, note, out, progress  # noqa: E402
from wattle.text.tables import Table  # noqa: E402

from bench import memory  # noqa: E402
from bench.jobs import FLAGS, OUT, BenchError, Launch, Side, Toolchain, crowded, part_of_home, pinned  # noqa: E402
from bench.messages import ONE_WAY, RATE, REPLY, arguments  # noqa: E402
from bench.one_node import ROWS  # noqa: E402
from bench.pairs import Row, between, compare, without_bars  # noqa: E402
from bench.part import Part  # noqa: E402
from bench.show import columns, section  # noqa: E402

HERE = "here"  # name of the side of this tree
HELD_PES = (64, 192)
MESSAGES = [
    Row(ONE_WAY, "AM request 8 B, one way"),
    Row(REPLY, "AM request and reply, half"),
    Row(RATE, "AM 8 B, each of a stream"),
    Row("ring/put/8/1/2", "token by puts, one way"),
]
HELD_KINDS = memory.FITTED[memory.CONTROL]


def resolved(revision: str) -> str:
    """The full name of a commit. Raises BenchError if git does not know it."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"{revision!r} is no revision of this repository; `git log --oneline` lists them")
    return done.stdout.strip()


def unpack(commit: str, folder: Path) -> None:
    """Writes the tree of a commit to the folder, which begins to exist only when the tree is whole."""
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    files.make_folder(part)
    with subprocess.Popen(["git", "-C", str(ROOT), "archive", commit], stdout=subprocess.PIPE) as git:
        tar = subprocess.run(["tar", "-x", "-C", str(part)], stdin=git.stdout, check=False)
    if git.returncode or tar.returncode:
        raise BenchError(f"the files of {commit} cannot be written to {part}")
    part.rename(folder)


def build_revision(commit: str) -> Path:
    """Builds the runtime of a commit, or finds it built. Returns its oshcc. Raises BenchError with the log's name."""
    folder = ROOT / "build" / "against" / commit[:12]
    if not folder.exists():
        unpack(commit, folder)
    log = folder.with_suffix(".log")
    python = ROOT / ".venv" / "bin" / "python"
    with progress(f"building {commit[:12]}", 2) as steps, log.open("w", encoding="utf-8") as to:
        for command in (
            ["cmake", "--preset", "release", f"-DPython3_EXECUTABLE={python}"],
            ["cmake", "--build", "--preset", "release"],
        ):
            if subprocess.run(command, cwd=folder, stdout=to, stderr=to, check=False).returncode:
                raise BenchError(f"revision {commit[:12]} cannot be built here; the output is in {log}")
            steps.advance()
    return folder / "build" / "release" / "bin" / "oshcc"


def sides(tools: Toolchain, there: str, source: str, launch: Launch) -> list[Side]:
    """A program of bench/ of this tree and of the other revision. Raises BenchError if one cannot compile it."""
    return [replace(side, name=name) for side, name in zip(tools.sides(source, launch), (HERE, there), strict=True)]


def memory_of(samples: list[dict[str, Any]], side: str, pes: int) -> float:
    """Bytes of control memory of a PE: private and shared pages and page tables, the median of the rounds."""
    of = [s["total"] for s in samples if s["side"] == side and s["pes"] == pes]
    held: list[int] = [sum(total[kind] for kind in HELD_KINDS) for total in of]
    return statistics.median(held) / pes


def memory_table(samples: list[dict[str, Any]], there: str) -> Table:
    """Private, shared and page tables of a PE by number of PEs."""
    table = columns("memory of a PE", HERE, there, "ratio")
    for pes in sorted({s["pes"] for s in samples}):
        ours, theirs = memory_of(samples, HERE, pes), memory_of(samples, there, pes)
        table.add_row(f"{pes} PEs", f"{ours / 1024:.0f} KiB", f"{theirs / 1024:.0f} KiB", f"{ours / theirs:.2f}")
    return table


def parse(words: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="bench/against.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("revision", help="a commit, tag or branch of this repository, such as HEAD~20")
    parser.add_argument("--pairs", type=int, help="pairs of runs (default 9)")
    parser.add_argument("--quick", action="store_true", help="3 pairs and smaller jobs, for development")
    parser.add_argument("--out", type=Path, default=OUT / "against.json", help="file for the figures")
    options = parser.parse_args(words)
    if options.pairs is None:
        options.pairs = 3 if options.quick else 9
    if options.pairs < 1:
        parser.error("--pairs must be at least 1")
    return options


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Builds the other revision, measures both and prints two tables. Returns the figures with their samples."""
    commit = resolved(options.revision)
    there = commit[:9]
    tools = Toolchain(part_of_home("bin/oshcc"), build_revision(commit), there)
    part = Part(options, tools)
    rounds = part.rounds("micro.c", sides(tools, there, "micro.c", pinned(2)))
    messages = part.rounds("am.c", sides(tools, there, "am.c", pinned(2)), arguments("ring,uni", 8, 1e-3))
    rows = compare(without_bars(ROWS), between(rounds, 0, 1)) + compare(MESSAGES, between(messages, 0, 1))
    title = f"One node, 2 PEs: this tree over {options.revision}; below 1: this tree is faster"
    part.show(title, (HERE, there), rows, best=True)
    sizes = HELD_PES[:1] if options.quick else HELD_PES
    plan = [(side, pes) for pes in sizes for side in sides(tools, there, "empty.c", crowded(pes))]
    samples = memory.sample("memory", plan, 1 if options.quick else 2)
    section("Memory: private, shared and page tables", memory_table(samples, there))
    return {
        "started": manifest.now(),
        "host": manifest.host_info(),
        "revision": commit,
        "flags": FLAGS,
        "pairs": options.pairs,
        "rows": part.found["rows"],
        "memory": samples,
        "raw": {"rounds": rounds, "messages": messages},
    }


def main(words: list[str] | None = None) -> int:
    """Runs the comparison. The exit code shows whether there are figures, not whether they are good."""
    options = parse(words)
    try:
        found = measure(options)
    except BenchError as error:
        note(f"bench: {error}")
        return 1
    except KeyboardInterrupt:
        note("bench: interrupted; nothing is written")
        return 130
    files.write_atomically(options.out, json_text(found, indent=1))
    out.print(f"figures: {options.out}", soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
