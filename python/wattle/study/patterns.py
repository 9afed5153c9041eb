"""The study of data-access patterns: five ways of writing the same bytes to another PE, and what changing one into
another saves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from wattle import console, manifest, paths, units
from wattle.checked import Checked
from wattle.errors import DamagedFile, WattleError
from wattle.manifest import Manifest
from wattle.provenance import Joules, read_joules
from wattle.study import kept, program, published, samples
from wattle.study.course import Course, Gathered
from wattle.study.patterns_analysis import PAPER_PAYLOAD, PAYLOAD_PATTERN, Analysis, configurations, savings_table
from wattle.study.patterns_published import ROWS
from wattle.study.patterns_samples import PATTERNS, SCHEMA, row
from wattle.study.place import Place, of_study
from wattle.study.registry import Study

NAME = "patterns"
RESULTS = "results.json"
RESULTS_SCHEMA = 1
MOST_FRAGMENTS = 131072
LARGEST_PAYLOAD = 64 << 20

QUICK_REPEATS, QUICK_MIN_TIME_S = 7, 0.03
FULL_REPEATS, FULL_MIN_TIME_S = 15, 0.2

# Between nodes a blocking put takes a round trip, so many of them take seconds: fewer iterations of them say as much,
# and a quick sweep leaves out what would take it minutes.
ACROSS_ITERATIONS = 3
QUICK_ACROSS_ITERATIONS = 2
QUICK_ACROSS_MOST_FRAGMENTS = 8192
QUICK_ACROSS_MOST_PAYLOAD_FRAGMENTS = 1024

# In simulation nothing disturbs an iteration, so one says as much as many; repeats differ by what the patterns before
# them left in flight. Six are the least for a statement of 95 %.
SIMULATED_REPEATS, SIMULATED_MIN_TIME_S = 6, 0.0
SIMULATED_ITERATIONS = 1
QUICK_SIMULATED_MOST_FRAGMENTS = 1024
SIMULATED_ARGUMENTS = ["--no-pin", "--clear", "none"]  # there are no caches


@dataclass(frozen=True)
class Plan:
    """What to run. `payloads`: of the fourth transformation, the main one among them."""

    payload: int = PAPER_PAYLOAD
    payloads: list[int] = field(default_factory=list)
    repeats: int = FULL_REPEATS
    min_time_s: float = FULL_MIN_TIME_S
    quick: bool = False
    place: Place = field(default_factory=Place)

    @property
    def fragments(self) -> list[int]:
        most = QUICK_ACROSS_MOST_FRAGMENTS if self.quick and self.place.across else MOST_FRAGMENTS
        if self.quick and self.place.simulated:
            most = QUICK_SIMULATED_MOST_FRAGMENTS
        return [n for n in _powers_dividing(self.payload) if n <= most]

    @property
    def payload_fragments(self) -> list[int]:
        """Counts that every payload can be cut into."""
        common = set(self.fragments)
        for payload in self.payloads:
            common &= set(_powers_dividing(payload))
        most = QUICK_ACROSS_MOST_PAYLOAD_FRAGMENTS if self.quick and self.place.across else MOST_FRAGMENTS
        return sorted(n for n in common if n <= most)

    @property
    def min_iterations(self) -> int | None:
        """Least iterations of a measurement; None leaves it to the benchmark."""
        if not self.place.across:
            return None
        if self.place.simulated:
            return SIMULATED_ITERATIONS
        return QUICK_ACROSS_ITERATIONS if self.quick else ACROSS_ITERATIONS


def make_plan(
    payload: int | None, repeats: int | None, min_time_s: float | None, quick: bool, place: Place | None = None
) -> Plan:
    """The plan with its defaults: the quick one finishes within a minute, the full one is the paper's sweep."""
    payload = PAPER_PAYLOAD if payload is None else payload
    if not 1 <= payload <= LARGEST_PAYLOAD:
        raise WattleError(f"--payload {payload}: allowed are 1 byte to {units.size(LARGEST_PAYLOAD)}")
    if repeats is not None and not 1 <= repeats <= 1000:
        raise WattleError(f"--repeat {repeats}: allowed are 1 to 1000")
    if min_time_s is not None and not 0 <= min_time_s <= 60:
        raise WattleError(f"--min-time {min_time_s}: allowed are 0 to 60 seconds")
    factors = (1, 0.5) if quick else (2, 1, 0.5, 0.25)
    payloads = [int(payload * f) for f in factors if payload * f >= 1 and payload * f == int(payload * f)]
    default_repeats = QUICK_REPEATS if quick else FULL_REPEATS
    default_time_s = QUICK_MIN_TIME_S if quick else FULL_MIN_TIME_S
    if place and place.simulated:
        default_repeats, default_time_s = SIMULATED_REPEATS, SIMULATED_MIN_TIME_S
    return Plan(
        payload,
        [p for p in payloads if p <= LARGEST_PAYLOAD],
        default_repeats if repeats is None else repeats,
        default_time_s if min_time_s is None else min_time_s,
        quick,
        place or Place(),
    )


def _powers_dividing(payload: int) -> list[int]:
    return [1 << k for k in range(MOST_FRAGMENTS.bit_length()) if payload % (1 << k) == 0]


# ---- running ----


def run(plan: Plan, directory: Path, command: list[str]) -> Manifest:
    """Runs the sweep and writes samples.parquet, results.json and manifest.json into the directory (course.py)."""
    record = kept.begin(command, plan.place.pes, plan.place.simulated)
    course = Course(directory, record, SCHEMA, _planned(plan), lambda gathered: _told(plan, gathered))
    course.run(lambda gathered: _gather(plan, gathered), Gathered())
    write_results(directory, load(directory, record))
    return record


def _gather(plan: Plan, gathered: Gathered) -> None:
    home = paths.find_home()
    bench = program.find_simulated(home, NAME) if plan.place.simulated else program.find(home, NAME)
    with console.progress("patterns", _planned(plan)) as steps, plan.place.open() as start:
        for series, _, arguments in _sweeps(plan):
            with closing(program.run(home, bench, arguments, plan.place.pes, start)) as lines:
                for line in lines:
                    if gathered.take(line, lambda line, series=series: row(line, series)):
                        steps.advance(
                            now=f"{line['pattern']} {line['fragments']} x {units.size(line['fragment_bytes'])}"
                        )
    if not gathered.rows:
        raise WattleError(f"{bench.name} ended without a sample")


def _planned(plan: Plan) -> int:
    return sum(total for _, total, _ in _sweeps(plan))


def _sweeps(plan: Plan) -> Iterator[tuple[str, int, list[str]]]:
    """(series, number of samples, arguments of the benchmark)."""
    common = ["--repeat", str(plan.repeats), "--min-time", f"{plan.min_time_s:g}"]
    if plan.min_iterations is not None:
        common += ["--min-iterations", str(plan.min_iterations)]
    if plan.place.simulated:
        common += SIMULATED_ARGUMENTS
    counts = plan.fragments
    arguments = ["--payload", str(plan.payload), "--fragments", _list(counts)]
    yield "patterns", 5 * len(counts) * plan.repeats, [*arguments, *common]
    counts = plan.payload_fragments
    if len(plan.payloads) > 1 and counts:
        arguments = ["--patterns", PAYLOAD_PATTERN, "--payload", _list(plan.payloads), "--fragments", _list(counts)]
        yield "payloads", len(plan.payloads) * len(counts) * plan.repeats, [*arguments, *common]


def _list(values: list[int]) -> str:
    return ",".join(map(str, values))


def _told(plan: Plan, gathered: Gathered) -> dict[str, Any]:
    """How the study is run, and what is known of it so far."""
    setup = gathered.setup
    return {
        "study": {
            "name": NAME,
            "on": plan.place.name,
            "place": plan.place.as_dict(),
            "quick": plan.quick,
            "payload": plan.payload,
            "payloads": plan.payloads,
            "fragments": plan.fragments,
            "repeats": plan.repeats,
            "min_time_s": plan.min_time_s,
            "min_iterations": plan.min_iterations,
            "clear": setup.get("clear"),
            "pinned": setup.get("pinned"),
            "gap": setup.get("gap"),
            "floor": gathered.floor,
        }
    }


# ---- reading back ----


def load(directory: Path, record: Manifest) -> Analysis:
    """Reads a study directory's samples. A damaged one is an error that names the file and what is wrong."""
    study = manifest.study(directory, record)
    kept.check_finished(directory, record, study)
    floor: list[Joules] = [read_joules(entry) for entry in study.items("floor")]
    frame = samples.read(directory, SCHEMA)
    path = directory / samples.FILE
    if frame.filter(pl.col("series") == "patterns").is_empty():
        raise DamagedFile(path, "holds no sample of the five patterns")
    if frame.filter((pl.col("payload") < 1) | (pl.col("fragments") < 1) | ~pl.col("pattern").is_in(PATTERNS)).height:
        raise DamagedFile(path, "holds a sample of no pattern, of no payload or of no fragments")
    if frame.select(pl.col("payload", "fragments", "pattern", "repeat", "latency_s").null_count()).sum_horizontal()[0]:
        raise DamagedFile(path, "holds a sample without its pattern, payload, fragments, repeat or latency")
    return Analysis(frame, floor, of_study(study))


def write_results(directory: Path, analysis: Analysis) -> Path:
    """DIR/results.json: every configuration, every saving, every published row, for other programs to read."""
    return kept.write_results(directory / RESULTS, results(analysis))


def read_results(directory: Path) -> Checked:
    """DIR/results.json, checked to be this study's."""
    return kept.read_results(directory / RESULTS, RESULTS_SCHEMA, NAME)


def results(analysis: Analysis) -> dict[str, Any]:
    rows = published.judge(ROWS, analysis)
    return {
        "schema": RESULTS_SCHEMA,
        "study": NAME,
        "place": analysis.place.as_dict(),
        "payload": analysis.payload,
        "repeats": analysis.repeats,
        "verified": analysis.wrong_samples == 0,
        "provenance": {domain: analysis.provenance(domain) for domain in ("cpu", "dram")},
        **published.table(rows),
        "configurations": configurations(analysis),
        "savings": savings_table(analysis),
    }


STUDY = Study(
    NAME,
    "Data-access patterns of one-sided writes",
    "What do five ways of writing the same bytes to another PE cost, and what does changing one into another save?",
    load,
    "wattle.report.patterns",
)
