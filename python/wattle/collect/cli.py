"""The command `wattle collect`."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from wattle.base import limits
from wattle.base.errors import WattleError
from wattle.machine import allocation, info
from wattle.record import manifest, profile
from wattle.record.manifest import Manifest
from wattle.record.profile import RunProfile
from wattle.run import directory as directories
from wattle.run import finish
from wattle.run.options import Json


def collect(
    directory: Annotated[Path, typer.Argument(metavar="DIRECTORY", help="Directory with the profiles in `profile`.")],
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PROGRAM]", help="The program and its arguments, for the manifest.", show_default=False
        ),
    ] = None,
    begin: Annotated[
        bool, typer.Option("--begin", help="Make the directory and its manifest before the program starts.")
    ] = False,
    n: Annotated[int | None, typer.Option("-n", "--np", metavar="N", help="Number of PEs, if it is known.")] = None,
    mpi: Annotated[bool, typer.Option("--mpi", help="PROGRAM is an MPI program, with the library preloaded.")] = False,
    exit_code: Annotated[int | None, typer.Option(metavar="CODE", help="Exit code of the job, if it is known.")] = None,
    wall: Annotated[float | None, typer.Option(metavar="SECONDS", help="Time from start to end of the job.")] = None,
    json: Json = False,
) -> int:
    """Complete the manifest of a run that another launcher started, and show its figures.

    A program whose environment has WATTLE_PROFILE_DIR=DIRECTORY/profile leaves its profiles there, with any
    launcher. This command adds the manifest that `wattle run` writes, so that `wattle report` and `wattle compare` take
    the directory. It also completes the directory of a `wattle run` that was killed. Slurm's plugin calls it for `srun
    --wattle`.
    """
    for option, value, least, most in (("-n", n, 1, limits.PES), ("--exit-code", exit_code, 0, 255)):
        if value is not None and not least <= value <= most:
            raise WattleError(f"{option} {value}: expected {least} to {most}")
    if wall is not None and wall < 0:
        raise WattleError(f"--wall {wall:g}: expected seconds, 0 or more")
    if begin:
        _begin(directory, command or [], n, mpi)
        return 0
    where = directories.resume(_found(directory))
    record = _record(where, command or [], mpi)
    _complete(where, record, n, exit_code, wall)
    manifest.write(where, record)
    finish.present(where, json)
    return 0


def _begin(directory: Path, command: list[str], n: int | None, mpi: bool) -> None:
    """Makes the directory with its folder for profiles and the manifest of a run that has not ended."""
    if not command:
        raise WattleError("--begin needs the program, after --")
    known = info.ask()
    info.check_machine(known)
    where = directories.prepare(directory, command[0], "give another directory")
    directories.profile_folder(where)
    values = {k: v for k, v in known.values.items() if k != "WATTLE_PROFILE_DIR"}
    record = manifest.start("run", command, n or 1, settings=values, machine=str(known.machine.get("name") or ""))
    record.versions |= {"runtime": known.version, "pmix": known.pmix}
    record.meter = {"name": values.get("WATTLE_METER", ""), "why": ""}
    record.extra = {
        "profile": True,
        "machine_numbers": known.machine.get("numbers") or [],
        "machine_title": str(known.machine.get("title") or ""),
    }
    if mpi:
        record.extra["mpi"] = True
    manifest.write(where, record)


def _found(directory: Path) -> Path:
    """The directory, given as such or as its folder of profiles."""
    if directory.name == "profile" and not (directory / "profile").exists():
        directory = directory.parent
    if not (directory / "profile").is_dir():
        raise WattleError(
            f"{directory}: holds no profile folder; run the program with WATTLE_PROFILE_DIR={directory}/profile"
        )
    return directory


def _record(where: Path, command: list[str], mpi: bool) -> Manifest:
    """The manifest that is there, or one for profiles that no command of Wattle began."""
    if (where / manifest.FILE).exists():
        record = manifest.read(where)
        if record.kind != "run" or record.repeats:
            raise WattleError(f"{where}: is not the directory of one run")
        return record
    found = _profiles(where)
    if found is None:
        raise WattleError(f"{where}/profile: no process left a profile, so there is nothing to collect")
    written = min((path.stat().st_mtime for path in (where / "profile").glob("pe-*.json")), default=time.time())
    began = datetime.fromtimestamp(written - (found.wall_s or 0.0), UTC)
    record = manifest.start("run", command or ["(unknown program)"], found.n_pes)
    record.started = began.strftime("%Y-%m-%dT%H:%M:%SZ")
    record.git = None  # the program may have been built from another commit
    record.extra = {"profile": True}
    if mpi or found.noun == "rank":
        record.extra["mpi"] = True
    return record


def _complete(where: Path, record: Manifest, n: int | None, exit_code: int | None, wall: float | None) -> None:
    """Adds the end of the run: the time, the exit code, the PEs, the job and Slurm's joules."""
    found = _profiles(where)
    record.n_pes = n or (found.n_pes if found else record.n_pes)  # Slurm's tasks may be others than the PEs
    finish.add_found(where, record)
    record.exit_code = record.exit_code if exit_code is None else exit_code
    if wall is not None:
        record.wall_s = wall
    elif record.wall_s is None:
        record.wall_s = found.wall_s if found else None
    record.allocation = {**(allocation.here() or {}), **(record.allocation or {})} or None
    began = datetime.fromisoformat(record.started).timestamp()
    step = (record.allocation or {}).get("step")
    finish.add_slurm_energy(record, step, began, began + (record.wall_s or 0.0))


def _profiles(where: Path) -> RunProfile | None:
    """The profiles; None where no process left one."""
    try:
        return profile.load(where, allow_damaged=True)
    except WattleError:
        return None
