"""The plan of the study of active messages: sizes, messages in flight, rings, and the jobs that cover them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from wattle.study import measuring
from wattle.study.options import check_repeats
from wattle.study.place import Place

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
    check_repeats(repeats, min_time_s)
    default_repeats = QUICK_REPEATS if quick else FULL_REPEATS
    default_time_s = QUICK_MIN_TIME_S if quick else FULL_MIN_TIME_S
    if place and place.simulated:
        place = replace(place, pes=max(QUICK_RINGS if quick else RINGS))
        default_repeats, default_time_s = SIMULATED_REPEATS, SIMULATED_MIN_TIME_S
    return Plan(
        default_repeats if repeats is None else repeats,
        max(default_time_s, measuring.least_s()) if min_time_s is None else min_time_s,
        quick,
        place or Place(),
    )


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
