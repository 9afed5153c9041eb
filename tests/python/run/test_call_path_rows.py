"""Rows of the table of call sites: the nearest frame in the program, and the callers that tell rows apart. Names are
short, and exported stacks add up.
"""

from __future__ import annotations

import json
from pathlib import Path

import fakes
import pytest
from wattle import cli
from wattle.figures import call_paths
from wattle.figures.sites import MergedSite
from wattle.machine import symbols
from wattle.machine.symbols import Place
from wattle.text import tables

PROGRAM, LIBRARY = "/home/user/solve", "/usr/lib/libpetsc.so"


def place(function: str, line: int, module: str = PROGRAM) -> Place:
    return Place(module, line, f"{function}.c", line, function)


def site(*frames: Place, seconds: float, call: str = "MPI_Recv", end: str = "") -> MergedSite:
    waits = {"spin": seconds / 2, "yield": 0.0, "asleep": 0.0}
    return MergedSite(frames[0], call, "transfer", 1, 1, 8, 1, seconds, waits, 1, [], frames[1:], end)


WRAPPER = place("wrapper", 9)
PHASES = [
    site(WRAPPER, place("halo", 1), place("main", 2), seconds=3.0),
    site(WRAPPER, place("norm", 1), place("main", 3), seconds=2.0),
    site(WRAPPER, place("norm", 1), place("main", 4), seconds=1.0),
]
IN_LIBRARY = site(place("VecDot", 5, LIBRARY), place("KSPSolve", 6, LIBRARY), place("step", 7), seconds=4.0)


def shown(rows: list[call_paths.Row]) -> list[tuple[str, tuple[str, ...], float | None]]:
    return [(row.place.label, row.callers, row.site.time_s) for row in rows]


def test_rows_show_as_many_callers_as_tell_them_apart():
    found = shown(call_paths.rows([*PHASES, IN_LIBRARY], PROGRAM))
    assert found == [
        ("step.c:7", (), 4.0),
        ("wrapper.c:9", ("halo.c:1 halo()", "main.c:2 main()"), 3.0),
        ("wrapper.c:9", ("norm.c:1 norm()", "main.c:3 main()"), 2.0),
        ("wrapper.c:9", ("norm.c:1 norm()", "main.c:4 main()"), 1.0),
    ]


def test_with_a_depth_rows_that_it_does_not_tell_apart_are_one():
    found = shown(call_paths.rows(PHASES, PROGRAM, depth=1))
    assert found == [("wrapper.c:9", ("halo.c:1 halo()",), 3.0), ("wrapper.c:9", ("norm.c:1 norm()",), 3.0)]
    assert shown(call_paths.rows(PHASES, PROGRAM, depth=0)) == [("wrapper.c:9", (), 6.0)]


@pytest.mark.parametrize(
    ("by", "names"),
    [("function", ["wrapper", "step"]), ("library", ["solve", "libpetsc.so"]), ("call", ["MPI_Recv"])],
)
def test_sites_are_added_up_by_function_library_or_call(by: str, names: list[str]):
    found = call_paths.rows([*PHASES, IN_LIBRARY], PROGRAM, by=by)
    assert [row.place.label for row in found] == names
    assert sum(row.site.time_s or 0 for row in found) == 10.0


OWN = "/home/user/libsolver.so"  # a library of the program's own


def test_a_place_in_a_library_of_the_program_is_named_before_one_in_its_executable():
    found = call_paths.nearest_of((place("VecDot", 5, LIBRARY), place("exchange", 6, OWN), place("main", 7)), PROGRAM)
    assert (found[0].label, [frame.label for frame in found[1]]) == ("exchange.c:6", ["main.c:7"])


def test_a_frame_without_a_name_or_line_gives_way_to_its_caller():
    nameless, stripped, lined = Place(OWN, 1), Place(OWN, 2, function="helper"), place("exchange", 3, OWN)
    main = place("main", 4)
    for frames, label in (
        ([nameless, lined, main], "exchange.c:3"),
        ([stripped, lined, main], "exchange.c:3"),
        ([stripped, main], "libsolver.so+0x2"),
        ([nameless, main], "main.c:4"),
        ([nameless, Place(PROGRAM, 5)], "libsolver.so+0x1"),
    ):
        assert call_paths.nearest_of(tuple(frames), PROGRAM)[0].label == label


@pytest.mark.parametrize(
    ("name", "width", "lines"),
    [
        ("LAMMPS_NS::Comm::reverse()", 30, ["LAMMPS_NS::Comm::reverse()"]),
        ("LAMMPS_NS::Comm::reverse()", 20, ["LAMMPS_NS::Comm::", "reverse()"]),
        ("shmem_uint64_wait_until", 20, ["shmem_uint64_wait_", "until"]),
        ("a_long_name_of_a_file.cpp:512 f()", 20, ["a_long_name_of_a_", "file.cpp:512 f()"]),
        ("averylongnameofafile.cpp:512", 20, ["averylongnameofafile.cpp:512"]),
        ("  < main.c:4 main()", 12, ["  < main.c:4", "    main()"]),
    ],
)
def test_a_long_name_is_broken_at_its_separators_and_a_file_keeps_its_line(name: str, width: int, lines: list[str]):
    assert tables.folded(name, width, "    " if name.startswith(" ") else "").split("\n") == lines


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_table_of_call_sites_shows_names_and_whole_numbers_at_any_width(tmp_path: Path, wattle, width: int):
    """Columns of figures are left out rather than cut."""
    run = fakes.make_run(tmp_path / "run", [fakes.pe_profile(0, 1)])
    text = wattle("report", "--text", run, env={"COLUMNS": str(width)}).stdout
    shown = text.partition("Costliest call sites")[2].partition("compute")[0]
    assert "…" not in shown and "call site" in shown and ("asleep" if width == 120 else "waiting") in shown
    assert ("bytes" in shown) == (width >= 80)


def test_an_interpreter_is_not_the_users_program():
    frames = (place("recv", 1, "/x/MPI.so"), place("_PyEval_EvalFrameDefault", 2, "/usr/bin/python3.11"))
    assert call_paths.nearest(site(*frames, seconds=1.0), "/usr/bin/python3.11")[0] == frames[0]


def test_folded_stacks_and_speedscope_hold_the_same_weights():
    found = call_paths.stacks([*PHASES, site(WRAPPER, seconds=1.0, end="(signal handler)")], "time")
    assert call_paths.folded(found) == (
        "(signal handler);wrapper;MPI_Recv 1000000\nmain;halo;wrapper;MPI_Recv 3000000\n"
        "main;norm;wrapper;MPI_Recv 3000000\n"
    )
    document = call_paths.speedscope(found, "time", "run")
    profile = document["profiles"][0]
    names = [frame["name"] for frame in document["shared"]["frames"]]
    assert [[names[i] for i in sample] for sample in profile["samples"]] == [list(stack) for stack, _ in found]
    assert profile["weights"] == [1.0, 3.0, 3.0] and profile["endValue"] == 7.0


@pytest.mark.parametrize(
    ("name", "file", "short"),
    [
        ("void solver::Halo<double>::exchange<int>(int, std::vector<int>&) const", "", "solver::Halo::exchange"),
        ("std::ostream& operator<<(std::ostream&, X const&)", "", "operator<<"),
        ("(anonymous namespace)::f(int)", "", "{anonymous}::f"),
        ("main::{lambda(int)#1}::operator()(int) const", "", "main::{lambda#1}::operator()"),
        ("__solver_MOD_step", "a.f90:3", "solver::step"),
        ("halo_", "a.F:3", "halo"),
        ("send_", "a.c:3", "send_"),
        ("exchange.part.0", "a.c:3", "exchange"),
    ],
)
def test_names_are_short(name: str, file: str, short: str):
    assert symbols.short_name(name, file) == short


def test_a_report_writes_the_stacks_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    run = fakes.make_run(tmp_path / "run", [fakes.pe_profile(0, 1)])
    target, other = tmp_path / "folded.txt", tmp_path / "speedscope.json"
    words = ["report", str(run), "--folded", str(target), "--speedscope", str(other), "--weight", "time"]
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 0 and capsys.readouterr().out.split() == [str(target), str(other)]
    assert target.read_text().count("\n") == len(json.loads(other.read_text())["profiles"][0]["samples"]) > 0


def test_stacks_go_to_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch):
    run = fakes.make_run(tmp_path / "run", [fakes.pe_profile(0, 1)])
    monkeypatch.chdir(tmp_path)
    said = {}
    for option in ("--folded", "--speedscope"):
        with pytest.raises(SystemExit) as ended:
            cli.main(["report", str(run), option, "-"])
        assert ended.value.code == 0
        said[option] = capsys.readouterr().out
    assert len(said["--folded"].splitlines()) == len(json.loads(said["--speedscope"])["profiles"][0]["samples"]) > 0
    assert all(line.rpartition(" ")[2].isdigit() for line in said["--folded"].splitlines())
    with pytest.raises(SystemExit) as ended:
        cli.main(["report", str(run), "--folded", "-", "--speedscope", "-"])
    assert ended.value.code != 0 and "both write to standard output" in capsys.readouterr().err
    assert not Path("-").exists()


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        (["--by", "line", "--text"], "--by line: expected one of path, function, library, call"),
        (["--depth", "2"], "--depth and --by are for the tables of --text; add --text"),
        (["--depth", "-1", "--text"], "--depth -1: expected at least 0"),
        (["--weight", "calls"], "--weight calls: expected one of waiting, time, joules"),
    ],
)
def test_wrong_options_are_named(options: list[str], wrong: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        cli.main(["report", "somewhere", *options])
    assert ended.value.code != 0 and wrong in capsys.readouterr().err
