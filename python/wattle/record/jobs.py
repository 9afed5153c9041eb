"""The jobs of a run whose command started several, such as a script with two launchers. Tables show one of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattle.base.documents import fields
from wattle.base.errors import WattleError
from wattle.record import profile
from wattle.record.profile import RunProfile
from wattle.record.runs import Run
from wattle.text import console, units

HEADS = ("job", "program", "PEs", "time", "joules")
ROWS_SHOWN = 16


@dataclass(frozen=True)
class Job:
    """A job by its number, from 1. `is_shown`: the tables of the run are of this one."""

    number: int
    found: RunProfile
    is_shown: bool

    def cells(self) -> list[str]:
        found = self.found
        program = Path(found.program).name or units.UNKNOWN
        if found.missing or any(pe.ended for pe in found.pes):
            program += " (ended before it finished)"
        return [str(self.number), program, str(found.n_pes), units.seconds(found.wall_s), str(found.whole_joules)]

    def as_dict(self) -> dict[str, Any]:
        found = self.found
        return {
            "job": self.number,
            "shown": self.is_shown,
            **fields(found, "program n_pes wall_s"),
            "joules": found.whole_joules.as_dict(),
            "ended": [pe.pe for pe in found.pes if pe.ended],
            "missing": found.missing,
        }


def of(directory: Path) -> list[Job]:
    """The jobs of a run directory; none where there is only one."""
    folders, shown, jobs = profile.folders_of(directory), profile.folder_of(directory), []
    for number, folder in folders.items() if len(folders) > 1 else ():
        try:
            jobs.append(Job(number, profile.read(directory, folder, allow_damaged=True), folder == shown))
        except WattleError:  # none of its profiles can be read
            continue
    return jobs


def words(directory: Path) -> str:
    """Says which job the figures of a run are of; empty where there is only one."""
    folders, shown = profile.folders_of(directory), profile.folder_of(directory)
    if len(folders) < 2:
        return ""
    number = next(number for number, folder in folders.items() if folder == shown)
    other = next(number for number, folder in folders.items() if folder != shown)
    base = folders.get(1, shown.parent)
    return (
        f"The command started {len(folders)} jobs, and these figures are of job {number}, the longest one. "
        f"Give {base / f'job-{other}'} as the directory for those of job {other}."
    )


def note(run: Run) -> None:
    """Prints `words` for a run that a command has read."""
    for said in filter(None, (words(sample.directory) for sample in run.samples if sample.profile is not None)):
        console.note(said)
