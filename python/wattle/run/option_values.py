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


def with_budget(chosen: dict[str, str], budget: str | None) -> dict[str, str]:
    """The settings with that of --power-budget. Its value is checked by the job, which knows the machine."""
    if budget is None:
        return chosen
    if "WATTLE_POWER_BUDGET" in chosen:
        raise WattleError(f"--power-budget {budget} and --set WATTLE_POWER_BUDGET: expected one of them")
    if not budget:
        raise WattleError("--power-budget: expected watts such as 400W")
    return chosen | {"WATTLE_POWER_BUDGET": budget}
