"""The cost of the governor itself: programs with a governor whose knob only records, compared with the same
without it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

from wattle.text.console import progress

from bench import verdicts
from bench.jobs import OTHERS, ROOT, BenchError, Figures, Launch, Side, Toolchain, alternate, pinned
from bench.load import Watch
from bench.pairs import Row, as_data, between, compare
from bench.show import comparison_table, section

SECTION = "The governor, recording"
BAR = 1.01
GOVERNED = {"WATTLE_GOVERN": "energy", "WATTLE_KNOB": "record"}
SAID = re.compile(r": ([\d.]+) s,")  # the line in which an example prints its own time

REGIONS = [
    Row("barriers", "barriers in a row"),
    Row("brief", "20 us of work, barrier", bar=BAR),
    Row("equal", "2 ms of work, barrier", bar=BAR),
    Row("unequal", "one PE works 2 ms, barrier", bar=BAR),
]

TOUR, TREE = str(ROOT / "apps/tsp/data/tsp15.txt"), ["--graph", "rmat", "--log-vertices", "16", "--edges", "1000000"]
EXAMPLES = {
    "halo": ["--steps", "2000"],
    "gups": ["--updates", "8"],
    "ring": ["--laps", "300000"],
    "pi": ["--strips", "100000000"],
    "matmul": ["--size", "1024"],
}
APPS = {
    "tsp-bucket": ["--repeat", "20", TOUR],
    "tsp-am": ["--repeat", "20", TOUR],
    "tsp-steal": ["--repeat", "20", TOUR],
    "mst-bucket": ["--repeat", "5", *TREE],
    "mst-am": ["--repeat", "5", *TREE],
}


@dataclass
class Program(Side):
    """An example or a mini-app. Its time is the one that it prints itself, without start and end of the job."""

    def run(self, *arguments: str) -> Figures:
        watch = Watch()
        command = self.command(*arguments)
        done = subprocess.run(
            command, env=self.environment(), capture_output=True, text=True, timeout=300, check=False, cwd=ROOT
        )
        samples = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        seconds = [s["seconds"] for s in samples if s.get("kind") == "sample"]
        seconds += [float(s) for s in SAID.findall(done.stdout)]
        if done.returncode or not seconds:
            raise BenchError(f"{self.program.name} ended with exit code {done.returncode}\n{done.stderr.strip()}")
        return {self.program.name: statistics.median(seconds), OTHERS: watch.others()}


def home() -> Path:
    return Path(os.environ.get("WATTLE_HOME") or ROOT / "build" / "release")


def two_sides(kind: type[Side], program: Path, launch: Launch) -> list[Side]:
    """The sides with and without the governor."""
    return [kind("governed", program, launch, GOVERNED), kind("off", program, launch)]


def programs() -> dict[Path, list[str]]:
    """The compared programs other than the regions, with their arguments."""
    examples = {home() / "bin/examples" / name: words for name, words in EXAMPLES.items()}
    return examples | {home() / "lib/wattle/apps" / name: ["--json", *words] for name, words in APPS.items()}


def run(options: argparse.Namespace, tools: Toolchain) -> dict:
    """Runs the section and prints it. Returns its part of the file."""
    todo, launch = programs(), pinned(2)
    raw: dict = {}
    with progress("The governor's cost", (1 + len(todo)) * 2 * options.pairs) as steps:
        raw["regions"] = alternate(two_sides(Side, tools.ours("regions.c"), launch), options.pairs, [], steps.advance)
        for program, words in todo.items():
            sides = two_sides(Program, program, launch)
            raw[program.name] = alternate(sides, options.pairs, words, steps.advance)
    rows = compare(REGIONS, between(raw["regions"], 0, 1))
    for program in todo:
        rows += compare([Row(program.name, program.name, bar=BAR)], between(raw[program.name], 0, 1))
    title = "Two PEs with the governor (energy, knob record), and without"
    section(title, comparison_table("governed", "off", rows, best=True))
    return {"rows": as_data(rows), "bars": verdicts.of_comparisons(SECTION, "off", rows), "raw": raw}
