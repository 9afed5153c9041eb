"""The causes of time without a core, from made-up profiles, and the consequences for tables and `wattle plan`."""

from __future__ import annotations

import io
import json
from typing import Any

import fakes
import pytest
from wattle.figures import no_core
from wattle.record import profile, runs
from wattle.run import show
from wattle.text.console import Console

WALL = 2.0


def lacking(pe: int, seconds: float = 0.5, n_pes: int = 2, **of_cores: Any) -> dict[str, Any]:
    """A profile with so many seconds without a core, taken from computing."""
    made = fakes.pe_profile(pe, n_pes)
    found = {
        "source": "schedstat",
        "in_waits_s": 0.0,
        "other_threads_s": 0.0,
        "other_busy_threads": 0,
        "throttled_s": 0.0,
        "quota_cores": None,
        "cores": [0, 1, 2, 3],
        "cores_of_threads": [],
    }
    made["state_s"] = made["state_s"] | {"active": made["state_s"]["active"] - seconds, "no_core": seconds}
    made["time_s"] = made["time_s"] | {"compute": made["time_s"]["compute"] - seconds, "no_core": seconds}
    return made | {"no_core": found | of_cores}


def shortage(folder, *pes: dict[str, Any]) -> no_core.Shortage | None:
    fakes.write_profiles(folder / "profile", list(pes))
    return no_core.shortage(profile.load(folder))


def test_profiles_of_earlier_versions_have_none(tmp_path):
    assert shortage(tmp_path, fakes.pe_profile(0), fakes.pe_profile(1)) is None


def test_little_of_it_is_not_named(tmp_path):
    assert shortage(tmp_path, lacking(0, 0.01 * WALL), lacking(1, 0.0)) is None


def test_processes_that_are_bound_to_one_core_are_named(tmp_path):
    found = shortage(tmp_path, lacking(0, cores=[3]), lacking(1, 0.1, cores=[3]))
    assert found.words.startswith("PEs 0-1 had no core for up to 25.0 % of their time: PEs 0-1 are bound to core 3")
    assert found.is_too_much


def test_one_process_is_named_alone(tmp_path):
    found = shortage(tmp_path, lacking(0, 0.06 * WALL), lacking(1, 0.0))
    assert found.words.startswith("PE 0 had no core for 6.0 % of its time: other programs had the cores")


@pytest.mark.parametrize(("throttled", "named"), [(0.5, True), (0.001, False)])
def test_a_quota_counts_where_it_stopped_them(tmp_path, throttled, named):
    found = shortage(tmp_path, *(lacking(pe, throttled_s=throttled, quota_cores=1.5) for pe in (0, 1)))
    assert ("the CPU quota of 1.5 cores of their control group stopped them" in found.words) is named


def test_more_processes_than_cores(tmp_path):
    found = shortage(tmp_path, *(lacking(pe, n_pes=3, cores=[0, 1]) for pe in range(3)))
    assert "3 PEs share 2 cores" in found.words


def test_more_threads_than_cores(tmp_path):
    pes = (lacking(pe, cores=[0, 1], cores_of_threads=[0, 1], other_busy_threads=1) for pe in (0, 1))
    assert "2 PEs with 4 busy threads share 2 cores" in shortage(tmp_path, *pes).words


def test_cores_of_other_hosts_do_not_count(tmp_path):
    found = shortage(tmp_path, lacking(0, cores=[3]), lacking(1, cores=[3]) | {"host": "node1"})
    assert "bound" not in found.words


def test_yielding_in_waits_counts_less(tmp_path):
    few = [lacking(pe, 0.0, in_waits_s=0.08 * WALL) for pe in (0, 1)]
    assert shortage(tmp_path / "few", *few) is None
    found = shortage(tmp_path / "many", *(lacking(pe, 0.0, in_waits_s=0.3 * WALL) for pe in (0, 1)))
    assert "had no core for up to 30.0 % of their time, all of it in waits: " in found.words
    assert found.is_too_much


def test_time_without_a_core_in_waits_is_told_from_the_other(tmp_path):
    found = shortage(tmp_path, *(lacking(pe, 0.2 * WALL, in_waits_s=0.3 * WALL) for pe in (0, 1)))
    assert "had no core for up to 20.0 % of their time, and for up to 30.0 % more in waits: " in found.words


def test_cpu_time_does_not_tell_a_sleep_from_it(tmp_path):
    found = shortage(tmp_path, *(lacking(pe, source="cpu time", in_waits_s=WALL / 2) for pe in (0, 1)))
    assert "did not run outside waits for up to 25.0 % of their time (by CPU time" in found.words
    assert found.in_waits == 0


def test_a_set_of_cores_is_checked(tmp_path, wattle):
    fakes.make_run(tmp_path / "run", [lacking(0, cores=[0.5]), lacking(1)])
    done = wattle("report", tmp_path / "run")
    assert "no_core.cores[0]: expected a whole number, found a number" in done.stderr


@pytest.fixture
def short_run(tmp_path):
    return fakes.make_run(tmp_path / "run", [lacking(pe, cores=[3]) for pe in (0, 1)])


def test_a_plan_of_such_a_run_is_refused(short_run, wattle):
    done = wattle("plan", short_run)
    assert done.returncode != 0
    assert "are bound to core 3" in done.stderr
    assert "--force makes one" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (short_run / "plan.yaml").exists()


def test_the_report_begins_with_it_and_draws_it(short_run, wattle):
    assert wattle("report", short_run).returncode == 0
    page = (short_run / "report.html").read_text()
    summary = page[page.index('class="summary"') :]
    assert summary.index("had no core") < summary.index("ran for")
    assert json.dumps("no core") in page


def test_the_table_has_a_column_and_shares_add_up(short_run):
    output = io.StringIO()
    show.show(runs.load(short_run), Console(file=output, width=120))
    rows = output.getvalue().splitlines()
    assert any("no" in row.split() and "CPU" in row.split() for row in rows)
    shares = [float(row.split()[-2]) for row in rows if row.endswith(" %") and not row.startswith("Balance")]
    assert sum(shares) == pytest.approx(100, abs=0.3)
    assert "Waits include those for PEs without a core" in " ".join(output.getvalue().split())
