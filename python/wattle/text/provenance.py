"""Joules with their provenance (measured, modelled or unavailable), source and uncertainty."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import msgspec

from wattle.base.checked import Checked
from wattle.base.checked_types import Amount, Number, typed
from wattle.base.documents import fields

UNKNOWN = "-"
PLAIN = (1e-6, 1e12)  # absolute values of numbers without an exponent


class Provenance(StrEnum):
    UNAVAILABLE = "unavailable"
    MODELLED = "modelled"
    MEASURED = "measured"


@dataclass(frozen=True)
class Joules:
    """One figure in joules. `uncertainty` is the half-width of its range of about 95 % confidence. Both are None where
    the figure is unavailable. Where `covered_s` is less than `interval_s`, the source had a gap.
    """

    joules: float | None
    uncertainty: float | None
    provenance: Provenance
    source: str = ""
    scope: str = ""
    domain: str = ""
    interval_s: float | None = None
    covered_s: float | None = None

    def __post_init__(self) -> None:
        # A number needs a provenance, and a provenance needs a number.
        if (self.provenance is Provenance.UNAVAILABLE) != (self.joules is None):
            raise ValueError(f"joules={self.joules} cannot be {self.provenance}")

    @property
    def known(self) -> bool:
        return self.joules is not None

    def __str__(self) -> str:
        """`12.3 ± 4 J modelled`, `12.3 (0–28.3) J modelled`, or `unavailable`."""
        return f"{self.words} {self.provenance}" if self.known else "unavailable"

    @property
    def words(self) -> str:
        """The figure without its provenance: `12.3 ± 4 J`, or `-`."""
        return UNKNOWN if self.joules is None else in_joules(self.joules, self.uncertainty)

    @property
    def mean_watts(self) -> str:
        """The mean power, such as `1.3 ± 0.5 W`, over the time that the source covers; "" where it is not known."""
        if self.joules is None or not self.covered_s:
            return ""
        uncertainty = None if self.uncertainty is None else self.uncertainty / self.covered_s
        return f"{amount(self.joules / self.covered_s, uncertainty)} W"

    def as_dict(self) -> dict[str, object]:
        """The figure as a dictionary for JSON, with the keys of a profile file."""
        return fields(self, "domain provenance source scope joules uncertainty interval_s covered_s")

    def share(self, joules: float) -> Joules:
        """A part of this figure. It is modelled even if the whole was measured, because the division is computed. Its
        relative uncertainty is that of the whole.
        """
        if self.joules is None:
            return self
        uncertainty = self.uncertainty
        if uncertainty is not None and self.joules != 0:
            uncertainty *= abs(joules / self.joules)
        return Joules(joules, uncertainty, Provenance.MODELLED, self.source, self.scope, self.domain)


def unavailable(domain: str = "", source: str = "", scope: str = "") -> Joules:
    return Joules(None, None, Provenance.UNAVAILABLE, source, scope, domain)


@dataclass(frozen=True, kw_only=True)
class Figure(Joules):
    """One figure of a file. All its fields are there."""

    joules: Number | None
    uncertainty: Amount | None
    provenance: Annotated[str, msgspec.Meta(pattern="^(unavailable|modelled|measured)$")]  # type: ignore[assignment]
    source: str
    scope: str
    domain: str
    interval_s: Amount | None
    covered_s: Amount | None

    def __post_init__(self) -> None:
        provenance = Provenance(self.provenance)
        if provenance is not Provenance.UNAVAILABLE and self.joules is None:
            raise ValueError(f"joules are null, but provenance is {provenance}")
        object.__setattr__(self, "provenance", provenance)
        if provenance is Provenance.UNAVAILABLE:  # the sensor gave nothing, so the number beside it has no meaning
            object.__setattr__(self, "joules", None)
            object.__setattr__(self, "uncertainty", None)


def read_joules(entry: Checked) -> Joules:
    """Reads one figure of a file."""
    figure: Figure = typed(entry, Figure)
    return figure


def total(figures: Iterable[Joules], scope: str = "", domain: str = "") -> Joules:
    """The sum of figures. It is unavailable where one of them is, because a smaller number would be wrong. A sum of
    measured and modelled figures is modelled. Uncertainties add up, because the parts of one model or sensor have
    correlated errors.
    """
    parts = list(figures)
    source = " + ".join(dict.fromkeys(p.source for p in parts if p.source))
    scope = scope or _common(p.scope for p in parts)
    domain = domain or _common(p.domain for p in parts)
    if not parts or any(not p.known for p in parts):
        return unavailable(domain, source, scope)
    measured = all(p.provenance is Provenance.MEASURED for p in parts)
    unsure = any(p.uncertainty is None for p in parts)
    return Joules(
        math.fsum(p.joules for p in parts if p.joules is not None),
        None if unsure else math.fsum(p.uncertainty for p in parts if p.uncertainty is not None),
        Provenance.MEASURED if measured else Provenance.MODELLED,
        source,
        scope,
        domain,
        _largest(p.interval_s for p in parts),
        _smallest(p.covered_s for p in parts),
    )


def joule_unit(joules: float) -> tuple[float, str]:
    """Factor and name of the unit that gives the figure one to three digits before the point."""
    size = abs(joules)
    for factor, unit in ((1e6, "MJ"), (1e3, "kJ"), (1.0, "J"), (1e-3, "mJ"), (1e-6, "µJ"), (1e-9, "nJ")):
        if size >= factor:
            return factor, unit
    return (1.0, "J") if size == 0 else (1e-9, "nJ")


def amount(value: float, uncertainty: float | None, factor: float = 1.0) -> str:
    """A value with its uncertainty, such as `12.3 ± 4`. The value has three significant digits, its uncertainty one, or
    two where the first is 1. Where the uncertainty exceeds the value it is `12.3 (0–28.3)`, because no such amount
    is negative.
    """
    text = significant(value / factor, 3)
    if uncertainty is None:
        return f"{text} ± ?"
    if reaches_below_zero(value, uncertainty):
        return f"{text} (0–{significant((value + uncertainty) / factor, 3)})"
    scaled = uncertainty / factor
    leads_with_one = scaled > 0 and f"{scaled:.1e}".startswith("1")
    return f"{text} ± {significant(scaled, 2 if leads_with_one else 1)}"


def in_joules(value: float, uncertainty: float | None) -> str:
    """Joules with their uncertainty in a fitting unit, such as `12.3 ± 4 mJ`."""
    factor, unit = joule_unit(value)
    return f"{amount(value, uncertainty, factor)} {unit}"


def reaches_below_zero(value: float, uncertainty: float | None) -> bool:
    return uncertainty is not None and 0 <= value < uncertainty


def significant(value: float, digits: int) -> str:
    """A number in plain decimal notation with `digits` significant digits. No digit before the point is dropped. One
    that would fill a column is written as 1.00e-13.
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    if not PLAIN[0] <= abs(value) < PLAIN[1]:
        return f"{value:.{digits - 1}e}"
    exponent = int(f"{abs(value):.{digits - 1}e}".partition("e")[2])
    return f"{value:.{max(0, digits - 1 - exponent)}f}"


def _common(values: Iterable[str]) -> str:
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else ""


def _largest(values: Iterable[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return max(known, default=None)


def _smallest(values: Iterable[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return min(known, default=None)
