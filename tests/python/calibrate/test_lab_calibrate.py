"""`wattle calibrate` measures with the tool, keeps the result whole or not at all, and says where it came from."""

import json
import re
import resource
import signal
from pathlib import Path

import fakes
import pytest
from made_prices import cell, document
from wattle.base.checked import Checked
from wattle.base.errors import WattleError
from wattle.calibrate import prices, watts
from wattle.calibrate.show import prices_table, spread

TOOL = """#!/usr/bin/python3
# Stands for the tool: says what FAKE_ANSWER holds, and where the file would be.
import json, os, pathlib, sys, time
here = pathlib.Path(__file__).parent
cache = os.environ.get("FAKE_CACHE", "")
if sys.argv[1:] == ["where"]:
    file = cache + "/wattle/prices-node0-0123456789abcdef.json" if cache else None
    known = bool(file) and os.path.exists(file)
    reading = {"from": file, "known": known, "why": "" if known else f"{file}: No such file or directory"}
    print(json.dumps({"file": file, "no_file": None if file else "there is no cache folder", "read": reading}))
    sys.exit()
assert sys.argv[1:] in (["--progress"], ["watts", "--budget", "2000", "--progress"]), sys.argv
for i in range(4):
    print(f"{i} of 4: futex_other", file=sys.stderr, flush=True)
if "FAKE_SLOW" in os.environ:
    note = pathlib.Path(os.environ["FAKE_SLOW"])
    note.with_name("new").write_text(str(os.getpid()))
    note.with_name("new").rename(note)
    time.sleep(60)
if "FAKE_FAIL" in os.environ:
    sys.exit("wattle-calibrate: starting a helper process: " + os.environ["FAKE_FAIL"])
print(os.environ.get("FAKE_ANSWER") or (here / "prices.json").read_text())
"""


@pytest.fixture
def tool(home):
    fakes.script(home / "bin" / "wattle-calibrate", TOOL)
    (home / "bin" / "prices.json").write_text(json.dumps(document()))
    return home


@pytest.fixture
def cache(tool, environment, tmp_path):
    folder = tmp_path / "cache"
    environment["FAKE_CACHE"] = str(folder)
    return folder / "wattle" / "prices-node0-0123456789abcdef.json"


def remarks(said: str) -> str:
    """Standard error without the progress, which is shown where the command takes longer than 10 s."""
    return re.sub(r"^wattle: calibrate: \d+ of \d+, \d+ s.*\n", "", said, flags=re.MULTILINE)


def test_what_is_measured_is_shown_and_kept(wattle, cache):
    result = wattle("calibrate")
    assert (result.returncode, remarks(result.stderr)) == (0, "")
    assert "38.5 (19.2–77.0) µs" in result.stdout
    assert "17.7 (8.85–35.4) µs" in result.stdout
    assert "227" in result.stdout
    assert f"Kept in {cache}." in result.stdout
    kept = json.loads(cache.read_text())
    assert kept["prices"] == document()["prices"]
    assert kept["measured"].endswith("Z")
    assert kept["versions"]["wattle"]
    assert [f.name for f in cache.parent.iterdir()] == [cache.name]


def test_the_table_fits_80_columns_and_has_no_colour(wattle, cache):
    out = wattle("calibrate").stdout
    assert all(len(line) <= 80 for line in out.splitlines() if not line.startswith("Kept"))
    assert "\x1b" not in out


def test_missing_prices_have_a_reason_and_meaningless_ones_are_left_out(wattle, cache):
    out = " ".join(wattle("calibrate").stdout.split())
    assert "Not measured: low-power wait, woken: no instruction." in out
    assert "membarrier, its caller (with a peer): membarrier: Operation not permitted." in out
    assert "spin_other" not in out


def test_what_one_core_can_measure_does_not_replace_what_two_did(wattle, cache):
    one = document(how=document()["how"] | {"cores": [1]})
    for row in one["prices"].values():
        row["peer"] = cell(None, row["peer"]["applies"], why="this process may use one core only")
    alone = wattle("calibrate", env={"FAKE_ANSWER": json.dumps(one)})
    assert "Not measured: everything with a peer: this process may use one core only." in " ".join(alone.stdout.split())
    assert "(with a peer)" not in alone.stdout
    assert json.loads(cache.read_text())["how"]["cores"] == [1]
    wattle("calibrate")
    before = cache.read_text()
    result = wattle("calibrate", env={"FAKE_ANSWER": json.dumps(one)})
    assert (result.returncode, "Kept in" in result.stdout) == (0, False)
    assert remarks(result.stderr).startswith("wattle: not kept: this process may use one core")
    assert cache.read_text() == before


def test_json_is_the_whole_document_and_nothing_else(wattle, cache):
    result = wattle("calibrate", "--json")
    assert json.loads(result.stdout) == json.loads(cache.read_text())
    assert remarks(result.stderr) == ""


def test_other_work_at_the_same_time_is_reported(wattle, cache):
    busy = document(load={"wall_s": 2.5, "others_cores": 0.22, "stolen_cores": 0.11})
    result = wattle("calibrate", env={"FAKE_ANSWER": json.dumps(busy)})
    words = " ".join(result.stdout.split())
    assert "there was 0.2 cores' worth of other work and 0.1 cores' worth of time taken by the host" in words
    assert "measure again" in words
    doctor = " ".join(wattle("doctor").stdout.split())
    assert "0.2 cores' worth of other work" in doctor


LOADED = {"wall_s": 2.5, "others_cores": 1.62, "stolen_cores": 0.3}
SLEEPY = {"futex_other": {"what": "futex wake, another core", "idle": cell(28e-3), "peer": cell(17.7e-6)}}


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"load": LOADED}, "there was 1.6 cores' worth of other work and 0.3 cores' worth of time taken by the host"),
        ({"prices": SLEEPY}, "futex wake, another core: the median is 28.0 ms"),
    ],
    ids=["load", "slow wake-up"],
)
def test_prices_of_a_loaded_machine_are_measured_again_and_not_kept(wattle, cache, wrong, reason):
    """A wait with such a price would spin for as long as that."""
    wattle("calibrate")
    before = cache.read_text()
    result = wattle("calibrate", env={"FAKE_ANSWER": json.dumps(document(**wrong))})
    said = remarks(result.stderr).splitlines()
    assert result.returncode == 0
    assert [line.startswith("wattle: measuring again, because ") and reason in line for line in said[:2]] == [True] * 2
    assert len(said) == 3
    assert said[2].startswith(f"wattle: not kept: {reason}")
    assert "Kept in" not in result.stdout
    assert cache.read_text() == before


def test_show_measures_nothing(wattle, cache):
    nothing = wattle("calibrate", "--show")
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert "`wattle calibrate` measures them" in nothing.stderr
    assert not cache.exists()
    first = wattle("calibrate").stdout
    shown = wattle("calibrate", "--show", env={"FAKE_FAIL": "it was run"})
    assert (shown.returncode, shown.stdout) == (0, first)
    assert json.loads(wattle("calibrate", "--show", "--json").stdout) == json.loads(cache.read_text())


def test_the_doctor_prints_the_prices_or_how_to_get_them(wattle, cache):
    before = " ".join(wattle("doctor").stdout.split())
    assert "none known" in before
    assert "`wattle calibrate` measures them" in before
    wattle("calibrate")
    after = " ".join(wattle("doctor").stdout.split())
    assert "futex wake, another core: 38.5 µs, with a peer 17.7 µs" in after
    assert "low-power wait" not in after.partition("Prices of waiting")[2].partition("Machine")[0]
    found = {f["name"]: f for s in json.loads(wattle("doctor", "--json").stdout)["sections"] for f in s["findings"]}
    assert found["prices"]["state"] == "yes"


def test_the_doctor_does_without_the_tool(wattle):
    result = wattle("doctor")
    assert (result.returncode, result.stderr) == (0, "")
    assert "wattle-calibrate" in "".join(result.stdout.split())


def no_large_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def test_a_full_disk_is_one_line_the_figures_are_shown_and_the_old_file_stays(wattle, cache):
    wattle("calibrate")
    before = cache.read_text()
    result = wattle("calibrate", preexec_fn=no_large_files)
    assert result.returncode == 2
    assert "38.5" in result.stdout
    assert remarks(result.stderr) == f"wattle: {cache}: the prices cannot be kept: File too large\n"
    assert cache.read_text() == before
    assert [f.name for f in cache.parent.iterdir()] == [cache.name]


def test_a_cache_that_cannot_be_written_is_one_line(wattle, cache, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    result = wattle("calibrate", "--json")
    assert result.returncode == 2
    assert json.loads(result.stdout)["kind"] == "prices"
    assert "the prices cannot be kept: " in result.stderr
    assert remarks(result.stderr).count("\n") == 1


def test_no_cache_folder_at_all_is_one_line(wattle, tool):
    result = wattle("calibrate")
    assert result.returncode == 2
    assert "38.5" in result.stdout
    assert remarks(result.stderr) == "wattle: the prices cannot be kept: there is no cache folder\n"


def test_what_the_tool_could_not_do_is_the_error(wattle, cache):
    result = wattle("calibrate", env={"FAKE_FAIL": "Resource temporarily unavailable"})
    assert (result.returncode, result.stdout) == (2, "")
    assert remarks(result.stderr) == "wattle: starting a helper process: Resource temporarily unavailable\n"
    assert not cache.exists()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("{", "not JSON"),
        ("[]", "expected an object"),
        (json.dumps(document(schema=2)), "schema 2 is unknown"),
        (json.dumps(document(prices={"x": {"what": "x", "idle": cell(), "peer": 3}})), "prices.x.peer: expected"),
    ],
)
def test_an_answer_that_makes_no_sense_is_an_error_and_is_not_kept(wattle, cache, answer, words):
    result = wattle("calibrate", env={"FAKE_ANSWER": answer})
    assert (result.returncode, result.stdout) == (2, "")
    assert words in result.stderr
    assert not cache.exists()


@pytest.mark.parametrize("text", ["", "{", '{"schema": 1, "kind": "run"}', "\x00"])
def test_a_damaged_file_is_an_error_of_show_and_a_row_of_the_doctor(wattle, cache, text):
    cache.parent.mkdir(parents=True)
    cache.write_text(text)
    shown = wattle("calibrate", "--show")
    assert (shown.returncode, shown.stdout) == (2, "")
    assert str(cache) in shown.stderr
    assert wattle("doctor").returncode == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("words", [[], ["--profile", "here.yaml"]], ids=["prices", "profile"])
def test_an_interrupt_ends_the_tool_and_keeps_nothing(environment, cache, tmp_path, monkeypatch, number, code, words):
    monkeypatch.chdir(tmp_path)
    note = tmp_path / "pid"
    process = fakes.started(["calibrate", *words], {**environment, "FAKE_SLOW": str(note)})
    fakes.until_there(note, process)
    process.send_signal(number)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out) == (code, "")
    assert remarks(err).count("\n") == 1
    assert not Path(f"/proc/{note.read_text()}").exists()
    assert not cache.exists() and not Path("here.yaml").exists()


def watts_row(state, ghz, watts, **more):
    joules = {"cpu_joules": 2 * watts, "cpu_uncertainty": watts / 10, "dram_joules": None, "dram_uncertainty": None}
    return {"state": state, "ghz": ghz, "seen_ghz": 3.1, "seconds": 2, "bytes": 0, "parts": []} | joules | more


def watts_document(**changes):
    rows = [watts_row("idle", 2.0, 20.0), watts_row("stream", 2.0, 30.0)]
    for ghz in (1.0, 2.0, 3.0):
        for state, more in (("active", 8.0), ("spin", 6.0), ("yield", 7.0), ("asleep", 1.0)):
            rows.append(watts_row(state, ghz, 20.0 + more * ghz))
    rows.append(watts_row("idle", 2.0, 20.0))
    head = {"schema": 1, "kind": "watts", "meter": "powercap", "knob": "cpufreq", "cores": 2, "base_ghz": 2.0}
    head["contains"] = ""
    return head | {"rows": rows, "why": "", "others_cores": 0.0} | changes


def test_a_fitted_profile_is_shown_and_written(wattle, tool, tmp_path):
    file = tmp_path / "here.yaml"
    result = wattle("calibrate", "--profile", file, env={"FAKE_ANSWER": json.dumps(watts_document())})
    assert result.returncode == 0, result.stderr
    assert "2 (base)" in result.stdout and f"written to {file}" in result.stdout
    assert "no sensor of memory" in " ".join(result.stdout.split())
    assert "base: true" in file.read_text() and "other work" not in file.read_text() + result.stderr


def test_weak_points_of_a_fitted_profile_are_printed_and_written(wattle, tool, tmp_path):
    file = tmp_path / "here.yaml"
    rows = [r for r in watts_document()["rows"] if (r["state"], r["ghz"]) != ("spin", 3.0)]
    busy = watts_document(rows=rows, others_cores=0.7)
    result = wattle("calibrate", "--profile", file, env={"FAKE_ANSWER": json.dumps(busy)})
    assert result.returncode == 0, result.stderr
    for words in ("0.7 cores' worth of other work ran meanwhile", "some states could not be measured there: 3 GHz"):
        assert words in result.stderr and words in file.read_text()


@pytest.mark.parametrize("what", ["memory", "node"])
def test_memory_that_is_in_the_cpus_watts_is_not_assumed_once_more(wattle, tool, tmp_path, what):
    file = tmp_path / "here.yaml"
    answer = json.dumps(watts_document(contains=what))
    result = wattle("calibrate", "--profile", file, env={"FAKE_ANSWER": answer})
    assert result.returncode == 0, result.stderr
    assert f"W CPU with the {what}; a byte moved" in " ".join(result.stdout.split()) and "DRAM" not in result.stdout
    found = watts.fit(Checked("x", json.loads(answer)), 1, None)
    assert (found.idle_dram.value, found.idle_dram.plus_minus) == (0.0, 0.0)
    assert what in found.idle_cpu.how and what in found.idle_dram.how and what in found.clocks[2.0]["active"].how
    title = {"memory": ", with its memory", "node": ", the whole node"}[what]
    assert re.search(rf'^title: ".+{title}"$', file.read_text(), re.MULTILINE)
    assert f"include those of the {what}" in file.read_text() and f"include those of the {what}" in result.stderr


def test_what_is_seen_of_the_parts_of_a_measurement_and_of_idle_at_its_end_is_in_the_half_widths():
    def fit_of(*idles: dict) -> watts.Fit:
        others = [r for r in watts_document()["rows"] if r["state"] != "idle"]
        return watts.fit(Checked("x", watts_document(rows=[*idles[:1], *others, *idles[1:]])), 1, None)

    def idle_of(*idles: dict) -> watts.Number:
        return fit_of(*idles).idle_cpu

    def parts(*each: float) -> list[dict]:
        return [{"seconds": 0.5, "cpu_joules": w / 2, "dram_joules": None} for w in each]

    own = idle_of(watts_row("idle", 2.0, 20.0, parts=parts(20, 20, 20, 20)))
    assert (own.value, own.plus_minus) == (20.0, 1.0)  # the meter's own
    spread = idle_of(watts_row("idle", 2.0, 20.0, parts=parts(18, 22, 18, 22)))
    assert spread.plus_minus == pytest.approx(1.0 + 3.18 * (16 / 3) ** 0.5 / 2)
    drifted = idle_of(watts_row("idle", 2.0, 20.0), watts_row("idle", 2.0, 24.0))
    assert (drifted.value, drifted.plus_minus) == (22.0, pytest.approx(1.2 + 4.0))
    assert "idle was measured at the beginning only" in fit_of(watts_row("idle", 2.0, 20.0)).doubts[0]
    assert not fit_of(watts_row("idle", 2.0, 20.0), watts_row("idle", 2.0, 20.0)).doubts


def test_where_no_clock_can_be_set_it_is_the_one_that_cores_ran_at(wattle, tool, tmp_path):
    file = tmp_path / "here.yaml"
    rows = [r | {"ghz": None} for r in watts_document()["rows"] if r["ghz"] == 2.0]
    answer = json.dumps(watts_document(rows=rows, base_ghz=None, knob="none"))
    assert wattle("calibrate", "--profile", file, env={"FAKE_ANSWER": answer}).returncode == 0
    assert "- ghz: 3.1\n" in file.read_text()
    assert wattle("calibrate", "--profile", file, "--ghz", "2.5", env={"FAKE_ANSWER": answer}).returncode == 0
    assert "- ghz: 2.5\n" in file.read_text()


def test_spreads_are_in_the_unit_of_the_median():
    def shown(*numbers):
        return spread(prices.Cell(*numbers, 9, "", True))

    assert shown(1.95e-6, 1.34e-6, 6.643e-3) == "1.95 (1.34–6643) µs"
    assert shown(1.64e-3, 1.6e-6, 4.32e-3) == "1.64 (0.00–4.32) ms"
    assert shown(0.0, 0.0, 0.0) == "0 (0–0) ns"
    assert shown(-2e-10, -4e-10, 1e-10) == "-0.20 (-0.40–0.10) ns"
    assert spread(prices.Cell(None, None, None, 0, "", True)) == "-"


def test_a_document_without_prices_is_read_and_shown():
    found = prices.read(Checked("x", {**document(prices={}), "measured": "2026-01-31T12:00:00Z"}))
    assert found.prices == ()
    assert prices_table(found).row_count == 0
    with pytest.raises(WattleError, match="measured is missing"):
        prices.read(Checked("x", document()))
