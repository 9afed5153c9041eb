"""The plan of the study of payload and fragments: its sweep, repeats, and the arguments of the benchmark."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from wattle.base.errors import WattleError
from wattle.study import measuring
from wattle.study.options import times
from wattle.study.place import Place
from wattle.text import units

PATTERN = "PQPQ"  # a blocking put and a quiet for each fragment
LARGEST = 2 << 20  # bytes: the largest payload, and with one byte each the most fragments

QUICK_REPEATS, QUICK_MIN_TIME_S = 3, 0.005
FULL_REPEATS, FULL_MIN_TIME_S = 7, 0.1

# Between nodes each fragment takes a round trip. Two million of them take minutes by TCP.
ACROSS_MOST = 131072
QUICK_ACROSS_MOST = 1024  # the lower pair of figure 6.2

# A simulation has no noise. The joules of one small transfer are less than the unit in which they are counted, so
# transfers are repeated for this simulated time.
SIMULATED_REPEATS, SIMULATED_MIN_TIME_S = 1, 0.0002
COUNTED, QUICK_COUNTED = 3, 1  # iterations in which counters are read


@dataclass(frozen=True)
class Plan:
    """The sweep of a study. `most`: the largest number of fragments."""

    most: int = LARGEST
    repeats: int = FULL_REPEATS
    min_time_s: float = FULL_MIN_TIME_S
    quick: bool = False
    place: Place = field(default_factory=Place)

    @property
    def payloads(self) -> list[int]:
        return [1 << k for k in range(LARGEST.bit_length())]

    @property
    def cells(self) -> int:
        """The number of pairs of payload and fragments."""
        return sum(min(payload, self.most).bit_length() for payload in self.payloads)

    @property
    def arguments(self) -> list[str]:
        """The arguments of the benchmark."""
        payloads = ",".join(map(str, self.payloads))
        found = ["--patterns", PATTERN, "--gap", "0", "--payload", payloads, "--fragments", f"1-{self.most}"]
        found += ["--repeat", str(self.repeats), "--min-time", f"{self.min_time_s:g}", "--min-iterations", "1"]
        found += measuring.interval()
        if self.place.simulated:
            return [*found, "--no-pin", "--clear", "sweep"]  # a simulation has no flush and no counters
        return [*found, "--count", str(QUICK_COUNTED if self.quick else COUNTED)]


def make_plan(
    most: int | None, repeats: int | None, min_time_s: float | None, quick: bool, place: Place | None = None
) -> Plan:
    """The plan with its defaults. The quick plan finishes within two minutes on two idle cores."""
    place = place or Place()
    if place.simulated:
        place = replace(place, alone=True)  # as on the papers' shielded sockets
    if most is not None and (not 1 <= most <= LARGEST or most & (most - 1)):
        raise WattleError(f"--most {most}: allowed are powers of two from 1 to {LARGEST} ({units.size(LARGEST)})")
    usual = (QUICK_REPEATS, QUICK_MIN_TIME_S) if quick else (FULL_REPEATS, FULL_MIN_TIME_S)
    if place.simulated:
        usual = SIMULATED_REPEATS, SIMULATED_MIN_TIME_S
    across = QUICK_ACROSS_MOST if quick else ACROSS_MOST
    most = (across if place.across else LARGEST) if most is None else most
    return Plan(most, *times(repeats, min_time_s, usual), quick, place)
