"""Reads runs in folders and orders them: a series of comparable runs for each program, size, host and settings."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from wattle.base.documents import fields
from wattle.base.errors import WattleError
from wattle.compare import shared_model
from wattle.compare.verdict import Difference, Verdict, difference
from wattle.figures.metrics import Metric, Spread, run_time, spread, whole_joules
from wattle.history import steps
from wattle.history.steps import Step
from wattle.record import runs
from wattle.record.manifest import Manifest
from wattle.record.runs import Run, Sample
from wattle.text import console, units

SHORT_COMMIT = 8  # digits
LEFT_OUT = ("WATTLE_PROFILE", "WATTLE_TIMELINE")  # settings of `wattle run` itself


@dataclass(frozen=True)
class Entry:
    """Runs of one commit and day. `changes`: of `time` and `joules` since the entry before; None without one."""

    run: Run
    directories: list[Path]
    time: Spread
    joules: Spread
    changes: tuple[Difference, Difference] | None

    @property
    def record(self) -> Manifest:
        return self.run.manifest

    @property
    def commit(self) -> str:
        """`1a2b3c4d`, with a `+` where files differed from the commit; `-` where it is not known."""
        git = self.record.git
        return units.UNKNOWN if git is None else git["commit"][:SHORT_COMMIT] + ("+" if git.get("dirty") else "")

    @property
    def date(self) -> str:
        """`2026-01-31 12:00`, in UTC."""
        return self.record.started[:16].replace("T", " ")

    @property
    def label(self) -> str:
        return str(self.record.extra.get("label") or "")

    @property
    def failed(self) -> bool:
        """Whether the program failed. Its figures are then those of a part of it."""
        return bool(self.record.exit_code)

    def as_dict(self) -> dict[str, Any]:
        changes = zip(("time", "joules"), self.changes, strict=True) if self.changes else ()
        return {
            "directories": [str(directory) for directory in self.directories],
            "commit": self.record.git["commit"] if self.record.git else None,
            "dirty": self.record.git.get("dirty") if self.record.git else None,
            "label": self.label or None,
            **fields(self.record, "started exit_code versions"),
            **fields(self, "time joules"),
            "since_the_last": {name: found.as_dict() for name, found in changes},
        }


@dataclass(frozen=True)
class Series:
    """Entries of one program with the same arguments, PEs, host and settings, the oldest first."""

    program: str
    host: str
    entries: list[Entry]

    @property
    def title(self) -> str:
        return f"{self.program} on {self.host}"

    @cached_property
    def steps(self) -> list[Step]:
        """The steps of time and joules, the oldest first."""
        return sorted([*self._steps("time", run_time), *self._steps("joules", whole_joules)], key=lambda step: step.at)

    def _steps(self, name: str, metric: Callable[[list[Sample]], Metric]) -> Iterator[Step]:
        """The steps of a figure, in the entries that have it. Joules of another source than the last are left out."""
        known = [k for k, entry in enumerate(self.entries) if not entry.failed and getattr(entry, name).values]
        kinds = [_kind(getattr(self.entries[k], name)) for k in known]
        known = [k for k, kind in zip(known, kinds, strict=True) if kind == kinds[-1]]
        found = steps.boundaries([getattr(self.entries[k], name).values for k in known])
        cuts = [0, *(at for at, _ in found), len(known)]
        for (at, p), first, last in zip(found, cuts, cuts[2:], strict=False):
            sides = [self._joined(known[first:at]), self._joined(known[at:last])]
            of = metric([*sides[0].samples, *sides[1].samples])
            change = _change(of, *sides)
            before, after = (spread(of, side.samples).median for side in sides)
            if change.verdict is Verdict.BEYOND and before is not None and after is not None:
                cause = steps.causes(self.entries[known[at - 1]].run, self.entries[known[at]].run)
                yield Step(known[at], name, before, after, p, cause)

    def _joined(self, places: list[int]) -> Run:
        return runs.joined(self.entries[places[0]].run.directory, [self.entries[k].run for k in places])

    def as_dict(self) -> dict[str, Any]:
        return {**fields(self, "program host steps"), "runs": [entry.as_dict() for entry in self.entries]}


def _kind(figure: Spread) -> tuple[str, ...]:
    """Figures of another kind are not compared."""
    return () if figure.joules is None else (str(figure.joules.provenance), figure.joules.source, figure.joules.scope)


@dataclass(frozen=True)
class History:
    """All series by name. `skipped`: the directories that could not be read, with the reason."""

    series: list[Series]
    skipped: list[tuple[str, str]] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        skipped = [{"directory": directory, "why": why} for directory, why in self.skipped]
        return {"schema": 1, "kind": "history", **fields(self, "series"), "skipped": skipped}


def read(directories: Iterable[Path]) -> History:
    """Reads all runs in the directories. A directory that cannot be read does not stop the others."""
    places, skipped = _places(directories)
    series: dict[tuple[str, str], list[Run]] = {}
    with console.progress("reading runs", len(places)) as steps:
        for place in places:
            try:
                run = runs.load(place)
                series.setdefault((_program(run), _host(run)), []).append(run)
            except WattleError as error:
                skipped.append((str(place), str(error).removeprefix(f"{place}: ")))
            except OSError as error:
                skipped.append((str(place), error.strerror or str(error)))
            steps.advance()
    return History([Series(*key, _entries(found)) for key, found in sorted(series.items())], skipped)


def _places(directories: Iterable[Path]) -> tuple[list[Path], list[tuple[str, str]]]:
    """The run directories, each once, and the given directories without one."""
    found: dict[Path, Path] = {}
    skipped = []
    for directory in directories:
        below = runs.below(directory)
        if not below:
            there = "holds no directory of `wattle run`" if directory.is_dir() else "is not a directory"
            skipped.append((str(directory), there if directory.exists() else "does not exist"))
        for place in below:
            found.setdefault(place.resolve(), place)
    return list(found.values()), skipped


def _program(run: Run) -> str:
    """`halo 64, 4 PEs, WATTLE_WAIT=spin`. The program's folder does not count: each build may have its own."""
    record = run.manifest
    words = [Path(record.command[0]).name, *record.command[1:]] if record.command else ["?"]
    noun = next((s.profile.noun for s in run.samples if s.profile is not None), record.noun)
    size = units.several(record.n_pes, noun) if record.knows_n_pes else ""
    chosen = record.extra.get("set") or {}
    changed = [f"{name}={value}" for name, value in sorted(chosen.items()) if name not in LEFT_OUT]
    return ", ".join(part for part in (shlex.join(words), size, *changed) if part)


def _host(run: Run) -> str:
    return str(run.manifest.host.get("name") or "an unknown host") + run.manifest.on_cluster


def _entries(found: list[Run]) -> list[Entry]:
    """The entries of a series by date, each with its difference to the one before it that did not fail. Runs of one
    commit, label and day are repeats of each other. A run that failed, or of a commit that is not known or not clean,
    is an entry of its own.
    """
    groups: dict[object, list[Run]] = {}
    for run in sorted(found, key=lambda run: run.manifest.started):
        groups.setdefault(_group(run), []).append(run)
    entries: list[Entry] = []
    before: Run | None = None
    for group in groups.values():
        run = runs.joined(group[0].directory, group)
        failed = bool(run.manifest.exit_code)
        changes = None if before is None or failed else _changes(before, run)
        directories = [one.directory for one in group]
        entries.append(Entry(run, directories, _figure(run_time, run), _figure(whole_joules, run), changes))
        before = before if failed else run
    return entries


def _group(run: Run) -> object:
    record = run.manifest
    if record.exit_code or record.git is None or record.git.get("dirty") is not False:
        return run.directory
    return record.git["commit"], record.extra.get("label"), record.started[:10]


def _figure(metric: Any, run: Run) -> Spread:
    return spread(metric(run.samples), run.samples)


def _changes(before: Run, after: Run) -> tuple[Difference, Difference]:
    samples = [*before.samples, *after.samples]
    return _change(run_time(samples), before, after), _change(whole_joules(samples), before, after)


def _change(metric: Metric, before: Run, after: Run) -> Difference:
    sides = spread(metric, before.samples), spread(metric, after.samples)
    return difference(*sides, shared_model.width(metric, before, after))
