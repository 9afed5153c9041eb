"""Values of options, for commands that parse them later or not by Typer."""

from __future__ import annotations

from wattle.base.errors import WattleError

STDOUT = "-"  # of --stream


def settings_of(pairs: list[str] | None) -> dict[str, str]:
    """The settings of `--set`. Raises WattleError for one of another form."""
    chosen = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise WattleError(f"--set {pair}: expected NAME=VALUE, as in --set WATTLE_WAIT=spin")
        chosen[name] = value
    return chosen
