"""Calls by the time that each waited: classes, medians, and the process that was late most often."""

from __future__ import annotations

import json
from pathlib import Path

import advised
import fakes
import pytest
from wattle.advise.given import advise
from wattle.figures import sites, waiting
from wattle.figures.waited import CLASSES, Waits, late
from wattle.record import profile
from wattle.run import summary

US = 1e-6
LONG = [0] * 12 + [50]  # 50 calls that waited 2.05 to 4.1 ms


def waits(counts: list[int], seconds: float) -> Waits:
    return Waits(US, tuple(counts), seconds)


def test_a_class_reaches_from_a_power_of_two_to_the_next():
    found = waits([4, 0, 3, 1], 1e-5)
    assert [found.ends(k) for k in (0, 1, 3)] == [(0.0, US), (US, 2 * US), (4 * US, 8 * US)]
    assert found.ends(CLASSES - 1)[1] == float("inf")
    assert (found.words(), found.words(1.0)) == ("below 1.00 µs", "4.00 µs to 8.00 µs")
    assert (found.below(4 * US), found.below(0.0), found.calls) == (7, 4, 8)


def test_the_process_that_waits_little_at_each_call_was_late_at_each():
    found = late({0: waits([49, 0, 1], 3e-6), 1: waits(LONG, 0.15)})
    assert found is not None
    assert (found.pe, found.share, found.others.counts) == (0, 1.0, tuple(LONG))


def test_processes_that_are_late_alternately_are_late_at_half_of_the_calls():
    half = waits([25] + [0] * 11 + [25], 0.075)
    found = late({0: half, 1: half})
    assert found is not None and found.share == 0.5


@pytest.mark.parametrize("of", [{}, {0: waits(LONG, 0.15)}, {0: waits([50], 1e-6), 1: waits([50], 2e-6)}])
def test_no_process_is_late_alone_or_where_all_waits_are_short(of):
    assert late(of) is None


def barrier(pe: int, **changes: object) -> dict:
    """PE 0 is always late; PE 1 waits 3 ms for it at each of 50 calls."""
    wait = {"spin": 0.15 * pe, "yield": 0.0, "asleep": 0.0}
    found = fakes.site(0x1200, "shmem_barrier_all", "wait", calls=50, bytes=0, time_s=0.15 * pe, wait_s=wait)
    return found | ({"waited": LONG} if pe else {}) | changes


def run(folder: Path, known: bool = True, **changes: object) -> Path:
    pes = [fakes.pe_profile(pe, 2, sites=[barrier(pe, **changes)]) for pe in range(2)]
    return fakes.make_run(folder / "run", [pe | ({"waited_from_s": US} if known else {}) for pe in pes])


def test_a_site_that_never_waited_has_all_its_calls_in_the_first_class(tmp_path):
    (found,) = waiting.imbalances(sites.merge(profile.load(run(tmp_path))), 2, "")
    assert found.late is not None
    assert (found.late.pe, found.late.share, found.late.others.calls) == (0, 1.0, 50)


def test_the_report_and_the_document_name_the_late_process(tmp_path, wattle):
    directory = run(tmp_path)
    assert wattle("report", directory).returncode == 0
    page = (directory / "report.html").read_text()
    assert "PE 0, at 100 %" in page and "2.05 ms to 4.10 ms" in page
    made = json.loads(json.dumps(summary.of_profile(found := profile.load(directory), sites.merge(found))))
    assert made["imbalance"][0]["late"] == {"pe": 0, "share": 1.0, "others": {"from_s": US, "counts": LONG}}


def test_profiles_of_earlier_versions_name_no_late_process(tmp_path, wattle):
    (found,) = waiting.imbalances(sites.merge(profile.load(run(tmp_path, known=False))), 2, "")
    assert found.late is None and found.as_dict()["late"] is None
    assert wattle("report", tmp_path / "run").returncode == 0


def test_damaged_classes_are_refused_in_one_line(wattle, tmp_path):
    done = wattle("report", run(tmp_path, waited=[1, "x"]))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "waited" in done.stderr


def test_the_finding_on_imbalance_says_how_late_and_how_often(tmp_path):
    def pe(number: int, compute: float) -> dict:
        state = {"active": compute, "spin": 2 - compute, "yield": 0.0, "asleep": 0.0}
        times = {"compute": compute, "transfer": 0.0, "wait": 2 - compute}
        found = fakes.pe_profile(number, 2, state_s=state, time_s=times, sites=[barrier(number)])
        return advised.with_lines(found | {"waited_from_s": US})

    (finding,) = advise(fakes.make_run(tmp_path / "run", [pe(0, 2.0), pe(1, 0.5)])).findings
    assert finding.rule == "imbalance"
    assert finding.advice.seen[-1] == (
        "PE 0 was late at 100 % of its calls; a call of the others waited 2.05 ms to 4.10 ms in the median, "
        "2.05 ms to 4.10 ms at most"
    )
