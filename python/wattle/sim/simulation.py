"""A job in simulation: the files it needs, the command that runs it, and what the simulator said of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattle import files, info, limits, paths
from wattle.checked import Checked, read_json, require_schema, shown
from wattle.errors import WattleError
from wattle.info import Info
from wattle.run.directory import profile_folder
from wattle.sim import cluster as clusters
from wattle.sim import node as nodes
from wattle.sim import platform
from wattle.sim.cluster import Cluster
from wattle.sim.node import Node

SIMULATOR = "wattle-simulator"
RESULT, RESULT_SCHEMA = "simulation.json", 1
STILL_RUNS = -1  # in place of a PE's exit status
REAL_KNOBS = ("cpufreq", "powercap")
# The network loses nothing, so nobody listens for signs of life; prices of waiting are the cluster's.
FIXED = {"WATTLE_SILENCE": "0", "WATTLE_PRICES": "none", "WATTLE_BOOT": "auto"}


@dataclass(frozen=True)
class Simulation:
    """A job: PEs on a cluster, under settings. `known`: what wattle-info says under these. `profile`: it is kept."""

    cluster: Cluster
    pes: int
    chosen: Mapping[str, str]
    profile: bool
    known: Info
    core: Node

    @property
    def in_force(self) -> dict[str, str]:
        """Settings that were set for it."""
        return {**self.chosen, "WATTLE_PROFILE": "on" if self.profile else "off"}

    def write(self, where: Path) -> Ready:
        """Its files, into a folder."""
        ready = Ready(self, where)
        files.write_atomically(ready.platform, platform.text(self.cluster, self.core, self.pes))
        files.write_atomically(ready.machine, nodes.share(self.core, f"{self.core.profile}-core"))
        if self.profile:
            profile_folder(where)
        return ready


@dataclass(frozen=True)
class Ready:
    """A job whose files are in the folder `where`."""

    job: Simulation
    where: Path

    @property
    def platform(self) -> Path:
        return self.where / "platform.xml"

    @property
    def machine(self) -> Path:
        return self.where / "machine.yaml"

    @property
    def command(self) -> list[str]:
        """Up to the program."""
        return [str(paths.tool(SIMULATOR)), str(self.platform), str(self.where / RESULT), str(self.job.pes)]

    @property
    def settings(self) -> dict[str, str]:
        kept = {"WATTLE_PROFILE_DIR": str(self.where / "profile")} if self.job.profile else {}
        return {**FIXED, **self.job.in_force, "WATTLE_MACHINE": str(self.machine), **kept}

    @property
    def environment(self) -> dict[str, str]:
        """This process's, and the settings."""
        found = {key: value for key, value in os.environ.items() if key != "WATTLE_PROFILE_DIR"}
        return {**found, **self.settings}

    @property
    def result(self) -> Result | None:
        """What the simulator wrote; None where it was ended before."""
        path = self.where / RESULT
        if not path.is_file() or not path.stat().st_size:
            return None
        checked = read_json(path)
        require_schema(checked, RESULT_SCHEMA)
        waits = [_wait(row) for row in checked.items("waits")] if checked.has("waits") else []
        states = [(row.integer("pe"), row.integer("status", STILL_RUNS)) for row in checked.items("pes") if waits]
        ended = [(pe, status) for pe, status in states if status != STILL_RUNS]
        return Result(checked.number("simulated_s"), checked.integer("messages"), waits, ended)


def unavailable() -> str | None:
    """Why nothing can be simulated; None if it can."""
    try:
        paths.tool(SIMULATOR)
    except WattleError:
        return "Wattle was built without SimGrid (Debian: apt install libsimgrid-dev, then build again)"
    return None


def plan(
    cluster: str | Cluster, pes: int, chosen: Mapping[str, str], profile: bool = False, clock_domain: int | None = None
) -> Simulation:
    """Checks what was asked for. `cluster`: one, or a name or a file of one. `clock_domain`: so many cores with one
    clock, whatever the cluster says."""
    if not 1 <= pes <= limits.PES:
        raise WattleError(f"-n {shown(pes)}: expected 1 to {limits.PES}")
    if why := unavailable():
        raise WattleError(f"wattle sim is unavailable: {why}")
    described = clusters.read(cluster) if isinstance(cluster, str) else cluster
    if clock_domain is not None:
        if not 1 <= clock_domain <= limits.PES:
            raise WattleError(f"--clock-domain {shown(clock_domain)}: expected a number of cores, 1 to {limits.PES}")
        described = described.with_value("domain", clock_domain, "Asked for by --clock-domain.")
    known = info.ask({**os.environ, **chosen, "WATTLE_MACHINE": described.machine})
    if (knob := known.values.get("WATTLE_KNOB")) in REAL_KNOBS:
        raise WattleError(f"WATTLE_KNOB={knob} is of real machines; in simulation there are auto, record and none")
    core = nodes.with_steps(nodes.read(known.machine), described.value("step") * 1e-9)
    return Simulation(described, pes, chosen, profile, known, core)


@dataclass(frozen=True)
class Result:
    """At a deadlock, `waits`: PE, call, and offset of the call in the program; 0: in none. `ended`: PEs that have, and
    with what."""

    simulated_s: float
    messages: int
    waits: list[tuple[int, str, int]]
    ended: list[tuple[int, int]]


def _wait(row: Checked) -> tuple[int, str, int]:
    """A call lies before the address it returns to."""
    return row.integer("pe"), row.text("call"), max(row.integer("offset") - 1, 0)


def as_dict(described: Cluster) -> dict[str, Any]:
    """What the result rests on, with every number's tag: for the manifest."""
    numbers = {key: vars(number) for key, number in described.numbers.items()}
    return {"cluster": described.name, "network": described.network, "numbers": numbers}
