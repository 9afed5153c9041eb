"""external.json: the load patterns and intervals of a run or study, and the figures of its external meter."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattle.base import files
from wattle.base.checked import Checked, read_json, require_schema
from wattle.base.documents import fields
from wattle.meter_log.load import Pattern
from wattle.record.power_trace import PowerTrace
from wattle.record.power_trace import read as read_power
from wattle.text import console
from wattle.text.provenance import Joules, read_joules, total
from wattle.text.units import several

if TYPE_CHECKING:
    from wattle.meter_log.figures import Reader

FILE = "external.json"
SCHEMA = 1


@dataclass(frozen=True)
class JobTime:
    """A job or repeat. `begin_s`, `end_s`: seconds since 1970 on this machine's clock."""

    name: str
    begin_s: float
    end_s: float


@dataclass
class External:
    """An external meter of a run. `log`: the path of the log. `settings`: of `--meter-set`. `stepped_s`: by how much
    this machine's clock was set during the run. `why`: why there are no figures; empty where there are.
    `clock`: the clock that was found. `joules`: by interval. `power`: watts from the first pattern to the last.
    `samples`: how a study's samples use the joules, a sentence. `reader`: where the log was read just now.
    """

    log: str
    settings: list[str]
    patterns: list[Pattern]
    intervals: list[JobTime]
    stepped_s: float = 0.0
    why: str = ""
    clock: dict[str, Any] = field(default_factory=dict)
    joules: dict[str, list[Joules]] = field(default_factory=dict)
    power: list[PowerTrace] = field(default_factory=list)
    samples: str = ""
    reader: Reader | None = None

    def as_dict(self) -> dict[str, Any]:
        """The contents of the file."""
        return {
            "schema": SCHEMA,
            "kind": "external",
            **fields(self, "log settings patterns"),
            "intervals": [vars(one) for one in self.intervals],
            **fields(self, "stepped_s why clock"),
            "joules": {name: [figure.as_dict() for figure in some] for name, some in self.joules.items()},
            "power": [vars(one) for one in self.power],
            "samples": self.samples,
        }

    def figures(self, name: str) -> list[Joules]:
        """The joules of an interval, one figure for each scope; empty where there are none."""
        return self.joules.get(name, [])

    @property
    def meter_words(self) -> str:
        """The clock and the watts of the patterns for a reader; the reason where there are no figures."""
        if self.why:
            return f"External meter {Path(self.log).name}: {self.why}"
        idle, busy = (float(self.clock.get(key) or 0.0) for key in ("idle_w", "busy_w"))
        draws = f"{idle:.3g} W idle and {busy:.3g} W with all cores busy in the load patterns"
        return f"External meter {Path(self.log).name}: its clock has {self.clock.get('words', '?')}; {draws}"

    def by_program(self) -> list[str]:
        """The joules of a study's jobs by program and scope, each a sentence."""
        found: dict[tuple[str, str], list[Joules]] = {}
        for one in self.intervals:
            for figure in self.figures(one.name):
                found.setdefault((one.name.partition(" ")[2], figure.scope), []).append(figure)
        sums = {key: (several(len(some), "job"), _sum(some)) for key, some in found.items()}
        return [f"{jobs} of {name}: {figure_words(whole)}" for (name, _), (jobs, whole) in sums.items()]

    def words(self, name: str) -> list[str]:
        """A sentence for each figure of an interval."""
        return [figure_words(figure) for figure in self.figures(name)]


def _sum(figures: list[Joules]) -> Joules:
    """The joules and the time of intervals that follow each other."""
    interval, covered = (
        math.fsum(v or 0.0 for v in times)
        for times in ([f.interval_s for f in figures], [f.covered_s for f in figures])
    )
    return replace(total(figures), interval_s=interval, covered_s=covered)


def figure_words(figure: Joules) -> str:
    """A figure for a reader, such as `External meter, node: 812 ± 45 J measured, 81.2 W on average (pdu.csv W)`."""
    if figure.joules is None:
        return f"External meter, {figure.scope}: unavailable, because {figure.source} does not cover the interval"
    mean = f", {figure.joules / figure.interval_s:.3g} W on average" if figure.interval_s else ""
    lost = (figure.interval_s or 0.0) - (figure.covered_s or 0.0)
    gaps = f", gaps of {lost:.3g} s" if figure.interval_s and lost > 1e-6 * figure.interval_s else ""
    return f"External meter, {figure.scope}: {figure}{mean}{gaps} ({figure.source})"


def write(directory: Path, external: External) -> None:
    """Writes DIR/external.json atomically."""
    files.write(directory / FILE, console.json_text(external.as_dict(), indent=None))


def load(directory: Path) -> External | None:
    """Reads and checks DIR/external.json. None where there is none."""
    path = directory / FILE
    if not path.exists():
        return None
    document = read_json(path)
    require_schema(document, SCHEMA)
    joules = document.get("joules")
    return External(
        document.text("log"),
        document.texts("settings"),
        [_pattern(entry) for entry in document.items("patterns")],
        [JobTime(e.text("name"), e.known("begin_s"), e.known("end_s")) for e in document.items("intervals")],
        document.known("stepped_s"),
        document.text("why"),
        _clock(document.get("clock")),
        {name: [read_joules(entry) for entry in joules.items(name)] for name in joules.object()},
        [read_power(entry) for entry in document.items("power")],
        document.text("samples") if document.has("samples") else "",
    )


def _pattern(entry: Checked) -> Pattern:
    busy = []
    for pair in entry.items("busy"):
        low, high = pair.numbers(2)[:2]
        busy.append((low or 0.0, high or 0.0))
    return Pattern(entry.known("begin_s"), entry.known("end_s"), entry.positive("step_s"), tuple(busy))


def _clock(entry: Checked) -> dict[str, Any]:
    entry.expect_some(idle_w="a number", busy_w="a number", words="text")
    return entry.object()


def summary(external: External) -> Mapping[str, Any]:
    """The entry of the manifest."""
    words = ". ".join(filter(None, (external.meter_words, external.samples)))
    return {"log": external.log, "settings": external.settings, "why": external.why, "words": words}
