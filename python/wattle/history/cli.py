"""The command `wattle history`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wattle.base import files
from wattle.base.errors import WattleError
from wattle.history import found
from wattle.history.show import show, step_words
from wattle.text import console


def history(
    directories: Annotated[
        list[Path], typer.Argument(metavar="DIR", help="Run directories, or folders that hold some at any depth.")
    ],
    fail_on_step: Annotated[
        int | None,
        typer.Option(
            "--fail-on-step",
            metavar="N",
            min=1,
            help="Exit code 1 where a figure rose in a step in the last N entries.",
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write a page with charts.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Show the time and joules of runs by commit, host and date.

    Runs of one program with the same arguments, PEs, host and settings form a table. The commit is that of the
    repository in which `wattle run` was started. Runs of one commit and day are repeats of each other, unless files
    differed from it. A directory that cannot be read is named in one line, and the others are shown.

    Steps of time and joules are named, with the call site that changed most. In a series without a step one is found
    with a probability of 1 %, if all repeats differ by chance alone. Each side of a step needs four runs.
    """
    history = found.read(directories)
    lines = [f"{directory}: {why}" for directory, why in history.skipped]
    if not history.series:
        for line in lines[:-1]:
            console.error(line)
        raise WattleError(lines[-1])
    for line in lines:
        console.error(f"{line}; left out")
    if json:
        console.print_json(history.as_dict())
    else:
        show(history, console.out)
    if html is not None:
        _write(history, html)
    if fail_on_step is not None:
        _fail(history, fail_on_step)


def _fail(history: found.History, last: int) -> None:
    """Ends with exit code 1 and a line for each step up in the last entries of a series."""
    risen = [
        f"{series.title}: {step_words(series, step)}"
        for series in history.series
        for step in series.steps
        if step.rises and step.at >= len(series.entries) - last
    ]
    for line in risen:
        console.error(f"--fail-on-step: {line}")
    if risen:
        raise typer.Exit(1)


def _write(history: found.History, target: Path) -> None:
    from wattle.history import page  # imported late, because it needs the extra `lab`
    from wattle.html.page import render

    made = page.build(history)
    if files.is_folder(target):
        raise WattleError(f"{target}: is a directory; give a file with --html")
    files.write(target, render(made), "give another file with --html")
    console.note(f"the page is {target}")
