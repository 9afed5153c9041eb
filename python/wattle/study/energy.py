"""The provenance of a study's joules, from the columns of its samples: cpu_ and dram_ provenance, source, J,
uncertainty_J.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

DOMAINS = ("cpu", "dram")


def weakest(frame: pl.DataFrame, domains: Iterable[str] = DOMAINS) -> str:
    """The weakest provenance of the samples: unavailable, modelled or measured."""
    kinds = {kind for domain in domains for kind in frame[f"{domain}_provenance"]}
    return next((kind for kind in ("unavailable", "modelled") if kind in kinds), "measured")


def sources(frame: pl.DataFrame) -> list[str]:
    """The sources of the joules, each once, in the order of the samples, those of the CPU first."""
    return list(dict.fromkeys(s for domain in DOMAINS for s in frame[f"{domain}_source"] if s))


def uncertainty(frame: pl.DataFrame) -> float | None:
    """The median of the relative uncertainty of the CPU's joules. None where no sample has joules."""
    known = frame.filter(pl.col("cpu_J") > 0)
    if known.is_empty():
        return None
    return float((known["cpu_uncertainty_J"] / known["cpu_J"]).median())  # type: ignore[arg-type]
