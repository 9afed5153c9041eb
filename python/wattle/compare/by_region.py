"""The figures of each region that programs mark, for comparisons: time, waiting and joules."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wattle.base.errors import WattleError
from wattle.figures import user_regions
from wattle.figures.call_paths import region_words
from wattle.figures.metrics import Metric
from wattle.figures.user_regions import Name, UserRegion
from wattle.record.runs import Sample
from wattle.text.provenance import Joules, total, unavailable

Figure = float | Joules | None


def metrics(samples: Sequence[Sample]) -> list[Metric]:
    """Three metrics for each region, those of the longest region first. Raises WattleError where there are none."""
    found = {
        id(s): {r.name: r for r in user_regions.merge(s.profile)}
        for s in samples
        if s.profile is not None and s.profile.complete
    }
    times: dict[Name, float] = {}
    for regions in found.values():
        for name, region in regions.items():
            times[name] = max(times.get(name, 0.0), region.time_s or 0.0)
    if not times:
        raise WattleError("--by region: the programs of these runs mark no regions, or a process left no profile")

    def of(name: Name, value: Callable[[UserRegion], Figure]) -> Callable[[Sample], Figure]:
        def value_of(sample: Sample) -> Figure:
            region = found.get(id(sample), {}).get(name)
            return value(region) if region is not None else None

        return value_of

    rows = []
    for name in sorted(times, key=lambda name: -times[name]):
        words, key = region_words(name), "/".join(name)
        rows += [
            Metric(f"region_s:{key}", f"{words}: time", of(name, lambda r: r.time_s)),
            Metric(f"region_waiting_s:{key}", f"{words}: waiting", of(name, lambda r: r.waiting_s)),
            Metric(f"region_joules:{key}", f"{words}: joules", of(name, _joules)),
        ]
    return rows


def _joules(region: UserRegion) -> Joules:
    return total(region.joules) if all(j.known for j in region.joules) else unavailable("")
