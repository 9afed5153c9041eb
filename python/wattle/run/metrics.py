"""The figures of a run as OpenMetrics. With repeats they are those of the repeat with the median time."""

from __future__ import annotations

from collections.abc import Iterator

from wattle.figures.carbon import JOULES_PER_KWH
from wattle.record.pe import NO_CORE, PE, STATES
from wattle.record.profile import RunProfile
from wattle.record.runs import Run
from wattle.text.openmetrics import Labels, Metric, Sample, labels_of, value
from wattle.text.provenance import Joules

HALF_WIDTH = "Half-width of the range of about 95 % confidence."


def metrics(run: Run) -> list[Metric]:
    """All metrics of a run."""
    record, profile = run.manifest, run.middle.profile
    name = {"run": run.directory.name}
    found = [
        Metric("run_exit_code", "", "Exit code of the program.", value(name, record.exit_code)),
        Metric("run_duration", "seconds", "Time from start to end of the job.", value(name, record.wall_s)),
    ]
    if profile is None:
        return found
    nodes, pes = list(_nodes(name, profile)), list(_pes(name, profile))
    found += [
        Metric(
            "run_pes", "", "PEs of the job.", value(name, profile.n_pes if record.knows_n_pes or profile.pes else None)
        ),
        Metric("node_energy", "joules", "Energy of a node during the run.", _joules(nodes)),
        Metric("node_energy_half_width", "joules", HALF_WIDTH, _half_widths(nodes)),
        Metric("pe_energy", "joules", "Energy that a PE caused beyond idle.", _joules(pes)),
        Metric("pe_energy_half_width", "joules", HALF_WIDTH, _half_widths(pes)),
        Metric("pe_state", "seconds", "Time of a PE in each state.", list(_states(name, profile))),
    ]
    grams = record.extra.get("carbon_g_per_kwh")
    if grams is not None:
        emitted = [({**labels, "provenance": "modelled"}, j / JOULES_PER_KWH * grams) for labels, j in _joules(nodes)]
        found.append(Metric("node_co2", "grams", f"CO2 at {grams:g} g/kWh, as given.", emitted))
    return found


def figures(run: Run) -> Iterator[tuple[str, str, int | None, Joules]]:
    """Host, part, PE and joules of each figure of a run. The part `node` has all joules of a node."""
    profile = run.middle.profile
    if profile is None:
        return
    for labels, figure in _nodes({}, profile):
        yield labels["host"], "node" if labels["part"] == "all" else labels["part"], None, figure
    for pe in profile.pes:
        for figure in pe.joules:
            yield pe.host, "pe", pe.pe, figure


def _nodes(run: Labels, profile: RunProfile) -> Iterator[tuple[Labels, Joules]]:
    for node in profile.nodes:
        for domain in profile.node_domains:
            parts = {"all": node.joules(domain), "idle": node.idle(domain), "others": node.others(domain)}
            for part, figure in parts.items():
                if figure is not None:
                    yield {**run, "host": node.host, "part": part}, figure


def _pes(run: Labels, profile: RunProfile) -> Iterator[tuple[Labels, Joules]]:
    for pe in profile.pes:
        for figure in pe.joules:
            yield _of_pe(run, pe), figure


def _joules(figures: list[tuple[Labels, Joules]]) -> list[Sample]:
    return [s for labels, f in figures for s in value({**labels, **labels_of(f)}, f.joules)]


def _half_widths(figures: list[tuple[Labels, Joules]]) -> list[Sample]:
    return [s for labels, f in figures for s in value({**labels, **labels_of(f)}, f.uncertainty)]


def _states(run: Labels, profile: RunProfile) -> Iterator[Sample]:
    for pe in profile.pes:
        for state in (*STATES, NO_CORE):
            yield from value({**_of_pe(run, pe), "state": state}, pe.state_s[state])


def _of_pe(run: Labels, pe: PE) -> Labels:
    return {**run, "host": pe.host, "pe": str(pe.pe)}
