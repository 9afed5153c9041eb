"""`wattle study NAME`: runs a study, keeps every sample, and holds the published figures against them."""

from __future__ import annotations

import typer

from wattle.study import registry

study_app = typer.Typer(
    help="Run a study of the papers here, and hold their figures against what is found.",
    no_args_is_help=True,
)


@study_app.callback()
def studies() -> None:
    """Each study is a command."""


for _name in registry.commands():
    study_app.command(_name)(registry.part(_name, "command").command)
