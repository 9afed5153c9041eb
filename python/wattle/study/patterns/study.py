"""The study of data-access patterns: five ways of writing the same bytes to another PE, and the savings between
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import polars as pl

from wattle.base.checked import Checked
from wattle.base.errors import WattleError
from wattle.machine import paths
from wattle.record.manifest import Manifest
from wattle.study import measuring, program
from wattle.study.course import Gathered, Work, told
from wattle.study.engine import Check, Study, Table, joules, missing
from wattle.study.options import REPEAT, number, quick, times
from wattle.study.patterns.analysis import (
    COMPARED,
    METRICS,
    PAPER_PAYLOAD,
    PATTERNS,
    PAYLOAD_PATTERN,
    Analysis,
    configurations,
    row,
    savings_table,
)
from wattle.study.patterns.judges import ROWS
from wattle.study.place import Place, check_place, of_study
from wattle.study.stats import Center
from wattle.text import console, units
from wattle.text.provenance import read_joules
from wattle.text.units import si

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
SIMULATED_ARGUMENTS = ["--no-pin", "--clear", "sweep"]  # a simulation knows no flush instruction


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
    factors = (1, 0.5) if quick else (2, 1, 0.5, 0.25)
    payloads = [int(payload * f) for f in factors if payload * f >= 1 and payload * f == int(payload * f)]
    usual = (QUICK_REPEATS, QUICK_MIN_TIME_S) if quick else (FULL_REPEATS, FULL_MIN_TIME_S)
    if place and place.simulated:
        usual = SIMULATED_REPEATS, SIMULATED_MIN_TIME_S
    payloads = [p for p in payloads if p <= LARGEST_PAYLOAD]
    return Plan(payload, payloads, *times(repeats, min_time_s, usual), quick, place or Place())


def _powers_dividing(payload: int) -> list[int]:
    return [1 << k for k in range(MOST_FRAGMENTS.bit_length()) if payload % (1 << k) == 0]


def parse_size(text: str) -> int:
    """A size such as `512K` in bytes. Raises WattleError."""
    match = re.fullmatch(r"(\d{1,15})([KMG]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if not match:
        raise WattleError(f"--payload {text!r}: not a size; write bytes as 524288, 512K or 1M")
    return int(match.group(1)) << {"": 0, "K": 10, "M": 20, "G": 30}[match.group(2).upper()]


NAME = "patterns"


def _gather(plan: Plan, gathered: Gathered) -> None:
    home = paths.find_home()
    bench = program.find_simulated(home, NAME) if plan.place.simulated else program.find(home, NAME)
    with console.progress("patterns", _planned(plan)) as steps, plan.place.open() as start:
        for series, _, arguments in _sweeps(plan):
            with closing(program.run(home, bench, arguments, plan.place.pes, start)) as lines:
                for line in lines:
                    if gathered.take(line, partial(row, series=series)):
                        steps.advance(
                            now=f"{line['pattern']} {line['fragments']} x {units.size(line['fragment_bytes'])}"
                        )
    if not gathered.rows:
        raise WattleError(f"{bench.name} ended without a sample")


def _planned(plan: Plan) -> int:
    return sum(total for _, total, _ in _sweeps(plan))


def _sweeps(plan: Plan) -> Iterator[tuple[str, int, list[str]]]:
    """(series, number of samples, arguments of the benchmark)."""
    common = ["--repeat", str(plan.repeats), "--min-time", f"{plan.min_time_s:g}", *measuring.interval()]
    if plan.min_iterations is not None:
        common += ["--min-iterations", str(plan.min_iterations)]
    if plan.place.simulated:
        common += SIMULATED_ARGUMENTS
    counts = plan.fragments
    arguments = ["--payload", str(plan.payload), "--fragments", _list(counts)]
    yield "patterns", 5 * len(counts) * plan.repeats, [*arguments, *common]
    counts = plan.payload_fragments
    if len(plan.payloads) > 1 and counts:
        arguments = ["--patterns", PAYLOAD_PATTERN, "--payload", _list(plan.payloads), "--fragments", _list(counts)]
        yield "payloads", len(plan.payloads) * len(counts) * plan.repeats, [*arguments, *common]


def _list(values: list[int]) -> str:
    return ",".join(map(str, values))


def _told(plan: Plan, gathered: Gathered) -> dict[str, Any]:
    """The settings of the study and its findings so far."""
    setup = gathered.setup
    return told(
        NAME,
        plan,
        payload=plan.payload,
        payloads=plan.payloads,
        fragments=plan.fragments,
        repeats=plan.repeats,
        min_time_s=plan.min_time_s,
        min_iterations=plan.min_iterations,
        clear=setup.get("clear"),
        pinned=setup.get("pinned"),
        gap=setup.get("gap"),
        floor=gathered.floor,
    )


class Patterns(Study[Analysis]):
    """The study of data-access patterns."""

    def asked(
        self, on: str, link: str | None, quick: bool, *, pes: int | None = None, **options: Any
    ) -> tuple[Study[Analysis], Plan]:
        return self, self.plan(quick, check_place(self.where(on), link, pes, simulates=True), **options)

    def plan(self, quick: bool, place: Place, **options: Any) -> Plan:
        payload = None if options["payload"] is None else parse_size(options["payload"])
        return make_plan(payload, options["repeat"], options["min_time"], quick, place)

    def work(self, plan: Plan) -> Work:
        facts = partial(_told, plan)
        return Work(plan.place.pes, plan.place.simulated, _planned(plan), facts, partial(_gather, plan))

    def tables(self, a: Analysis) -> list[Table]:
        return [table(a)]

    def checks(self) -> Sequence[Check]:
        series, payload, fragments, pattern = map(pl.col, ("series", "payload", "fragments", "pattern"))
        return (
            ((series != "patterns").all(), "holds no sample of the five patterns"),
            (
                (payload < 1) | (fragments < 1) | ~pattern.is_in(PATTERNS),
                "holds a sample of no pattern, of no payload or of no fragments",
            ),
            (
                missing("payload", "fragments", "pattern", "repeat", "latency_s"),
                "holds a sample without its pattern, payload, fragments, repeat or latency",
            ),
            (pl.col("latency_s") <= 0, "holds a sample of no time"),
        )

    def analysis(self, frame: pl.DataFrame, facts: Checked, record: Manifest) -> Analysis:
        return Analysis(frame, [read_joules(entry) for entry in facts.items("floor")], of_study(facts))

    def own(self, a: Analysis) -> tuple[dict[str, Any], dict[str, Any]]:
        before = {
            "payload": a.payload,
            "provenance": {domain: a.provenance(domain) for domain in ("cpu", "dram")},
        }
        return before, {"configurations": configurations(a), "savings": savings_table(a)}

    def sentences(self, a: Analysis, record: Manifest) -> list[str]:
        return [_cheapest(a), _dearest(a), _nonblocking(a), _joules(a, record)]


STUDY = Patterns(
    name=NAME,
    title="Data-access patterns of one-sided writes",
    question=(
        "What do five ways of writing the same bytes to another PE cost, and what does a change between them save?"
    ),
    rows=ROWS,
    layout=COMPARED,
    options={
        "quick": quick("A sweep of about a minute, with fewer repeats."),
        "pes": number(int, "--pes", "With --on sim: half of them send, each to one of the others (2)."),
        "payload": number(str, "--payload", "Bytes to move, K and M allowed (512K)."),
        "repeat": REPEAT,
        "min_time": number(float, "--min-time", "Shortest time of a measurement in seconds (0.2, quick 0.03)."),
    },
    tells_tally=True,
)


def _best(a: Analysis, n: int) -> tuple[str, Center] | None:
    found = [(p, c) for p in a.patterns if (c := a.center("latency", p, n))]
    return min(found, key=lambda entry: entry[1].median) if found else None


def _cheapest(a: Analysis) -> str:
    n = a.fragments[0]
    best = _best(a, n)
    if best is None:
        return ""
    pattern, latency = best
    energy = a.center("energy", pattern, n)
    joules = f" and {si(energy.median, 'J')} ({a.provenance('energy')})" if energy else ""
    pieces = "in one piece" if n == 1 else f"in {n} pieces"
    return (
        f"Writing {units.size(a.payload)} from one PE to another{_other_node(a)} {pieces} took the sender "
        f"{units.seconds(latency.median)}{joules} with {pattern}, the quickest pattern in the median."
    )


def _other_node(a: Analysis) -> str:
    if not a.place.across:
        return ""
    if a.place.simulated:
        return f" on another node of the simulated cluster {a.place.cluster}"
    machine = "both of one machine, " if a.place.one_machine else ""
    link = f", link {a.place.link}" if a.place.link else ""
    return f" on another node ({machine}{a.place.network}{link})"


def _dearest(a: Analysis) -> str:
    n = a.fragments[-1]
    found = [(p, c.median) for p in a.patterns if (c := a.center("latency", p, n))]
    if n == a.fragments[0] or len(found) < 2:
        return ""
    worst, best = max(found, key=lambda e: e[1]), min(found, key=lambda e: e[1])
    return (
        f"Divided into {n:,} buffers of {units.size(a.payload / n)}, the same bytes took {units.seconds(worst[1])} "
        f"with {worst[0]} and {units.seconds(best[1])} with {best[0]}, a factor of {worst[1] / best[1]:.1f}."
    )


def _nonblocking(a: Analysis) -> str:
    n = a.fragments[-1]
    nonblock, aggregate = a.saving("latency", "PQPQ", "PPQ", n), a.saving("latency", "PPQ", "MMPQAMM", n)
    if nonblock is None or aggregate is None:
        return ""
    return (
        f"There, replacing blocking puts by non-blocking ones {_time_words(nonblock.median)}; packing the buffers as "
        f"well {_time_words(aggregate.median)}, measured against the non-blocking puts."
    )


def _time_words(saving: float) -> str:
    """A saving in percent as words, so that its sign cannot be misread."""
    share = units.share(abs(saving) / 100)
    return f"saved {share} of the time" if saving >= 0 else f"cost {share} more time"


def _joules(a: Analysis, record: Manifest) -> str:
    both = " by a sensor that measures both nodes" if a.saw_both else ""
    return joules(a.provenance("energy"), a.sources, record, a.why_no_joules, both)


def table(a: Analysis) -> Table:
    """Time and joules of each pattern, in one piece and in the most pieces."""
    counts = list(dict.fromkeys((a.fragments[0], a.fragments[-1])))
    heads = ["pattern"]
    for n in counts:
        heads += [f"{n:,} x {units.size(a.payload / n)}\ntime", f"\njoules, {a.provenance('energy')}"]
    lines = [
        [
            pattern,
            *(
                METRICS[metric].shown(c.median if (c := a.center(metric, pattern, n)) else None)
                for n in counts
                for metric in ("latency", "energy")
            ),
        ]
        for pattern in a.patterns
    ]
    title = f"Sender's cost of {units.size(a.payload)}, medians of {units.several(a.repeats, 'repeat')}"
    return title, heads, lines
