"""The command `wattle acceptance`."""

from __future__ import annotations

import os
import platform
import shutil
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from wattle.acceptance import found, steps, trial
from wattle.acceptance.steps import Step
from wattle.acceptance.trial import Result
from wattle.acceptance.untried import untried
from wattle.base import files
from wattle.base.errors import WattleError
from wattle.doctor.finding import Roots
from wattle.machine import info, paths, stopping
from wattle.record import manifest
from wattle.text import console, units
from wattle.text.console import plain, styled
from wattle.text.tables import table

SCHEMA = 1
LIMIT_S = 900.0
ROOM_BYTES = 64 << 20  # several times the disk space that all quick steps need
STYLES = {"passed": "good", "failed": "bad", "not tried": "partly"}


def acceptance(
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="File to write (wattle-acceptance-HOST-TIME-PID.tar.gz)."),
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", metavar="STEP,...", help="Only these steps or groups; --list names them.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the steps and exit.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Full sweeps instead of quick ones; takes hours.")] = False,
    limit: Annotated[float, typer.Option("--limit", metavar="SECONDS", help="Longest time of a step.")] = LIMIT_S,
) -> int:
    """Test everything on this machine, and write all results into one file.

    It is meant for machines with sensors, settable clocks, InfiniBand, many cores or an unusual processor. It tests
    sensors, transports, knobs, studies and benchmark bars, and lists everything that cannot be tested. Nothing else
    should run meanwhile. The file has host name, processor, kernel, settings, commands with their paths, and results,
    and nothing more. Ctrl-C ends it and keeps the results so far.
    """
    home = paths.find_home()
    chosen = _chosen(steps.all_steps(home, full), only)
    if list_:
        _list(chosen)
        return 0
    if not 1 <= limit <= 1e6:
        raise WattleError(f"--limit {limit:g}: allowed are 1 to 1000000 seconds")
    target = output or Path(
        f"wattle-acceptance-{platform.node()}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.tar.gz"
    )
    _check(target)
    folder = _scratch()
    stop: KeyboardInterrupt | None = None
    host = manifest.host_info()  # measured before this command adds to the load
    with stopping.measuring():
        results, stop = _try_all(chosen, folder, limit, full)
    document = _document(results, folder, host)
    _keep(folder, document, target)
    _show(results, document["untried"])
    console.out.print(styled("\nWritten to {}: please send it back.", target), soft_wrap=True)
    if stop is not None:
        console.error(stopping.words(stopping.exit_code(stop)))
        return stopping.exit_code(stop)
    return 1 if any(r.state == "failed" for r in results) else 0


def _chosen(every: list[Step], only: str | None) -> list[Step]:
    if only is None:
        return every
    names = [name.strip() for name in only.split(",") if name.strip()]
    known = dict.fromkeys([*(s.group for s in every), *(s.name for s in every)])
    if wrong := [name for name in names if name not in known]:
        raise WattleError(f"--only {wrong[0]}: is no step; there are {', '.join(known)}")
    if not names:
        raise WattleError(f"--only {only!r}: names no step; there are {', '.join(known)}")
    return [s for s in every if s.name in names or s.group in names]


def _label() -> str:
    """A name that two processes which start in the same second do not share."""
    return f"{platform.node()}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"


def _check(target: Path) -> None:
    """Checks that the result file can be written, before the steps spend half an hour."""
    if target.exists():
        raise WattleError(f"{target}: exists already; give another file with -o")
    try:
        files.try_writing(target.parent)
    except OSError as error:
        raise WattleError(f"{target}: cannot be written: {error.strerror}; give another file with -o") from None


def _scratch() -> Path:
    """A new temporary folder for results and files of jobs. `tempfile` would use another folder where it is full."""
    base = Path(next(filter(None, map(os.environ.get, ("TMPDIR", "TEMP", "TMP"))), "/tmp")).absolute()
    try:
        free = shutil.disk_usage(base).free
        if free >= ROOM_BYTES:
            folder = Path(tempfile.mkdtemp(prefix="wattle-acceptance-", dir=base)) / "acceptance"
            folder.mkdir(files.FOLDER)
            return folder
    except OSError as error:
        raise WattleError(f"{base}: cannot be used: {error.strerror}; set TMPDIR to a folder with free space") from None
    raise WattleError(f"{base}: less than {ROOM_BYTES >> 20} MiB is free there; set TMPDIR to a folder with more space")


def _try_all(
    chosen: list[Step], folder: Path, limit: float, full: bool
) -> tuple[list[Result], KeyboardInterrupt | None]:
    """The result of each step, and the interruption that ended the steps early, if any."""
    results: list[Result] = []
    started = time.monotonic()
    with console.progress("acceptance", len(chosen), estimates=False) as bar:
        for number, step in enumerate(chosen):
            before_s = time.monotonic() - started

            def show(step: Step = step, number: int = number, before_s: float = before_s) -> None:
                now_s = time.monotonic() - started - before_s
                left = "" if full else f"; {_left(chosen, number, before_s, now_s)}"
                bar.advance(0, now=f"{step.name}{left}")

            show()
            try:
                results.append(trial.run(step, folder, limit, show))
            except KeyboardInterrupt as stop:
                results.append(trial.left_out(step, "interrupted", time.monotonic() - started - before_s))
                return results + [trial.left_out(s, "interrupted before") for s in chosen[number + 1 :]], stop
            bar.advance(now=step.name)
    return results, None


def _left(chosen: list[Step], number: int, before_s: float, now_s: float) -> str:
    """An estimate of the remaining time. It assumes that later steps take as much longer than usual as the earlier ones
    did. `before_s`: seconds of the earlier steps. `now_s`: seconds of this step so far.
    """
    usual = [step.usual_s for step in chosen]
    pace = before_s / sum(usual[:number]) if number else 1.0
    minutes = (sum(usual[number:]) * pace - now_s) / 60
    return "less than a minute left" if minutes < 1 else f"about {minutes:.0f} min left"


def _document(results: list[Result], folder: Path, host: dict[str, Any]) -> dict[str, Any]:
    answer = info.ask()
    missing = untried(Roots(), answer.meters, found.tried(folder, results))
    return {
        "schema": SCHEMA,
        "kind": "acceptance",
        "made": manifest.now(),
        "host": host | {"machine": platform.machine()},
        "versions": manifest.versions() | {"runtime": answer.version, "pmix": answer.pmix},
        "steps": [r.as_dict() for r in results],
        "joules": found.joules(folder),
        "untried": [{"what": what, "why": why} for what, why in missing],
    }


def _keep(folder: Path, document: dict[str, Any], target: Path) -> None:
    """Writes the result file atomically. Where that fails, the folder with all results is kept."""
    try:
        files.write_atomically(folder / "acceptance.json", console.json_text(document, indent=1))
        with files.writing(target) as out, tarfile.open(fileobj=out, mode="w:gz") as archive:
            archive.add(folder, folder.name)
    except OSError as error:
        words = error.strerror or str(error)
        raise WattleError(f"{target}: cannot be written: {words}; what was found stays in {folder}") from None
    shutil.rmtree(folder.parent, ignore_errors=True)


def _list(chosen: list[Step]) -> None:
    result = table()
    for head in ("step", "group", "what"):
        result.add_column(head, no_wrap=head != "what")
    for step in chosen:
        result.add_row(step.name, step.group, step.what)
    console.out.print(result)


def _show(results: list[Result], missing: list[dict[str, str]]) -> None:
    shown = table(title="Steps")
    for head in ("step", "group", "", "took", "why"):
        shown.add_column(head, no_wrap=head != "why", overflow="fold")
    for r in results:
        shown.add_row(r.name, r.group, plain(r.state, STYLES[r.state]), units.seconds(r.seconds), r.why)
    console.out.print(shown)
    if missing:
        console.out.print()
        rest = table(title="Not tested here")
        for head in ("what", "why"):
            rest.add_column(head, overflow="fold")
        for entry in missing:
            rest.add_row(entry["what"], entry["why"])
        console.out.print(rest)
