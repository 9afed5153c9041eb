"""Writes the figures of a run as a text file in the OpenMetrics format.

The file is also valid for the textfile collector of Prometheus' node_exporter. Each metric is a gauge of one finished
run. An unavailable figure is left out, because a metric has no word for it. Labels name provenance, source and scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from wattle import files
from wattle.carbon import JOULES_PER_KWH
from wattle.pe import PE, STATES
from wattle.profile import RunProfile
from wattle.provenance import Joules
from wattle.run.summary import node_domains
from wattle.runs import Run

Labels = dict[str, str]
Sample = tuple[Labels, float]


def write(path: Path, run: Run) -> None:
    """Replaces the file at once, so that a collector never reads a part of it. Raises WattleError where it cannot."""
    files.write_atomically(path, text(run))


def text(run: Run) -> str:
    """The metrics of a run. With repeats they are those of the repeat with the median time."""
    lines: list[str] = []
    for name, unit, about, samples in _metrics(run):
        found = list(samples)
        if found:
            full = f"wattle_{name}" + (f"_{unit}" if unit else "")
            lines += [f"# HELP {full} {about}", f"# TYPE {full} gauge"] + ([f"# UNIT {full} {unit}"] if unit else [])
            lines += [f"{full}{_labels(labels)} {value!r}" for labels, value in found]
    return "\n".join([*lines, "# EOF", ""])


def _metrics(run: Run) -> Iterator[tuple[str, str, str, Iterable[Sample]]]:
    record, profile = run.manifest, run.middle.profile
    name = {"run": run.directory.name}
    ended = [(name, float(record.exit_code))] if record.exit_code is not None else []
    yield "run_exit_code", "", "Exit code of the program.", ended
    took = [(name, float(record.wall_s))] if record.wall_s is not None else []
    yield "run_duration", "seconds", "Time from start to end of the job.", took
    if profile is None:
        return
    yield "run_pes", "", "PEs of the job.", [(name, float(profile.n_pes))]
    yield "node_energy", "joules", "Energy of a node during the run.", _nodes(name, profile, half_width=False)
    yield (
        "node_energy_half_width",
        "joules",
        "Half-width of the range of about 95 % confidence.",
        _nodes(name, profile, half_width=True),
    )
    yield "pe_energy", "joules", "Energy that a PE caused beyond idle.", _pes(name, profile, half_width=False)
    yield (
        "pe_energy_half_width",
        "joules",
        "Half-width of the range of about 95 % confidence.",
        _pes(name, profile, half_width=True),
    )
    yield "pe_state", "seconds", "Time of a PE in each state.", _states(name, profile)
    grams = record.extra.get("carbon_g_per_kwh")
    if grams is not None:
        kwh = [(labels, joules / JOULES_PER_KWH) for labels, joules in _nodes(name, profile, half_width=False)]
        emitted = [({**labels, "provenance": "modelled"}, value * grams) for labels, value in kwh]
        yield "node_co2", "grams", f"CO2 at {grams:g} g/kWh, as given.", emitted


def _nodes(run: Labels, profile: RunProfile, half_width: bool) -> Iterator[Sample]:
    for node in profile.nodes:
        for domain in node_domains(profile):
            labels = {**run, "host": node.host}
            for part, figure in (("all", node.joules(domain)), ("idle", node.idle(domain))):
                yield from _figure({**labels, "part": part}, figure, half_width)


def _pes(run: Labels, profile: RunProfile, half_width: bool) -> Iterator[Sample]:
    for pe in profile.pes:
        for figure in pe.joules:
            yield from _figure(_of_pe(run, pe), figure, half_width)


def _figure(labels: Labels, figure: Joules, half_width: bool) -> Iterator[Sample]:
    value = figure.uncertainty if half_width else figure.joules
    if figure.known and value is not None:
        about = {"provenance": str(figure.provenance), "source": figure.source, "scope": figure.scope}
        yield {**labels, "domain": figure.domain, **about}, float(value)


def _states(run: Labels, profile: RunProfile) -> Iterator[Sample]:
    for pe in profile.pes:
        for state in STATES:
            value = pe.state_s[state]
            if value is not None:
                yield {**_of_pe(run, pe), "state": state}, float(value)


def _of_pe(run: Labels, pe: PE) -> Labels:
    return {**run, "host": pe.host, "pe": str(pe.pe)}


def _labels(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
