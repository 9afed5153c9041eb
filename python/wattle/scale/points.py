"""Reads runs of one program with several numbers of processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wattle.base.errors import WattleError
from wattle.figures.metrics import run_time, whole_joules
from wattle.record import runs
from wattle.record.runs import Run
from wattle.text.provenance import Joules, unavailable


@dataclass
class Size:
    """The repeats with one number of processes. Times in s."""

    n: int
    times: list[float] = field(default_factory=list)
    joules: list[Joules] = field(default_factory=list)


@dataclass(frozen=True)
class Series:
    """All sizes of a program, by number of processes. `noun`: `PE` or `rank`. `simulated`: the cluster, or empty."""

    program: str
    noun: str
    simulated: str
    sizes: list[Size]

    @property
    def provenance(self) -> tuple[str, str]:
        """Provenance and source of all joules; `unavailable` where one is not known, or where their sources differ."""
        kinds = {(str(j.provenance), j.source) for size in self.sizes for j in size.joules}
        return kinds.pop() if len(kinds) == 1 else ("unavailable", "of several sources" if kinds else "")


def read(directories: Sequence[Path]) -> Series:
    """Reads all runs in the directories. Raises WattleError for runs of several programs, and for none."""
    found = [runs.load(place) for directory in directories for place in _places(directory)]
    kinds = {(Path(run.manifest.command[0]).name, run.manifest.on_cluster) for run in found}
    if len(kinds) != 1:
        names = " and ".join(sorted(name + cluster for name, cluster in kinds))
        raise WattleError(f"{directories[0]}: holds runs of {names}; give the runs of one program on one machine")
    ((program, cluster),) = kinds
    sizes: dict[int, Size] = {}
    for run in found:
        _add(sizes, run)
    noun = next((s.profile.noun for run in found for s in run.samples if s.profile is not None), "PE")
    return Series(program, noun, cluster.removeprefix(", simulated on "), [sizes[n] for n in sorted(sizes)])


def _places(directory: Path) -> list[Path]:
    places = runs.below(directory)
    if not places:
        raise WattleError(f"{directory}: holds no directory of `wattle run`")
    return places


def _add(sizes: dict[int, Size], run: Run) -> None:
    """Adds the repeats of a run. Raises WattleError where its program failed or its size is not known."""
    record = run.manifest
    if record.exit_code or not record.knows_n_pes:
        why = f"the program ended with exit code {record.exit_code}" if record.exit_code else "its size is not known"
        raise WattleError(f"{run.directory}: {why}; remove it, or run it again")
    size = sizes.setdefault(record.n_pes, Size(record.n_pes))
    time, joules = run_time(run.samples), whole_joules(run.samples)
    for sample in run.samples:
        seconds, figure = time.of(sample), joules.of(sample)
        if isinstance(seconds, float | int):
            size.times.append(float(seconds))
        size.joules.append(figure if isinstance(figure, Joules) else unavailable())
