"""The end of a run: adds what the PEs left to its manifest, and shows its figures."""

from __future__ import annotations

import os
from pathlib import Path

from wattle import console, runs, slurm_energy
from wattle.console import styled
from wattle.errors import WattleError
from wattle.manifest import Manifest
from wattle.run import directory as directories
from wattle.run.show import show
from wattle.run.summary import document


def add_found(where: Path, record: Manifest) -> None:
    """Records the meter and the nodes that the PEs found. The meter may be another than the requested one."""
    try:
        found = runs.profiles.load(where, None if record.extra.get("mpi") else record.n_pes, allow_damaged=True)
    except WattleError:  # reported when the run is shown
        return
    record.n_pes = found.n_pes
    record.meter = found.meter if found.meter["name"] else record.meter
    record.extra["nodes"] = [
        {"host": node.host, "pes": node.numbers, "meter": node.meter["name"] or None} for node in found.nodes
    ]


def add_slurm_energy(record: Manifest, step: str | None, began: float, ended: float) -> None:
    """Adds Slurm's joules of a run inside a Slurm job: of this step, or of the steps that the run started between
    `began` and `ended` (seconds since 1970).
    """
    found = slurm_energy.of({**record.allocation, "step": step} if record.allocation else None, began, ended)
    if found is not None:
        record.extra[slurm_energy.KEY] = found.as_dict()


def present(where: Path, exit_code: int, json: bool, is_slip: bool, depth: int | None = None) -> int:
    """Shows the figures of a run, as JSON or as tables on standard error. Returns the exit code of the command.
    `is_slip`: removes the directory, because it holds none.
    """
    try:
        found = runs.load(where, allow_damaged=True)
        if json:
            console.print_json(document(found))
        else:
            show(found, console.err, depth)
            drawn = found.middle.manifest.extra.get("timeline")
            if is_slip:
                directories.drop(where)
                return exit_code
            console.err.print(styled("\n[faint]Kept in[/faint] {}", short(where)), soft_wrap=True)
            if isinstance(drawn, dict) and (name := drawn.get("perfetto")):
                file = short(found.middle.directory / str(name))
                console.err.print(styled("[faint]The timeline, for ui.perfetto.dev:[/faint] {}", file), soft_wrap=True)
    except WattleError as error:  # the program's own exit code takes precedence
        console.error(str(error))
        return exit_code or error.exit_code
    return exit_code


def short(where: Path) -> str:
    return os.path.relpath(where) if where.is_relative_to(Path.cwd()) else str(where)
