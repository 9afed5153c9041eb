"""The output of the programs of apps/slack and of mini-apps, line by line, as rows of samples.parquet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from wattle.base.checked import Checked
from wattle.record import profile
from wattle.record.pe import add
from wattle.study import program
from wattle.study.compared import Layout
from wattle.study.samples import energy_columns, joules_columns, spans_column, sum_domain
from wattle.text.provenance import Joules, read_joules, total, unavailable

WAITS = ("spin", "yield", "sleep", "adaptive")
WHO = ("all", "sender", "receiver")

SCHEMA: dict[str, Any] = {
    "series": pl.String,  # the part of the study
    "name": pl.String,  # the program, kernel or way
    "who": pl.String,  # the owner of the CPU seconds and joules
    "wait": pl.String,  # WATTLE_WAIT
    "mode": pl.String,  # the governor's mode, "off"; of a plan: "standard", "reduced", "hybrid"
    "scaling": pl.String,  # "" without scaling
    "clock": pl.Float64,  # requested GHz; null: unchanged
    "pes": pl.Int64,
    "x": pl.Float64,  # the swept value
    "y": pl.Float64,
    "round": pl.Int64,
    "job": pl.Int64,
    "repeat": pl.Int64,
    "seconds": pl.Float64,
    "cpu_s": pl.Float64,
    **energy_columns(),  # of the PEs alone where modelled; of the node where measured
    "idle_J": pl.Float64,  # the node's idle joules, where the joules above exclude them
    "energy_json": pl.String,  # every domain the meter has
    "more_json": pl.String,  # further keys of the line
    "verified": pl.Boolean,
    "knob": pl.String,  # of the job; "" without a governor
    "job_changes": pl.Int64,  # clock changes of all PEs of the job
    "job_slack_s": pl.Float64,  # PE-seconds of waiting that the governor saw
    "job_slow_s": pl.Float64,  # part of these at the lowest clock
    "job_active_s": pl.Float64,  # PE-seconds from init to finalize
    "job_spin_s": pl.Float64,
    "job_yield_s": pl.Float64,
    "job_asleep_s": pl.Float64,
    "job_waits_json": pl.String,  # seconds that each PE waited, and the time of the job
}

COMPARED = Layout(
    cell=("series", "name", "who", "wait", "mode", "scaling", "clock", "pes", "x", "y"),
    series="series",
    figures=(("seconds", "time"), ("cpu_s", "CPU seconds"), ("cpu_J", "CPU energy"), ("dram_J", "DRAM energy")),
    columns=SCHEMA,
)

COMMON = ("kind", "name", "who", "x", "y", "repeat", "verified", "seconds", "cpu_s", "energy", "spans")


def row(document: dict[str, Any], at: dict[str, Any], name: str) -> dict[str, Any]:
    """A "sample" line as a row, without the columns of the finished job. `at`: series, wait, mode, ..., job. `name`:
    used where the line has none. Raises DamagedFile with the place in a wrong line.
    """
    line = Checked("the program's output", document)
    seconds, cpu_s = line.number("seconds"), line.number("cpu_s")
    if seconds is None or cpu_s is None:
        raise line.get("seconds" if seconds is None else "cpu_s").wrong("expected a number, found null")
    who = line.choice("who", WHO) if line.has("who") else "all"
    cpu, dram = (_whose(line, domain, who) for domain in ("cpu", "dram"))
    return {
        **at,
        "name": line.text("name") if line.has("name") else name,
        "who": who,
        "x": line.number("x") if line.has("x") else None,
        "y": line.number("y") if line.has("y") else None,
        "repeat": line.integer("repeat"),
        "seconds": seconds,
        "cpu_s": cpu_s,
        **joules_columns("cpu", cpu),
        **joules_columns("dram", dram),
        "idle_J": _idle(line) if who == "all" else None,
        "energy_json": json.dumps(document.get("energy")),
        "spans_json": spans_column(line) if who == "all" else None,
        "more_json": json.dumps({k: v for k, v in document.items() if k not in COMMON}),
        "verified": line.get("verified").value is True,
    }


def _figures(line: Checked) -> list[Joules]:
    return [read_joules(entry) for entry in line.items("energy")] if line.has("energy") else []


def _whose(line: Checked, domain: str, who: str) -> Joules:
    """The joules of `who`. One PE's joules are known only where they are counted by process, because a sensor measures
    all PEs of a node.
    """
    if who == "all":
        return sum_domain(line, "energy", domain)
    return next((f for f in _figures(line) if f.domain == domain and f.scope == "process"), unavailable(domain))


def _idle(line: Checked) -> float | None:
    figures = [f for f in _figures(line) if f.domain in ("cpu-idle", "dram-idle")]
    return total(figures).joules if figures else None


ENOUGH = 4  # trials: the runtime learns nothing from fewer at one size (FEW in src/govern/thresholds.c)


def thresholds_of(folder: Path, pes: int) -> dict[str, Any]:
    """The sizes from which PE 0's transfers slept at the end of a job with a governor of transfers. Empty where it
    tried too few transfers to learn: the sizes are then the start values.
    """
    if not any((folder / "profile").glob("pe-*.json")):
        return {}
    found = profile.load(folder, pes).pes[0].transfers
    return {"thresholds": found.thresholds} if found and found.trials >= ENOUGH else {}


def with_more(entry: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    return entry | {"more_json": json.dumps(json.loads(entry["more_json"]) | more)} if more else entry


def of_job(folder: Path, pes: int) -> dict[str, Any]:
    """Columns from the profile of a finished job; null where it left none."""
    found = program.profile_of(folder, pes)
    if found is None:
        return {key: None for key in SCHEMA if key.startswith("job_")} | {"knob": ""}
    clocks = [pe.clocks for pe in found.pes if pe.clocks]
    governed = [c for c in clocks if c.changes is not None]
    waits = [pe.time_s["wait"] for pe in found.pes]
    return {
        "knob": clocks[0].knob if clocks else "",
        "job_changes": sum(c.changes or 0 for c in governed) if governed else None,
        "job_slack_s": add(c.slack_s for c in governed) if governed else None,
        "job_slow_s": add(c.slow_s for c in governed) if governed else None,
        **program.states(found),
        "job_waits_json": json.dumps({"wall_s": found.wall_s, "wait_s": waits}),
    }
