"""The study of active messages: bandwidth, message rate and a token ring, beside puts, MPI and UCX."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from wattle.base.checked import Checked
from wattle.base.errors import WattleError
from wattle.machine import paths
from wattle.machine.paths import Home
from wattle.record.manifest import Manifest
from wattle.study import program
from wattle.study.am import jobs as am_jobs
from wattle.study.am.analysis import (
    COMPARED,
    METRICS,
    NAMES,
    SERIES,
    TESTS,
    WAYS,
    Analysis,
    Case,
    cells_table,
    row,
    ucx_document,
)
from wattle.study.am.judges import ROWS
from wattle.study.course import Gathered, Work, told
from wattle.study.engine import Check, Study, Table, missing
from wattle.study.options import REPEAT, number, quick, times
from wattle.study.place import Place, of_study
from wattle.study.site import Site, opened, says_where
from wattle.text import console, units
from wattle.text.provenance import amount, joule_unit, read_joules
from wattle.text.units import si

QUICK_REPEATS, QUICK_MIN_TIME_S = 7, 0.004
FULL_REPEATS, FULL_MIN_TIME_S = 15, 0.05
QUICK_UCX_REPEATS, FULL_UCX_REPEATS = 2, 7

# The papers' ranges: 1 B to 2 KiB, 4 B with 1 to 1 Mi in flight, 2 to 512 PEs. The number in flight where sizes vary is
# Wattle's choice.
SIZES, QUICK_SIZES = [1 << k for k in range(12)], [1, 8, 64, 512, 2048]
IN_FLIGHT, QUICK_IN_FLIGHT = [1 << k for k in range(21)], [1, 8, 32, 256, 4096, 65536]
RINGS, QUICK_RINGS = [1 << k for k in range(1, 10)], [2, 4, 8, 16]
BANDWIDTH_IN_FLIGHT, RATE_BYTES = 64, 4

# Between nodes a blocking put or an MPI message takes microseconds: a million of them at a time would take hours.
ACROSS_MOST, QUICK_ACROSS_MOST = 1 << 20, 1 << 16
ACROSS_MOST_SLOW, QUICK_ACROSS_MOST_SLOW = 1 << 14, 1 << 10
# A simulation has no noise, so one round is as good as many. Repeats differ by what the earlier ways left in flight.
# Six repeats are the minimum for 95 % confidence.
SIMULATED_REPEATS, SIMULATED_MIN_TIME_S = 6, 0.0
SIMULATED_MOST, SIMULATED_MOST_SLOW = 1 << 16, 1 << 12
NOT_SIMULATED = "MPI, and UCX by itself: only this runtime is simulated"
MPI_LARGEST_RING = 64  # a hop of MPI took 0.6 ms there on two busy cores


@dataclass(frozen=True)
class Plan:
    """The sweep of a study."""

    repeats: int = FULL_REPEATS
    min_time_s: float = FULL_MIN_TIME_S
    quick: bool = False
    place: Place = field(default_factory=Place)

    @property
    def sizes(self) -> list[int]:
        return QUICK_SIZES if self.quick else SIZES

    def in_flight(self, slow: bool) -> list[int]:
        """Numbers of messages in flight. `slow`: for ways that need a round trip or a network message each."""
        counts = QUICK_IN_FLIGHT if self.quick else IN_FLIGHT
        if not self.place.across:
            return counts
        limits = (QUICK_ACROSS_MOST_SLOW, ACROSS_MOST_SLOW) if slow else (QUICK_ACROSS_MOST, ACROSS_MOST)
        most = limits[0 if self.quick else 1]
        if self.place.simulated:
            most = min(most, SIMULATED_MOST_SLOW if slow else SIMULATED_MOST)
        return [n for n in counts if n <= most]

    @property
    def rings(self) -> list[int]:
        return QUICK_RINGS if self.quick else RINGS

    @property
    def ucx_repeats(self) -> int:
        return min(self.repeats, QUICK_UCX_REPEATS if self.quick else FULL_UCX_REPEATS)


def make_plan(repeats: int | None, min_time_s: float | None, quick: bool, place: Place | None = None) -> Plan:
    """The plan with its defaults. The quick plan has fewer cases and repeats."""
    usual = (QUICK_REPEATS, QUICK_MIN_TIME_S) if quick else (FULL_REPEATS, FULL_MIN_TIME_S)
    if place and place.simulated:
        place = replace(place, pes=max(QUICK_RINGS if quick else RINGS))
        usual = SIMULATED_REPEATS, SIMULATED_MIN_TIME_S
    return Plan(*times(repeats, min_time_s, usual), quick, place or Place())


# ---- the jobs ----


@dataclass(frozen=True)
class Job:
    """A run of one of the two benchmarks, or of UCX's test for one size. `cases`: their number, each in all its
    ways.
    """

    series: str
    by: str  # ours, mpi or ucx
    pes: int = 2
    tests: tuple[str, ...] = ("uni", "bi")
    ways: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    in_flight: tuple[int, ...] = (1,)

    @property
    def cases(self) -> int:
        return len(self.tests) * len(self.sizes) * len(self.in_flight) * max(1, len(self.ways))

    def arguments(self, plan: Plan) -> list[str]:
        ways = ["--ways", ",".join(self.ways)] if self.ways else []
        return [
            *("--tests", ",".join(self.tests), *ways),
            *("--bytes", _list(self.sizes), "--in-flight", _list(self.in_flight)),
            *("--repeat", str(plan.repeats), "--min-time", f"{plan.min_time_s:g}"),
            *(["--no-pin"] if plan.place.simulated else []),
        ]


def jobs_of(plan: Plan) -> Iterator[Job]:
    """The jobs. Jobs that are compared run close together."""
    return (job for job in _all_jobs(plan) if job.by == "ours" or not plan.place.simulated)


def _all_jobs(plan: Plan) -> Iterator[Job]:
    sizes = tuple(plan.sizes)
    yield Job("bandwidth", "ours", ways=("am", "put", "nbi"), sizes=sizes, in_flight=(BANDWIDTH_IN_FLIGHT,))
    yield Job("bandwidth", "mpi", sizes=sizes, in_flight=(BANDWIDTH_IN_FLIGHT,))
    yield from (Job("bandwidth", "ucx", tests=("uni",), sizes=(size,)) for size in sizes)
    fast, slow = tuple(plan.in_flight(False)), tuple(plan.in_flight(True))
    few = tuple(n for n in fast if n in slow)
    many = tuple(n for n in fast if n not in slow)
    yield Job("rate", "ours", ways=("am", "put", "nbi"), sizes=(RATE_BYTES,), in_flight=few)
    if many:
        yield Job("rate", "ours", ways=("am", "nbi"), sizes=(RATE_BYTES,), in_flight=many)
    yield Job("rate", "mpi", sizes=(RATE_BYTES,), in_flight=slow)
    yield Job("rate", "ucx", tests=("uni",), sizes=(RATE_BYTES,))
    for pes in plan.rings:
        yield Job("ring", "ours", pes, ("ring",), ("am", "put"), (RATE_BYTES,))
        if pes <= MPI_LARGEST_RING:
            yield Job("ring", "mpi", pes, ("ring",), sizes=(RATE_BYTES,))
    yield Job("handlers", "ours", 2, ("handlers",), ("own", "shared"), (RATE_BYTES,), (BANDWIDTH_IN_FLIGHT,))


def left_out_of(plan: Plan) -> list[str]:
    """The parts of the papers' sweep that this plan leaves out, as text."""
    found = []
    if plan.rings[-1] < RINGS[-1]:
        found.append(f"rings of more than {plan.rings[-1]} PEs (--quick)")
    elif plan.rings[-1] > MPI_LARGEST_RING and not plan.place.simulated:
        found.append(f"MPI's rings of more than {MPI_LARGEST_RING} processes, which take too long")
    for slow, words in (
        (False, "more messages in flight"),
        (True, "blocking puts and MPI with more messages in flight"),
    ):
        if (most := plan.in_flight(slow)[-1]) < IN_FLIGHT[-1]:
            where = "to simulate" if plan.place.simulated else "between nodes"
            why = f"which take too long {where}" if plan.place.across else "--quick"
            what = words.replace(" and MPI", "") if plan.place.simulated else words
            found.append(f"{what} than {most:,} ({why})")
    if plan.place.simulated:
        found.append(NOT_SIMULATED)
    return found


def _list(values: tuple[int, ...]) -> str:
    return ",".join(map(str, values))


def last_case(a: Analysis, series: str, test: str, *ways: str) -> Case | None:
    found = a.cases(series, test, ("am", *ways))
    return found[-1] if found else None


def _rates(a: Analysis) -> str:
    case = last_case(a, "rate", "uni", "put") or last_case(a, "rate", "uni")
    mine = a.center("rate", case, "am") if case else None
    if case is None or mine is None:
        return ""
    others = [
        f"{METRICS['rate'].shown(c.median)} by {NAMES[way]}"
        for way in ("put", "nbi", "mpi")
        if (c := a.center("rate", case, way))
    ]
    ucx = a.only_case("rate", "uni", "ucx")
    if ucx and (c := a.center("rate", ucx, "ucx")):
        others.append(f"{METRICS['rate'].shown(c.median)} by {NAMES['ucx']} alone")
    beside = f"; {_and(others)}" if others else ""
    many = units.several(case.in_flight, "message")
    return f"With {many} of {units.size(case.bytes)} in flight {METRICS['rate'].shown(mine.median)} went by AM{beside}."


def _and(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def _rings(a: Analysis) -> str:
    case = last_case(a, "ring", "ring", "put")
    if case is None:
        return ""
    am, put, mpi = (a.center("time", case, way) for way in ("am", "put", "mpi"))
    if not am or not put:
        return ""
    third = f" and {units.seconds(mpi.median)} by MPI" if mpi else ""
    by_put = f"{units.seconds(put.median)} by put{third}"
    return f"A token round {case.pes} PEs took {units.seconds(am.median)} a hop by AM, {by_put}."


def _joules(a: Analysis, record: Manifest) -> str:
    kind = a.provenance()
    if kind == "unavailable":
        return f"Joules are not known here: {a.why_no_joules}."
    case = last_case(a, "rate", "uni", "put")
    known = case and a.center("energy", case, "am") and a.center("energy", case, "put")
    am, put = (energy_of(a, case, way)[0] if case and known else "" for way in ("am", "put"))
    cost = f"A message cost {am} by AM and {put} by put there. " if known else ""
    whose = "the machine's, which a sensor sees" if kind == "measured" else "PE 0's"
    why = record.meter.get("why", "").rstrip(".")
    return f"{cost}Joules are {whose}, {kind} ({', '.join(a.sources)})" + (f": {why}." if why else ".")


def energy_of(a: Analysis, case: Case, way: str) -> tuple[str, str]:
    """Joules a message with their uncertainty, and the provenance."""
    found, doubt = a.center("energy", case, way), a.uncertainty(case, way)
    if found is None:
        return units.UNKNOWN, "unavailable"
    factor, unit = joule_unit(found.median)
    text = si(found.median, "J") if doubt is None else f"{amount(found.median, doubt, factor)} {unit}"
    return text, a.provenance((way,))


def table(a: Analysis) -> Table:
    """The time a message by way: one at a time, many in flight, and a hop of the smallest and the largest ring."""
    cases = []
    for series, test in (("rate", "uni"), ("ring", "ring")):
        found = a.cases(series, test)
        cases += list(dict.fromkeys((found[0], found[-1]))) if found else []
    ways = [w for w in NAMES if any(w in a.ways_of(case) for case in cases)]
    most = max((case.in_flight for case in cases), default=0)
    lines = []
    for case in cases:
        what = f"ring, {case.pes} PEs, a hop" if case.series == "ring" else f"{case.in_flight:,} in flight"
        at = {w: case.sent_by(w) if case.in_flight == most else case for w in ways}  # UCX's own test has many in flight
        lines.append([what, *(units.seconds(c.median if (c := a.center("time", at[w], w)) else None) for w in ways)])
    title = f"Time a message of 4 B, medians of {units.several(a.repeats, 'repeat')}"
    return title, ["case", *(NAMES[way] for way in ways)], lines


NAME = "am"
UCX_MESSAGES, UCX_MESSAGES_ACROSS = 100000, 20000


def planned(plan: Plan) -> int:
    return sum(_samples_of(job, plan) for job in jobs_of(plan))


def _samples_of(job: Job, plan: Plan) -> int:
    return job.cases * (plan.ucx_repeats if job.by == "ucx" else plan.repeats)


def _gather(plan: Plan, gathered: Gathered) -> None:
    home = paths.find_home()
    simulated = plan.place.simulated
    bench = program.find_simulated(home, NAME) if simulated else program.find(home, NAME)
    others = {} if simulated else _others(home, gathered)
    with console.progress("messages", planned(plan)) as steps, opened(plan.place) as site:
        for job in jobs_of(plan):
            if job.by != "ours" and job.by not in others:
                steps.advance(_samples_of(job, plan))
                continue
            for document in _documents(home, job, plan, site, bench, others, gathered):
                if gathered.take(document, partial(row, series=job.series)):
                    way, pes = document["way"], document["pes"]
                    steps.advance(now=f"{document['test']} {way} {units.size(document['bytes'])} {pes} PEs")
    if not gathered.rows:
        raise WattleError(f"{bench.name} ended without a sample")


def _others(home: Home, gathered: Gathered) -> dict[str, Path]:
    """The programs of MPI and UCX. For one that is missing, the reason is added to what is left out."""
    found = {}
    try:
        found["mpi"] = am_jobs.mpi_program(home)
    except WattleError as error:
        gathered.left_out.append(f"MPI: {error}")
    if perftest := shutil.which(am_jobs.PERFTEST):
        found["ucx"] = Path(perftest)
    else:
        gathered.left_out.append(f"UCX by itself: {am_jobs.PERFTEST} is missing (Debian: ucx-utils)")
    return found


def _documents(
    home: Home, job: Job, plan: Plan, site: Site, bench: Path, others: dict[str, Path], gathered: Gathered
) -> Iterator[dict[str, Any]]:
    """The lines of a job. A job of MPI or of more than two PEs that fails is left out as a whole, with its last
    message.
    """
    before = len(gathered.rows)
    if job.by == "ucx":
        messages = UCX_MESSAGES_ACROSS if site.across else UCX_MESSAGES
        for repeat in range(plan.ucx_repeats):
            size = job.sizes[0]
            try:
                yield ucx_document(size, repeat, messages, am_jobs.ucx_rate(site, size, messages))
            except WattleError as error:
                if not plan.place.hosts:
                    raise
                gathered.left_out.append(f"{job.series}, UCX by itself, {units.size(size)}: {error}")
                return
        yield {"kind": "job", "no_core": None}
        return
    ours = job.by == "ours"
    start = site.ours if ours else says_where(site.mpi)
    try:
        lines = program.run(home, bench if ours else others["mpi"], job.arguments(plan), job.pes, start)
        with closing(lines):
            yield from lines
    except WattleError as error:
        if ours and job.pes == 2:
            raise
        del gathered.rows[before:]
        gathered.left_out.append(f"{job.series}, {job.by}, {job.pes} PEs: {error}")


def _told(plan: Plan, gathered: Gathered) -> dict[str, Any]:
    """The settings of the study and its findings so far."""
    return told(
        NAME,
        plan,
        sizes=plan.sizes,
        bandwidth_in_flight=BANDWIDTH_IN_FLIGHT,
        rate_bytes=RATE_BYTES,
        in_flight=plan.in_flight(False),
        in_flight_slow=plan.in_flight(True),
        rings=plan.rings,
        repeats=plan.repeats,
        ucx_repeats=plan.ucx_repeats,
        min_time_s=plan.min_time_s,
        left_out=gathered.left_out,
        floor=gathered.floor,
    )


class Messages(Study[Analysis]):
    """The study of active messages."""

    def plan(self, quick: bool, place: Place, **options: Any) -> Plan:
        return make_plan(options["repeat"], options["min_time"], quick, place)

    def work(self, plan: Plan) -> Work:
        facts, simulated = partial(_told, plan), plan.place.simulated
        return Work(max(plan.rings), simulated, planned(plan), facts, partial(_gather, plan), left_out_of(plan))

    def tables(self, a: Analysis) -> list[Table]:
        return [table(a)]

    def remarks(self, a: Analysis) -> list[str]:
        return [f"Left out: {words}." for words in a.left_out]

    def checks(self) -> Sequence[Check]:
        known = pl.col("series").is_in(SERIES) & pl.col("test").is_in(TESTS) & pl.col("way").is_in(WAYS)
        return (
            (~known.fill_null(False), "holds a sample of no series, no test or no way"),
            (
                missing("bytes", "in_flight", "pes", "repeat", "message_s"),
                "holds a sample without its bytes, its messages in flight, PEs, repeat or time",
            ),
            (
                (pl.col("message_s") <= 0) | (pl.col("pes") < 2) | (pl.col("bytes") < 1),
                "holds a sample of no time, of no bytes or of fewer than two PEs",
            ),
        )

    def analysis(self, frame: pl.DataFrame, facts: Checked, record: Manifest) -> Analysis:
        floor = [read_joules(entry) for entry in facts.items("floor")]
        return Analysis(frame, of_study(facts), [str(entry.value) for entry in facts.items("left_out")], floor)

    def own(self, a: Analysis) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"left_out": a.left_out}, {"cells": cells_table(a)}

    def sentences(self, a: Analysis, record: Manifest) -> list[str]:
        return [_rates(a), _rings(a), _joules(a, record)]

    def wrong(self, n: int) -> str:
        return f"Messages were lost, doubled or wrong in {n} samples"


STUDY = Messages(
    name=NAME,
    title="Active messages beside puts",
    question="What do messages with a handler cost, compared with puts, MPI's two-sided messages and UCX's own?",
    system="opteron-ddr",
    rows=ROWS,
    layout=COMPARED,
    options={
        "quick": quick("A shorter sweep, with fewer repeats."),
        "repeat": REPEAT,
        "min_time": number(float, "--min-time", "Shortest time of a measurement in seconds (0.05, quick 0.004)."),
    },
    tells_tally=True,
)
