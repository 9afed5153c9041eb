"""Fits a machine profile to a meter: turns the measurements of `wattle-calibrate watts` into the numbers of
machines/*.yaml.

The watts of a core in a state are the node's watts with all cores in that state, less the idle watts, divided by the
number of cores. Half-widths have two parts. The meter's own half-widths of both measurements are added, because
their errors are correlated. The spread of the parts of each measurement is added to them. Idle is measured twice,
and its half-width includes the difference. Numbers without a sensor, such as memory's on many machines, stay
assumed.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, replace
from typing import Any

from wattle.base.checked import Checked
from wattle.base.errors import WattleError
from wattle.machine.processor import match_line
from wattle.record.pe import STATES

NEAR_GHZ = 1e-3
T95 = {2: 12.71, 3: 4.30, 4: 3.18}  # two-sided 95 % quantiles of Student's t, by the number of values
CONTAINS = {
    "": "",
    "memory": "; its sensor includes the memory",
    "node": "; its sensor includes the whole node: memory, fans and all other parts",
}
TITLES = {"": "", "memory": ", with its memory", "node": ", the whole node"}  # so that each table says it
BUSY_FROM = 0.1  # cores: with more CPU time of other work than this, the figures may be wrong


@dataclass(frozen=True)
class Number:
    """One number of a profile with its half-width."""

    value: float
    plus_minus: float
    unit: str
    how: str
    tag: str = "derived"


@dataclass(frozen=True)
class Row:
    """The power while all cores did one kind of work."""

    state: str
    ghz: float | None
    seconds: float
    cpu_w: Number | None
    dram_w: Number | None
    bytes_per_s: float


@dataclass(frozen=True)
class Fit:
    """A fitted profile. `clocks` maps GHz to the watts of the four states; `base` is one of its keys. `left_out`:
    clocks at which a state could not be measured. `others_cores`: CPU time of other work meanwhile, in cores.
    `contains`: the further part in the CPU's watts, "memory" or "node"; empty where there is none. `idle_at_end`:
    idle was also measured at the end. `where`: of a meter outside the machine, as "at the wall socket".
    """

    meter: str
    cores: int
    sockets: int
    idle_cpu: Number
    idle_dram: Number
    per_byte: Number
    clocks: dict[float, dict[str, Number]]
    base: float
    left_out: tuple[float, ...] = ()
    others_cores: float | None = None
    contains: str = ""
    idle_at_end: bool = True
    where: str = ""

    @property
    def doubts(self) -> list[str]:
        """Remarks on the quality of the measurement."""
        found = []
        if self.contains:
            found.append(
                f"the CPU's watts include those of the {self.contains}, so idle memory has no watts of its own"
            )
        if not self.idle_at_end:
            found.append("idle was measured at the beginning only, so no half-width covers later changes")
        if self.left_out:
            clocks = ", ".join(f"{clock:g}" for clock in self.left_out)
            found.append(f"left out, because some states could not be measured there: {clocks} GHz")
        if self.others_cores is not None and self.others_cores >= BUSY_FROM:
            found.append(
                f"{self.others_cores:.1f} cores' worth of other work ran meanwhile, and these figures "
                "include its watts: measure again when the machine is quiet"
            )
        return found


def seen_ghz(document: Checked) -> float | None:
    """The clock of the cores while they computed, in GHz, where none was set."""
    return next((r.number("seen_ghz") for r in document.items("rows") if r.text("state") == "active"), None)


def _row(entry: Checked) -> Row:
    seconds = entry.number("seconds") or math.nan
    return Row(
        entry.choice("state", ("idle", *STATES, "spin", "stream")),
        entry.number("ghz"),
        seconds,
        _watts(entry, "cpu", seconds),
        _watts(entry, "dram", seconds),
        (entry.number("bytes") or 0.0) / seconds,
    )


def _watts(entry: Checked, what: str, seconds: float) -> Number | None:
    joules, doubt = entry.number(f"{what}_joules", lo=None), entry.number(f"{what}_uncertainty")
    if joules is None or doubt is None or not seconds > 0:
        return None
    return Number(joules / seconds, doubt / seconds + _scatter(entry, what), "W", "")


def _scatter(entry: Checked, what: str) -> float:
    """The half-width of the mean, from the differences between the parts; 0 for a single part."""
    parts = [(part.number(f"{what}_joules", lo=None), part.number("seconds")) for part in entry.items("parts")]
    watts = [joules / seconds for joules, seconds in parts if joules is not None and seconds]
    if len(watts) < 2:
        return 0.0
    return T95[min(len(watts), max(T95))] * statistics.stdev(watts) / math.sqrt(len(watts))


def _idle(rows: list[Row]) -> Row | None:
    """The mean of the idle power at the beginning and at the end. Its half-width includes their difference."""
    found = [r for r in rows if r.state == "idle" and r.cpu_w is not None]
    if len(found) < 2:
        return found[0] if found else None
    first, last = found[0], found[-1]
    return replace(first, cpu_w=_mean(first.cpu_w, last.cpu_w), dram_w=_mean(first.dram_w, last.dram_w))


def _mean(first: Number | None, last: Number | None) -> Number | None:
    if first is None or last is None:
        return first or last
    doubt = max(first.plus_minus, last.plus_minus) + abs(first.value - last.value)
    return replace(first, value=(first.value + last.value) / 2, plus_minus=doubt)


def fit(document: Checked, sockets: int, ghz: float | None) -> Fit:
    """Fits a profile. `ghz`: the clock, if the tool set none. Raises WattleError if too little was measured."""
    rows = [_row(entry) for entry in document.items("rows")]
    cores, meter = document.integer("cores", lo=1), document.text("meter")
    contains = document.choice("contains", tuple(CONTAINS))
    idle = _idle(rows)
    if idle is None or idle.cpu_w is None:
        raise WattleError(f"{meter}: the idle node's watts could not be read; nothing can be fitted")
    how = f"measured with {meter}: {{}} on {cores} cores, less idle{CONTAINS[contains]}"
    clocks: dict[float, dict[str, Number]] = {}
    for row in rows:
        clock = row.ghz if row.ghz is not None else ghz
        if row.state in STATES and row.cpu_w is not None and clock is not None:
            clocks.setdefault(round(clock, 6), {})[row.state] = _per_core(row, idle.cpu_w, cores, how)
    clocks = {clock: by_state for clock, by_state in sorted(clocks.items()) if set(by_state) == set(STATES)}
    asked = document.number("base_ghz")
    base = max(clocks, default=ghz) if asked is None else asked
    if base is None:
        raise WattleError("the clock of this machine is not known: give it with --ghz")
    if not any(abs(clock - base) < NEAR_GHZ for clock in clocks):
        why = document.text("why") or f"{meter} left gaps"
        raise WattleError(f"at the base clock, {base:g} GHz, some states could not be measured: {why}")
    meant = {round(r.ghz, 6) for r in rows if r.ghz is not None}
    return Fit(
        meter,
        cores,
        sockets,
        Number(
            idle.cpu_w.value / sockets,
            idle.cpu_w.plus_minus / sockets,
            "W",
            f"measured with {meter}, nothing running{CONTAINS[contains]}",
        ),
        _dram_idle(idle, sockets, meter, contains),
        _per_byte(rows, idle, meter, contains),
        clocks,
        min(clocks, key=lambda c: abs(c - base)),
        tuple(sorted(meant - set(clocks))),
        document.number("others_cores", lo=None),
        contains,
        sum(r.state == "idle" and r.cpu_w is not None for r in rows) > 1,
    )


def _per_core(row: Row, idle: Number, cores: int, how: str) -> Number:
    assert row.cpu_w is not None
    watts = (row.cpu_w.value - idle.value) / cores
    doubt = (row.cpu_w.plus_minus + idle.plus_minus) / cores
    return Number(max(0.0, watts), doubt, "W", how.format(row.state))


def _dram_idle(idle: Row, sockets: int, meter: str, contains: str) -> Number:
    if contains:  # an assumed value would count memory twice
        return Number(0.0, 0.0, "W", f"in the watts of the CPU, whose sensor ({meter}) includes the {contains}")
    if idle.dram_w is None:
        how = "No sensor of memory; from a fraction of a watt to about 8 W a socket."
        return Number(4.0, 3.8, "W", how, "assumed")
    how = f"measured with {meter}, nothing running"
    return Number(idle.dram_w.value / sockets, idle.dram_w.plus_minus / sockets, "W", how)


def _per_byte(rows: list[Row], idle: Row, meter: str, contains: str) -> Number:
    stream = next((r for r in rows if r.state == "stream"), None)
    if stream is None or stream.dram_w is None or idle.dram_w is None or not stream.bytes_per_s > 0:
        sensor = "No sensor separates memory from the cores" if contains else "No sensor of memory"
        how = f"{sensor}; a read and a write at 10 to 70 pJ/bit together, less what the caches keep."
        return Number(0.3e-9, 0.28e-9, "J/B", how, "assumed")
    joules = (stream.dram_w.value - idle.dram_w.value) / stream.bytes_per_s
    doubt = (stream.dram_w.plus_minus + idle.dram_w.plus_minus) / stream.bytes_per_s
    return Number(
        max(0.0, joules), doubt, "J/B", f"measured with {meter}: copying 64 MiB blocks on all cores, less idle"
    )


# ---- the file ----


def text(found: Fit, name: str, processor: dict[str, Any]) -> str:
    """The profile as YAML."""
    title = f"{processor['name']}" + (f", {found.where}" if found.where else TITLES[found.contains])
    lines = [f"name: {name}", f"title: {_quoted(title)}", "about: >-"]
    lines += [f"  Fitted by wattle calibrate to the meter {found.meter}; check it before it is used elsewhere."]
    lines += [f"  {words[0].upper()}{words[1:]}." for words in found.doubts]
    lines += [f"sockets: {found.sockets}", f"cores_per_socket: {max(1, found.cores // found.sockets)}"]
    lines += [line] if (line := match_line(processor)) else []
    lines += ["idle:", *_number("cpu", found.idle_cpu, 2), *_number("dram", found.idle_dram, 2)]
    lines += ["dram:", *_number("per_byte", found.per_byte, 2), "clocks:"]
    for ghz, by_state in found.clocks.items():
        lines += [f"  - ghz: {ghz:g}", *(["    base: true"] if ghz == found.base else [])]
        for state in STATES:
            lines += _number(state, by_state[state], 4)
    return "\n".join(lines) + "\n"


def _number(key: str, n: Number, indent: int) -> list[str]:
    inner = " " * (indent + 2)
    return [
        f"{' ' * indent}{key}:",
        f"{inner}value: {n.value:.6g}",
        f"{inner}plus_minus: {n.plus_minus:.6g}",
        f"{inner}unit: {n.unit}",
        f"{inner}tag: {n.tag}",
        f"{inner}how: {_quoted(n.how)}",
    ]


def _quoted(words: str) -> str:
    return '"' + words.replace("\\", "").replace('"', "'") + '"'
