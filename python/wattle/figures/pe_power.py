"""Mean and peak power of each PE and node of a run, in W.

The mean is the joules divided by the time that their source covers. A peak needs a timeline. It is the highest mean
over PEAK_S. The PE's joules are distributed over its time by the watts of each state, so its peak is always modelled.
The peak of a node without a sensor is that of its PEs together, plus its idle draw. With a sensor it is the highest
reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from wattle.base import limits
from wattle.base.documents import fields, plain
from wattle.base.errors import WattleError
from wattle.record import power_trace
from wattle.record.by_node import Node
from wattle.record.manifest import Manifest
from wattle.record.pe import PE, find
from wattle.record.power_trace import PowerTrace
from wattle.record.profile import RunProfile, folder_of
from wattle.text.provenance import Joules, Provenance, in_joules, unavailable

if TYPE_CHECKING:
    from wattle.figures.courses import Courses

PEAK_S = 0.1
STATES = ("active", "spin", "yield", "asleep")


@dataclass(frozen=True)
class Watts:
    """Power in W with the half-width of its range of about 95 % confidence. Both are None where it is not known."""

    watts: float | None
    uncertainty: float | None
    provenance: Provenance
    source: str = ""
    scope: str = ""

    def __str__(self) -> str:
        """`1.3 ± 0.5 W`, or a dash where it is not known."""
        if self.watts is None:
            return "–"
        return in_joules(self.watts, self.uncertainty).replace("J", "W")

    def as_dict(self) -> dict[str, object]:
        return fields(self, "watts uncertainty provenance source scope")


@dataclass(frozen=True)
class Power:
    """Mean and peak power of a PE or node in one domain."""

    domain: str
    mean: Watts
    peak: Watts

    def as_dict(self) -> dict[str, object]:
        return fields(self, "domain mean peak")


def mean(figure: Joules) -> Watts:
    """The mean power over the time that the source covers."""
    if figure.joules is None or not figure.covered_s:
        return watts_of(unavailable(figure.domain, figure.source, figure.scope), None)
    return watts_of(figure, figure.joules / figure.covered_s)


def watts_of(figure: Joules, watts: float | None) -> Watts:
    """Watts of the same source as the joules, with the same relative half-width."""
    relative = figure.uncertainty / figure.joules if figure.joules and figure.uncertainty is not None else None
    half = None if watts is None or relative is None else abs(watts * relative)
    provenance = figure.provenance if watts is not None else Provenance.UNAVAILABLE
    return Watts(watts, half, provenance, figure.source, figure.scope)


def of_pe(pe: PE, courses: Courses | None) -> list[Power]:
    """The power of a PE by domain, with the peak of its processors' where a timeline shows it."""
    return [Power(figure.domain, mean(figure), _peak(pe, figure, courses)) for figure in pe.joules]


def of_node(node: Node, courses: Courses | None, folder: Path) -> list[Power]:
    """The power of a node by domain, with idle. `folder`: of a sensor's readings. Raises DamagedFile."""
    readings = {one.scope: one for one in power_trace.of_reader(folder, node.reader.pe)} if node.reader else {}
    return [Power(d, mean(node.joules(d)), _peak_of_node(node, d, courses, readings)) for d in node.domains]


def _peak_of_node(node: Node, domain: str, courses: Courses | None, readings: Mapping[str, PowerTrace]) -> Watts:
    whole, idle = node.joules(domain), mean(node.idle(domain))
    if domain in readings and readings[domain].watts:
        found = readings[domain]
        return Watts(max(found.watts), None, Provenance.MEASURED, found.source, whole.scope)
    shares = {pe.pe: share.joules for pe in node.pes if (share := find(pe.joules, domain)).joules is not None}
    if courses is None or not set(shares) == set(node.numbers) <= set(courses.pes):
        return watts_of(unavailable(domain, whole.source, whole.scope), None)
    if idle.watts is None or whole.provenance is not Provenance.MODELLED or not of_processors(whole):
        return watts_of(unavailable(domain, whole.source, whole.scope), None)
    return watts_of(whole, idle.watts + courses.peak_of_sum(shares, PEAK_S))


def _peak(pe: PE, figure: Joules, courses: Courses | None) -> Watts:
    """The states of a PE say nothing of memory or accelerators, so those have no peak."""
    if figure.joules is None or courses is None or pe.pe not in courses.pes or not of_processors(figure):
        return watts_of(unavailable(figure.domain, figure.source, figure.scope), None)
    return watts_of(replace(figure, provenance=Provenance.MODELLED), figure.joules * courses.peak(pe.pe, PEAK_S))


def of_processors(figure: Joules) -> bool:
    """Whether a figure follows the states of a PE: it is not one of memory or of an accelerator."""
    return figure.scope not in ("dram", "device") and not figure.domain.startswith("dram")


def courses_of(profile: RunProfile, manifest: Manifest) -> Courses | None:
    """The courses of the PEs' joules, by the watts of each state at the first clock of the machine profile. None
    without a timeline, without a machine profile, and where the timeline cannot be read.
    """
    folder = folder_of(profile.directory)
    numbers = {str(row.get("key")): row.get("value") for row in manifest.extra.get("machine_numbers") or []}
    found = {state: numbers.get(f"clocks[0].{state}") for state in STATES}
    by_state = {k: v for k, v in found.items() if isinstance(v, int | float) and 0 <= v <= limits.NUMBER}
    if len(by_state) < len(STATES) or not by_state["active"] or not any(folder.glob("timeline-*.bin")):
        return None
    try:
        from wattle.figures.courses import Courses  # needs numpy, which is not there without an extra

        same = len({pe.boot_id for pe in profile.pes}) <= 1
        return Courses(folder, by_state, same)
    except (ImportError, WattleError):
        return None


def as_dict(profile: RunProfile, manifest: Manifest) -> dict[str, object]:
    """The power of PEs and nodes for JSON."""
    courses, folder = courses_of(profile, manifest), folder_of(profile.directory)
    return {
        "peak_over_s": PEAK_S,
        "pes": [{"pe": pe.pe, "host": pe.host, "power": plain(of_pe(pe, courses))} for pe in profile.pes],
        "nodes": [{"host": node.host, "power": plain(of_node(node, courses, folder))} for node in profile.nodes],
    }
