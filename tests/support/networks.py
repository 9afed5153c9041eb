"""A network of the tests: messages as simple as a formula, and a directory of a fit to them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from wattle.record import manifest
from wattle.sim import cluster as clusters
from wattle.study import kept, samples
from wattle.study.network import fit as network
from wattle.study.network import study
from wattle.study.network.fit import CASES, FIT, HELD, Case
from wattle.study.place import TWO_NODES, Place

TRUTH = {
    "latency": 21e-6,
    "bandwidth": 3.1e9,
    "message": 2.3e-6,
    "receive": 0.9e-6,
    "leaves": 0.0,
    "acknowledge": 3.2e-6,
    "record": 0.12e-6,
    "segment": 6000.0,
    "byte": 0.35e-9,
    "wake": 31e-6,
    "block": 0.7e-9,
    "copy": 0.05e-9,
}
BEGIN = {
    "latency": 8e-6,
    "bandwidth": 1.2e9,
    "message": 4e-6,
    "receive": 4e-6,
    "leaves": 4e-6,
    "acknowledge": 0.0,
    "record": 0.0,
    "segment": 0.0,
    "byte": 0.2e-9,
    "wake": 50e-6,
    "block": 1.2e-9,
    "copy": 0.15e-9,
}
OF_FIT = [case for case in CASES if case.role == FIT]


def took(values: Mapping[str, float], case: Case) -> float:
    """The time of a case by this simple model of messages."""
    n = case.bytes
    together = max(1, 8192 // max(n, 1)) if case.name in ("stream", "exchange") else 1
    one = n * values["byte"] + values["record"]
    sends, takes = (values[key] / together + one for key in ("message", "receive"))
    wire = n / values["bandwidth"]
    way = values["latency"] + wire + min(n, values["segment"]) * values["byte"] + takes
    return {
        "ping": way + values["message"] + values["acknowledge"],
        "woken": way + values["wake"],
        "meet": values["message"] + values["latency"] + values["receive"],
        "stream": max(sends, wire),
        "exchange": sends + takes,
        "get": way + values["latency"] + values["receive"],
        "compute": 3 * values["block"],
        "copy": n * values["copy"],
    }.get(case.name, way)


def times(values: Mapping[str, float], cases: list[Case]) -> dict[Case, float]:
    return {case: took(values, case) for case in cases}


def analysis(off: float) -> study.Analysis:
    """Everything that is held back simulated so much too long."""
    found = {case: took(TRUTH, case) for case in CASES}
    simulated = {case: t * (1 + (off if case.role == HELD else 0.01)) for case, t in found.items()}
    measured = network.score({case: [0.9 * t, t, 1.1 * t] for case, t in found.items()}, simulated)
    width = dict.fromkeys(TRUTH, 0.0)
    fitted = network.Fit(dict(TRUTH), width, 12)
    return study.Analysis(measured, network.numbers(fitted, clusters.read(network.BASE), "a host"), 3)


def make_directory(folder: Path, off: float = 0.1) -> Path:
    folder.mkdir()
    made, place = analysis(off), Place(TWO_NODES)
    record = manifest.start("study", ["wattle", "calibrate"], 2)
    record.exit_code, record.wall_s = 0, 1.0
    record.extra = {"study": study.facts(made, 12, place)}
    manifest.write(folder, record)
    samples.write(folder, [study.row(m) for m in made.found], study.SCHEMA)
    kept.write_results(folder / kept.RESULTS, study.results(made))
    return folder
