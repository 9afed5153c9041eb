"""The cost of the governor itself: programs with a governor whose knob only records, compared with the same
without it.
"""

from __future__ import annotations

import json
import re
import statistics
from dataclasses import dataclass
from pathlib import Path

from bench.jobs import OTHERS, ROOT, BenchError, Figures, Launch, Side, home, pinned
from bench.load import Watch
from bench.pairs import Row, between, compare
from bench.part import Part

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
        _, output = self.output(*arguments, folder=ROOT)
        samples = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        seconds = [s["seconds"] for s in samples if s.get("kind") == "sample"]
        seconds += [float(s) for s in SAID.findall(output)]
        if not seconds:
            raise BenchError(f"{self.program.name} printed no time:\n{output.strip()}")
        return {self.program.name: statistics.median(seconds), OTHERS: watch.others()}


def two_sides(kind: type[Side], program: Path, launch: Launch) -> list[Side]:
    """The sides with and without the governor."""
    return [kind("governed", program, launch, GOVERNED), kind("off", program, launch)]


def run(part: Part) -> None:
    """Runs the section."""
    programs = {home() / "bin/examples" / name: words for name, words in EXAMPLES.items()}
    programs |= {home() / "lib/wattle/apps" / name: ["--json", *words] for name, words in APPS.items()}
    launch, raw = pinned(2), part.found["raw"]
    raw["regions"] = part.rounds("regions", two_sides(Side, part.tools.ours("regions.c"), launch))
    rows = compare(REGIONS, between(raw["regions"], 0, 1))
    for program, words in programs.items():
        name = program.name
        raw[name] = part.rounds(name, two_sides(Program, program, launch), words)
        rows += compare([Row(name, name, bar=BAR)], between(raw[name], 0, 1))
    title = "Two PEs with the governor (energy, knob record), and without"
    part.show(title, ("governed", "off"), rows, promise="The governor, recording", best=True)
