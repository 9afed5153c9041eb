"""`wattle plan` and `wattle run --plan`: PEs that wait alike get a clock at which they still arrive in time."""

import json
import random

import fakes
import pytest
from wattle.base.errors import WattleError
from wattle.clocks import file
from wattle.clocks.clusters import cluster
from wattle.clocks.file import Cluster, Plan
from wattle.plan import machine
from wattle.record.pe import STATES

# Watts that make the sums easy: a clock of half the speed draws a quarter while it computes.
CLOCKS = {1.0: (2.0, 2.0, 2.0, 0.0), 1.5: (5.0, 4.0, 4.0, 0.0), 2.0: (8.0, 6.0, 6.0, 0.0)}


def made_machine():
    numbers = [
        {"key": f"clocks[{i}].{state}", "ghz": ghz, "value": watts, "plus_minus": watts / 4, "unit": "W"}
        for i, (ghz, by_state) in enumerate(CLOCKS.items())
        for state, watts in zip(STATES, by_state, strict=True)
    ]
    idle = {"key": "idle.cpu", "value": 10.0, "plus_minus": 1.0, "unit": "W"}
    return {"name": "made-up", "file": "made-up.yaml", "base_ghz": 2.0, "sockets": 1, "numbers": [*numbers, idle]}


def profile(pe, active, spin, n=4):
    state = {"active": active, "spin": spin, "yield": 0.0, "asleep": 0.0}
    times = {"compute": active, "transfer": 0.0, "wait": spin}
    return fakes.pe_profile(pe, n, wall_s=active + spin, state_s=state, time_s=times)


@pytest.fixture
def unequal(tmp_path, home):
    """Two PEs that compute for 4 of 10 seconds, two that compute nearly all the time; and a profile with three
    clocks."""
    (home / "bin" / "info.json").write_text(
        json.dumps(
            fakes.INFO
            | {"machine": made_machine()}
            | {
                "settings": [
                    *fakes.INFO["settings"],
                    {"name": "WATTLE_CLOCKS", "kind": "text", "default": "", "value": "", "help": "Clocks."},
                ]
            }
        )
    )
    pes = [profile(0, 4.0, 6.0), profile(1, 3.9, 6.1), profile(2, 9.9, 0.1), profile(3, 10.0, 0.0)]
    return fakes.make_run(tmp_path / "unequal", pes)


@pytest.mark.parametrize(
    ("pes", "text"), [([0], "0"), ([0, 1], "0-1"), ([0, 1, 2, 5, 7, 8], "0-2,5,7-8"), ([3, 2], "2-3")]
)
def test_pes_are_written_as_ranges(pes, text):
    assert file.ranges(pes) == text


def test_a_plan_is_read_as_it_was_written(tmp_path):
    plan = Plan(5, "made-up", [Cluster(1.2, [0, 1, 3]), Cluster(2.6, [2, 4])])
    where = tmp_path / "plan.yaml"
    where.write_text(file.text(plan, ["a remark"]))
    assert file.read(where) == plan
    assert plan.setting() == "0-1=1.2,3=1.2,2=2.6,4=2.6"


GOOD = "schema: 1\nn_pes: 2\nmachine: m\nclusters:\n  - clock_ghz: 1.2\n    pes: 0-1\n"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("schema: 1", "schema: 9"), "schema: '9'"),
        (("n_pes: 2", "n_pes: none"), "n_pes: 'none'"),
        (("n_pes: 2", "n_pes: 3"), "PE 2 is in no cluster"),
        (("0-1", "0-1,1"), "PE 1 is in two clusters"),
        (("0-1", "0-2"), "expected PEs 0 to 1"),
        (("0-1", "1-0"), "expected PEs 0 to 1"),
        (("1.2", "fast"), "clock_ghz: 'fast'"),
        (("1.2", "0"), "clock_ghz: '0'"),
        (("machine: m", "engine: m"), "line 3: 'engine: m' is not a line of a plan"),
        (("  - clock_ghz", "clock_ghz"), "line 5"),
    ],
)
def test_a_wrong_plan_is_refused_with_its_line_or_key(tmp_path, change, said):
    where = tmp_path / "plan.yaml"
    where.write_text(GOOD.replace(*change))
    with pytest.raises(WattleError, match="plan") as error:
        file.read(where)
    assert said in str(error.value)


def test_waits_that_differ_little_are_one_group():
    assert cluster([1.0, 1.1, 1.2], whole=10.0) == [[0, 1, 2]]
    assert cluster([], whole=1.0) == []


def test_groups_are_found_whatever_the_order():
    values = [5.0 + 0.01 * i for i in range(6)] + [0.1 * (i % 2) for i in range(5)] + [9.0, 9.1]
    shuffled = list(range(len(values)))
    random.Random(4).shuffle(shuffled)
    groups = cluster([values[i] for i in shuffled], whole=10.0)
    assert [sorted(shuffled[i] for i in g) for g in groups] == [[6, 7, 8, 9, 10], [0, 1, 2, 3, 4, 5], [11, 12]]


def test_there_are_never_more_groups_than_clocks_worth_telling_apart():
    assert len(cluster([float(i) for i in range(40)], whole=40.0)) == 4


def test_a_waiting_pe_gets_the_slowest_clock_at_which_it_ends_in_time(unequal, wattle):
    result = wattle("plan", unequal, "--json")
    assert result.returncode == 0, result.stderr
    made = json.loads(result.stdout)
    assert made["clusters"] == [{"clock_ghz": 1.0, "pes": [0, 1]}, {"clock_ghz": 2.0, "pes": [2, 3]}]
    predicted = made["predicted"]
    assert predicted["standard"]["time_at_most_s"] == pytest.approx(10.0)
    assert predicted["reduced"]["time_at_most_s"] == pytest.approx(20.0)
    assert predicted["hybrid"]["time_at_most_s"] == pytest.approx(10.0)
    # standard: (4 + 3.9 + 9.9 + 10) s x 8 W + (6 + 6.1 + 0.1) s x 6 W + 10 s x 10 W
    assert predicted["standard"]["joules"]["joules"] == pytest.approx(27.8 * 8 + 12.2 * 6 + 100)
    # hybrid: PEs 0 and 1 at 1 GHz draw 2 W in any state, for 10 s each
    assert predicted["hybrid"]["joules"]["joules"] == pytest.approx(2 * 10 * 2 + 19.9 * 8 + 0.1 * 6 + 100)
    assert predicted["hybrid"]["joules"]["provenance"] == "modelled"
    assert predicted["hybrid"]["joules"]["uncertainty"] > 0


def test_the_plan_is_written_with_what_it_should_cost(unequal, wattle):
    result = wattle("plan", unequal)
    assert result.returncode == 0, result.stderr
    for words in ("1 GHz", "0-1", "2 GHz", "2-3", "standard", "reduced", "hybrid", "modelled", "plan.yaml"):
        assert words in " ".join(result.stdout.split())
    text = (unequal / "plan.yaml").read_text()
    assert "#   hybrid: " in text
    assert file.read(unequal / "plan.yaml").setting() == "0-1=1,2-3=2"


def test_equal_pes_all_keep_the_base_clock(tmp_path, unequal, wattle):
    equal = fakes.make_run(tmp_path / "equal", [profile(pe, 9.0, 1.0) for pe in range(4)])
    made = json.loads(wattle("plan", equal, "--json").stdout)
    assert made["clusters"] == [{"clock_ghz": 2.0, "pes": [0, 1, 2, 3]}]


def test_a_profile_of_one_clock_has_nothing_to_plan_with(run_dir, home, wattle):
    result = wattle("plan", run_dir)
    assert result.returncode == 2
    assert "a plan needs two and more" in result.stderr


def test_energy_is_compared_only_beyond_what_the_profile_leaves_open(unequal, wattle):
    shown = " ".join(wattle("plan", unequal).stdout.split())
    # reduced: 20 s, 27.8 s of computing twice as long at 2 W, the rest at 2 W, and 20 s x 10 W: 360 J of 395.6.
    # All of it differs: 27.8 s x 8 W, 12.2 s x 6 W, 80 s x 2 W at a quarter each, and 10 s x 1 W: +- 124 J.
    assert "reduced 20.0 s 360 ± 60 J modelled no difference of energy beyond the uncertainty, 100 % more time" in shown
    # hybrid: 7.9 s x 8 W and 12.1 s x 6 W become 20 s x 2 W: 95.8 J of 395.6 less, +- 44 J.
    assert "24.2 % less energy, as much time" in shown


def test_an_even_run_needs_no_lower_clock(tmp_path, unequal, wattle):
    equal = fakes.make_run(tmp_path / "equal", [profile(pe, 9.0, 1.0) for pe in range(4)])
    assert "to run at a lower clock" in " ".join(wattle("plan", equal).stdout.split())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--by", "magic"), "--by magic: expected model or sim"),
        (("--by", "sim", "--slowdown", -5), "--slowdown -5: expected a number from 0 to 1000"),
        (("--by", "sim", "--slowdown", "nan"), "--slowdown nan: expected a number from 0 to 1000"),
        (("-o", "/no/such/plan.yaml"), "/no/such/plan.yaml: cannot be written: No such file or directory"),
    ],
)
def test_what_cannot_be_planned_is_reported_in_one_line(unequal, wattle, options, said):
    result = wattle("plan", unequal, *options)
    assert result.returncode == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_machine_profile_that_is_not_there_is_named(unequal, home, wattle):
    wrong = {"error": "machine profile nosuch: not found"}
    (home / "bin" / "info.json").write_text(json.dumps(fakes.INFO | {"machine": wrong}))
    result = wattle("plan", unequal, "--machine", "nosuch")
    assert (result.returncode, result.stderr) == (2, "wattle: machine profile nosuch: not found\n")


def test_an_mpi_run_takes_a_plan_of_as_many_as_its_launcher_starts(tmp_path, unequal, home, wattle):
    (home / "lib").mkdir()
    (home / "lib" / "libwattle-mpi.so").touch()
    where = tmp_path / "p.yaml"
    where.write_text(GOOD)
    launcher = fakes.script(tmp_path / "mpirun", '#!/bin/sh\necho "$WATTLE_CLOCKS"\n')
    result = wattle("run", "--mpi", "--plan", where, "--", launcher)
    assert (result.returncode, result.stdout) == (0, "0-1=1.2\n"), result.stderr


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (1, "wattle: --plan: is for 2 ranks, this run had 1\n"),
        (2, ""),
        (3, "wattle: --plan: is for 2 ranks, this run had 3; not in the plan, so at the base clock: rank 2\n"),
    ],
)
def test_an_mpi_run_of_another_size_than_its_plan_is_reported(tmp_path, unequal, home, wattle, n, said):
    (home / "lib").mkdir()
    (home / "lib" / "libwattle-mpi.so").touch()
    where = tmp_path / "p.yaml"
    where.write_text(GOOD)
    ready = fakes.write_profiles(tmp_path / "ready", [fakes.pe_profile(pe, n_pes=n) for pe in range(n)])
    launcher = fakes.script(tmp_path / "mpirun", f'#!/bin/sh\ncp {ready}/* "$WATTLE_PROFILE_DIR"\n')
    result = wattle("run", "--mpi", "--plan", where, "--", launcher)
    assert result.returncode == 0, result.stderr
    assert "".join(line for line in result.stderr.splitlines(True) if "--plan" in line) == said


def test_a_run_takes_the_plan_as_a_setting(tmp_path, unequal, wattle):
    where = tmp_path / "p.yaml"
    where.write_text(GOOD)
    program = fakes.script(tmp_path / "program", '#!/bin/sh\necho "$WATTLE_CLOCKS"\n')
    result = wattle("run", "-n", 2, "--plan", where, "--", program)
    assert (result.returncode, result.stdout) == (0, "0-1=1.2\n0-1=1.2\n"), result.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("-n", 3), "is for 2 PEs, this run has 3"),
        (("-n", 2, "--set", "WATTLE_CLOCKS=0=1"), "expected one of them"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(tmp_path, unequal, wattle, options, said):
    where = tmp_path / "p.yaml"
    where.write_text(GOOD)
    result = wattle("run", *options, "--plan", where, "--", "true")
    assert result.returncode == 2
    assert said in result.stderr


def test_clocks_are_read_slowest_first_and_the_base_is_the_profiles():
    clocks = machine.read(made_machine() | {"base_ghz": 1.5})
    assert [c.ghz for c in clocks.clocks] == [1.0, 1.5, 2.0]
    assert clocks.base.ghz == 1.5
    assert clocks.at_least(1.2).ghz == 1.5
    assert clocks.at_least(9.0).ghz == 2.0
    assert clocks.idle.value == 10.0
