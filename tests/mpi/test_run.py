"""`wattle run --mpi`, and what the library does where it can do little."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import fakes
import jobs
import loaded
import pytest
from jobs import HOME, clean_environment, run_again
from mpi_jobs import AS_ROOT, returns_from_abort
from preload import BOTH, EITHER, ENVIRONMENT, LIBRARY, MPICH, OPEN_MPI, Mpi, profiles
from tree import PACKAGE


def wattle(*words: object, cwd: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {**clean_environment(), **ENVIRONMENT, **settings, "WATTLE_HOME": str(HOME)}
    return loaded.wattle(*words, environment={**environment, "PYTHONPATH": str(PACKAGE)}, folder=cwd)


@BOTH
def test_a_run_shows_processes_sites_and_modelled_joules(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.compile("sums.c", tmp_path)
    words = ["run", "--mpi", "--meter", "model", "-o", tmp_path / "run", "--json", "--", mpi.tool("mpirun"), "-n", 3]
    done = wattle(*words, program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
    pes = profiles(tmp_path / "run/profile")
    assert json.loads((tmp_path / "run/manifest.json").read_text())["n_pes"] == len(pes) == 3
    assert {pe["api"] for pe in pes} == {"mpi"}
    for pe in pes:
        assert sum(pe["state_s"].values()) <= pe["wall_s"] * 1.001 + 1e-6
        for joules in pe["joules"]:
            assert joules["provenance"] == "modelled"
            assert joules["uncertainty"] is not None
    node = next(pe["node"] for pe in pes if pe["node"])
    for all_of_it, idle in zip(node["joules"], node["idle"], strict=True):
        parts = [j["joules"] for pe in pes for j in pe["joules"] if j["domain"] == all_of_it["domain"]]
        assert abs(sum(parts) + idle["joules"] - all_of_it["joules"]) <= 1e-6 * all_of_it["joules"]


@pytest.mark.parametrize("launcher", [OPEN_MPI, MPICH, "oshrun"], ids=str)
@pytest.mark.parametrize(
    "between", [pytest.param(";", marks=pytest.mark.soak), "&"], ids=["one-after-the-other", "at-once"]
)
def test_each_job_of_a_script_has_its_own_profiles(launcher: Mpi | str, between: str, tmp_path: Path) -> None:
    if isinstance(launcher, Mpi):
        programs = [launcher.compile(source, tmp_path) for source in ("sums.c", "ring.c")]
        start = f"{launcher.tool('mpirun')} -n"
    else:
        programs, start = [jobs.program("boot"), jobs.program("ends")], f"{jobs.OSHRUN} -n"
    sizes, ways = {str(programs[0]): 3, str(programs[1]): 2}, "segfault 1" if launcher == "oshrun" else ""
    script = f"{start} 3 {programs[0]} {between} {start} 2 {programs[1]} {ways}; wait; true"
    done = wattle("run", "--mpi", "--json", "-o", "run", "--", "bash", "-c", script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    assert {job["program"]: job["n_pes"] for job in found} == sizes, found
    assert [job["missing"] for job in found] == [[], []], found
    killed = str(programs[1]) if ways else None
    assert {job["program"] for job in found if job["ended"]} == {killed} - {None}, found
    assert [job["shown"] for job in found].count(True) == 1
    for job in found:
        one = wattle("report", "--text", f"run/profile/job-{job['job']}", cwd=tmp_path)
        assert one.returncode == 0 and f"{job['program']} on {job['n_pes']} " in one.stdout, one
    text = " ".join(wattle("report", "--text", "run", cwd=tmp_path).stdout.split())
    shown, other = (next(job["job"] for job in found if job["shown"] is which) for which in (True, False))
    said = f"The command started 2 jobs, and these figures are of job {shown}, the longest one. Give "
    assert said in text and f"run/profile/job-{other} as the directory" in text, text
    assert ("(ended before it finished)" in text) is bool(ways), text
    compared = wattle("compare", "run/profile/job-1", "run/profile/job-2", cwd=tmp_path)
    assert "careful: different numbers of" in compared.stdout, compared
    series = json.loads(wattle("history", "--json", "run/profile/job-1", cwd=tmp_path).stdout)["series"]
    assert len(series) == 1, series


@EITHER
@pytest.mark.parametrize("words", [["-n", 2, "./nope"], ["-n", 2, "./data"], ["--nonsense", "true"], ["-n", 0, "true"]])
def test_a_slip_leaves_no_directory(mpi: Mpi, tmp_path: Path, words: list[object]) -> None:
    (tmp_path / "data").write_text("no program\n")
    done = wattle("run", "--mpi", "--", mpi.tool("mpirun"), *words, cwd=tmp_path)
    assert "No rank left a profile" in done.stderr, done
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_the_launchers_own_options_are_asked_for(tmp_path: Path) -> None:
    done = wattle("run", "--mpi", "-n", 2, "--", "mpirun", "true", cwd=tmp_path)
    assert done.returncode != 0
    assert "wattle run --mpi -- mpirun -n 4 ./program" in " ".join(done.stderr.split())


@EITHER
@pytest.mark.parametrize("flag", [["--mpi"], []], ids=["--mpi", "by-name"])
def test_tables_name_ranks_and_root_needs_no_settings(mpi: Mpi, flag: list[str], tmp_path: Path) -> None:
    program = mpi.compile("sums.c", tmp_path)
    words = [sys.executable, "-m", "wattle", "run", *flag, "-o", "run", "--", mpi.tool("mpirun"), "-n", "2", program]
    settings = {key: value for key, value in ENVIRONMENT.items() if key not in AS_ROOT}
    environment = {**clean_environment(), **settings, "WATTLE_HOME": str(HOME), "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "on 2 ranks" in done.stderr
    assert "By rank" in done.stderr


@EITHER
@pytest.mark.parametrize("options", [["-n", 2], ["--mpi"]], ids=str)
def test_without_a_launcher_a_program_is_not_started(mpi: Mpi, options: list[object], tmp_path: Path) -> None:
    program = mpi.compile("sums.c", tmp_path)
    done = wattle("run", *options, "--", program, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"-n {'N' if '--mpi' in options else 2} {program}`" in done.stderr
    assert not (tmp_path / "wattle-runs").exists()


@BOTH
def test_a_job_that_sigterm_ends_is_143_whatever_its_launcher_says(mpi: Mpi, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    words = [sys.executable, "-m", "wattle", "run", "--mpi", "--", mpi.tool("mpirun"), "-n", 2]
    environment = {**clean_environment(), **ENVIRONMENT, "WATTLE_HOME": str(HOME), "PYTHONPATH": str(PACKAGE)}
    job = subprocess.Popen(
        [*map(str, words), "sh", "-c", f"touch {ready}; exec sleep 60"],
        env=environment,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=fakes.heed_signals,
    )
    fakes.until_there(ready, job)
    job.terminate()
    _, err = job.communicate(timeout=300)
    assert job.returncode == 143, err


@EITHER
def test_a_wrong_setting_ends_the_job_with_its_name(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.compile("sums.c", tmp_path)
    done = mpi.run(2, program, WATTLE_WAIT="never")
    assert done.returncode != 0
    assert "WATTLE_WAIT" in done.stderr


@BOTH
def test_a_program_that_aborts_leaves_its_own_profile_and_exit_code(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.compile("aborts.c", tmp_path)
    plain, done = mpi.run(2, program, preload=False), mpi.run(2, program, profile=tmp_path / "profile")
    assert done.returncode == plain.returncode != 0
    left = profiles(tmp_path / "profile")
    assert [pe["pe"] for pe in left][-1:] == [1]
    assert left[-1]["joules"] == [] or returns_from_abort(mpi.name)


@BOTH
def test_one_thread_ends_the_job_while_others_wait(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.compile("abort_beside.c", tmp_path, "-pthread")
    plain, done = mpi.run(2, program, preload=False), mpi.run(2, program, profile=tmp_path / "profile")
    assert done.returncode == plain.returncode == 9, done
    assert [pe["pe"] for pe in profiles(tmp_path / "profile")][:1] == [0]


@EITHER
def test_of_a_job_without_a_profile_the_number_of_pes_is_unknown(mpi: Mpi, tmp_path: Path) -> None:
    short = "sleep 0.2; exit 14"
    words = ["run", "--mpi", "-o", tmp_path / "run", "--", mpi.tool("mpirun"), "-n", 3, "sh", "-c", short]

    def start() -> subprocess.CompletedProcess[str]:
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        return wattle(*words, cwd=tmp_path)

    # MPICH's mpiexec may end by SIGPIPE where processes end before they have its input
    done = run_again(start, lambda done: done.returncode == 128 + signal.SIGPIPE)
    assert done.returncode == 14, done.stderr
    said = done.stdout + done.stderr
    assert f"'{short}': " in said, said
    assert "No rank left a profile" in said
    assert json.loads((tmp_path / "run/manifest.json").read_text())["n_pes"] is None
    assert "1 rank" not in said + wattle("compare", tmp_path / "run", tmp_path / "run", cwd=tmp_path).stdout
    made = wattle("report", tmp_path / "run", "-o", tmp_path / "page.html", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    page = (tmp_path / "page.html").read_text()
    assert "unknown number of ranks" in page
    assert "no rank left a profile" in page
    assert "rank 0" not in page
    assert "1 rank" not in page


def test_a_run_that_ended_before_it_wrote_its_size_is_read_from_its_profiles(tmp_path: Path) -> None:
    program = OPEN_MPI.compile("sums.c", tmp_path)
    words = ["run", "--mpi", "-o", tmp_path / "run", "--", OPEN_MPI.tool("mpirun"), "-n", 2, program]
    assert wattle(*words, cwd=tmp_path).returncode == 0
    file = tmp_path / "run/manifest.json"
    told = json.loads(file.read_text())
    file.write_text(json.dumps({k: v for k, v in told.items() if k != "nodes"} | {"n_pes": None, "wall_s": None}))
    made = wattle("report", tmp_path / "run", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "rank 1" in (tmp_path / "run/report.html").read_text()


@BOTH
def test_processes_started_by_another_mpis_launcher_are_reported_once(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.compile("sums.c", tmp_path)
    other = MPICH if mpi == OPEN_MPI else OPEN_MPI
    done = other.run(2, program, profile=tmp_path / "profile")
    assert done.returncode == 0, done
    assert len(list((tmp_path / "profile").glob("pe-*.json"))) == 1
    assert done.stderr.count("the launcher started 2 processes, but each runs alone") == 1, done.stderr
    assert "each runs alone" not in mpi.run(1, program, profile=tmp_path / "alone").stderr
    assert "each runs alone" not in mpi.run(2, program, profile=tmp_path / "both").stderr


@BOTH
def test_without_a_module_for_its_mpi_a_program_runs_unchanged_and_this_is_reported_once(
    mpi: Mpi, tmp_path: Path
) -> None:
    program = mpi.compile("sums.c", tmp_path)
    shutil.copy(LIBRARY.with_name("libwattle-mpi_order.so"), tmp_path)
    alone = Path(shutil.copy(LIBRARY, tmp_path))
    done = mpi.run(3, program, preload=False, LD_PRELOAD=str(alone))
    assert (done.returncode, done.stdout) == (0, mpi.run(3, program, preload=False).stdout)
    assert done.stderr.count(f"{alone.with_name(f'libwattle-mpi-{mpi.name}.so')} is missing") == 1, done.stderr
    assert f"Debian: lib{mpi.name}-dev" in done.stderr


def test_a_process_without_mpi_does_not_notice_the_library() -> None:
    environment = {**os.environ, "LD_PRELOAD": str(LIBRARY)}
    done = subprocess.run(["sh", "-c", "echo $((6 * 7))"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", "")
