"""A run of a program, with its tables."""

from __future__ import annotations

import io
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattle.api.guest import guest
from wattle.base.errors import WattleError
from wattle.record import runs
from wattle.record.manifest import Manifest
from wattle.text.provenance import Joules, unavailable

if TYPE_CHECKING:
    import polars as pl

    from wattle.advise.given import Given


class Run:
    """A run of a program. `wattle.open` makes it.

    Each table is a Polars frame, read when it is first used. The reference page lists its columns. Where the run has
    several repeats (`--repeat`), the tables have the rows of all, and `repeat` counts from 1. A number that is
    not known is null.

    Attributes:
        directory: where the run is.
    """

    def __init__(self, directory: Path, record: Manifest | None, allow_damaged: bool = False) -> None:
        self.directory = directory
        self._record = record
        self._allow_damaged = allow_damaged
        self._frames: dict[str, pl.DataFrame] = {}

    @cached_property
    def record(self) -> runs.Run:
        """The run as the commands read it: manifest, and the profiles of all repeats. Its fields may change."""
        with guest():
            return runs.load(self.directory, self._allow_damaged)

    @property
    def manifest(self) -> dict[str, Any]:
        """The contents of manifest.json; of a program that ran without `wattle run`, what its profiles say."""
        return (self._record or self.record.manifest).as_dict()

    @property
    def exit_code(self) -> int | None:
        """The exit code of the program; None while it runs."""
        return (self._record or self.record.manifest).exit_code

    @property
    def wall_s(self) -> float | None:
        """The longest time of a process from init to finalize, in seconds, of the repeat with the median time."""
        profile = self.record.middle.profile
        return profile.wall_s if profile is not None else self.record.middle.manifest.wall_s

    @property
    def joules(self) -> Joules:
        """The joules of the nodes, of the repeat with the median time; of the processes, where those of the nodes are
        not known.
        """
        profile = self.record.middle.profile
        return profile.whole_joules if profile is not None else unavailable()

    @property
    def processes(self) -> pl.DataFrame:
        """Time by state, bytes and joules of each PE or rank."""
        return self._frame("processes")

    @property
    def sites(self) -> pl.DataFrame:
        """The call sites of all processes together, the costliest first."""
        return self._frame("sites")

    @property
    def paths(self) -> pl.DataFrame:
        """The call tree. The numbers of a node include those of the nodes below it."""
        return self._frame("paths")

    @property
    def regions(self) -> pl.DataFrame:
        """The regions that the program marks, without their inner ones, and the time outside all. Empty without any."""
        return self._frame("regions")

    @property
    def traffic(self) -> pl.DataFrame:
        """Calls, bytes and waiting by pair of processes."""
        return self._frame("traffic")

    @property
    def power(self) -> pl.DataFrame:
        """Mean and peak watts of processes and nodes, and the readings of sensors over time."""
        return self._frame("power")

    @property
    def timeline(self) -> pl.DataFrame:
        """The spans of each thread. Raises WattleError where the run was made without `--timeline`."""
        return self._frame("timeline")

    @property
    def by_domain(self) -> pl.DataFrame:
        """The joules of processes and nodes by domain, such as `cpu`, `dram` or `gpu-0`."""
        return self._frame("by_domain")

    @property
    def machine(self) -> pl.DataFrame:
        """The nodes: meter, machine profile and processor."""
        return self._frame("machine")

    @property
    def repeats(self) -> pl.DataFrame:
        """A row for each repeat, with its time and joules."""
        return self._frame("repeats")

    @property
    def findings(self) -> pl.DataFrame:
        """The advice of `wattle advise` on the repeat with the median time."""
        if "findings" not in self._frames:
            from wattle.api.tables import of_advice

            self._frames["findings"] = of_advice(self.advice)
        return self._frames["findings"]

    @cached_property
    def advice(self) -> Given:
        """The advice as `wattle advise` shows it, with all numbers of each finding. Its fields may change."""
        from wattle.advise import given

        return given.of_run(self.record)

    def to_hatchet(self) -> Any:
        """The call tree of each rank as a GraphFrame of Hatchet, of the repeat with the median time. Its metrics are
        `time`, `wait_s`, `spin_s`, `yield_s`, `asleep_s`, `calls`, `bytes` and `joules`, exclusive. Thicket reads the
        file of `wattle export --to caliper`. Raises WattleError without the Python package llnl-hatchet.
        """
        try:
            import hatchet
        except ImportError:
            raise WattleError("to_hatchet() needs the Python package llnl-hatchet: pip install llnl-hatchet") from None
        from wattle.export import caliper

        profile, record = self.record.middle.profile, self.record.middle.manifest
        if profile is None:
            raise WattleError(f"{self.directory}: was run without a profile; run it again without --no-profile")
        return hatchet.GraphFrame.from_caliper(io.BytesIO(caliper.text(profile, record).encode()))

    def _frame(self, table: str) -> pl.DataFrame:
        if table not in self._frames:
            from wattle.frames import made, of_profile

            self._frames[table] = made.frame(table, of_profile.rows(table, self.record.samples))
        return self._frames[table]

    def __repr__(self) -> str:
        return f"<wattle.Run {self.directory}>"

    def _repr_html_(self) -> str:
        """The summary in a notebook."""
        from wattle.api.summary import html

        return html(self.record)
