"""The course of a study. Its manifest and samples are written at the start and at the end, even if it fails."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wattle import manifest, stopping, units
from wattle.errors import Interrupted, WattleError
from wattle.manifest import Manifest
from wattle.study import samples


@dataclass
class Gathered:
    """The output of the jobs so far. `rows`: of samples.parquet. `setup`: the first line of that kind. `floor`: the
    joules in the first line of that kind, used while PE 0 slept. `left_out`: the parts that are missing, with the
    reasons.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    setup: dict[str, Any] = field(default_factory=dict)
    floor: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def take(self, line: dict[str, Any], row: Callable[[dict[str, Any]], dict[str, Any]]) -> bool:
        """Adds a line. `row` converts a sample's line. Returns whether it was a sample."""
        kind = line.get("kind", "sample")
        if kind == "sample":
            self.rows.append(row(line))
        elif kind == "setup":
            self.setup = self.setup or line
        elif kind == "floor":
            self.floor = self.floor or list(line.get("energy") or [])
        return kind == "sample"


@dataclass(frozen=True)
class Course:
    """A study in `directory`. `schema`: of its samples. `planned`: their number. `facts`: makes the manifest's entry of
    the study. `machine`: the profile of its joules, where the samples do not name it.
    """

    directory: Path
    record: Manifest
    schema: dict[str, Any]
    planned: int
    facts: Callable[[Gathered], dict[str, Any]]
    machine: str = ""

    def run(self, gather: Callable[[Gathered], None], gathered: Gathered) -> None:
        """Writes manifest.json before `gather` starts and again, with samples.parquet, at the end. If the study ends
        early, the samples so far are kept.
        """
        started = time.monotonic()

        def end(exit_code: int) -> None:
            if gathered.rows:
                samples.write(self.directory, gathered.rows, self.schema)
            self.record.wall_s, self.record.exit_code = time.monotonic() - started, exit_code
            self._describe(gathered)

        self._describe(gathered)
        try:
            gather(gathered)
        except KeyboardInterrupt as stop:
            code = stopping.exit_code(stop)
            end(code)
            how_far = f"after {len(gathered.rows)} of {units.several(self.planned, 'sample')}"
            raise Interrupted(f"{stopping.words(code)} {how_far}; kept in {self.directory}", code) from None
        except WattleError as error:
            end(error.exit_code)
            raise
        end(0)

    def _describe(self, gathered: Gathered) -> None:
        setup, record = gathered.setup, self.record
        if setup:
            record.meter = {"name": str(setup.get("meter") or "none"), "why": str(setup.get("meter_why") or "")}
        source = str(gathered.rows[0]["cpu_source"] or "") if gathered.rows else ""
        record.machine = self.machine or (source.removeprefix("model ") if source.startswith("model ") else "")
        count = {"samples": len(gathered.rows), "samples_planned": self.planned}
        facts = self.facts(gathered)
        record.extra = facts | {"study": facts["study"] | count}
        manifest.write(self.directory, record)
