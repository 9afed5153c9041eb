"""The jobs of a study. Its manifest and samples are written at the start and at the end, even if it fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wattle.base.errors import Interrupted, WattleError
from wattle.machine import stopping
from wattle.record import manifest
from wattle.record.manifest import Manifest
from wattle.sim import cluster as clusters
from wattle.sim import simulation
from wattle.study import kept, samples
from wattle.text import units


@dataclass
class Gathered:
    """The output of the jobs so far. `rows`: of samples.parquet. `setup`: the first line of that kind. `floor`: the
    joules in the first line of that kind, used while PE 0 slept. `left_out`: the parts that are missing, with the
    reasons. `of_jobs`: the number of rows whose jobs have ended.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    setup: dict[str, Any] = field(default_factory=dict)
    floor: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    of_jobs: int = 0

    def take(self, line: dict[str, Any], row: Callable[[dict[str, Any]], dict[str, Any]]) -> bool:
        """Adds a line. `row` converts a sample's line. A line of a job completes its rows. Returns whether it was a
        sample.
        """
        kind: str = line.get("kind", "sample")
        if kind == "sample":
            self.rows.append(row(line))
        elif kind == "job":
            for entry in self.rows[self.of_jobs :]:
                entry["no_core"] = line["no_core"]
            self.of_jobs = len(self.rows)
        elif kind == "setup":
            self.setup = self.setup or line
        elif kind == "floor":
            self.floor = self.floor or list(line.get("energy") or [])
        return kind == "sample"


def told(name: str, plan: Any, **more: Any) -> dict[str, Any]:
    """The manifest's entries of a study: its place, and further settings and findings."""
    place = plan.place
    found = {"study": {"name": name, "on": place.name, "place": place.as_dict(), "quick": plan.quick, **more}}
    if place.simulated:
        found["simulated"] = simulation.as_dict(clusters.in_force(clusters.read(place.cluster)))
    return found


@dataclass(frozen=True)
class Work:
    """The jobs of a study. `pes`: the most PEs of a job. `planned`: the number of samples. `facts`: makes the
    manifest's entry of the study. `gather`: runs the jobs. `left_out`: the missing parts that are known before.
    `machine`: the profile of the joules, where the samples do not name it.
    """

    pes: int
    simulated: bool
    planned: int
    facts: Callable[[Gathered], dict[str, Any]]
    gather: Callable[[Gathered], None]
    left_out: Sequence[str] = ()
    machine: str = ""

    def run(self, directory: Path, command: list[str], schema: dict[str, Any]) -> Manifest:
        """Writes manifest.json before the jobs start and again, with samples.parquet, at the end. If the study ends
        early, the samples so far are kept. `schema`: of the samples.
        """
        record = kept.begin(command, self.pes, self.simulated)
        gathered = Gathered(left_out=list(self.left_out))
        started = time.monotonic()

        def end(exit_code: int) -> None:
            if gathered.rows:
                samples.write(directory, gathered.rows, schema)
            record.wall_s, record.exit_code = time.monotonic() - started, exit_code
            self._describe(directory, record, gathered)

        self._describe(directory, record, gathered)
        try:
            self.gather(gathered)
        except KeyboardInterrupt as stop:
            code = stopping.exit_code(stop)
            end(code)
            how_far = f"after {len(gathered.rows)} of {units.several(self.planned, 'sample')}"
            raise Interrupted(f"{stopping.words(code)} {how_far}; kept in {directory}", code) from None
        except WattleError as error:
            end(error.exit_code)
            raise
        end(0)
        return record

    def _describe(self, directory: Path, record: Manifest, gathered: Gathered) -> None:
        setup = gathered.setup
        if setup:
            record.meter = {"name": str(setup.get("meter") or "none"), "why": str(setup.get("meter_why") or "")}
        source = str(gathered.rows[0]["cpu_source"] or "") if gathered.rows else ""
        record.machine = self.machine or (source.removeprefix("model ") if source.startswith("model ") else "")
        count = {"samples": len(gathered.rows), "samples_planned": self.planned}
        facts = self.facts(gathered)
        record.extra = facts | {"study": facts["study"] | count}
        manifest.write(directory, record)
