"""`wattle study NAME`: runs a study, keeps every sample, and compares the results with the published figures."""

from __future__ import annotations

import typer

from wattle.study import registry

study_app = typer.Typer(
    help="Run a study of the papers here, and compare the results with the published figures.",
    no_args_is_help=True,
)


@study_app.callback()
def studies() -> None:
    """The group of commands, one for each study."""


for _name in registry.commands():
    study_app.command(_name)(registry.part(_name, "command").command)
