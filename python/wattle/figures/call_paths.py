"""Call paths of a run: folds call sites by caller, names the nearest frame in the program, and makes the texts of
flame graph programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from wattle.base.errors import WattleError
from wattle.figures.sites import MergedSite
from wattle.machine import own_code
from wattle.machine.symbols import Place
from wattle.record.pe import add
from wattle.text.provenance import total

BY = ("path", "function", "library", "call", "region")
OUTSIDE = "(outside regions)"
WEIGHTS = ("waiting", "time", "joules")
UNIT = 1e-6  # of a weight in folded lines, which are whole numbers: a microsecond or a microjoule


@dataclass(frozen=True)
class Row:
    """Call sites that a table shows as one. `callers`: the frames above `place` that the table shows."""

    place: Place
    callers: tuple[str, ...]
    site: MergedSite  # the sum of the sites


def is_own(place: Place, program: str) -> bool:
    """Whether a place is in the program's own code, not in an interpreter or an installed package of Python."""
    if place.is_python:
        return not place.file.startswith("<frozen ") and not own_code.INSTALLED.search(place.file)
    return own_code.is_own(place.module, program)


def nearest(site: MergedSite, program: str) -> tuple[Place, tuple[Place, ...]]:
    """The nearest frame in the program's own code, else the nearest of Python, else that of the call; and its callers.
    A frame without a name gives way to a caller with one, and one without a line to a caller of the same file with one.
    """
    return nearest_of(site.frames, program)


def nearest_of(frames: tuple[Place, ...], program: str) -> tuple[Place, tuple[Place, ...]]:
    """The same of frames, the call first."""
    own = [i for i, frame in enumerate(frames) if is_own(frame, program)]
    named = next((i for i in own if frames[i].file or frames[i].function), None)
    if named is not None:
        at = next((i for i in own if frames[i].file and frames[i].module == frames[named].module), named)
    else:
        at = next(iter(own), next((i for i, frame in enumerate(frames) if frame.is_python), 0))
    return frames[at], frames[at + 1 :]


def rows(sites: Sequence[MergedSite], program: str, depth: int | None = None, by: str = "path") -> list[Row]:
    """The rows of a table, the costliest first. `depth`: how many callers are shown, and make rows of their own. None:
    for places that several callers reach by the same call, as many as tell them apart, at most three.
    """
    if by != "path":
        return _sorted(_folded(sites, program, by))
    groups: dict[tuple[str, str], list[tuple[MergedSite, Place, tuple[Place, ...]]]] = {}
    for site in sites:
        place, above = nearest(site, program)
        groups.setdefault((_key(place), site.call), []).append((site, place, above))
    found = []
    for members in groups.values():
        shown = _telling(members) if depth is None else depth
        apart: dict[tuple[str, ...], list[tuple[MergedSite, Place]]] = {}
        for site, place, above in members:
            apart.setdefault(_labels(site, above, shown), []).append((site, place))
        found += [Row(same[0][1], callers, merged([s for s, _ in same])) for callers, same in apart.items()]
    return _sorted(found)


def _telling(members: Sequence[tuple[MergedSite, Place, tuple[Place, ...]]]) -> int:
    """The number of callers that tell the members apart, 0 to 3."""
    most = 3
    whole = len({_labels(site, above, most) for site, _, above in members})
    return next(n for n in range(most + 1) if len({_labels(s, above, n) for s, _, above in members}) == whole)


def _labels(site: MergedSite, above: tuple[Place, ...], depth: int) -> tuple[str, ...]:
    names = [frame.words for frame in above]
    names += [site.path_end] if site.path_end else []
    return tuple(names[:depth])


def region_words(region: Sequence[str]) -> str:
    """A region that the program marks, with those around it."""
    return " > ".join(region) or OUTSIDE


def _folded(sites: Sequence[MergedSite], program: str, by: str) -> list[Row]:
    groups: dict[str, list[MergedSite]] = {}
    for site in sites:
        place = nearest(site, program)[0]
        library = Path(site.place.module).name or "?"
        keys = {"function": place.name, "library": library, "call": site.call, "region": region_words(site.region)}
        groups.setdefault(keys[by], []).append(site)
    return [Row(Place("", 0, function=key, is_name=True), (), merged(same)) for key, same in groups.items()]


def _key(place: Place) -> str:
    return f"{place.file}:{place.line}" if place.file else f"{place.module}+{place.offset}"


def _sorted(found: list[Row]) -> list[Row]:
    return sorted(found, key=lambda row: row.site.cost, reverse=True)


def merged(sites: Sequence[MergedSite]) -> MergedSite:
    """The sum of several sites. `pes` is the largest number: the same processes may be in each."""
    if len(sites) == 1:
        return sites[0]
    calls = dict.fromkeys(s.call for s in sites)
    domains = dict.fromkeys(j.domain for s in sites for j in s.joules)
    return replace(
        sites[0],
        call=next(iter(calls)) if len(calls) == 1 else f"{len(calls)} calls",
        pes=max(s.pes for s in sites),
        calls=sum(s.calls for s in sites),
        bytes=sum(s.bytes for s in sites),
        timed_calls=sum(s.timed_calls for s in sites),
        time_s=add(s.time_s for s in sites),
        wait_s={stage: add(s.wait_s[stage] for s in sites) for stage in sites[0].wait_s},
        waits=sum(s.waits for s in sites),
        members=[member for s in sites for member in s.members],
        joules=[total((j for s in sites for j in s.joules if j.domain == d), domain=d) for d in domains],
        elsewhere=[j for s in sites for j in s.elsewhere],
        elsewhere_s=sum(s.elsewhere_s for s in sites),
    )


# ---- flame graphs ----


def weight(site: MergedSite, of: str) -> float | None:
    """Seconds waited, seconds in the call with waiting, or joules."""
    if of == "joules":
        return site.all_joules.joules
    return site.waiting_s if of == "waiting" else site.time_s


def stacks(sites: Iterable[MergedSite], of: str) -> list[tuple[tuple[str, ...], float]]:
    """Each path from the outermost frame to the call, with its weight. Raises WattleError if no weight is known."""
    weighed = [(site, weight(site, of)) for site in sites]
    if all(value is None for _, value in weighed):
        raise WattleError(f"no call site has a known {'joule' if of == 'joules' else 'time'}; choose another --weight")
    return added(weighed)


def added(weighed: Iterable[tuple[MergedSite, float | None]]) -> list[tuple[tuple[str, ...], float]]:
    """The sums by path of the sites' numbers; None counts as none, and sums of 0 are left out."""
    found: dict[tuple[str, ...], float] = {}
    for site, value in weighed:
        above = (*site.region, *((site.path_end,) if site.path_end else ()))
        names = (*above, *(f.name for f in reversed(site.frames)), site.call)
        if value:
            found[names] = found.get(names, 0.0) + value
    return sorted(found.items())


def folded(found: Sequence[tuple[tuple[str, ...], float]]) -> str:
    """Folded stacks as `flamegraph.pl`, Speedscope and others read them, weighted in microseconds or microjoules."""
    lines = (f"{';'.join(n.replace(';', ':') for n in names)} {round(value / UNIT)}\n" for names, value in found)
    return "".join(lines)


def speedscope(found: Sequence[tuple[tuple[str, ...], float]], of: str, name: str) -> dict[str, object]:
    """A document of Speedscope's file format (https://www.speedscope.app/file-format-schema.json)."""
    frames: dict[str, int] = {}
    samples = [[frames.setdefault(n, len(frames)) for n in names] for names, _ in found]
    values = [value for _, value in found]
    unit = "none" if of == "joules" else "seconds"
    ends = {"startValue": 0, "endValue": sum(values)}
    one = {"type": "sampled", "name": f"{name}: {of}", "unit": unit, **ends, "samples": samples, "weights": values}
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": [{"name": n} for n in frames]},
        "profiles": [one],
        "exporter": "wattle",
    }
