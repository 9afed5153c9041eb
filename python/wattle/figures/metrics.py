"""The figures of a run that totals and comparisons show: time, CPU seconds, waiting by stage, joules."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from wattle.record.pe import NO_CORE
from wattle.record.profile import RunProfile
from wattle.record.runs import Sample
from wattle.text.provenance import Joules, total, unavailable


@dataclass(frozen=True)
class Metric:
    """One figure. `of`: seconds or Joules of a sample, or None. `parts`: the metrics of which it is the sum, if any."""

    name: str
    label: str
    of: Callable[[Sample], float | Joules | None]
    parts: tuple[Metric, ...] = ()


@dataclass(frozen=True)
class Spread:
    """A figure over repeats: median, interquartile range and extremes. For joules, `joules` is the median with the
    meter's provenance and uncertainty. `values` are in the order of the repeats, without unknown ones.
    """

    median: float | None
    iqr: float | None
    lo: float | None
    hi: float | None
    values: list[float]
    joules: Joules | None = None

    @property
    def n(self) -> int:
        return len(self.values)

    def as_dict(self) -> dict[str, object]:
        shown: dict[str, object] = {
            "median": self.median,
            "iqr": self.iqr,
            "min": self.lo,
            "max": self.hi,
            "repeats": self.n,
        }
        if self.joules is not None:
            shown |= {"provenance": str(self.joules.provenance), "source": self.joules.source}
            shown |= {"uncertainty": self.joules.uncertainty, "scope": self.joules.scope}
        return shown


def metrics(samples: Iterable[Sample]) -> list[Metric]:
    """The metrics of these runs, with joules of all domains that occur, and those of Slurm where it was asked."""
    taken = list(samples)
    found = [s.profile for s in taken if s.profile is not None]
    rows = [JOB]
    slurm = [Metric("slurm_joules", "Slurm, nodes", _slurm)] if any(_slurm(s) for s in taken) else []
    if not found:
        return rows + slurm
    rows += [
        WALL,
        Metric("cpu_s", "CPU seconds", _profile(lambda p: p.cpu_s)),
        Metric("compute_s", "compute", _profile(lambda p: p.sum("time_s", "compute"))),
        Metric("transfer_s", "transfer", _profile(lambda p: p.sum("time_s", "transfer"))),
        Metric("spin_s", "waiting, spin", _profile(lambda p: p.sum("state_s", "spin"))),
        Metric("yield_s", "waiting, yield", _profile(lambda p: p.sum("state_s", "yield"))),
        Metric("asleep_s", "waiting, asleep", _profile(lambda p: p.sum("state_s", "asleep"))),
        Metric("no_core_s", "no core", _profile(lambda p: p.sum("state_s", NO_CORE))),
    ]
    rows += _of_pes(found) + _of_nodes(found)
    return rows + slurm


def run_time(samples: Iterable[Sample]) -> Metric:
    """The time of a run: of its longest PE, and from start to end where no sample has a profile."""
    return WALL if any(s.profile is not None for s in samples) else JOB


def whole_joules(samples: Iterable[Sample]) -> Metric:
    """The joules of all domains: of the nodes where every sample knows them, and else of the PEs."""
    taken = list(samples)
    found = [s.profile for s in taken if s.profile is not None]
    nodes, pes = _of_nodes(found), _of_pes(found)
    known = bool(nodes) and all(_sum(s, nodes).known for s in taken)
    parts, label = (nodes, "joules, nodes") if known else (pes, "joules")
    return Metric("joules", label, lambda s: _sum(s, parts), tuple(parts))


def _sum(sample: Sample, parts: Iterable[Metric]) -> Joules:
    figures = [part.of(sample) for part in parts]
    return total(f if isinstance(f, Joules) else unavailable() for f in figures)


def _of_pes(found: Iterable[RunProfile]) -> list[Metric]:
    domains = dict.fromkeys(d for p in found for d in p.domains)
    return [Metric(f"joules_{domain}", f"{domain} joules", _joules(domain)) for domain in domains]


def _of_nodes(found: Iterable[RunProfile]) -> list[Metric]:
    domains = dict.fromkeys(d for p in found for d in p.node_domains)
    return [Metric(f"node_joules_{domain}", f"{domain}, node", _node_joules(domain)) for domain in domains]


def spread(metric: Metric, samples: Iterable[Sample]) -> Spread:
    """The spread of a metric over repeats. One repeat with unknown joules makes the median of joules unknown."""
    return spread_of(metric.of(sample) for sample in samples)


def spread_of(figures: Iterable[float | Joules | None]) -> Spread:
    """The spread of figures, as `spread` computes it."""
    found = list(figures)
    joules = [f for f in found if isinstance(f, Joules)]
    if joules:
        return _spread_of_joules(joules)
    return _spread([f for f in found if isinstance(f, float | int)])


def _spread_of_joules(figures: list[Joules]) -> Spread:
    if any(not f.known for f in figures):
        return Spread(None, None, None, None, [], total(figures))
    plain = _spread([f.joules for f in figures if f.joules is not None])
    middle = sorted(figures, key=lambda f: f.joules or 0.0)[(len(figures) - 1) // 2]
    both = total(figures)  # for the provenance and source over all repeats
    return Spread(
        plain.median,
        plain.iqr,
        plain.lo,
        plain.hi,
        plain.values,
        Joules(plain.median, middle.uncertainty, both.provenance, both.source, both.scope, both.domain),
    )


def _spread(values: list[float]) -> Spread:
    if not values:
        return Spread(None, None, None, None, [])
    iqr = None
    if len(values) > 1:
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
        iqr = high - low
    return Spread(statistics.median(values), iqr, min(values), max(values), values)


def _profile(of: Callable[[RunProfile], float | None]) -> Callable[[Sample], float | None]:
    """A figure that needs a complete profile: without one PE a sum would be too small."""
    return lambda sample: of(sample.profile) if sample.profile is not None and sample.profile.complete else None


def _slurm(sample: Sample) -> Joules | None:
    found = sample.manifest.slurm_energy
    return None if found is None else found.joules


def _joules(domain: str) -> Callable[[Sample], Joules | None]:
    return lambda sample: sample.profile.joules(domain) if sample.profile is not None else None


def _node_joules(domain: str) -> Callable[[Sample], Joules | None]:
    return lambda sample: sample.profile.node_joules(domain) if sample.profile is not None else None


JOB = Metric("job_s", "start to end", lambda s: s.manifest.wall_s)
WALL = Metric("wall_s", "time", _profile(lambda p: p.wall_s))
