"""`wattle report`: writes the page of a run or study directory, or of the file of a benchmark."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wattle.base import files
from wattle.base.errors import DamagedFile, WattleError
from wattle.figures import call_paths, sites
from wattle.record import jobs, runs
from wattle.record import manifest as manifests
from wattle.record import profile as profiles
from wattle.run.show import show as show_run
from wattle.text import console

if TYPE_CHECKING:
    from wattle.html.page import Page

STANDARD_OUTPUT = Path("-")


def report(
    directory: Annotated[
        Path, typer.Argument(help="Directory of `wattle run` or `wattle study`, or the file of `make bench`.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="File to write (DIR/report.html; for a benchmark bench.html beside its file)."
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
    text: Annotated[bool, typer.Option("--text", help="Print the tables of a run again, and write no file.")] = False,
    depth: Annotated[
        int | None, typer.Option(metavar="N", help="With --text: callers of each call site to show.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT", help="With --text: add call sites up by function, library, call or region; or path."
        ),
    ] = None,
    folded: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write only the call paths, as folded stacks of flame graphs. - is standard output."
        ),
    ] = None,
    speedscope: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write only the call paths, for speedscope.app. - is standard output."),
    ] = None,
    weight: Annotated[
        str, typer.Option(metavar="WHAT", help="Weight of these call paths: waiting, time or joules.")
    ] = "waiting",
) -> None:
    """Write one HTML file with interactive figures, tables, provenance and manifest. It needs no network."""
    _check_choices(text, depth, by, weight)
    if text:
        if output is not None or show or folded or speedscope:
            raise WattleError("--text writes no file: leave out -o, --open, --folded and --speedscope")
        run = runs.load(directory, allow_damaged=True)
        _check_readable(run)
        show_run(run, console.out, depth, by or "path")
        return
    if folded or speedscope:
        _write_paths(directory, folded, speedscope, weight)
        return
    target = write(directory, output)
    console.out.print(str(target), soft_wrap=True)
    if show and not webbrowser.open(target.absolute().as_uri()):
        raise WattleError(f"no browser could be started; the report is {target}")


def _check_readable(run: runs.Run) -> None:
    """Raises DamagedFile where all profiles of the run are damaged."""
    profile = run.middle.profile
    if profile is not None and profile.damaged and not profile.pes:
        pe, wrong = min(profile.damaged.items())
        raise DamagedFile(profiles.folder_of(run.middle.directory) / f"pe-{pe:05d}.json", wrong)


def _check_choices(text: bool, depth: int | None, by: str | None, weight: str) -> None:
    if (depth is not None or by is not None) and not text:
        raise WattleError("--depth and --by are for the tables of --text; add --text")
    if by is not None and by not in call_paths.BY:
        raise WattleError(f"--by {by}: expected one of {', '.join(call_paths.BY)}")
    if depth is not None and depth < 0:
        raise WattleError(f"--depth {depth}: expected at least 0")
    if weight not in call_paths.WEIGHTS:
        raise WattleError(f"--weight {weight}: expected one of {', '.join(call_paths.WEIGHTS)}")


def _write_paths(directory: Path, folded: Path | None, speedscope: Path | None, weight: str) -> None:
    """Writes the call paths of a run into the files that are not None, `-` being standard output."""
    if folded == speedscope == STANDARD_OUTPUT:
        raise WattleError("--folded - and --speedscope -: both write to standard output; give one of them a file")
    run = runs.load(directory, allow_damaged=True)
    _check_readable(run)
    profile = run.middle.profile
    if profile is None or not profile.pes:
        raise WattleError(f"{directory}: the run has no profile, so no call paths are known")
    jobs.note(run)
    found = call_paths.stacks(sites.merge(profile), weight)
    if folded == STANDARD_OUTPUT:
        console.print_lines(call_paths.folded(found).splitlines())
    elif folded is not None:
        files.write(folded, call_paths.folded(found), "give another file")
    document = call_paths.speedscope(found, weight, directory.resolve().name)
    if speedscope == STANDARD_OUTPUT:
        console.print_json(document)
    elif speedscope is not None:
        files.write(speedscope, json.dumps(document), "give another file")
    for target in () if STANDARD_OUTPUT in (folded, speedscope) else (folded, speedscope):
        if target is not None:
            console.out.print(str(target), soft_wrap=True)


def write(directory: Path, output: Path | None = None) -> Path:
    """Reads and checks the directory, writes the page atomically and returns its path."""
    from wattle.html import page  # imported late, because it needs the extra `lab`

    made = build(directory)
    beside = directory / "report.html" if directory.is_dir() else directory.with_suffix(".html")
    target = output if output is not None else beside
    if files.is_folder(target):
        raise WattleError(f"{target}: is a directory; give a file with -o")
    files.write(target, page.render(made), "give another file with -o")
    return target


def build(found: Path) -> Page:
    """The page for a run, a study or a benchmark."""
    from wattle.report import bench_page, run_page, study_page

    if found.is_file() and found.suffix == ".json":
        return bench_page.build(found)
    if runs.is_bare(found):
        return run_page.build(found)
    record = manifests.read(found)
    return run_page.build(found) if record.kind == "run" else study_page.build(found, record)
