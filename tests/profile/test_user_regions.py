"""Regions that a program marks for other tools group its calls, and the tools get the same calls as in a plain run."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import jobs
import pytest
from preload import BOTH, LIBRARY, Mpi
from tree import HOME, ROOT
from wattle.figures import sites, user_regions
from wattle.record import profile
from wattle.record.timeline_file import load
from wattle.timeline.rows import Slice, rows

PROGRAMS = ROOT / "tests/profile/programs"
LONG_NAME = (13 * "0123456789")[:127]  # a name with a tab in it is not taken
# Barriers by region, by the program's own loops.
REGIONS = {
    (): 13,
    ("main",): 1,
    ("main", "set up"): 2,
    ("main", "solve"): 6,
    ("main", "solve", "halo"): 4,
    ("main", "range"): 5,
    ("main", "range", "registered"): 6,
    ("main", "registered"): 7,
    ("main", "joules"): 9,
    ("main", "MPI_Pcontrol(0)"): 10,
    ("main", LONG_NAME): 14,
    ("main", "work"): 11,
    ("in a thread",): 12,
}
OF_SHMEM = {name: n for name, n in REGIONS.items() if not {"MPI_Pcontrol(0)", LONG_NAME} & set(name)}


def built(folder: Path, *compiler: str | Path) -> Path:
    """The program, linked with the library of the tools."""
    tools = folder / "libtools.so"
    command = ["cc", "-g", "-Wall", "-Werror", "-shared", "-fPIC", PROGRAMS / "marking_tools.c"]
    jobs.compile_once(command, tools)
    words = [*compiler, "-g", "-O1", f"-I{ROOT / 'include'}", PROGRAMS / "marked_regions.c"]
    libraries = [tools, HOME / "lib/libwattle.so", f"-Wl,-rpath,{folder}:{HOME / 'lib'}", "-lpthread"]
    program = folder / "program"
    subprocess.run([*map(str, [*words, *libraries]), "-o", str(program)], check=True)
    return program


def barriers(found: profile.RunProfile) -> Counter[tuple[str, ...]]:
    """Barriers by region, of all processes."""
    calls: Counter[tuple[str, ...]] = Counter()
    for site in sites.merge(found):
        if "arrier" in site.call:
            calls[site.region] += site.calls
    return calls


def judge(folder: Path, wanted: dict[tuple[str, ...], int], n: int, ended: bool = False) -> None:
    found = profile.load(folder, n)
    expected = {name: n * calls for name, calls in wanted.items() if name or not ended}
    assert barriers(found) == expected
    by_name = {region.name: region for region in user_regions.merge(found)}
    assert set(by_name) >= set(expected)
    if ended:
        assert all(region.times is None for region in by_name.values())
        return
    assert by_name["main",].times == by_name["main", "solve", "halo"].times == n
    assert by_name["main", "joules"].times == n
    # The time in all regions and outside them is that of the run. The thread has none of it: the main thread waits.
    whole = sum(pe.wall_s or 0 for pe in found.pes)
    assert sum(r.time_s for r in by_name.values() if r.time_s is not None) == pytest.approx(whole, rel=1e-6)
    assert by_name["in a thread",].time_s == 0


def run(mpi: Mpi, program: Path, folder: Path | None, *words: str, **settings: str) -> Any:
    return mpi.run(2, program, *words, profile=folder, preload=folder is not None, **settings)


@BOTH
@pytest.mark.parametrize("depth", ["16", "0"])
def test_calls_of_an_mpi_program_are_known_by_region(tmp_path: Path, mpi: Mpi, depth: str) -> None:
    program = built(tmp_path, mpi.tool("mpicc"))
    plain, done = run(mpi, program, None), run(mpi, program, tmp_path / "profile", WATTLE_CALL_PATHS=depth)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout) == (0, plain.stdout), done.stderr
    assert "levels -8; cali_begin_region(main) Tau_start(set up)" in done.stdout
    judge(tmp_path / "profile", REGIONS, 2)


def test_calls_of_an_openshmem_program_are_known_by_region(tmp_path: Path) -> None:
    program = built(tmp_path, jobs.OSHCC, "-DUSE_SHMEM")
    folder = tmp_path / "profile"
    folder.mkdir()
    said = {}
    for name, settings in (("plain", {}), ("profile", {"WATTLE_PROFILE_DIR": str(folder)})):
        environment = {**jobs.clean_environment(), **settings}
        command = [jobs.OSHRUN, "-n", "2", "--", program]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)
        said[name] = done.stdout
    assert said["plain"] == said["profile"] and "Tau_stop(set up)" in said["plain"]
    judge(folder, OF_SHMEM, 2)


def around_barriers(slices: list[Slice]) -> set[tuple[str, ...]]:
    """The regions around the barriers of a row."""
    found, around = set(), []
    for one in slices:
        while around and around[-1].end <= one.begin:
            around.pop()
        if "arrier" in one.name:
            found.add(tuple(region.name for region in around))
        if one.kind == "region":
            around.append(one)
    return found


def judge_timelines(folder: Path, wanted: set[tuple[str, ...]]) -> None:
    """The barriers of the two threads of each PE lie in the regions that they marked."""
    made = rows(load(folder / "profile"), profile.load(folder, 2), {})
    assert len(made) == 2
    alone = {("in a thread",)}
    for row in made:
        threads = [around_barriers(slices) for slices in (row.slices, *row.others)]
        assert sorted(threads, key=len) == [alone, wanted - alone]


@BOTH
def test_regions_are_in_the_timelines_of_an_mpi_job(tmp_path: Path, mpi: Mpi) -> None:
    program = built(tmp_path, mpi.tool("mpicc"))
    done = run(mpi, program, tmp_path / "profile", WATTLE_TIMELINE="2M")
    assert done.returncode == 0, done.stderr
    judge_timelines(tmp_path, set(REGIONS))


def test_regions_are_in_the_timelines_of_an_openshmem_job(tmp_path: Path) -> None:
    program = built(tmp_path, jobs.OSHCC, "-DUSE_SHMEM")
    folder = tmp_path / "profile"
    folder.mkdir()
    environment = {**jobs.clean_environment(), "WATTLE_PROFILE_DIR": str(folder), "WATTLE_TIMELINE": "2M"}
    subprocess.run([jobs.OSHRUN, "-n", "2", "--", program], env=environment, timeout=120, check=True)
    judge_timelines(tmp_path, set(OF_SHMEM))


def test_regions_of_a_killed_process_are_known(tmp_path: Path) -> None:
    program = built(tmp_path, jobs.OSHCC, "-DUSE_SHMEM")
    folder = tmp_path / "profile"
    folder.mkdir()
    environment = {**jobs.clean_environment(), "WATTLE_PROFILE_DIR": str(folder)}
    subprocess.run([program, "killed"], env=environment, capture_output=True, timeout=120, check=False)
    collect = [HOME / "bin/wattle-profiles", "collect", folder]
    subprocess.run(collect, env=environment, capture_output=True, timeout=300, check=True)
    judge(folder, OF_SHMEM, 1, ended=True)


def test_a_tool_that_the_user_chose_for_nvtx_stays(tmp_path: Path) -> None:
    """Without a library at the given path the program marks nothing by NVTX, as in a plain run."""
    program = built(tmp_path, jobs.OSHCC, "-DUSE_SHMEM")
    folder = tmp_path / "profile"
    folder.mkdir()
    environment = {**os.environ, "WATTLE_PROFILE_DIR": str(folder), "NVTX_INJECTION64_PATH": "/nowhere/tool.so"}
    subprocess.run([program], env=environment, capture_output=True, timeout=120, check=True)
    found = barriers(profile.load(folder, 1))
    assert set(found) == {(), ("main",), ("main", "set up"), ("main", "solve"), ("main", "joules"), ("main", "work")}


def test_the_preload_library_offers_itself_to_nvtx_only_for_a_profile(tmp_path: Path) -> None:
    for folder in ("", str(tmp_path)):
        environment = {**jobs.clean_environment(), "LD_PRELOAD": str(LIBRARY), "WATTLE_PROFILE_DIR": folder}
        command = ["sh", "-c", "echo ${NVTX_INJECTION64_PATH-none}"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
        assert done.stdout.strip() == (str(LIBRARY) if folder else "none")
