"""Logs of external meters: their columns, times and units, and the message for each damage."""

from __future__ import annotations

from pathlib import Path

import pytest
from wattle.base.errors import DamagedFile, WattleError
from wattle.meter_log import given, log

ROWS = "".join(f"{100 + k},{50 + k}\n" for k in range(10))


def read(tmp_path: Path, text: str, *settings: str) -> list[log.Series]:
    path = tmp_path / "pdu.csv"
    path.write_text(text, encoding="utf-8")
    return log.read(given.given(path, settings))


def test_a_plain_log_is_read(tmp_path):
    (series,) = read(tmp_path, f"time,power_W\n{ROWS}")
    assert (series.scope, series.source, series.counter, series.step_s) == ("node", "pdu.csv power_W", False, 1.0)
    assert series.at[:2] == [100, 101]
    assert series.value[:2] == [50, 51]


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        (["1800000000000", "1800000000500"], 0.5),
        (["1800000000000000", "1800000000500000"], 0.5),
        (["1800000000", "1800000000.5"], 0.5),
        (["2027-01-15T08:00:00Z", "2027-01-15T08:00:00.500Z"], 0.5),
        (["2027-01-15 08:00:00", "2027-01-15 08:00:02"], 2.0),
        (["2027-01-15T08:00:00+01:00", "2027-01-15T07:00:02+00:00"], 2.0),
        (["0", "0.25"], 0.25),
    ],
)
def test_every_form_of_time_is_seconds(tmp_path, times, seconds):
    head = "\n".join(f"{at},1" for at in times)
    first = log._times(Path("x"), "time", times, [1, 2])
    assert first[1] - first[0] == pytest.approx(seconds)
    assert head


@pytest.mark.parametrize(
    ("name", "factor", "counter"),
    [
        ("power_W", 1, False),
        ("Power [mW]", 1e-3, False),
        ("BLADE (kW)", 1e3, False),
        ("total watts", 1, False),
        ("energy_J", 1, True),
        ("Energy/Wh", 3600, True),
    ],
)
def test_the_unit_is_in_the_name(tmp_path, name, factor, counter):
    (series,) = read(tmp_path, f"time,{name}\n{ROWS}")
    assert series.counter == counter
    assert series.value[0] == pytest.approx(50 * factor)


def test_columns_of_several_scopes_are_added_up(tmp_path):
    rows = "".join(f"{k};{k};10;20;5\n" for k in range(10))
    text = f"# HDEEM\ntime;n;CPU0;CPU1;DDR\n\n{rows}"
    found = read(tmp_path, text, "package=CPU0+CPU1", "dram=DDR", "unit=W")
    assert [(s.scope, s.source, s.value[0]) for s in found] == [
        ("package", "pdu.csv CPU0+CPU1", 30),
        ("dram", "pdu.csv DDR", 5),
    ]


def test_a_line_that_is_being_written_is_left_out(tmp_path):
    (series,) = read(tmp_path, f"time,power_W\n{ROWS}110,6")
    assert series.at[-1] == 109


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no line"),
        (ROWS, "line 1: expected a heading"),
        (f"time,power_W\n{ROWS[:14]}", "holds 2 readings"),
        (f"time,power_W\n{ROWS}105,1\n", "line 12: its time is earlier than that of the reading above"),
        (f"time,power_W\n{ROWS}109,1\n", "line 12: its time is that of the reading above"),
        (f"time,power_W\n{ROWS}x,1\n", "line 12, column 'time': expected seconds or milliseconds"),
        (f"time,power_W\n{ROWS}110,nan\n", "line 12, column 'power_W': expected a number, at least 0, found 'nan'"),
        (f"time,power_W\n{ROWS}110,-1\n", "line 12, column 'power_W': expected a number, at least 0, found '-1'"),
        (f"time,power_W\n{ROWS}110\n", "line 12: has 1 columns; the heading has 2"),
        (f"time,energy_J\n{ROWS}110,3\n", "line 12, column 'energy_J': decreases"),
        (f"time,load\n{ROWS}", "its name has no unit; give it with --meter-set unit=W"),
        (f"time,a,b\n{ROWS.replace(chr(10), ',1' + chr(10))}", "has several columns"),
        (f"time,date,W\n{ROWS.replace(chr(10), ',1' + chr(10))}", "has several columns of time"),
        ("time,power_kW\n" + ROWS.replace(",5", ",99995"), "W on average; give the right unit"),
        ("time,power_W\n" + "".join(f"{k},0\n" for k in range(10)), "is 0 throughout"),
        ('time,power_W\n1,"2\n3,4"\n' + ROWS, "quoted text over several lines"),
    ],
)
def test_damage_is_named_with_its_place(tmp_path, text, words):
    with pytest.raises(DamagedFile) as raised:
        read(tmp_path, text)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_column_that_is_not_there_is_named_with_those_that_are(tmp_path):
    with pytest.raises(DamagedFile, match="has no column 'BLADE'; it has 'time', 'power_W'"):
        read(tmp_path, f"time,power_W\n{ROWS}", "node=BLADE")


def test_columns_of_one_scope_have_one_unit(tmp_path):
    with pytest.raises(DamagedFile, match="different units"):
        read(tmp_path, "time,a_W,b_J\n" + ROWS.replace("\n", ",1\n"), "node=a_W+b_J")


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("power=x", "NAME is one of time, node"),
        ("unit=BTU", "expected one of W, mW"),
        ("error=-1", "expected 0 to 100 percent"),
        ("every=0", "expected 0.001 to 60 seconds"),
        ("node=A++B", "expected a column"),
        ("node=", "expected NAME=VALUE"),
    ],
)
def test_a_wrong_setting_is_refused(setting, words):
    with pytest.raises(WattleError, match=words):
        given.given(Path("x.csv"), [setting])


@pytest.mark.parametrize("rows", ["", "100,50\n", ROWS, "100,0\n101,0\n"])
def test_a_log_that_has_just_begun_passes_the_check_at_the_start(tmp_path, rows):
    path = tmp_path / "pdu.csv"
    path.write_text(f"time,power_W\n{rows}")
    log.check(given.given(path, []))


@pytest.mark.parametrize(
    ("text", "words"),
    [("time,load\n", "its name has no unit"), ("time,power_W\n5,x\n", "line 2"), ("time,W\n5,1\n4,1\n", "earlier")],
)
def test_a_log_that_begins_wrong_does_not_pass_the_check_at_the_start(tmp_path, text, words):
    path = tmp_path / "pdu.csv"
    path.write_text(text)
    with pytest.raises(DamagedFile, match=words):
        log.check(given.given(path, []))
