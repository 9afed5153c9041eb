"""Slurm's own joules of a step, ConsumedEnergy of `sacct`, with their provenance or the reason why there are none."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wattle.base.checked import Checked
from wattle.base.documents import fields
from wattle.machine.commands import run_quietly
from wattle.text.provenance import Joules, Provenance, read_joules, unavailable

KEY = "slurm_energy"  # of a manifest
LIMIT_S = 5
SCOPE = "node"  # Slurm's plugins read sensors of whole nodes
DOMAIN = "nodes"
MOST = 1 << 53  # J; Slurm writes 2^64 - 2 for an unknown value
_SETTING = re.compile(r"^(\w+)\s*=\s*(\S*)", re.MULTILINE)
_FIELDS = "JobID,ConsumedEnergyRaw,Start,End"


@dataclass(frozen=True)
class SlurmEnergy:
    """Slurm's joules of `steps`. `why`: the reason where they are unavailable, else empty."""

    joules: Joules
    steps: tuple[str, ...] = ()
    why: str = ""

    def as_dict(self) -> dict[str, Any]:
        return fields(self, "joules steps why")

    @property
    def words(self) -> str:
        """The figure as a sentence."""
        if not self.joules.known:
            return f"Slurm's joules: unavailable ({self.why})."
        steps = f"step{'' if len(self.steps) == 1 else 's'} {', '.join(self.steps)}"
        return (
            f"Slurm's joules: {self.joules} by {self.joules.source}, {steps}, whole nodes with all programs on them; "
            "Slurm states no uncertainty."
        )


def none(why: str) -> SlurmEnergy:
    return SlurmEnergy(unavailable(DOMAIN, "Slurm", SCOPE), (), why)


def of(allocation: Mapping[str, Any] | None, began: float, ended: float) -> SlurmEnergy | None:
    """Asks Slurm for the joules of the allocation's step. Where the allocation names no step, those of all steps that
    began and ended between the times `began` and `ended` (seconds since 1970), as those of a launcher do. None outside
    a job of Slurm. Takes 10 s at most.
    """
    if not allocation or allocation.get("system") != "Slurm":
        return None
    job, step = str(allocation.get("job")), allocation.get("step")
    try:
        source, why = _plugin()
        if why:
            return none(why)
        command = ["sacct", f"--jobs={job}", "--noheader", "--parsable2", f"--format={_FIELDS}"]
        answer = run_quietly(command, {**os.environ, "SLURM_TIME_FORMAT": "%s"}, LIMIT_S)
    except subprocess.TimeoutExpired as error:
        return none(f"{error.cmd[0]} did not answer within {LIMIT_S} s")
    except OSError as error:
        return none(f"{error.filename or 'sacct'} cannot be started: {error.strerror}")
    if answer.returncode != 0:
        return none(f"sacct: {_first_line(answer.stderr) or f'exit code {answer.returncode}'}")
    rows = [row for line in answer.stdout.splitlines() if (row := _row(line))]
    if step is not None:
        rows = [row for row in rows if row.step == step]
    else:
        rows = [row for row in rows if row.is_within(began, ended)]
    if not rows:
        asked = f"step {job}.{step}" if step is not None else f"step of job {job} that this run started"
        return none(f"sacct does not have the {asked} yet; `wattle collect DIRECTORY` asks again")
    if unknown := [row.name for row in rows if row.joules is None]:
        return none(f"sacct has no joules of {', '.join(unknown)}")
    joules = float(sum(row.joules or 0 for row in rows))
    measured = Joules(joules, None, Provenance.MEASURED, f"Slurm's {source}", SCOPE, DOMAIN)
    return SlurmEnergy(measured, tuple(row.name for row in rows))


def read(entry: Checked) -> SlurmEnergy:
    """Reads the entry of a manifest."""
    return SlurmEnergy(read_joules(entry.get("joules")), tuple(entry.texts("steps")), entry.text("why"))


@dataclass(frozen=True)
class _Row:
    """A step in the answer of sacct. `joules` is None where Slurm knows none."""

    name: str
    step: str
    joules: int | None
    began: float | None
    ended: float | None

    def is_within(self, began: float, ended: float) -> bool:
        """Whether the step lies in this time. Slurm's times are whole seconds."""
        if not self.step.isdigit() or self.began is None or self.ended is None:
            return False
        return self.began >= int(began) and self.ended <= ended + 1


def _row(line: str) -> _Row | None:
    """A line of sacct. None for the job itself and for other output."""
    name, *cells = line.split("|")
    found = re.fullmatch(r"\d+(?:[+_]\d+)?\.(\w+)", name)
    if not found or len(cells) != 3:
        return None
    joules = int(cells[0]) if cells[0].isdigit() else 0
    began, ended = (float(cell) if cell.isdigit() else None for cell in cells[1:])
    return _Row(name, found[1], joules if 0 < joules < MOST else None, began, ended)


def _plugin() -> tuple[str, str]:
    """The plugin by which Slurm measures energy, and why there is none or no record of it."""
    answer = run_quietly(["scontrol", "show", "config"], None, LIMIT_S)
    if answer.returncode != 0:
        return "", f"scontrol: {_first_line(answer.stderr) or f'exit code {answer.returncode}'}"
    known = dict(_SETTING.findall(answer.stdout))
    for name in ("AcctGatherEnergyType", "AccountingStorageType"):
        value = known.get(name, "")
        if not value or value.rpartition("/")[2] in ("none", "(null)"):
            return "", f"it is off in this cluster: {name}={value or '(null)'}"
    return known["AcctGatherEnergyType"], ""


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "").removeprefix("sacct: ").removeprefix("error: ")
