"""The plan of a study of waiting and clocks: its jobs, and the settings of each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wattle.machine import paths
from wattle.sim import simulation
from wattle.sim.simulation import Simulation
from wattle.study.options import check_times
from wattle.study.place import DEFAULT_CLUSTER, LOCAL, SIMULATED, Place, check_place
from wattle.study.site import opened
from wattle.study.sweep import knob
from wattle.study.sweep.knob import Knob

MODES = ("baseline", "performance", "energy", "hybrid")
SCALINGS = ("reactive", "proactive")
LEAST = "--least"  # a program's option: the shortest sample in seconds
TURNS = "{turns}"  # placeholder in a job's arguments: units of work in a millisecond, the same for all jobs
QUICK_ROUNDS, FULL_ROUNDS = 2, 5


@dataclass(frozen=True)
class Job:
    """A run of one program. `samples`: the number of lines that it prints. `settings`: in addition to those of wait,
    mode and scaling. `clock`: GHz, for the report; the setting that requests it is in `settings`. `planned`: makes
    settings from the results of earlier jobs. `machine`: a simulated machine other than the study's. `keep`: reads
    further keys of the samples from a finished job's folder; by default the thresholds of transfers. `optional`: the
    study runs without the job where its program is missing. `tries`: how often it is started until it succeeds.
    `lasts`: the program has `--least`, by which samples last longer for an external meter.
    """

    series: str
    program: str
    arguments: tuple[str, ...]
    samples: int
    pes: int = 2
    wait: str = "adaptive"
    mode: str = "off"
    scaling: str = ""
    clock: float | None = None
    settings: tuple[tuple[str, str], ...] = ()
    planned: Callable[[list[dict[str, Any]]], dict[str, str]] | None = None
    machine: Simulation | None = None
    keep: Callable[[Path, int], dict[str, Any]] | None = None
    optional: bool = False
    tries: int = 1
    lasts: bool = False

    def words(self, turns: str, least_s: float) -> list[str]:
        """The arguments, with `turns` for their placeholder. `least_s`: the shortest sample for an external meter; 0:
        there is none.
        """
        words = [turns if word == TURNS else word for word in self.arguments]
        own = float(words[words.index(LEAST) + 1]) if LEAST in words else 0.0
        return [*words, LEAST, f"{least_s:g}"] if self.lasts and least_s > own else words  # of two, the last one counts

    def environment(self, acts: bool) -> dict[str, str]:
        found = {"WATTLE_WAIT": self.wait, "WATTLE_PROFILE": "on", **dict(self.settings)}
        if self.mode in MODES and self.scaling:  # a plan is a mode without a scaling
            found |= {"WATTLE_GOVERN": self.mode, "WATTLE_SCALING": self.scaling}
            if not acts:
                found["WATTLE_KNOB"] = "record"
        return found


@dataclass(frozen=True)
class Plan:
    """The sweep on a machine with its knob. `pes`: that of the studies' small jobs."""

    quick: bool
    rounds: int
    knob: Knob
    cores: int = 2
    machine: Simulation | None = None
    place: Place = field(default_factory=Place)

    @property
    def simulated(self) -> bool:
        return self.machine is not None

    @property
    def on(self) -> str:
        return f"{SIMULATED}:{self.machine.cluster.name}" if self.machine else self.place.name

    def repeats(self, n: int) -> int:
        """The number of repeats of a case. A simulation gives the same result each time, so it runs once."""
        return 1 if self.machine else n

    def clocks(self) -> tuple[float, ...]:
        """The clocks to request; empty where no knob acts."""
        return self.knob.some(knob.QUICK_CLOCKS if self.quick else knob.MOST_CLOCKS) if self.knob.acts else ()


def make_plan(quick: bool, rounds: int | None, on: str = LOCAL, place: Place | None = None, per_node: int = 1) -> Plan:
    """The plan of a study. `on`: its place as `--on` names it. `place`: the same, where it is checked already.
    `per_node`: PEs that share a simulated node.
    """
    check_times("--rounds", rounds)
    name, colon, cluster = on.partition(":")
    if name == SIMULATED:
        machine = simulation.plan(cluster if colon else DEFAULT_CLUSTER, 1, {}, per_node=per_node)
        return Plan(quick, rounds or 1, knob.of_machine(machine), machine=machine)
    there = place or check_place(on, simulates=True)
    cores = len(os.sched_getaffinity(0))
    some = QUICK_ROUNDS if quick else FULL_ROUNDS
    with opened(there) as site:
        found = knob.find(paths.find_home(), 2, site)
    return Plan(quick, rounds or some, found, cores, place=there)


def of_all_modes(base: Job, waits: Sequence[str], governed: Sequence[str]) -> Iterator[Job]:
    """The job under each wait policy, then under each mode and scaling with the policies of `governed`."""
    fields = {name: getattr(base, name) for name in base.__dataclass_fields__}
    for wait in waits:
        yield Job(**fields | {"wait": wait})
    for wait in governed:
        for scaling in SCALINGS:
            for mode in MODES:
                yield Job(**fields | {"wait": wait, "mode": mode, "scaling": scaling})
