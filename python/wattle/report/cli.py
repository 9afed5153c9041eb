"""`wattle report`: writes the page of a run or study directory, or of the file of a benchmark."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wattle import console, files, runs
from wattle import manifest as manifests
from wattle.errors import WattleError
from wattle.run.show import show as show_run

if TYPE_CHECKING:
    from wattle.html.page import Page


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
) -> None:
    """Write one HTML file with interactive figures, tables, provenance and manifest. It needs no network."""
    if text:
        if output is not None or show:
            raise WattleError("--text writes no file: leave out -o and --open")
        show_run(runs.load(directory, allow_damaged=True), console.out)
        return
    target = write(directory, output)
    console.out.print(str(target), soft_wrap=True)
    if show and not webbrowser.open(target.absolute().as_uri()):
        raise WattleError(f"no browser could be started; the report is {target}")


def write(directory: Path, output: Path | None = None) -> Path:
    """Reads and checks the directory, writes the page atomically and returns its path."""
    from wattle.html import page  # imported late, because it needs the extra `lab`

    made = build(directory)
    beside = directory.with_suffix(".html") if directory.is_file() else directory / "report.html"
    target = output if output is not None else beside
    try:
        if target.is_dir():
            raise WattleError(f"{target}: is a directory; give a file with -o")
        files.write_atomically(target, page.render(made))
    except OSError as error:
        raise WattleError(f"{target}: cannot be written: {error.strerror}; give another file with -o") from None
    return target


def build(found: Path) -> Page:
    """The page for a run, a study or a benchmark."""
    from wattle.report import bench_page, run_page, study_page

    if found.is_file() and found.suffix == ".json":
        return bench_page.build(found)
    record = manifests.read(found)
    return run_page.build(found) if record.kind == "run" else study_page.build(found, record)
