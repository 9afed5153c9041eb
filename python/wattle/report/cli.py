"""`wattle report DIR`: writes the page of a run or a study."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from wattle import console
from wattle import manifest as manifests
from wattle.errors import WattleError
from wattle.report import page, run_page, study_page


def report(
    directory: Annotated[Path, typer.Argument(help="Directory that `wattle run` or `wattle study` wrote.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write (DIR/report.html).")] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser afterwards.")] = False,
) -> None:
    """One HTML file with everything in it: figures to hover over, tables, provenance, manifest. Needs no network."""
    target = write(directory, output)
    console.out.print(str(target), soft_wrap=True)
    if show and not webbrowser.open(target.absolute().as_uri()):
        raise WattleError(f"no browser could be started; the report is {target}")


def write(directory: Path, output: Path | None = None) -> Path:
    """Reads and checks the directory, writes the page, and gives its path. The file is whole or is not there."""
    record = manifests.read(directory)
    made = run_page.build(directory) if record.kind == "run" else study_page.build(directory, record)
    target = output if output is not None else directory / "report.html"
    scratch = target.with_name(f".{target.name}.part")
    try:
        if target.is_dir():
            raise WattleError(f"{target}: is a directory; give a file with -o")
        scratch.write_text(page.render(made), encoding="utf-8")
        scratch.replace(target)
    except OSError as error:
        scratch.unlink(missing_ok=True)
        raise WattleError(f"{target}: cannot be written: {error.strerror}; give another file with -o") from None
    return target
