"""The plan of the study of patterns: payloads, numbers of fragments, repeats, and the arguments of the benchmark."""

from __future__ import annotations

from dataclasses import dataclass, field

from wattle.base.errors import WattleError
from wattle.study import measuring
from wattle.study.options import check_repeats
from wattle.study.patterns.analysis import PAPER_PAYLOAD
from wattle.study.place import Place
from wattle.text import units

MOST_FRAGMENTS = 131072
LARGEST_PAYLOAD = 64 << 20

QUICK_REPEATS, QUICK_MIN_TIME_S = 7, 0.03
FULL_REPEATS, FULL_MIN_TIME_S = 15, 0.2

# Between nodes a blocking put takes a round trip, so many puts take seconds: fewer iterations are enough. A quick sweep
# leaves out cases that would take minutes.
ACROSS_ITERATIONS = 3
QUICK_ACROSS_ITERATIONS = 2
QUICK_ACROSS_MOST_FRAGMENTS = 8192
QUICK_ACROSS_MOST_PAYLOAD_FRAGMENTS = 1024

# A simulation has no noise, so one iteration is as good as many. Repeats differ by what the earlier patterns left in
# flight. Six repeats are the minimum for 95 % confidence.
SIMULATED_REPEATS, SIMULATED_MIN_TIME_S = 6, 0.0
SIMULATED_ITERATIONS = 1
QUICK_MANY_PES_MOST_FRAGMENTS = 1024  # of simulated pairs of PEs at the same time
SIMULATED_ARGUMENTS = ["--no-pin", "--clear", "none"]  # a simulation has no caches


@dataclass(frozen=True)
class Plan:
    """The sweep of a study. `payloads`: of the fourth transformation, including the main payload."""

    payload: int = PAPER_PAYLOAD
    payloads: list[int] = field(default_factory=list)
    repeats: int = FULL_REPEATS
    min_time_s: float = FULL_MIN_TIME_S
    quick: bool = False
    place: Place = field(default_factory=Place)

    @property
    def fragments(self) -> list[int]:
        most = QUICK_ACROSS_MOST_FRAGMENTS if self.quick and self.place.across else MOST_FRAGMENTS
        if self.quick and self.place.simulated and self.place.pes > 2:
            most = QUICK_MANY_PES_MOST_FRAGMENTS
        return [n for n in _powers_dividing(self.payload) if n <= most]

    @property
    def payload_fragments(self) -> list[int]:
        """The counts into which every payload can be divided."""
        common = set(self.fragments)
        for payload in self.payloads:
            common &= set(_powers_dividing(payload))
        most = QUICK_ACROSS_MOST_PAYLOAD_FRAGMENTS if self.quick and self.place.across else MOST_FRAGMENTS
        return sorted(n for n in common if n <= most)

    @property
    def min_iterations(self) -> int | None:
        """The smallest number of iterations of a measurement; None: the benchmark decides."""
        if not self.place.across:
            return None
        if self.place.simulated:
            return SIMULATED_ITERATIONS
        return QUICK_ACROSS_ITERATIONS if self.quick else ACROSS_ITERATIONS


def make_plan(
    payload: int | None, repeats: int | None, min_time_s: float | None, quick: bool, place: Place | None = None
) -> Plan:
    """The plan with its defaults. The quick plan finishes within a minute; the full plan is the paper's sweep."""
    payload = PAPER_PAYLOAD if payload is None else payload
    if not 1 <= payload <= LARGEST_PAYLOAD:
        raise WattleError(f"--payload {payload}: allowed are 1 byte to {units.size(LARGEST_PAYLOAD)}")
    check_repeats(repeats, min_time_s)
    factors = (1, 0.5) if quick else (2, 1, 0.5, 0.25)
    payloads = [int(payload * f) for f in factors if payload * f >= 1 and payload * f == int(payload * f)]
    default_repeats = QUICK_REPEATS if quick else FULL_REPEATS
    default_time_s = QUICK_MIN_TIME_S if quick else FULL_MIN_TIME_S
    if place and place.simulated:
        default_repeats, default_time_s = SIMULATED_REPEATS, SIMULATED_MIN_TIME_S
    return Plan(
        payload,
        [p for p in payloads if p <= LARGEST_PAYLOAD],
        default_repeats if repeats is None else repeats,
        max(default_time_s, measuring.least_s()) if min_time_s is None else min_time_s,
        quick,
        place or Place(),
    )


def _powers_dividing(payload: int) -> list[int]:
    return [1 << k for k in range(MOST_FRAGMENTS.bit_length()) if payload % (1 << k) == 0]
