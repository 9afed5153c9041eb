"""The study of a fitted network: times of programs and sizes outside the fit, on the nodes and in simulation.

`wattle calibrate --network` runs it.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

from wattle.base import files
from wattle.base.checked import Checked
from wattle.base.errors import DamagedFile, WattleError
from wattle.machine import paths
from wattle.record import manifest
from wattle.record.manifest import Manifest
from wattle.sim.cluster import Number
from wattle.study import kept, samples
from wattle.study.network import fit as network
from wattle.study.network.fit import FIT, HELD, Measured
from wattle.study.place import TWO_NODES, Place
from wattle.text import console

NAME = "network"
TITLE = "A network of this machine, in simulation"
QUESTION = "How near is the simulation to two nodes here, with numbers fitted to other programs and sizes?"
RESULTS_SCHEMA = 1
BAR = 0.15  # largest median error that the simulation should have on the times held back

SCHEMA: dict[str, Any] = {
    "role": pl.String,
    "program": pl.String,
    "what": pl.String,
    "bytes": pl.Int64,
    "real_s": pl.Float64,
    "real_p25_s": pl.Float64,
    "real_p75_s": pl.Float64,
    "simulated_s": pl.Float64,
}


@dataclass(frozen=True)
class Analysis:
    """The fitted numbers and their errors."""

    found: list[Measured]
    numbers: dict[str, Number]
    runs: int  # runs of each program on the nodes

    def of(self, role: str) -> list[Measured]:
        return [m for m in self.found if m.case.role == role]

    def error(self, role: str) -> float:
        """The median of the absolute errors."""
        return median(abs(m.error) for m in self.of(role))

    def programs(self) -> dict[str, tuple[int, float]]:
        """The times held back by program: their number and median error."""
        held = self.of(HELD)
        names = dict.fromkeys(m.case.program for m in held)
        errors = {name: [abs(m.error) for m in held if m.case.program == name] for name in names}
        return {name: (len(found), median(found)) for name, found in errors.items()}


def run(file: Path, directory: Path, command: list[str]) -> tuple[Manifest, Analysis]:
    """Measures, fits, writes the network to `file`, scores it, and writes the results into the directory."""
    home = paths.find_home()
    place = Place(TWO_NODES)
    record = kept.begin(command, 2)
    started = time.monotonic()
    jobs = network.jobs()
    with (
        console.progress("calibrate", network.TIMES * len(jobs) + 1 + len(jobs)) as steps,
        tempfile.TemporaryDirectory() as scratch,
    ):

        def advance(now: str) -> None:
            steps.advance(now=now)

        with place.open() as start:
            real = network.measure(home, start, advance)
        simulator = network.simulator(home, Path(scratch))
        middle = {case: median(times) for case, times in real.items()}
        advance("fitting")
        of_fit = {case: middle[case] for case in jobs[0].cases}
        base = simulator.base.cluster
        begin = {key: base.value(key) for key in (*network.FITTED, *network.ALONE)}
        fitted = network.fit(lambda values: simulator.run(jobs[0], values), of_fit, begin)
        simulated: dict[network.Case, float] = {}
        for job in jobs:
            advance(f"{job.program} in simulation")
            simulated |= simulator.run(job, fitted.values)
    found = network.score(real, simulated)
    where = f"{record.host.get('name')}, {record.host.get('cpu')}, kernel {record.host.get('kernel')}, {record.started}"
    analysis = Analysis(found, network.numbers(fitted, base, where), network.TIMES)
    _write(
        file, network.text(fitted, f"Two nodes of one machine, {record.host.get('name')}", where, analysis.error(FIT))
    )
    samples.write(directory, [row(m) for m in found], SCHEMA)
    record.wall_s, record.exit_code = time.monotonic() - started, 0
    record.extra = {"study": facts(analysis, fitted.evaluations, place)}
    manifest.write(directory, record)
    kept.write_results(directory / kept.RESULTS, results(analysis))
    return record, analysis


def _write(file: Path, text: str) -> None:
    try:
        files.write_atomically(file, text)
    except OSError as error:
        raise WattleError(f"{file}: cannot be written: {error.strerror}") from None


def row(m: Measured) -> dict[str, Any]:
    case = {"role": m.case.role, "program": m.case.program, "what": m.case.name, "bytes": m.case.bytes}
    return case | {
        "real_s": m.real_s,
        "real_p25_s": m.quarter_s,
        "real_p75_s": m.three_quarters_s,
        "simulated_s": m.simulated_s,
    }


def facts(a: Analysis, evaluations: int, place: Place) -> dict[str, Any]:
    return {
        "name": NAME,
        "on": place.name,
        "place": place.as_dict(),
        "runs": a.runs,
        "evaluations": evaluations,
        "numbers": {key: vars(number) for key, number in a.numbers.items()},
        "samples": len(a.found),
        "samples_planned": len(network.CASES),
    }


# ---- reading back ----


def load(directory: Path, record: Manifest) -> Analysis:
    study = manifest.study(directory, record)
    kept.check_finished(directory, record, study)
    frame = samples.read(directory, SCHEMA)
    path = directory / samples.FILE
    if frame.filter(~pl.col("role").is_in((FIT, HELD)) | (pl.col("real_s") <= 0) | (pl.col("simulated_s") <= 0)).height:
        raise DamagedFile(
            path, "holds a time that is not positive, or that belongs neither to the fit nor to the times held back"
        )
    if frame.null_count().sum_horizontal()[0] or set(frame["role"]) != {FIT, HELD}:
        raise DamagedFile(path, "lacks times")
    found = [
        Measured(
            network.Case(row["role"], row["program"], row["what"], row["bytes"]),
            row["real_s"],
            row["real_p25_s"],
            row["real_p75_s"],
            row["simulated_s"],
        )
        for row in frame.iter_rows(named=True)
    ]
    numbers = study.get("numbers")
    return Analysis(found, {key: _number(numbers.get(key)) for key in numbers.object()}, study.integer("runs", lo=1))


def _number(entry: Checked) -> Number:
    value, width = entry.number("value"), entry.number("plus_minus")
    if value is None or width is None:
        raise entry.wrong("expected a value and the half-width of its range")
    return Number(value, width, *(entry.text(key) for key in ("unit", "tag", "source", "how")))


def results(a: Analysis) -> dict[str, Any]:
    return {
        "schema": RESULTS_SCHEMA,
        "study": NAME,
        "median_error": {role: a.error(role) for role in (FIT, HELD)},
        "bar": BAR,
        "programs": {name: {"times": n, "median_error": error} for name, (n, error) in a.programs().items()},
        "times": [{**row(m), "error": m.error} for m in a.found],
    }
