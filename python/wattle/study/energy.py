"""The provenance of a study's joules, from the columns of its samples: cpu_ and dram_ provenance, source, J,
uncertainty_J.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

DOMAINS = ("cpu", "dram")


def whole(row: Mapping[str, Any]) -> float | None:
    """The joules of a sample: those of the node where an external meter gave them, else those of CPU and DRAM."""
    if row.get("node_J") is not None:
        return float(row["node_J"])
    cpu, dram = row["cpu_J"], row["dram_J"]
    return None if cpu is None or dram is None else cpu + dram


def doubt(row: Mapping[str, Any]) -> float | None:
    """The half-width of `whole`."""
    if row.get("node_J") is not None:
        return float(row["node_uncertainty_J"])
    cpu, dram = row["cpu_uncertainty_J"], row["dram_uncertainty_J"]
    return None if cpu is None or dram is None else cpu + dram


def of_external_meter(frame: pl.DataFrame) -> str:
    """The source of the node's joules, with the scope; empty where no external meter gave them."""
    if "node_J" not in frame.columns:
        return ""
    known = frame.filter(pl.col("node_J").is_not_null())
    return "" if known.is_empty() else str(known["node_source"][0])


def known(frame: pl.DataFrame) -> pl.DataFrame:
    """The samples whose `whole` joules are known."""
    both = pl.col("cpu_J").is_not_null() & pl.col("dram_J").is_not_null()
    return frame.filter(pl.col("node_J").is_not_null() if of_external_meter(frame) else both)


def without(frame: pl.DataFrame) -> pl.DataFrame:
    """The samples without any joules."""
    names = [*DOMAINS, "node"]
    unknown = [pl.lit(None, pl.Float64).alias(f"{name}_J") for name in names]
    return frame.with_columns(*unknown, *(pl.lit("unavailable").alias(f"{name}_provenance") for name in names))


def weakest(frame: pl.DataFrame, domains: Iterable[str] = DOMAINS) -> str:
    """The weakest provenance of the samples: unavailable, modelled or measured. Both domains: that of `whole`."""
    if tuple(domains) == DOMAINS and of_external_meter(frame):
        return "measured"
    kinds = {kind for domain in domains for kind in frame[f"{domain}_provenance"]}
    return next((kind for kind in ("unavailable", "modelled") if kind in kinds), "measured")


def weakest_known(frame: pl.DataFrame, domains: Iterable[str]) -> str:
    """The weakest provenance of the samples that have joules; "measured" for a figure that uses none."""
    domains = tuple(domains)
    if not domains:
        return "measured"
    known = frame.filter([pl.col(f"{domain}_provenance") != "unavailable" for domain in domains])
    return "unavailable" if known.is_empty() else weakest(known, domains)


def sources(frame: pl.DataFrame) -> list[str]:
    """The sources of `whole` joules, each once, in the order of the samples, those of the CPU first."""
    if external := of_external_meter(frame):
        return [external]
    return list(dict.fromkeys(s for domain in DOMAINS for s in frame[f"{domain}_source"] if s))


def uncertainty(frame: pl.DataFrame) -> float | None:
    """The median of the relative uncertainty of the node's joules, or of the CPU's. None where no sample has joules."""
    name = "node" if of_external_meter(frame) else "cpu"
    return relative_doubt(frame, name)


def relative_doubt(frame: pl.DataFrame, domain: str) -> float | None:
    """The median of the relative uncertainty of a domain's joules. None where no sample has joules."""
    some = frame.filter(pl.col(f"{domain}_J") > 0)
    found = (some[f"{domain}_uncertainty_J"] / some[f"{domain}_J"]).median()
    return float(found) if isinstance(found, int | float) else None


def why_none(frame: pl.DataFrame, otherwise: str = "the meter gave none", column: str = "energy_why") -> str:
    """The reasons why samples have no joules. `column`: of the reasons."""
    return "; ".join(sorted(why for why in frame[column].unique().to_list() if why)) or otherwise


# Places within the half-widths at which a verdict must hold: -1 is the lower end of every number, 1 the upper one. CPU
# and DRAM move together in small steps, because a published range may lie between the ends, and apart at the ends.
STEPS = 4
PLACES = (*((k / STEPS, k / STEPS) for k in range(-STEPS, STEPS + 1) if k), (-1.0, 1.0), (1.0, -1.0))


LEAST = 0.01  # smallest part of a sample's joules that is left where its half-width is as large as they are


def profiles(frame: pl.DataFrame) -> frozenset[str]:
    """The names of the machine profiles of the modelled joules. A simulated core has its share of a node's profile."""
    return frozenset(
        source.removeprefix("model ").removeprefix("simulation, ").removesuffix("-core")
        for domain in DOMAINS
        for source in frame[f"{domain}_source"]
        if source and source.startswith(("model ", "simulation, "))
    )


def corners(frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The samples with all numbers of the machine profile elsewhere within their half-widths. Nothing where no joules
    are modelled. A sample has the sum of its half-widths, which hides numbers that err in opposite ways.
    """
    if all((frame[f"{domain}_provenance"] != "modelled").all() for domain in DOMAINS):
        return
    idle = _idle_uncertainty(frame) if "idle_J" in frame.columns else None
    for place in PLACES:
        moved = [
            _moved(f"{domain}_J", pl.col(f"{domain}_uncertainty_J"), s)
            for domain, s in zip(DOMAINS, place, strict=True)
        ]
        if idle is not None:
            moved.append(_moved("idle_J", pl.lit(idle), place[0]))
        yield frame.with_columns(moved)


def _moved(column: str, half_width: pl.Expr, part: float) -> pl.Expr:
    modelled = pl.col("cpu_provenance" if column == "idle_J" else column.replace("_J", "_provenance")) == "modelled"
    by = pl.when(modelled).then(half_width.fill_null(0.0) * part).otherwise(0.0)
    return pl.max_horizontal(pl.col(column) + by, LEAST * pl.col(column))


def _idle_uncertainty(frame: pl.DataFrame) -> pl.Series:
    """The half-width in J of each sample's idle joules."""
    figures = [json.loads(text or "null") or [] for text in frame["energy_json"]]
    idle = [[f.get("uncertainty") or 0.0 for f in some if str(f.get("domain")).endswith("-idle")] for some in figures]
    return pl.Series(values=[float(sum(some)) for some in idle], dtype=pl.Float64)
