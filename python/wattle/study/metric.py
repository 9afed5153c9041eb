"""A figure that a study computes from each row of its samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Metric:
    """A figure of a sample. `value`: from the row; None where it is not known. `energy`: the domains whose joules it
    uses. `counted`: whether it is a counter's.
    """

    name: str
    label: str
    unit: str
    value: Callable[[dict[str, Any]], float | None]
    energy: tuple[str, ...] = ()
    counted: bool = False
    lower_is_better: bool = True
