"""Made-up samples by study under which its published rows agree, differ, or should find nothing. Each new study adds
its own: tests/python/study/test_study_rows.py asks for samples under which each row differs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import am_studies
import bare_rows
import made_lsms
import mini_apps
import pieces
import polars as pl
import studies
import sweeps
from wattle.study import published, registry
from wattle.study.am.analysis import Case
from wattle.study.place import Place
from wattle.study.published import Row
from wattle.study.sweep.analysis import SCHEMA, Analysis
from wattle.study.sweep.knob import Knob
from wattle.study.sweep.plan import Job


@dataclass(frozen=True)
class Made:
    """Samples of one study, measured. `bad`: each of its rows differs in one of them. `nothing`: all cases are alike.
    `good`: as published.
    """

    bad: Iterable[Callable[[], Any]]
    nothing: Callable[[], Any]
    good: Iterable[Callable[[], Any]] = field(default_factory=list)


def rows_of(name: str) -> list[published.Published[Any]]:
    """The published figures of a study, and its bars."""
    judges = registry.part(name, "judges")
    return [*judges.ROWS, *getattr(judges, "BARS", [])]


def judged(name: str, analysis: Any) -> dict[str, Row]:
    return {row.id: row for row in bare_rows.judge(rows_of(name), analysis)}


# ---- waiting and clocks ----


def sweep(name: str, physics: sweeps.Physics, **keywords: Any) -> Callable[[], Analysis]:
    return lambda: sweeps.analysis(name, physics, **{"quick": False, "source": "powercap package-0"} | keywords)


def counted(instructions: float, branches: float, not_taken: float) -> Callable[[Job, float | None], dict[str, Any]]:
    """Counters of a wait: per ms waited, in addition to those of 1 s."""
    return lambda job, x: {"counted": [1e9 + instructions * (x or 0), 1e9 + branches * (x or 0), 1e9 * not_taken]}


def with_waits(make: Callable[[], Analysis], share: float) -> Callable[[], Analysis]:
    """The same samples, in which each PE waits as long."""

    def made() -> Analysis:
        a = make()
        same = [f'{{"wall_s": 1.0, "wait_s": {[share] * pes}}}' for pes in a.frame["pes"]]
        return Analysis(a.frame.with_columns(pl.Series("job_waits_json", same)), a.knob, a.place)

    return made


def power_jumps(job: Job, name: str, who: str, x: float | None, y: float | None) -> tuple[float, ...]:
    """Each wait draws another power, and more PEs draw less."""
    s = 1e-3 * (x or 1.0)
    return s, s * (10.0 if int(x or 0) % 3 else 40.0) / job.pes


def loses_all(job: Job, name: str, who: str, x: float | None, y: float | None) -> tuple[float, ...]:
    """A lower clock of the receiver saves time, and costs both PEs and their memory joules."""
    clock = job.clock or 2.9
    off = 1 + 0.4 * (2.9 - clock) * (0.5 if who == "sender" else 1)
    return 1e-4 * (0.5 + clock / 5.8), 1e-3 * off, 1e-4 * (1 + 0.9 * (2.9 - clock))


def gains_all(job: Job, name: str, who: str, x: float | None, y: float | None) -> tuple[float, ...]:
    """A lower clock of the receiver costs three times the time, and saves joules, more of them with many puts."""
    clock = job.clock or 2.9
    less = 0.05 if clock < 2.9 else 1.0
    fewer = 0.5 if (x or 0) > 32768 else 1.0
    slower = 3.0 if clock < 2.9 else 1.0
    return 1e-4 * slower, 1e-3 * less, 1e-4 * less * fewer


def _power_is_constant(job: Job, name: str, who: str, x: float | None, y: float | None) -> tuple[float, ...]:
    """Energy follows time, and all of it follows the clock."""
    clock = job.clock or 2.6
    return 1 / clock, 10 / clock


def _pascol_apart(job: Job, name: str, who: str, x: float | None, y: float | None) -> tuple[float, ...]:
    """Sleeping takes half of the time of polling and a tenth of its joules at any size."""
    sleeps = job.wait == "sleep"
    return 1e-4 * (0.5 if sleeps else 1), 1e-3 * (0.1 if sleeps else 1)


def _pascol_wins_early(job: Job, name: str, who: str, x: float | None, y: float | None) -> tuple[float, ...]:
    """Sleeping pays from 64 B on, far below the learned thresholds; above it takes as long."""
    late = (x or 0) >= 64
    return 1e-4 * (1 if late or job.wait == "spin" else 2), 1e-3 * (0.5 if late and job.wait == "sleep" else 1)


# ---- patterns ----

ALL = ("MPQMPQ", "PQPQ", "MPMPQ", "PPQ", "MMPQAMM")


def _patterns(cost: Callable[[str, int], float], dram: Callable[[str, int], float]) -> Callable[[], Any]:
    return lambda: studies.analysis(cost, dram=dram, provenance="measured")


def _same(pattern: str, n: int) -> float:
    return 1e-3


def _upside_down(pattern: str, n: int) -> float:
    """The dear patterns are cheap, and others ever dearer with more puts."""
    cheap = {"MPQMPQ": 0.25, "PQPQ": 1.0, "MPMPQ": 1.5, "PPQ": 4.0, "MMPQAMM": 40.0}
    return 1e-3 * cheap[pattern] * (1 + (n.bit_length() / 4 if pattern in ("MPMPQ", "MMPQAMM") else 0))


def _per_put(pattern: str, n: int) -> float:
    return 1e-6 * n * (0.1 if pattern in ("MPMPQ", "MMPQAMM") else 1)


# ---- messages ----


def _am_wins(case: Case, way: str) -> float:
    """Active messages are ahead, and the more the longer the message; their rings take four times as long."""
    if case.series == "ring":
        return {"am": 4e-6 / case.pes}.get(way, 1e-6)
    return {"am": 0.5e-6 / case.bytes.bit_length()}.get(way, 1e-6)


# ---- mini-apps ----


def _apps(name: str, seconds: mini_apps.Cost, **keywords: Any) -> Callable[[], Any]:
    return lambda: mini_apps.analysis(name, seconds=seconds, **keywords)


def _equal_versions(version: str, given: str, pes: int) -> float:
    return 1e-2


def _buckets_win(version: str, given: str, pes: int) -> float:
    return {"mpi": 1e-2, "bucket": 1e-2 / pes, "am": 5e-2, "steal": 5e-3}[version]


MANY = (2, 4, 8, 16, 32, 64)

# ---- protocols ----

PAYLOADS = [4.0**k for k in range(11)] + [32768.0]
COUNTS = [1.0, 2.0, 4.0, 16.0, 64.0, 256.0, 1024.0]
CONFIGURATIONS = ("TCP, rendezvous", "TCP, eager", "InfiniBand, rendezvous", "InfiniBand, eager")
Transfer = Callable[[str, float, float], tuple[float, float, float]]  # series, payload, messages: s, W sent, W received


Memory = Callable[[str, float, float], float]  # series, payload, messages: W of either rank's memory


def protocols(transfer: Transfer, memory: Memory | None = None) -> Callable[[], Analysis]:
    """Samples of transfers that take the seconds and the watts of either CPU that the function gives. Without `memory`,
    its power follows the CPU's.
    """

    def made() -> Analysis:
        rows = []
        for series in CONFIGURATIONS:
            job = Job(series, "protocols", (), 1, wait="spin")
            for x in PAYLOADS:
                for y in (n for n in COUNTS if n <= x):
                    s, *watts = transfer(series, x, y)
                    for who, w in zip(("sender", "receiver"), watts, strict=True):
                        row = sweeps._row(job, "transfer", who, x, y, (0, 0, 0), s, s * w / 0.9)
                        rows.append(row | {"more_json": "{}", "verified": True})
                        if memory:
                            rows[-1]["dram_J"] = s * memory(series, x, y)
                        for domain in ("cpu", "dram"):
                            rows[-1] |= {f"{domain}_provenance": "measured", f"{domain}_source": "powercap package-0"}
        return Analysis(pl.DataFrame(rows, schema=SCHEMA), Knob("none", "no clocks under /sys"), Place())

    return made


def _no_protocol(series: str, x: float, y: float) -> tuple[float, float, float]:
    return 1e-9 * x, 25.0, 25.0


def _eager_loses(series: str, x: float, y: float) -> tuple[float, float, float]:
    """Small messages are cheapest, rendezvous beats eager, TCP beats InfiniBand; the receiver draws most."""
    s = 1e-8 * x * (x / y) ** 0.5 * (4 if "eager" in series else 1) * (3 if "Infini" in series else 1)
    return s, 30.0 + x / 1e5, 40.0


def _published_protocols(series: str, x: float, y: float) -> tuple[float, float, float]:
    """TCP with rendezvous peaks at 0.565 MB/J from 128 KiB messages on, InfiniBand with eager at 3 MB/J."""
    m = x / y
    peak = {"TCP, rendezvous": 565e3, "TCP, eager": 570e3, "InfiniBand, rendezvous": 2e6, "InfiniBand, eager": 3e6}[
        series
    ]
    half = {
        "TCP, rendezvous": 30000.0,
        "TCP, eager": 120.0,
        "InfiniBand, rendezvous": 4000.0,
        "InfiniBand, eager": 400.0,
    }
    per_joule = peak * m / (m + half[series])
    watts = (17.9 if x < 1024 else 17.1, 15.9) if series.startswith("TCP, r") else (16.4, 16.4)
    return x / per_joule / (sum(watts) / 0.9), *watts


def _published_memory(series: str, x: float, y: float) -> float:
    """More by eager TCP and in many messages, more for bulk and for long messages."""
    eager = "eager" in series
    if series.startswith("TCP"):
        return (7.4 + 0.001 * y if eager else 7.0) + (0.5 if x > 32768 else 0.0)
    return 7.0 + 0.1 * math.log2(x / y) if not eager else 7.0 + (1.0 if x > 32768 else 0.0)


def _idle_memory(series: str, x: float, y: float) -> float:
    """Less for bulk, for many and for eager messages."""
    return 9.0 / (1 + x / 1e4) / (1 + y) * (0.5 if "eager" in series else 1.0)


def _example(series: str, x: float, y: float) -> tuple[float, float, float]:
    """The dissertation's 32 KiB: 370 us and 16.21 W in 64 messages, 20 us and 16.565 W in 2. TCP eager: 600 B/J."""
    if series == "TCP, eager":
        return x / 600 / (32.0 / 0.9), 16.0, 16.0
    fast = "Infini" in series
    per_message = (370e-6 - 20e-6) / 62
    seconds = 20e-6 + (y - 2) * per_message if x == 32768 and fast else 1e-8 * x + 1e-6 * y
    if series == "InfiniBand, rendezvous" and x != 32768:
        seconds *= 25
    if series == "TCP, rendezvous":
        seconds *= 760 * 1.0
    watts = 16.21 if y > 2 else 16.565
    return max(seconds, 1e-6), watts, watts


MADE = {
    "am": Made(
        bad=[lambda: am_studies.analysis(_am_wins)],
        nothing=lambda: am_studies.analysis(lambda case, way: 1e-6 / case.pes),
        good=[lambda: am_studies.analysis()],
    ),
    "barrier": Made(
        bad=[
            sweep("barrier", sweeps.backwards, more=counted(0, 0, 0.2)),
            sweep("barrier", power_jumps, more=counted(-1e5, -1e4, 0.9)),
        ],
        nothing=sweep("barrier", sweeps.plain, more=counted(0, 0, 0.2)),
        good=[sweep("barrier", sweeps.as_published, more=counted(1e6, 1e6, 0.2))],
    ),
    "fragments": Made(
        bad=[partial(pieces.analysis, world) for world in pieces.CONTRARY.values()],
        nothing=partial(pieces.analysis, pieces.NOTHING),
        good=[partial(pieces.analysis, world) for world in (pieces.AS_PUBLISHED, pieces.STEADY)],
    ),
    "lsms": Made(
        bad=[
            sweep("lsms", physics)
            for physics in (sweeps.backwards, *(made_lsms.where(changed) for changed in made_lsms.MISSING))
        ],
        nothing=sweep("lsms", sweeps.plain),
        good=[sweep("lsms", sweeps.as_published)],
    ),
    "budget": Made(
        bad=[sweep("budget", sweeps.backwards)],
        nothing=sweep("budget", sweeps.plain),
        good=[sweep("budget", sweeps.as_published)],
    ),
    "groups": Made(
        bad=[sweep("groups", sweeps.backwards)],
        nothing=sweep("groups", sweeps.plain),
        good=[sweep("groups", sweeps.as_published)],
    ),
    "mst": Made(
        bad=[_apps("mst", _equal_versions, verified=False)],
        nothing=_apps("mst", _equal_versions),
        good=[_apps("mst", _equal_versions)],
    ),
    "pascol": Made(
        bad=[sweep("pascol", physics) for physics in (sweeps.backwards, _pascol_apart, _pascol_wins_early)],
        nothing=sweep("pascol", sweeps.plain),
        good=[sweep("pascol", sweeps.as_published)],
    ),
    "patterns": Made(
        bad=[
            _patterns(_upside_down, _upside_down),
            _patterns(_same, _same),
            _patterns(_per_put, _per_put),
        ],
        nothing=_patterns(_same, _same),
        good=[],
    ),
    "protocols": Made(
        bad=[protocols(_no_protocol), protocols(_eager_loses, _idle_memory)],
        nothing=protocols(_no_protocol),
        good=[protocols(_published_protocols, _published_memory), protocols(_example)],
    ),
    "race": Made(
        bad=[
            sweep("race", sweeps.backwards),
            sweep("race", _power_is_constant),
            with_waits(sweep("race", sweeps.plain), 0.3),
        ],
        nothing=with_waits(sweep("race", sweeps.plain), 0.3),
        good=[sweep("race", sweeps.as_published)],
    ),
    "receiver": Made(
        bad=[sweep("receiver", physics) for physics in (sweeps.backwards, loses_all, gains_all)],
        nothing=sweep("receiver", sweeps.plain),
        good=[sweep("receiver", sweeps.as_published)],
    ),
    "slack": Made(
        bad=[sweep("slack", sweeps.backwards)],
        nothing=sweep("slack", sweeps.plain),
        good=[sweep("slack", sweeps.as_published)],
    ),
    "tsp": Made(
        bad=[
            _apps("tsp", mini_apps.backwards, pes=MANY, held_share=0.5),
            _apps("tsp", _buckets_win, pes=MANY),
        ],
        nothing=_apps("tsp", _equal_versions, pes=MANY),
        good=[
            _apps("tsp", mini_apps.as_published, pes=MANY, apart=mini_apps.varies_with_few),
            _apps("tsp", mini_apps.as_promised, pes=MANY),
        ],
    ),
}
