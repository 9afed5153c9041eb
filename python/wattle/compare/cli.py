"""The command `wattle compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wattle import console, manifest
from wattle.compare import of_runs
from wattle.compare.show import show_runs


def compare(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="Directory of a run or study.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="Another directory of the same kind.")],
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Compare two runs or two studies: time, CPU seconds, waiting, joules."""
    kind = of_runs.same_kind(manifest.read(before).kind, manifest.read(after).kind)
    if kind == "run":
        of, show = of_runs, show_runs
    else:
        from wattle.compare import of_studies as of  # imported late, because it needs the extra `lab`
        from wattle.compare.show_studies import show_studies as show
    comparison = of.compare(before, after)
    if json:
        console.print_json(comparison.as_dict())
    else:
        show(comparison, console.out)
