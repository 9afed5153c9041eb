"""Compares two run directories."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattle.base.documents import fields
from wattle.base.errors import WattleError
from wattle.compare import by_region, shared_model
from wattle.compare.verdict import Difference, difference
from wattle.figures.metrics import Metric, Spread, metrics, spread
from wattle.record import jobs
from wattle.record.pe import noun
from wattle.record.runs import Run, load_all

BY = ("run", "region")


@dataclass(frozen=True)
class Row:
    metric: Metric
    before: Spread
    after: Spread
    difference: Difference

    def as_dict(self) -> dict[str, Any]:
        return {"metric": self.metric.name, **fields(self, "before after"), **self.difference.as_dict()}


@dataclass(frozen=True)
class Comparison:
    """Two runs with their figures. `warnings`: differences that make them less comparable. `by`: one of BY."""

    before: Run
    after: Run
    rows: list[Row]
    warnings: list[str]
    by: str = "run"

    @property
    def noun(self) -> str:
        """The word for a process: `PE`, or `rank` where both runs are of MPI."""
        return _noun(self.before, self.after)

    def as_dict(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "kind": "compare",
            "of": "run",
            "before": str(self.before.directory),
            "after": str(self.after.directory),
            "repeats": [len(self.before.samples), len(self.after.samples)],
            "allocations": [self.before.manifest.allocation, self.after.manifest.allocation],
            **fields(self, "warnings rows"),
        }


def compare(before_dir: Path, after_dir: Path, by: str = "run") -> Comparison:
    """Compares the figures of two runs. `by`: `run`, or `region` for those of each region that the programs mark."""
    before, after = load_all(before_dir), load_all(after_dir)
    samples = [*before.samples, *after.samples]
    chosen = metrics(samples) if by == "run" else by_region.metrics(samples)
    rows = [row_of(metric, before, after) for metric in chosen]
    return Comparison(before, after, rows, _warnings(before, after), by)


def row_of(metric: Metric, before: Run, after: Run) -> Row:
    """A metric of two runs with the verdict on its difference."""
    b, a = spread(metric, before.samples), spread(metric, after.samples)
    return Row(metric, b, a, difference(b, a, shared_model.width(metric, before, after)))


def _warnings(before: Run, after: Run) -> list[str]:
    """Differences between the runs other than settings, which are the usual object of a comparison."""
    found = []
    b, a = before.manifest, after.manifest
    if b.command != a.command:
        found.append(f"different programs or arguments: {' '.join(b.command)} and {' '.join(a.command)}")
    if b.knows_n_pes and a.knows_n_pes and b.n_pes != a.n_pes:
        found.append(f"different numbers of {_noun(before, after)}s: {b.n_pes} and {a.n_pes}")
    nodes = [_nodes(run) for run in (before, after)]
    if nodes[0] != nodes[1]:
        found.append(f"different numbers of nodes: {nodes[0]} and {nodes[1]}")
    for key, what in (("name", "hosts"), ("cpu", "CPUs"), ("cores", "numbers of cores")):
        if b.host.get(key) != a.host.get(key):
            found.append(f"different {what}: {b.host.get(key)} and {a.host.get(key)}")
    given = [run.manifest.allocation or {} for run in (before, after)]
    for key in ("cluster", "partition"):
        if all(given) and given[0].get(key) != given[1].get(key):
            found.append(f"different {key}s: {given[0].get(key)} and {given[1].get(key)}")
    if _meters(before) != _meters(after):
        found.append(f"joules come from different meters: {_meters(before)} and {_meters(after)}")
    for run in (before, after):
        found += _mixed(run) + _incomplete(run)
        found += filter(None, (jobs.words(sample.directory) for sample in run.samples if sample.profile))
    return found


def _mixed(run: Run) -> list[str]:
    """Differences between the runs of one side."""
    found = []
    manifests = [sample.manifest for sample in run.samples]
    if names := sorted({name for m in manifests for name, _ in m.settings.items() ^ manifests[0].settings.items()}):
        found.append(f"{run.directory}: runs with different settings: {', '.join(names)}")
    if len(hosts := sorted({str(m.host.get("name")) for m in manifests})) > 1:
        found.append(f"{run.directory}: runs on different hosts: {', '.join(hosts)}")
    return found


def _noun(*of: Run) -> str:
    """The word for a process of these runs."""
    known = [pe for run in of for s in run.samples if s.profile is not None for pe in s.profile.pes]
    return noun(known) if known else of[0].manifest.noun


def _nodes(run: Run) -> int:
    return max((len(s.profile.nodes) for s in run.samples if s.profile is not None), default=1)


def _meters(run: Run) -> str:
    profiles = [s.profile for s in run.samples if s.profile is not None]
    sources = {j.source for p in profiles for pe in p.pes for j in pe.joules if j.source}
    return ", ".join(sorted(sources)) or "none"


def _incomplete(run: Run) -> list[str]:
    found = []
    if run.manifest.exit_code != 0:
        found.append(f"{run.directory}: the program ended with exit code {run.manifest.exit_code}")
    for sample in run.samples:
        if sample.profile is None:
            found.append(f"{sample.directory}: was run without a profile")
        elif not sample.manifest.knows_n_pes:
            found.append(f"{sample.directory}: no {_noun(run)} left a profile")
        elif not sample.profile.complete:
            missing = f"{len(sample.profile.missing)} of {sample.profile.n_pes} {_noun(run)}s"
            found.append(f"{sample.directory}: {missing} left no profile")
    return found


def changed_settings(before: Run, after: Run) -> list[tuple[str, str, str]]:
    """(name, before, after) of each setting that differs."""
    b, a = before.manifest.settings, after.manifest.settings
    names = sorted(set(b) | set(a))
    return [(n, b.get(n, "-"), a.get(n, "-")) for n in names if b.get(n) != a.get(n)]


def same_kind(before: str, after: str) -> str:
    if before != after:
        raise WattleError(f"a {before} cannot be compared with a {after}; give two runs or two studies")
    return before
