"""`wattle compare --fail-above` fails where a figure rose beyond its limit and noise, and passes no unknown one."""

import json

import fakes
import pytest
from wattle.base.errors import WattleError
from wattle.cli import main
from wattle.compare import gate, of_runs

LIMITS = "time=3%,joules=5%"


def make_side(folder, factor=1.0, *, runs=5, joules=1.0, source=None, known=True, noise=0.001, **more):
    """A folder of runs with `factor` times the time and `joules` times the joules, which differ by `noise`."""
    for k in range(runs):
        at = 1 + noise * k

        def figure(domain, value, at=at):
            found = fakes.figure(domain, value * joules * at if known else None, uncertainty=0.02)
            return found | ({"source": source} if source else {})

        wall = 2.0 * factor * at
        idle = [figure("cpu", 19.0), figure("dram", 4.0)]
        node = fakes.node([figure("cpu", 40.0), figure("dram", 8.0)], idle)
        changes = {
            "wall_s": wall,
            "state_s": {"active": wall - 0.5, "spin": 0.1, "yield": 0.0, "asleep": 0.4},
            "time_s": {"compute": wall - 0.8, "transfer": 0.3, "wait": 0.5},
            "joules": [figure("cpu", 10.0), figure("dram", 2.0)],
            "sites": [],
        }
        pes = [fakes.pe_profile(pe, node=node if pe == 0 else None, **changes) for pe in range(2)]
        fakes.make_run(folder / f"run-{k}", pes, started=f"2026-01-31T12:00:{k:02d}Z", **more)
    return folder


@pytest.fixture
def compared(tmp_path, capsys):
    """Compares two sides; returns the exit code, standard output and standard error."""

    def call(before, after, *options):
        with pytest.raises(SystemExit) as end:
            main(["compare", str(before), str(after), *options])
        return (end.value.code, *capsys.readouterr())

    return call


def test_a_rise_beyond_limit_and_noise_fails_with_one_line(tmp_path, compared):
    before, after = make_side(tmp_path / "a"), make_side(tmp_path / "b", 1.1)
    code, out, err = compared(before, after, "--fail-above", LIMITS)
    assert code == 1
    assert "exceeded: time rose by 10.0 % (limit 3 %, p = 0.0079)" in out
    assert "holds: joules is the same (limit 5 %, modelled)" in out
    assert err.startswith("wattle: --fail-above: Above a limit: time rose") and err.count("\n") == 1


@pytest.mark.parametrize(
    ("factor", "noise", "result"), [(1.1, 0.001, "holds"), (0.5, 0.001, "holds"), (1.02, 0.1, "within noise")]
)
def test_a_saving_a_small_rise_and_a_rise_within_noise_pass(tmp_path, compared, factor, noise, result):
    before, after = make_side(tmp_path / "a", noise=noise), make_side(tmp_path / "b", factor, noise=noise)
    limit = "time=1%" if result == "within noise" else "time=20%"
    code, out, err = compared(before, after, "--fail-above", limit)
    assert (code, err) == (0, "")
    assert f"{result}: time" in out


def test_a_large_rise_within_noise_is_not_called_within_the_limits(tmp_path, compared):
    before, after = make_side(tmp_path / "a", noise=1.0), make_side(tmp_path / "b", 1.3, noise=1.0)
    code, out, err = compared(before, after, "--markdown", "--fail-above", "time=3%")
    assert (code, err) == (0, "")
    assert "**Not beyond noise: time rose by 30.0 % (limit 3 %, p = " in out and "Within the limits" not in out
    assert "The runs (5 before, 5 after) cannot tell such a rise from noise.**" in out


def test_joules_add_up_over_nodes_and_domains(tmp_path):
    before, after = make_side(tmp_path / "a"), make_side(tmp_path / "b", joules=1.2)
    (found,) = gate.judge(of_runs.compare(before, after), {"joules": 5.0}).judged
    assert found.row.before.median == pytest.approx(48.0 * 1.002)
    assert found.rise_percent == pytest.approx(20.0)
    assert found.result is gate.Result.EXCEEDED


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"known": False}, "unavailable after"),
        (
            {"source": "powercap"},
            "another source: modelled by model sandybridge-e5-2670 before and modelled by powercap",
        ),
        ({"exit_code": 134}, "the program ended with exit code 134 after"),
    ],
)
def test_joules_that_are_not_known_never_pass(tmp_path, compared, changes, words):
    before, after = make_side(tmp_path / "a"), make_side(tmp_path / "b", **changes)
    code, out, err = compared(before, after, "--fail-above", LIMITS)
    assert code == 2
    assert f"joules cannot be checked (limit 5 %, {words}" in err
    assert "not known: joules" in out


def test_a_rise_counts_more_than_a_figure_that_is_not_known(tmp_path, compared):
    before, after = make_side(tmp_path / "a"), make_side(tmp_path / "b", 1.1, known=False)
    assert compared(before, after, "--fail-above", LIMITS)[0] == 1


def test_fewer_runs_than_the_test_for_noise_needs_are_refused(tmp_path, compared):
    before, after = make_side(tmp_path / "a"), make_side(tmp_path / "b", 2.0, runs=3)
    code, out, err = compared(before, after, "--fail-above", LIMITS)
    assert (code, out) == (2, "")
    assert "5 runs before and 3 after; the test for noise needs 4 on each side" in err


@pytest.mark.parametrize(
    "text", ["", "time", "time=3", "time=%", "time=-1%", "time=nan%", "=3%", "time=3%,", "time=1e3%"]
)
def test_a_limit_of_another_form_is_refused(text):
    with pytest.raises(WattleError, match=r"expected NAME=PERCENT%, as in time=3%,joules=5%"):
        gate.limits(text)


def test_an_unknown_figure_and_two_limits_of_one_are_refused(tmp_path, compared):
    assert gate.limits("time=3%, joules=0.5 %") == {"time": 3.0, "joules": 0.5}
    with pytest.raises(WattleError, match="'time' has two limits"):
        gate.limits("time=3%,time=4%")
    before, after = make_side(tmp_path / "a"), make_side(tmp_path / "b")
    code, _, err = compared(before, after, "--fail-above", "watts=3%")
    assert gate.limits("f(int, x=1): time=3%,time=4%") == {"f(int, x=1): time": 3.0, "time": 4.0}
    assert code == 2 and "'watts': not a figure of these runs; known: time, cpu, joules, job_s, wall_s" in err


def test_a_run_without_a_profile_has_its_time_from_start_to_end(tmp_path, compared):
    before, after = make_side(tmp_path / "a", profile=False, wall_s=2.0), make_side(tmp_path / "b", profile=False)
    code, out, _ = compared(before, after, "--fail-above", "time=3%")
    assert code == 1 and "time rose by 15.0 %" in out
    assert compared(before, after, "--fail-above", "joules=3%")[0] == 2


def test_json_has_the_verdict_on_each_limit(tmp_path, compared):
    code, out, _ = compared(make_side(tmp_path / "a"), make_side(tmp_path / "b", 1.1), "--json", "--fail-above", LIMITS)
    document = json.loads(out)
    assert code == document["gate"]["exit_code"] == 1
    time, joules = document["gate"]["limits"]
    assert (time["name"], time["result"], joules["result"]) == ("time", "exceeded", "holds")
    assert joules["figure"]["before"]["provenance"] == "modelled"


def test_markdown_is_one_sentence_and_a_table(tmp_path, compared):
    before, after = make_side(tmp_path / "a|b"), make_side(tmp_path / "c", 1.1, settings={"WATTLE_WAIT": "spin"})
    code, out, _ = compared(before, after, "--markdown", "--fail-above", LIMITS)
    assert code == 1
    rows = [line for line in out.splitlines() if line.startswith("|")]
    assert "**Above a limit: time rose by 10.0 %" in out and "a\\|b" in out
    assert len({row.replace("\\|", "").count("|") for row in rows}) == 1
    assert "yes, p = 0.0079, limit 3 %: exceeded" in rows[2] and "modelled by model" in rows[3]
    assert "- WATTLE\\_WAIT: - before, spin after" in out


def test_markdown_without_limits_names_what_is_beyond_noise(tmp_path, compared):
    before = make_side(tmp_path / "a")
    assert "Beyond noise: time rose by 10.0 %" in compared(before, make_side(tmp_path / "b", 1.1), "--markdown")[1]
    assert "No difference is beyond noise." in compared(before, make_side(tmp_path / "c"), "--markdown")[1]
    assert "fewer than 4 repeats" in compared(before, make_side(tmp_path / "d", runs=1), "--markdown")[1]


def test_a_folder_of_runs_of_two_programs_is_refused_and_its_settings_are_compared(tmp_path, compared):
    before, after = make_side(tmp_path / "a"), make_side(tmp_path / "b")
    make_side(tmp_path / "b/more", settings={"WATTLE_WAIT": "spin"})
    warnings = of_runs.compare(before, after).warnings
    assert any("runs with different settings: WATTLE_WAIT" in words for words in warnings)
    make_side(tmp_path / "b/other", command=["./other"])
    code, _, err = compared(before, after)
    assert code == 2 and "holds runs of different programs or arguments: ./halo 64 and ./other" in err


def test_limits_of_studies_are_refused(tmp_path, compared):
    one, other = fakes.make_run(tmp_path / "a", kind="study"), fakes.make_run(tmp_path / "b", kind="study")
    code, _, err = compared(one, other, "--fail-above", LIMITS)
    assert code == 2 and "--fail-above, --markdown and --by are for runs" in err
