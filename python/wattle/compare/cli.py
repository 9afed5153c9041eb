"""The command `wattle compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wattle import console, manifest
from wattle.compare import of_runs, of_studies
from wattle.compare.show import show_runs, show_studies


def compare(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="Directory of a run or study.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="Another directory of the same kind.")],
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Compare two runs or two studies: time, CPU seconds, waiting, joules."""
    kind = of_runs.same_kind(manifest.read(before).kind, manifest.read(after).kind)
    comparison = (of_runs if kind == "run" else of_studies).compare(before, after)
    if json:
        console.print_json(comparison.as_dict())
    elif isinstance(comparison, of_runs.Comparison):
        show_runs(comparison, console.out)
    else:
        show_studies(comparison, console.out)
