"""Electricity and carbon dioxide of joules, at a carbon intensity that the user gives.

One kWh is 3.6e6 J. Emissions are joules times the intensity. The intensity is the user's number, without a half-width
of its own. So emissions are modelled even where the joules were measured.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from wattle.base.errors import WattleError
from wattle.text.provenance import Joules, Provenance, significant

JOULES_PER_KWH = 3.6e6
GRAMS = {"g": 1.0, "kg": 1e3, "": 1.0}
MOST = 1e5  # g/kWh; burning coal emits about 1000
EXAMPLE = "380g/kWh"


@dataclass(frozen=True)
class Carbon:
    """kWh and grams of CO2 of a figure, with half-widths. None where the joules are unavailable."""

    kwh: float | None
    kwh_plus_minus: float | None
    grams: float | None
    grams_plus_minus: float | None
    intensity: float  # g/kWh
    source: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "kwh": self.kwh,
            "kwh_plus_minus": self.kwh_plus_minus,
            "co2_g": self.grams,
            "co2_g_plus_minus": self.grams_plus_minus,
            "intensity_g_per_kwh": self.intensity,
            "provenance": str(Provenance.UNAVAILABLE if self.grams is None else Provenance.MODELLED),
            "source": f"{self.source}; intensity given by the user",
        }

    def __str__(self) -> str:
        """`0.012 ± 0.005 kWh; 4.6 ± 2 g CO2 at 380 g/kWh as given, modelled`."""
        if self.kwh is None or self.grams is None:
            return "unavailable, because the joules are"
        return (
            f"{_range(self.kwh, self.kwh_plus_minus)} kWh; {_range(self.grams, self.grams_plus_minus)} g CO2 at "
            f"{self.intensity:g} g/kWh as given, modelled"
        )


def intensity(text: str) -> float:
    """Grams of CO2 for each kWh, from `380g/kWh`, `0.38kg/kWh` or `380`. Raises WattleError for other text."""
    found = re.fullmatch(r"\s*([0-9.eE+-]+)\s*(?:(k?g)\s*(?:CO2)?\s*/\s*kWh)?\s*", text, re.IGNORECASE)
    try:
        grams = float(found[1]) * GRAMS[(found[2] or "").lower()] if found else math.nan
    except ValueError:
        grams = math.nan
    if not 0 <= grams <= MOST:
        raise WattleError(f"--carbon {text}: expected grams of CO2 for each kWh, such as {EXAMPLE}; at most {MOST:g}")
    return grams


def of(joules: Joules, grams_per_kwh: float) -> Carbon:
    """Electricity and emissions of a figure."""
    if joules.joules is None:
        return Carbon(None, None, None, None, grams_per_kwh, joules.source)
    kwh = joules.joules / JOULES_PER_KWH
    width = None if joules.uncertainty is None else joules.uncertainty / JOULES_PER_KWH
    grams_width = None if width is None else width * grams_per_kwh
    return Carbon(kwh, width, kwh * grams_per_kwh, grams_width, grams_per_kwh, joules.source)


def _range(value: float, half_width: float | None) -> str:
    shown = significant(value, 3)
    return shown if half_width is None else f"{shown} ± {significant(half_width, 2)}"
