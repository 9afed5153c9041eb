"""The activity of each PE in the last step of a job, from its timeline, as a key of the job's samples."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from wattle.base.checked import Checked
from wattle.base.errors import WattleError
from wattle.record import profile
from wattle.record.timeline_file import STATES, load
from wattle.study.sweep.analysis import Analysis, Point
from wattle.timeline import rows as timelines

STAGES = ("transfer", "compute", "sync", "collect")
MOST = 2000  # waits of a PE that are kept, the last ones; those of the end of the job are left out
BYTES = "2M"  # of the timeline's buffer
WAITS = tuple(STATES.values())


def keep(folder: Path, pes: int) -> dict[str, Any]:
    """The waits of each PE as one list: begin and end in seconds on the monotonic clock, and the number of the wait's
    stage, for one wait after the other. Empty where a PE of the job left no timeline.
    """
    try:
        found = load(folder / "profile")
    except WattleError:
        return {}
    if len(found) < pes:
        return {}
    zero = min(int(t.ns(np.array([t.start_tick], dtype=np.uint64), True)[0]) for t in found)
    rows = timelines.rows(found, profile.load(folder, pes), {})
    return {"waits": {str(row.pe): _last(row, zero) for row in rows}}


def _last(row: timelines.Row, zero: int) -> list[float]:
    waits = [s for s in row.slices if s.kind in WAITS and s.name != "finish"][-MOST:]
    return [v for s in waits for v in ((s.begin + zero) / 1e9, (s.end + zero) / 1e9, WAITS.index(s.kind))]


@dataclass(frozen=True)
class Span:
    """A part of a step, in seconds from its beginning on the first PE. `kind`: a stage of the step, or of a wait."""

    begin: float
    end: float
    kind: str


@dataclass(frozen=True)
class Step:
    """The last step of a job: for each PE its role, its stages, and its waits as the runtime recorded them."""

    roles: list[str]
    stages: list[list[Span]]
    waits: list[list[Span]]

    @property
    def end(self) -> float:
        return max(spans[-1].end for spans in self.stages)

    @property
    def transfer_end(self) -> float:
        return max(span.end for spans in self.stages for span in spans if span.kind == "transfer")


def last_step(a: Analysis, point: Point) -> Step | None:
    """The last step of the last job of this point. None where it recorded no waits."""
    waits = a.more(point, "waits")
    if not waits:
        return None
    begins, *ends = (a.more(point, key)[-1].numbers(point.pes) for key in ("begin", *(f"{s}_end" for s in STAGES)))
    zero = a.more(point, "step_begins")[-1].expect("a number").value
    stages = [_stages([edge[pe] or 0.0 for edge in (begins, *ends)]) for pe in range(point.pes)]
    roles = roles_of(point.pes, a.more(point, "groups")[-1].expect("a whole number").value)
    return Step(roles, stages, [_within(waits[-1].get(str(pe)), zero, spans) for pe, spans in enumerate(stages)])


def roles_of(pes: int, groups: int) -> list[str]:
    """The role of each PE, as in apps/lsms/model.c."""
    groups = max(1, min(groups, pes - 1))
    masters = {1 + group * (pes - 1) // groups for group in range(groups)}
    return ["root", *("master" if pe in masters else "worker" for pe in range(1, pes))]


def _stages(edges: list[float]) -> list[Span]:
    return [Span(begin, end, stage) for (begin, end), stage in zip(pairwise(edges), STAGES, strict=True)]


def _within(entry: Checked, zero: float, stages: list[Span]) -> list[Span]:
    """The waits within the step, cut at its ends."""
    first, last = stages[0].begin, stages[-1].end
    values = [value or 0.0 for value in entry.numbers()]
    found = []
    for begin, end, kind in zip(values[0::3], values[1::3], values[2::3], strict=True):
        begin, end = max(begin - zero, first), min(end - zero, last)
        if begin < end and kind < len(WAITS):
            found.append(Span(begin, end, WAITS[int(kind)]))
    return found
