"""The report's call paths: the flame graph of each weight adds up and is bounded, and table rows name callers."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

import fakes
import made_paths
import pytest
from test_report_run import figures, page_of, plain
from wattle import cli
from wattle.base.errors import DamagedFile
from wattle.figures import call_paths, sites
from wattle.figures.sites import MergedSite
from wattle.machine.symbols import Place
from wattle.record import profile
from wattle.record.pe import PYTHON
from wattle.report import flame
from wattle.report.cli import write

PROGRAM = "/opt/halo"


def site(*names: str, seconds: float | None = 1.0, module: str = PROGRAM, call: str = "MPI_Recv") -> MergedSite:
    """A site whose frames are the names, the outermost last."""
    first, *path = [Place(module, k, f"{name}.c", 1, name) for k, name in enumerate(names)]
    waits = {"spin": seconds, "yield": 0.0, "asleep": 0.0}
    return MergedSite(first, call, "wait", 1, 1, 8, 1, seconds, waits, 1, [], tuple(path))


def frames_of(found: list[MergedSite], weight: str = "waiting") -> list[flame.Frame]:
    by_id = {one["id"]: one["frames"] for one in flame.weights(found, PROGRAM, "rank")}
    return by_id[weight]


def merged(folder: Path, *profiles: dict) -> list[MergedSite]:
    fakes.write_profiles(folder / "profile", list(profiles))
    return sites.merge(profile.load(folder))


def test_profiles_alone_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those in WATTLE_PROFILE_DIR of a program that ran without `wattle run`, and a folder that contains this one."""
    folder = tmp_path / "profile"
    fakes.write_profiles(folder, [fakes.pe_profile(0, 2), fakes.pe_profile(1, 2)])
    shown = []
    for directory in (folder, tmp_path):
        assert "shmem_barrier_all" in plain(write(directory, tmp_path / "page.html").read_text())
        with pytest.raises(SystemExit) as ended:
            cli.main(["report", "--text", str(directory)])
        assert ended.value.code == 0
        shown.append(capsys.readouterr().out)
    assert "on 2 PEs" in shown[0] and shown[0] == shown[1]


def test_python_frames_are_the_program(tmp_path: Path) -> None:
    """Installed packages and the interpreter are not."""
    made = fakes.pe_profile(0, 1)
    made["python"] = [
        {"file": "/usr/lib/python3/dist-packages/mpi4py/util/pkl5.py", "function": "Comm.send", "line": 7},
        {"file": "/home/user/train.py", "function": "main.<locals>.exchange", "line": 41},
        {"file": "/home/user/train.py", "function": "<module>", "line": 60},
    ]
    made["paths"] = [[-1, PYTHON, 2], [0, PYTHON, 1], [1, PYTHON, 0]]
    made["sites"][0]["path"] = 2
    (found, *_) = [s for s in merged(tmp_path, made) if s.path]
    place, above = call_paths.nearest(found, "/usr/bin/python3.11")
    assert (place.words, [frame.words for frame in above]) == ("train.py:41 main.exchange()", ["train.py:60 <module>"])
    made["paths"][0] = [-1, PYTHON, 3]
    with pytest.raises(DamagedFile, match="does not exist"):
        merged(tmp_path, made)


def test_frames_lie_under_their_callers(tmp_path: Path):
    found = frames_of(merged(tmp_path, made_paths.phases(0), made_paths.phases(1)))
    names = [(parent, name, kind) for parent, name, kind, *_ in found]
    assert names == [
        (-1, "all ranks", "whole"),
        (0, "halo+0x10", "own"),
        (1, "halo+0x20", "own"),
        (2, "halo+0x90", "own"),
        (3, "MPI_Recv", "call"),
        (0, "halo+0x11", "own"),
        (5, "halo+0x30", "own"),
        (6, "halo+0x90", "own"),
        (7, "MPI_Recv", "call"),
        (0, "halo+0x12", "own"),
        (9, "halo+0x40", "own"),
        (10, "libsolver.so+0x10050", "other"),
        (11, "libsolver.so+0x10060", "other"),
        (12, "MPI_Recv", "call"),
    ]
    assert [f[4] for f in found[1::4][:2]] == pytest.approx([1 / 2, 1 / 3], abs=1e-6)
    assert found[0][5] == "1.20 s, 100 %" and found[1][5].startswith("600 ms, 50")


def test_each_weight_has_its_amounts(tmp_path: Path):
    found = merged(tmp_path, made_paths.phases(0), made_paths.phases(1))
    whole = {one["id"]: one["frames"][0][5] for one in flame.weights(found, PROGRAM, "rank")}
    assert list(whole) == ["waiting", "time", "joules"]
    assert whole["time"] == "2.40 s, 100 %"
    # The fakes' figures are known to a quarter: 4.8 J of CPU and 1.2 J of DRAM.
    assert re.match(r"6\.00 ± 1\.5 J modelled, 100 %", whole["joules"])


def check_sums(found: list[flame.Frame]) -> None:
    below: dict[int, float] = defaultdict(float)
    for parent, *_, width, _ in found:
        below[parent] += width
    for at, (_, name, kind, _, width, _) in enumerate(found):
        if kind not in ("call", "folded"):
            assert below[at] == pytest.approx(width, abs=1e-3), name


def test_many_paths_are_folded_and_add_up(tmp_path: Path):
    found = merged(tmp_path, made_paths.many(0, 5000), made_paths.many(1, 5000))
    drawn = frames_of(found)
    check_sums(drawn)
    assert all(width >= flame.LEAST for *_, kind, _, width, _ in drawn if kind != "folded")
    assert any(name.endswith("smaller frames)") for _, name, *_ in drawn)


def test_frames_are_bounded_where_many_paths_are_large():
    wide = [site("f", f"g{k}", f"h{k}", f"i{k}", seconds=1.0) for k in range(900)]
    drawn = frames_of(wide)
    check_sums(drawn)
    assert sum(f[2] != "folded" for f in drawn) <= flame.MOST + 1


def test_deep_paths_are_cut_at_the_outermost_frames():
    drawn = frames_of([site(*(f"f{k}" for k in range(500)))])
    assert len(drawn) == 1 + flame.DEEPEST
    assert drawn[1][1] == "(deeper callers)" and drawn[-1][1] == "MPI_Recv" and drawn[-2][1] == "f0"


def test_unknown_amounts_are_left_out_and_counted():
    found = flame.weights([site("f", "main"), site("g", "main", seconds=None)], PROGRAM, "PE")
    assert [(one["id"], one["note"]) for one in found] == [
        ("waiting", "1 call site of unknown amount left out"),
        ("time", "1 call site of unknown amount left out"),
    ]


def test_runs_without_call_paths_have_no_flame_graph(run_dir: Path):
    assert flame.weights(sites.merge(profile.load(run_dir)), PROGRAM, "PE") == []
    assert 'id="flame"' not in page_of(run_dir)


def test_table_and_bars_have_a_row_for_each_path(tmp_path: Path):
    run = fakes.make_run(tmp_path / "run", [made_paths.phases(0), made_paths.phases(1)])
    page = page_of(run)
    rows = call_paths.rows(sites.merge(profile.load(run)), PROGRAM)
    section = page[page.index('<section id="sites"') : page.index('<section id="paths"')]
    cells = [plain(row) for row in section.split("<tr>")[2:]]
    assert len(cells) == len(rows) == 3
    for cell, row in zip(cells, rows, strict=True):
        words = " ".join([row.place.label, *(f"< {caller}" for caller in row.callers), row.site.call])
        assert cell.startswith(words)
    assert cells[0].startswith("halo+0x90 < halo+0x20") and cells[2].startswith("halo+0x40 MPI_Recv")
    assert [y.split()[1] for y in figures(page)["sites-time"]["data"][0]["y"]] == [
        "halo+0x90",
        "halo+0x90",
        "halo+0x40",
    ]


def test_names_from_files_are_only_text(tmp_path: Path):
    evil = made_paths.phases(0)
    evil["modules"][1]["path"] = "/x/<i>\x1b.so"
    page = write(fakes.make_run(tmp_path / "run", [evil, made_paths.phases(1)])).read_text()
    held = re.search(r'id="flame-data">(.*?)</script>', page, re.DOTALL)[1]
    names = [name for one in json.loads(held) for _, name, *_ in one["frames"]]
    assert "<i>\\x1b.so+0x10050" in names
    assert "<i>" not in page and "\x1b" not in page


def test_a_page_of_many_paths_is_small(tmp_path: Path):
    few = write(fakes.make_run(tmp_path / "few", [made_paths.phases(0), made_paths.phases(1)]))
    many = write(fakes.make_run(tmp_path / "many", [made_paths.many(0, 8000), made_paths.many(1, 8000)]))
    assert many.stat().st_size - few.stat().st_size < 400_000
