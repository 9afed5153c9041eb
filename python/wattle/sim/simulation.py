"""A simulated job: its files, its command line, and the simulator's result."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wattle.base import files, limits
from wattle.base.checked import Checked, read_json, require_schema, shown
from wattle.base.errors import WattleError
from wattle.machine import info, paths
from wattle.machine.info import Info
from wattle.run.directory import profile_folder
from wattle.sim import cluster as clusters
from wattle.sim import node as nodes
from wattle.sim import platform
from wattle.sim.cluster import Cluster
from wattle.sim.node import Node

SIMULATOR = "wattle-simulator"
RESULT, RESULT_SCHEMA = "simulation.json", 1
# A build finds SimGrid by itself; pip would otherwise take its kept wheel.
REMEDY = "sudo apt-get install libsimgrid-dev, then `make install` or `pip install --no-cache-dir --force-reinstall .`"
STILL_RUNS = -1  # exit status of a PE that still runs
REAL_KNOBS = ("cpufreq", "powercap")
# The simulated network loses no message, so heartbeats are off. Prices of waiting are those of the cluster.
FIXED = {"WATTLE_SILENCE": "0", "WATTLE_PRICES": "none", "WATTLE_BOOT": "auto"}


@dataclass(frozen=True)
class Simulation:
    """A job: PEs on a cluster. `known`: wattle-info's answer for its settings. `profile`: one is kept."""

    cluster: Cluster
    pes: int
    chosen: Mapping[str, str]
    profile: bool
    known: Info
    core: Node

    @property
    def in_force(self) -> dict[str, str]:
        """The settings that were set for the job."""
        return {**self.chosen, "WATTLE_PROFILE": "on" if self.profile else "off"}

    def write(self, where: Path) -> Ready:
        """Writes the job's files into a folder."""
        ready = Ready(self, where)
        files.write_atomically(ready.platform, platform.text(clusters.in_force(self.cluster), self.core, self.pes))
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
        """The command line up to the program."""
        return [str(paths.tool(SIMULATOR)), str(self.platform), str(self.where / RESULT), str(self.job.pes)]

    @property
    def settings(self) -> dict[str, str]:
        kept = {"WATTLE_PROFILE_DIR": str(self.where / "profile")} if self.job.profile else {}
        return {**FIXED, **self.job.in_force, "WATTLE_MACHINE": str(self.machine), **kept}

    @property
    def environment(self) -> dict[str, str]:
        """This process's environment with the settings."""
        found = {key: value for key, value in os.environ.items() if key != "WATTLE_PROFILE_DIR"}
        return {**found, **self.settings}

    @property
    def result(self) -> Result | None:
        """The simulator's result; None where it was ended early."""
        path = self.where / RESULT
        if not path.is_file() or not path.stat().st_size:
            return None
        checked = read_json(path)
        require_schema(checked, RESULT_SCHEMA)
        waits = [_wait(row) for row in checked.items("waits")] if checked.has("waits") else []
        states = [(row.integer("pe"), row.integer("status", STILL_RUNS)) for row in checked.items("pes") if waits]
        ended = [(pe, status) for pe, status in states if status != STILL_RUNS]
        return Result(checked.known("simulated_s"), checked.integer("messages"), waits, ended)


def unavailable() -> str | None:
    """The reason why nothing can be simulated; None where simulation is possible."""
    try:
        paths.tool(SIMULATOR)
    except WattleError:
        return f"Wattle was built without SimGrid (Debian: {REMEDY})"
    return None


def alone_on_sockets(made: Simulation) -> Simulation:
    """The same with each PE alone on a socket, with the socket's idle watts, as on the papers' shielded sockets."""
    return replace(made, core=replace(made.core, cores=made.core.sockets))


def plan(
    cluster: str | Cluster,
    pes: int,
    chosen: Mapping[str, str],
    profile: bool = False,
    clock_domain: int | None = None,
    per_node: int = 1,
) -> Simulation:
    """Checks a job. `cluster`: a cluster, or the name or file of one. `clock_domain`: cores that share a clock, instead
    of the cluster's number. `per_node`: PEs that share a node. Raises WattleError.
    """
    if not 1 <= pes <= limits.PES:
        raise WattleError(f"-n {shown(pes)}: expected 1 to {limits.PES}")
    if why := unavailable():
        raise WattleError(f"wattle sim is unavailable: {why}")
    return _planned(cluster, pes, chosen, profile, clock_domain, per_node)


def to_replay(cluster: str) -> Simulation:
    """A cluster on which a recorded run is replayed. This needs no simulator. Raises WattleError."""
    return _planned(cluster, 1, {}, False, None, 1)


def _planned(
    cluster: str | Cluster,
    pes: int,
    chosen: Mapping[str, str],
    profile: bool,
    clock_domain: int | None,
    per_node: int,
) -> Simulation:
    described = clusters.read(cluster) if isinstance(cluster, str) else cluster
    if clock_domain is not None:
        if not 1 <= clock_domain <= limits.PES:
            raise WattleError(f"--clock-domain {shown(clock_domain)}: expected a number of cores, 1 to {limits.PES}")
        described = described.with_value("domain", clock_domain, "Set by --clock-domain.")
    known = info.ask({**os.environ, **chosen, "WATTLE_MACHINE": described.machine})
    if (knob := known.values.get("WATTLE_KNOB")) in REAL_KNOBS:
        raise WattleError(f"WATTLE_KNOB={knob} is for real machines; a simulation has auto, record and none")
    node = nodes.shared(nodes.read(known.machine), per_node, 1 + round(described.value("agent_core")))
    shape = described.topology
    if shape and pes > shape.places * per_node:
        raise WattleError(
            f"-n {pes}: the {shape.kind} of {described.name} has {shape.places} places, each a node of {per_node} PEs: "
            f"expected at most {shape.places * per_node}"
        )
    core = nodes.with_steps(node, described.value("step") * 1e-9)
    return Simulation(described, pes, chosen, profile, known, core)


@dataclass(frozen=True)
class Result:
    """The simulator's result. At a deadlock, `waits` holds PE, call, and offset of the call in the program (0: no
    call), and `ended` the PEs that ended, with their exit status.
    """

    simulated_s: float
    messages: int
    waits: list[tuple[int, str, int]]
    ended: list[tuple[int, int]]


def _wait(row: Checked) -> tuple[int, str, int]:
    """A waiting PE. The call is before its return address."""
    return row.integer("pe"), row.text("call"), max(row.integer("offset") - 1, 0)


def as_dict(cluster: Cluster, per_node: int = 1) -> dict[str, Any]:
    """The cluster of a result, with all numbers and their tags, for the manifest."""
    numbers = {key: vars(number) for key, number in cluster.numbers.items()}
    described = {"cluster": cluster.name, "title": cluster.title, "network": cluster.network}
    shape = {"topology": vars(cluster.topology)} if cluster.topology else {}
    return {**described, "numbers": numbers, **shape, "per_node": per_node}
