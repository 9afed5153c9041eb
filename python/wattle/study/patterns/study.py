"""The study of data-access patterns: five ways of writing the same bytes to another PE, and the savings between
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl

from wattle import console, manifest, paths, units
from wattle.checked import Checked
from wattle.errors import DamagedFile, WattleError
from wattle.manifest import Manifest
from wattle.provenance import Joules, read_joules
from wattle.study import kept, measuring, program, published, samples
from wattle.study.course import Course, Gathered
from wattle.study.patterns.analysis import PAYLOAD_PATTERN, Analysis, configurations, savings_table
from wattle.study.patterns.judges import ROWS
from wattle.study.patterns.plan import SIMULATED_ARGUMENTS, Plan
from wattle.study.patterns.samples import PATTERNS, SCHEMA, row
from wattle.study.place import of_study

NAME = "patterns"
TITLE = "Data-access patterns of one-sided writes"
QUESTION = "What do five ways of writing the same bytes to another PE cost, and what does a change between them save?"
RESULTS_SCHEMA = 1


def run(plan: Plan, directory: Path, command: list[str]) -> Manifest:
    """Runs the sweep and writes samples.parquet, results.json and manifest.json into the directory."""
    record = kept.begin(command, plan.place.pes, plan.place.simulated)
    course = Course(directory, record, SCHEMA, _planned(plan), lambda gathered: _told(plan, gathered))
    course.run(lambda gathered: _gather(plan, gathered), Gathered())
    kept.write_results(directory / kept.RESULTS, judged(directory, record))
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
    common = ["--repeat", str(plan.repeats), "--min-time", f"{plan.min_time_s:g}", *measuring.interval()]
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
    """The settings of the study and its findings so far."""
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
    """Reads a study directory's samples. Raises DamagedFile with the reason for a damaged file."""
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
    found = Analysis(frame, floor, of_study(study))
    found.networks = samples.of_networks(directory, SCHEMA)
    return found


def read_results(directory: Path) -> Checked:
    """Reads DIR/results.json and checks that it belongs to this study."""
    return kept.read_results(directory / kept.RESULTS, RESULTS_SCHEMA, NAME)


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


def judged(directory: Path, record: Manifest) -> dict[str, Any]:
    """The results of a study directory."""
    return results(load(directory, record))
