"""The description of a log: its columns, their unit, and the stated error of the meter, from `--meter-set`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wattle.base import files
from wattle.base.checked import shown
from wattle.base.errors import WattleError

SCOPES = ("node", "wall", "package", "dram")
UNITS = {
    "w": (1.0, False),
    "mw": (1e-3, False),
    "kw": (1e3, False),
    "j": (1.0, True),
    "mj": (1e-3, True),
    "kj": (1e3, True),
    "wh": (3600.0, True),
    "kwh": (3.6e6, True),
}
UNIT_NAMES = ("W", "mW", "kW", "J", "mJ", "kJ", "Wh", "kWh")
NAMES = ("time", *SCOPES, "unit", "error", "every")
ERROR_PERCENT = 5.0  # assumed, as for sensors (GAIN_ERROR in src/power/sensor/gauge.c)
EVERY_S = 1.0
READINGS = 10  # in a sample of a study, as benchmarks have ten intervals of a sensor
EVERY_MOST_S = 60.0


@dataclass(frozen=True)
class Given:
    """A log as the user describes it. `columns`: by scope, the columns that are added up; empty: the only one.
    `unit`: key of UNITS; empty: from the header. `error`: half-width of the meter's own error as a share. `every_s`:
    seconds between two readings; the load pattern depends on it.
    """

    file: Path
    time: str = ""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unit: str = ""
    error: float = ERROR_PERCENT / 100
    every_s: float = EVERY_S
    settings: tuple[str, ...] = ()


def given(file: Path, settings: Iterable[str]) -> Given:
    """The log of the options `--meter-log FILE` and `--meter-set NAME=VALUE`. Raises WattleError."""
    texts: dict[str, str] = {}
    for pair in settings:
        name, equals, value = pair.partition("=")
        if not equals or name not in NAMES or not value.strip():
            raise WattleError(f"--meter-set {shown(pair)}: expected NAME=VALUE; NAME is one of {', '.join(NAMES)}")
        texts[name] = value.strip()
    unit = texts.get("unit", "")
    if unit and unit not in UNIT_NAMES:
        raise WattleError(f"--meter-set unit={shown(unit)}: expected one of {', '.join(UNIT_NAMES)}")
    return Given(
        files.absolute(file),
        texts.get("time", ""),
        {scope: _columns(scope, texts[scope]) for scope in SCOPES if scope in texts},
        unit.lower(),
        _number("error", texts.get("error", str(ERROR_PERCENT)).rstrip("% "), 100.0) / 100,
        _number("every", texts.get("every", str(EVERY_S)).rstrip("s "), EVERY_MOST_S, 1e-3),
        tuple(settings),
    )


def _columns(scope: str, text: str) -> tuple[str, ...]:
    found = tuple(part.strip() for part in text.split("+"))
    if not all(found):
        raise WattleError(f"--meter-set {scope}={shown(text)}: expected a column, or several as A+B")
    return found


def _number(name: str, text: str, most: float, least: float = 0.0) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not least <= value <= most:
        unit = "percent" if name == "error" else "seconds"
        raise WattleError(f"--meter-set {name}={shown(text)}: expected {least:g} to {most:g} {unit}")
    return value
