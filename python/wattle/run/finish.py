"""The end of a run: adds what the PEs left to its manifest, and shows its figures."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattle.base.errors import WattleError
from wattle.machine import slurm_energy
from wattle.meter_log import kept
from wattle.record import kept_counts, manifest, runs
from wattle.record import profile as profiles
from wattle.record.manifest import Manifest
from wattle.run import directory as directories
from wattle.run import metrics as run_metrics
from wattle.run.show import show
from wattle.run.summary import document
from wattle.text import console, openmetrics
from wattle.text.console import styled

if TYPE_CHECKING:
    from wattle.meter_log.session import Session
    from wattle.run.job import Outcome
    from wattle.run.stream import Stream


@contextmanager
def reported() -> Iterator[None]:
    """Reports what cannot be read or written once the program has run: its exit code matters more."""
    try:
        yield
    except WattleError as error:
        console.error(str(error))
    except OSError as error:
        console.error(f"{error.filename}: {error.strerror}")


def add_found(where: Path, record: Manifest) -> None:
    """Records the meter and the nodes that the PEs found. The meter may be another than the requested one."""
    try:
        is_open = record.extra.get("mpi") or len(profiles.folders_of(where)) > 1
        found = profiles.load(where, None if is_open else record.n_pes, allow_damaged=True)
    except (WattleError, OSError):  # reported when the run is shown
        return
    record.n_pes = found.n_pes
    record.meter = found.meter if found.meter["name"] else record.meter
    record.extra["nodes"] = [
        {"host": node.host, "pes": node.numbers, "meter": node.meter["name"] or None} for node in found.nodes
    ]


def add_slurm_energy(record: Manifest, step: str | None, began: float, ended: float) -> None:
    """Adds Slurm's joules: of this step, or of the steps that the run started from `began` to `ended` (since 1970)."""
    found = slurm_energy.of({**record.allocation, "step": step} if record.allocation else None, began, ended)
    if found is not None:
        record.extra[slurm_energy.KEY] = found.as_dict()


def collect(where: Path, environment: dict[str, str], outcome: Outcome, record: Manifest) -> None:
    """Writes the profiles of processes that could not do so, and records the first one that failed."""
    folder = where / "profile"
    with reported():
        found = kept_counts.collect(folder, environment, outcome.ends, job_has_ended=True)
        for words in found.why.splitlines():
            console.error(words)
    if first := outcome.first_failed:
        record.extra["first_end"] = {"pid": first.pid, "signal": first.signal, "exit_code": first.exit_code}


def read_meter(session: Session, where: Path, record: Manifest) -> None:
    """Reads the log of the external meter. A failure is reported and does not change the program's exit code."""
    try:
        found = session.end()
    except KeyboardInterrupt:
        console.note("external meter: interrupted, so the log was not read")
        return
    except WattleError as error:
        console.error(str(error))
        return
    record.extra["external"] = dict(kept.summary(found))
    manifest.keep(where, record)
    _draw_watts(where, record, found)
    if found.why:
        console.error(f"external meter: {found.why}; read a later log with `wattle external {short(where)} LOG`")


def write_metrics(file: Path, where: Path) -> None:
    with reported():
        openmetrics.keep(file, run_metrics.metrics(runs.load(where, allow_damaged=True)))


def write_total(lines: Stream, where: Path, record: Manifest) -> None:
    """Writes the stream's last line."""
    with reported():
        figures = run_metrics.figures(runs.load(where, allow_damaged=True))
        lines.total(figures, record.exit_code or 0, record.wall_s or 0.0)


def _draw_watts(where: Path, record: Manifest, found: kept.External) -> None:
    """Adds the watts of the external meter to the timelines."""
    from wattle.meter_log import drawing  # imported after the job, because it starts threads

    with reported():
        drawing.draw(where, record, found)


def all_finished(where: Path, profile: bool) -> bool:
    """Whether each process of an MPI job finished although a signal asked the job to stop. The launcher's exit code
    does not show it: Open MPI returns 1, MPICH 0, 2, 11, 15 or 129.
    """
    try:
        found = profiles.load(where, allow_damaged=True) if profile else None
        return found is not None and found.complete and not any(pe.ended for pe in found.pes)
    except (WattleError, OSError):
        return False


def write_timeline(where: Path, record: Manifest, machine: dict[str, Any]) -> None:
    with reported():
        if not any(profiles.folder_of(where).glob("timeline-*.bin")):
            console.note(
                f"timeline: no {record.noun} left one (killed, aborted, ended without finalize, or never initialised)"
            )
            return
        from wattle.timeline import written  # imported after the job, because it starts threads

        record.extra["timeline"] = written.write(where, machine)


def present(where: Path, json: bool, is_slip: bool = False, depth: int | None = None) -> None:
    """Shows the figures of a run, as JSON or as tables on standard error. `is_slip`: removes the directory, because it
    holds none; the JSON then names no directory.
    """
    found = runs.load(where, allow_damaged=True)
    if json:
        console.print_json(document(found) | ({"directory": None} if is_slip else {}))
    else:
        show(found, console.err, depth)
    if is_slip:
        directories.drop(where)
    elif not json:
        drawn = found.middle.manifest.extra.get("timeline")
        console.err.print(styled("\n[faint]Kept in[/faint] {}", short(where)), soft_wrap=True)
        if isinstance(drawn, dict) and (name := drawn.get("perfetto")):
            file = short(found.middle.directory / str(name))
            console.err.print(styled("[faint]The timeline, for ui.perfetto.dev:[/faint] {}", file), soft_wrap=True)


def short(where: Path) -> str:
    with suppress(OSError):  # the working directory was removed
        if where.is_relative_to(Path.cwd()):
            return os.path.relpath(where)
    return str(where)
