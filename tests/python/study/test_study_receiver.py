"""The study of clocks under a put: its first implementation is judged only where no core of the receiver moves the
bytes, and phases are those of the samples.
"""

from __future__ import annotations

import json

import made_rows
import polars as pl
import pytest
import sweeps
from wattle.study.place import TWO_NODES, Place
from wattle.study.published import Verdict
from wattle.study.receiver import judges
from wattle.study.receiver.judges import phase_edp, phase_joules
from wattle.study.sweep.analysis import Analysis

ON_HARDWARE = {"direct-dram", "direct-dram-2.4", "direct-dram-many", "direct-sender", "direct-latency", "direct-edp"}
ON_HARDWARE |= {"direct-sender-dram", "phase-a", "phase-b", "phase-d"}


def analysis(place: Place, hardware: int | None) -> Analysis:
    a = sweeps.analysis("receiver", sweeps.as_published, place=place)
    more = {} if hardware is None else {"hardware_bytes": hardware}
    facts = [json.dumps(json.loads(text) | more) for text in a.frame["more_json"]]
    return Analysis(a.frame.with_columns(pl.Series("more_json", facts)), a.knob, place)


@pytest.mark.parametrize(
    ("place", "hardware", "judged"),
    [
        (Place(), None, True),
        (Place(TWO_NODES), None, False),
        (Place(TWO_NODES), 0, False),
        (Place(TWO_NODES), 1 << 20, True),
    ],
)
def test_puts_without_the_receiver_are_judged_where_its_core_moves_no_bytes(
    place: Place, hardware: int | None, judged: bool
) -> None:
    rows = made_rows.judged("receiver", analysis(place, hardware))
    open_rows = {name for name, row in rows.items() if row.verdict is Verdict.NOT_TESTABLE}
    assert open_rows == (set() if judged else ON_HARDWARE)
    assert all("moved no bytes by itself" in rows[name].why for name in open_rows)


def test_joules_of_phases_are_those_of_the_pe_and_multiply_with_the_latency() -> None:
    a = analysis(Place(), 0)
    point = a.select(series=judges.PHASES, name="direct", who="sender", clock=None)[0]
    assert phase_joules(a, point, "cpu") == [0.1, 0.1, 0, 0, 0, 0, 0]
    assert phase_joules(a, point, "own") == [0.2, 0.2, 0, 0, 0, 0, 0]
    assert phase_edp(a, point)[0] == pytest.approx(0.2e-4, rel=0.01)
    other = a.select(series=judges.PUTS, name="direct", who="sender", clock=1.2)[0]
    assert phase_joules(Analysis(a.frame.with_columns(pl.lit("{}").alias("more_json")), a.knob), other, "own") == []
