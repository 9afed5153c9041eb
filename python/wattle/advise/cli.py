"""The command `wattle advise`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wattle.advise.given import advise as advice_on
from wattle.advise.show import show
from wattle.advise.words import markdown
from wattle.base.errors import WattleError
from wattle.text import console

CLUSTER = "sandybridge-ib"


def advise(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A directory of `wattle run`.")],
    check: Annotated[
        int | None,
        typer.Option("--check", metavar="N", help="Replay the run under the change of finding N."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="CLUSTER", help=f"With --check: the simulated cluster, as for `wattle sim`; {CLUSTER}."),
    ] = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Markdown, for a pull request.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Name the lines that cost more than they must, the change, and the time and joules that it saves.

    Findings are ranked by joules. Savings are intervals, computed from the prices of calls in this run. A change that
    saves less than 1 % of the run is not named.
    """
    if json and as_markdown:
        raise WattleError("--json and --markdown exclude each other: give one of them")
    if check is None and cluster is not None:
        raise WattleError("--cluster needs --check N: only a replay of a finding uses a cluster")
    if check is not None and as_markdown:
        raise WattleError("--markdown and --check exclude each other: a replay is shown as text or with --json")
    given = advice_on(directory)
    if check is not None:
        if not 1 <= check <= len(given.findings):
            has = f"has findings 1 to {len(given.findings)}" if given.findings else "has no findings"
            raise WattleError(f"--check {check}: the run {has}")
        from wattle.advise import check as checks  # imported late, because it needs the extra `lab`

        checked = checks.check(given, check, cluster or CLUSTER)
        console.print_json(checked.as_dict()) if json else checks.show(checked, console.out)
        return
    if json:
        console.print_json(given.as_dict())
    elif as_markdown:
        console.print_lines(markdown(given).splitlines())
    else:
        show(given, console.out)
