"""The rows of the tables of a run: processes, call sites, call tree, regions, partners, joules, watts and spans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from wattle.base.errors import WattleError
from wattle.figures import pe_power, user_regions
from wattle.figures.sites import MergedSite, merge
from wattle.frames.made import Row, joules, watts
from wattle.frames.tree import tree
from wattle.machine.symbols import Place
from wattle.record import power_trace
from wattle.record.manifest import Manifest
from wattle.record.pe import MOVES, STAGES, WAYS, Numbers
from wattle.record.profile import RunProfile, folder_of
from wattle.record.runs import Sample
from wattle.text.provenance import Joules, Provenance, total, unavailable

WITHIN = " > "  # between the frames of a path, and between a region and the one around it
Rows = Callable[[RunProfile, Manifest], Iterable[Row]]


def processes(profile: RunProfile, record: Manifest) -> Iterator[Row]:
    for pe in profile.pes:
        twice = profile.counted_twice  # so that no sum over processes is too large
        figures = [unavailable(j.domain, j.source, j.scope) for j in pe.joules] if twice else pe.joules
        traffic = {} if pe.network is None else {"messages": pe.network.messages, "bytes": pe.network.bytes}
        yield {
            **{key: getattr(pe, key) for key in ("host", "pid", "wall_s", "cpu_s", "sleeps", "rescues")},
            "process": pe.pe,
            **{f"{key}_s": pe.time_s[key] for key in ("compute", "transfer", "no_core", "wait")},
            **{f"{stage}_s": pe.state_s[stage] for stage in STAGES},
            **{f"{move}_bytes": pe.bytes[move] for move in MOVES},
            **{f"{way}_{what}": counts[way] for what, counts in traffic.items() for way in WAYS},
            **joules(total(figures)),
        }


def place(found: Place) -> Row:
    return {
        "function": found.function or None,
        "file": found.file or None,
        "line": found.line or None,
        "module": found.module or None,
    }


def waits(wait_s: Numbers, waiting_s: float | None) -> Row:
    return {"wait_s": waiting_s, **{f"{stage}_s": wait_s.get(stage) for stage in STAGES}}


def sites(profile: RunProfile, record: Manifest) -> Iterator[Row]:
    for number, site in enumerate(merge(profile)):
        yield {
            "site": number,
            **{key: getattr(site, key) for key in ("call", "kind", "timed_calls", "waits", "calls", "bytes", "time_s")},
            **place(site.place),
            "path": WITHIN.join(_names(site)) or None,
            "region": WITHIN.join(site.region) or None,
            "processes": site.pes,
            **waits(site.wait_s, site.waiting_s),
            **joules(site.all_joules),
        }


def _names(site: MergedSite) -> list[str]:
    return [*([site.path_end] if site.path_end else []), *(frame.words for frame in reversed(site.path))]


def paths(profile: RunProfile, record: Manifest) -> Iterator[Row]:
    for number, node in enumerate(tree(merge(profile))):
        yield {
            "node": number,
            "parent": node.parent,
            "name": node.name,
            "kind": node.kind,
            **(place(node.place) if node.place else {}),
            **{key: getattr(node.sum, key) for key in ("calls", "bytes", "time_s")},
            **waits(node.sum.wait_s, node.sum.waiting_s),
            **joules(node.sum.all_joules),
        }


def regions(profile: RunProfile, record: Manifest) -> Iterator[Row]:
    for region in user_regions.merge(profile):
        yield {
            "region": WITHIN.join(region.name),
            "processes": region.pes,
            **{key: getattr(region, key) for key in ("times", "time_s", "calls_s")},
            "wait_s": region.waiting_s,
            **joules(total(region.joules)),
        }


def traffic(profile: RunProfile, record: Manifest) -> Iterator[Row]:
    for pe in profile.pes:
        of = pe.partners
        if of is not None:
            for partner, calls, moved, wait_s in zip(of.pe, of.calls, of.bytes, of.wait_s, strict=True):
                yield {"process": pe.pe, "partner": partner, "calls": calls, "bytes": moved, "wait_s": wait_s}


def by_domain(profile: RunProfile, record: Manifest) -> Iterator[Row]:
    for pe in profile.pes:
        for figure in pe.joules:
            yield {"part": "process", "process": pe.pe, "host": pe.host, **_domain(figure)}
    for node in profile.nodes:
        parts: dict[str, Iterable[Joules | None]] = {
            "node": map(node.joules, node.domains),
            "idle": map(node.idle, node.domains),
            "others": map(node.others, node.domains),
            "nested": node.nested,
        }
        for part, figures in parts.items():
            yield from ({"part": part, "host": node.host, **_domain(j)} for j in figures if j is not None)


def _domain(figure: Joules) -> Row:
    return {"domain": figure.domain, "scope": figure.scope or None, **joules(figure)}


def power(profile: RunProfile, record: Manifest) -> Iterator[Row]:
    courses, folder = pe_power.courses_of(profile, record), folder_of(profile.directory)
    whose: list[tuple[Row, list[pe_power.Power]]] = [
        *(({"part": "process", "process": pe.pe, "host": pe.host}, pe_power.of_pe(pe, courses)) for pe in profile.pes),
        *(({"part": "node", "host": n.host}, pe_power.of_node(n, courses, folder)) for n in profile.nodes),
    ]
    for who, found in whose:
        for one in found:
            yield {**who, "domain": one.domain, "statistic": "mean", **watts(one.mean)}
            if one.peak.watts is not None:
                yield {**who, "domain": one.domain, "statistic": "peak", **watts(one.peak)}
    for node in profile.nodes:
        for trace in power_trace.of_reader(folder, node.reader.pe) if node.reader else ():
            who = {"part": "node", "host": node.host, "domain": trace.scope, "statistic": "reading"}
            for at_s, value in zip(trace.at_s, trace.watts, strict=True):
                figure = pe_power.Watts(value, None, Provenance.MEASURED, trace.source)
                yield {**who, "at_s": at_s, **watts(figure)}


def timeline(profile: RunProfile, record: Manifest) -> Iterator[Row]:
    """Raises WattleError where the run left no timeline."""
    from wattle.record import timeline_file  # needs numpy
    from wattle.timeline.places import Places
    from wattle.timeline.rows import rows

    timelines = timeline_file.load(folder_of(profile.directory))
    for row in rows(timelines, profile, {}, Places(profile)):
        for thread, slices in enumerate([row.slices, *row.others]):
            for one in slices:
                yield {
                    "process": row.pe,
                    "host": row.host,
                    "thread": thread,
                    "begin_s": one.begin * 1e-9,
                    "end_s": one.end * 1e-9,
                    "site": one.where or None,
                    "path": one.path or None,
                    **{key: getattr(one, key) for key in ("kind", "name", "depth")},
                }


def machine(profile: RunProfile, record: Manifest) -> Iterator[Row]:
    host = record.host
    for node in profile.nodes:
        own = {key: host.get(key) for key in ("cpu", "cores", "memory_bytes", "kernel")}
        yield {
            "host": node.host,
            "boot_id": node.boot_id or None,
            "processes": len(node.pes),
            "meter": node.meter["name"] or None,
            "meter_why": node.meter["why"] or None,
            "machine_profile": record.machine or None,
            **(own if host.get("name") == node.host else {}),
        }


def repeat(number: int, sample: Sample) -> Row:
    """The row of one repeat."""
    record, profile = sample.manifest, sample.profile
    return {
        "repeat": number,
        "directory": str(sample.directory),
        "started": record.started,
        "exit_code": record.exit_code,
        "n_processes": record.n_pes if record.knows_n_pes else None,
        "wall_s": profile.wall_s if profile is not None else record.wall_s,
        "cpu_s": profile.cpu_s if profile is not None else None,
        **joules(profile.whole_joules if profile is not None else unavailable()),
    }


OF_PROFILE: dict[str, Rows] = {
    of.__name__: of for of in (processes, sites, paths, regions, traffic, power, timeline, by_domain, machine)
}


def rows(table: str, samples: list[Sample]) -> Iterator[Row]:
    """The rows of a table of all repeats. Raises WattleError where a repeat has no profile."""
    for number, sample in enumerate(samples, 1):
        if table == "repeats":
            yield repeat(number, sample)
            continue
        if sample.profile is None:
            raise WattleError(f"{sample.directory}: was run without a profile; run it again without --no-profile")
        for row in OF_PROFILE[table](sample.profile, sample.manifest):
            yield {"repeat": number, **row}
