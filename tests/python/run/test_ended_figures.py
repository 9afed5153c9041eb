"""The figures of a job that was ended: where its time without a core is not known up to its end, tables, pages and
commands say so.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import advised
import fakes
import pytest
from fakes import Wattle
from wattle.figures import no_core
from wattle.record import profile, runs
from wattle.run import show, summary, unfinished
from wattle.text import units
from wattle.text.console import Console

WORDS = "Time without a core is not known in a job that was ended: compute may contain it."


def killed(pe: int, n_pes: int = 2, active: float = 1.6, time: str = "seen", for_s: float = 1.0) -> dict[str, Any]:
    """A profile as wattle-profiles writes it for a process that was killed in a wait."""
    made = fakes.pe_profile(pe, n_pes)
    spin = 2.0 - active
    made["state_s"] = {"active": active, "spin": spin, "yield": 0.0, "asleep": 0.0, "no_core": None}
    made["time_s"] = {"compute": active, "transfer": 0.0, "wait": spin, "no_core": None}
    wait = {"addr": "0x401100", "module": 0, "offset": "0x1100", "call": "shmem_barrier_all", "for_s": for_s}
    end = {"signal": 9, "exit_code": None, "time": time, "realtime_s": None, "partial": False, "wait": wait}
    return made | {"ended": end}


def with_cores(made: dict[str, Any], until_s: float, no_core: float) -> dict[str, Any]:
    """The profile of a killed process that had read `no_core` seconds without a core `until_s` after its start."""
    cores = fakes.no_core(source="schedstat", until_s=until_s, in_waits_s=0.0, cores=[1])
    made["state_s"] |= {"active": made["state_s"]["active"] - no_core, "no_core": no_core}
    made["time_s"] |= {"compute": made["time_s"]["compute"] - no_core, "no_core": no_core}
    return made | {"no_core": cores}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return fakes.make_run(tmp_path / "run", [killed(0), killed(1, active=0.4)])


def shown(directory: Path) -> str:
    output = io.StringIO()
    show.show(runs.load(directory), Console(file=output, width=120))
    return output.getvalue()


def test_the_table_says_it_once_and_marks_computing(run: Path) -> None:
    text = shown(run)
    assert text.count(WORDS) == 1
    rows = [line.split() for line in text[text.index("By PE") : text.index(WORDS)].splitlines()]
    marked = {row[0]: row[2:4] for row in rows if "≤" in row}
    assert marked == {"0": ["≤", "1.60"], "1": ["≤", "0.40"], "all": ["≤", "2.00"]}
    assert "compute or no core" in text
    assert "Parallel efficiency" not in text and "(CR)" not in text
    assert "Waits may include those for PEs without a core." in " ".join(text.split())


def test_the_page_and_its_figure_say_it(run: Path, wattle: Wattle) -> None:
    assert wattle("report", run).returncode == 0
    page = (run / "report.html").read_text()
    assert WORDS in page and "≤ 1.60 s" in page and json.dumps("compute or no core") in page
    assert "compute is the rest, and may contain time without a core of a PE that was ended" in page
    assert "load balance" not in page


def test_the_document_names_the_processes(run: Path) -> None:
    found = summary.document(runs.load(run))
    assert found["no_core_unknown"] == [0, 1] and found["pop"] is None
    assert found["balance"]["compute_ratio"] is None and found["balance"]["slack_ratio"] == pytest.approx(0.5)


def test_no_plan_is_made_of_it(run: Path, wattle: Wattle) -> None:
    done = wattle("plan", run)
    assert done.returncode != 0 and len(done.stderr.splitlines()) == 1
    assert WORDS in done.stderr and "--force makes one" in done.stderr
    assert not (run / "plan.yaml").exists()


def test_a_time_that_is_known_up_to_the_last_long_wait_says_up_to_when(tmp_path: Path, wattle: Wattle) -> None:
    made = [with_cores(killed(0), 1.5, 0.05), with_cores(killed(1, active=0.4), 1.2, 0.0)]
    run = fakes.make_run(tmp_path / "run", made)
    words = (
        "Time without a core of PEs 0 and 1 is known up to their last long wait, 1.20 to 1.50 s after the start: "
        "compute may contain more."
    )
    text = shown(run)
    assert words in " ".join(text.split())
    rows = {row[0]: row for line in text[text.index("By PE") :].splitlines() if "≤" in (row := line.split())}
    assert rows["0"][2:4] == ["≤", "1.55"] and rows["1"][2:4] == ["≤", "0.40"]
    assert rows["0"][rows["0"].index("≥") + 1] == "0.05" and rows["1"][rows["1"].index("≥") + 1] == "0"
    refused = wattle("plan", run)
    assert refused.returncode != 0 and "compute may contain more" in refused.stderr


def test_a_time_that_is_known_up_to_the_end_is_one_of_a_finished_process(tmp_path: Path, wattle: Wattle) -> None:
    run = fakes.make_run(tmp_path / "run", [with_cores(killed(0), 2.0, 0.01), with_cores(killed(1), 1.99, 0.0)])
    text = shown(run)
    assert "≤" not in text and "Time without a core" not in text and "Parallel efficiency" in text
    assert summary.document(runs.load(run))["no_core_unknown"] == []
    assert "are no base for a plan" not in wattle("plan", run).stderr
    short = fakes.make_run(tmp_path / "short", [with_cores(killed(pe), 2.0, 0.2) for pe in range(2)])
    refused = wattle("plan", short)
    assert refused.returncode != 0
    assert "PEs 0-1 had no core for up to 10.0 % of their time" in refused.stderr
    assert "are bound to core 1 together" in refused.stderr


def test_advice_says_it_and_looks_for_no_imbalance(run: Path, tmp_path: Path, wattle: Wattle) -> None:
    found = json.loads(wattle("advise", run, "--json").stdout)
    assert f"{WORDS} So no imbalance is looked for." in found["missing"]
    assert "imbalance" not in [one["rule"] for one in found["findings"]]
    finished = []
    for pe in (killed(0), killed(1, active=0.4)):
        del pe["ended"]
        finished.append(advised.with_lines(pe))
    whole = fakes.make_run(tmp_path / "whole", finished)
    assert "imbalance" in [one["rule"] for one in json.loads(wattle("advise", whole, "--json").stdout)["findings"]]


def test_only_ended_processes_are_named(tmp_path: Path) -> None:
    fakes.write_profiles(tmp_path / "profile", [fakes.pe_profile(0, 3), killed(1, 3), killed(2, 3)])
    words = "Time without a core is not known of PEs 1 and 2 in a job that was ended: compute may contain it."
    assert no_core.unknown(profile.load(tmp_path)) == words


def test_ends_have_their_plural_and_their_waits_one_unit(tmp_path: Path) -> None:
    pes = [killed(0, time="record", for_s=5.37e-3), killed(1, time="record", for_s=36.3e-6)]
    fakes.write_profiles(tmp_path / "profile", pes)
    found = profile.load(tmp_path)
    assert unfinished.remarks(found) == [
        "The ends of PEs 0 and 1 are not known: times are those up to their last long wait."
    ]
    (row,) = unfinished.rows(found)
    assert "0.0363 to 5.37 ms" in row.cells()
    fakes.write_profiles(tmp_path / "one" / "profile", [killed(0, time="record"), fakes.pe_profile(1, 2)])
    (words,) = unfinished.remarks(profile.load(tmp_path / "one"))
    assert words == "The end of PE 0 is not known: times are those up to its last long wait."


def test_a_range_of_one_amount_is_that_amount() -> None:
    assert units.seconds_between(1.0, 1.0001) == "1.00 s"
    assert units.seconds_between(0.9, 12.0) == "0.900 to 12.0 s"
