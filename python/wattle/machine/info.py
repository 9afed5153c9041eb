"""Runs `wattle-info` and reads its answer: version, settings with their values, meters, machine, waits."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wattle.base.checked import parse_json
from wattle.base.errors import DamagedFile, WattleError
from wattle.machine import paths
from wattle.machine.commands import run_quietly, without_preload

TOOL = "wattle-info"
LIMIT_S = 60


@dataclass(frozen=True)
class Info:
    """The tool's answer. A key that its version does not have reads as empty."""

    document: dict[str, Any]

    @property
    def version(self) -> str:
        return str(self.document.get("version", ""))

    @property
    def pmix(self) -> str:
        return str(self.document.get("pmix") or "")

    @property
    def settings(self) -> list[dict[str, Any]]:
        return list(self.document.get("settings") or [])

    @property
    def meters(self) -> list[dict[str, Any]]:
        return list(self.document.get("meters") or [])

    @property
    def machine(self) -> dict[str, Any]:
        return dict(self.document.get("machine") or {})

    @property
    def waits(self) -> dict[str, Any]:
        return dict(self.document.get("waits") or {})

    @property
    def values(self) -> dict[str, str]:
        """Each setting with its value in force."""
        return {row["name"]: str(row.get("value", "")) for row in self.settings}


def ask(environment: Mapping[str, str] | None = None) -> Info:
    """Runs wattle-info in an environment. Raises WattleError with the tool's message where a setting is wrong."""
    tool = paths.tool(TOOL)
    try:
        result = run_quietly([str(tool)], without_preload(environment), LIMIT_S)
    except subprocess.TimeoutExpired:
        raise WattleError(f"{tool} did not answer within {LIMIT_S} s") from None
    except OSError as error:
        raise WattleError(f"{tool} cannot be started: {error.strerror}") from None
    if result.returncode != 0:
        said = result.stderr.strip().removeprefix(f"{TOOL}:").strip()
        raise WattleError(said or f"{tool} failed with exit code {result.returncode} and no message")
    return Info(_parsed(tool, result.stdout))


def check_machine(found: Info) -> None:
    """Raises WattleError where the machine profile is missing or wrong and a meter needs it."""
    if found.machine.get("error") and found.values.get("WATTLE_METER") != "none":
        raise WattleError(str(found.machine["error"]))


def _parsed(tool: object, text: str) -> dict[str, Any]:
    try:
        return parse_json(tool, text).object()
    except DamagedFile as error:
        raise WattleError(f"{error}; does it belong to this version?") from None


def check_name(name: str, known: list[str]) -> None:
    """Raises WattleError for a setting that does not exist, and suggests the most similar name."""
    if name in known:
        return
    import difflib  # nearly every name exists

    near = difflib.get_close_matches(name.upper(), known, n=1)
    hint = f"; did you mean {near[0]}?" if near else "; `wattle doctor` lists them"
    raise WattleError(f"there is no setting {name!r}{hint}")
