"""How PEs find each other, and what is no job at all."""

from __future__ import annotations

import json
import os
import re
import shutil
import uuid
from pathlib import Path

import pytest
from jobs import HOME, OSHRUN, Job, Result, launcher_crashed, oshrun, program, run, run_again

MPIRUN = shutil.which("mpirun.openmpi")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
needs_mpirun = pytest.mark.skipif(not MPIRUN, reason="no mpirun.openmpi here")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")


def good_pes(text: str) -> list[str]:
    return sorted(line.split(" stdin")[0] for line in text.splitlines() if " good" in line)


@pytest.mark.parametrize("n", [1, 2, 3, 16])
def test_oshrun_starts_that_many_pes(n: int) -> None:
    result = oshrun(n, "boot")
    assert result.code == 0, result
    assert good_pes(result.out) == sorted(f"PE {pe} of {n} good" for pe in range(n)), result
    assert result.err == "", result


def test_64_pes_run_on_the_cores_there_are() -> None:
    result = oshrun(64, "boot")
    assert result.code == 0 and len(good_pes(result.out)) == 64, result


def test_64_pes_stay_alive_while_they_wait() -> None:
    """The launcher starts many processes from threads of its own; the end of such a thread must not end the PEs."""
    with Job([OSHRUN, "-n", "64", program("victim"), "barrier"]) as job:
        job.until_said("there", 64)
        with pytest.raises(AssertionError, match="hangs"):
            job.wait(1.0)
        assert len(job.find("victim")) == 64


@needs_mpirun
def test_plain_mpirun_starts_the_same_job() -> None:
    result = run(MPIRUN, "--oversubscribe", "-n", "3", program("boot"), env=AS_ROOT)
    assert result.code == 0 and len(good_pes(result.out)) == 3, result


def test_bare_program_is_one_pe() -> None:
    result = run(program("boot"))
    assert result.code == 0 and good_pes(result.out) == ["PE 0 of 1 good"], result


def test_bare_program_needs_no_environment() -> None:
    result = run(program("boot"), bare_env=True)
    assert result.code == 0 and good_pes(result.out) == ["PE 0 of 1 good"], result


PROMISES = [
    ("PMI_SIZE", "PMI_RANK", "mpiexec"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun"),
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "mpirun"),
]


@pytest.mark.parametrize(
    ("size_name", "rank_name", "launcher", "rank"), [(*p, "0") for p in PROMISES] + [(*PROMISES[0], "1")]
)
def test_broken_promise_of_a_launcher_is_an_error_on_each_process(
    size_name: str, rank_name: str, launcher: str, rank: str
) -> None:
    result = run(program("boot"), env={size_name: "4", rank_name: rank})
    assert result.code == 69, result
    assert result.out == "", result
    assert len(result.said) == 1 and f"{size_name}=4" in result.said[0] and launcher in result.said[0], result


@pytest.mark.parametrize(("size_name", "rank_name", "launcher"), PROMISES)
def test_kept_promise_is_no_error(size_name: str, rank_name: str, launcher: str) -> None:
    result = run(program("boot"), env={size_name: "1", rank_name: "0"})
    assert result.code == 0, result


def test_boot_named_single_under_a_launcher_of_two_is_an_error() -> None:
    result = oshrun(2, "boot", env={"WATTLE_BOOT": "single"})
    assert result.code == 69 and "good" not in result.out, result


def test_boot_named_pmix_without_a_launcher_is_an_error() -> None:
    result = run(program("boot"), env={"WATTLE_BOOT": "pmix"})
    assert result.code == 69 and result.out == "", result
    assert len(result.said) == 1 and "WATTLE_BOOT=pmix" in result.said[0], result


def test_pmix_server_that_is_gone_is_an_error_not_a_hang() -> None:
    gone = {
        "PMIX_NAMESPACE": "1",
        "PMIX_RANK": "0",
        "PMIX_SERVER_URI41": "1.0;tcp4://127.0.0.1:9",
        "PMIX_HOSTNAME": "h",
    }
    result = run(program("boot"), env=gone)
    assert result.code == 69 and result.out == "" and len(result.said) == 1, result


def test_heap_sizes_that_differ_are_an_error_that_names_pes_and_sizes() -> None:
    app = [program("boot")]
    command = [
        OSHRUN,
        "-n",
        "1",
        "-x",
        "SHMEM_SYMMETRIC_SIZE=1M",
        *app,
        ":",
        "-n",
        "1",
        "-x",
        "SHMEM_SYMMETRIC_SIZE=2M",
        *app,
    ]
    result = run(*command)
    assert result.code == 78 and "good" not in result.out, result
    (line,) = result.said
    assert all(word in line for word in ("PE 1", "PE 0", "1048576", "2097152", "SHMEM_SYMMETRIC_SIZE")), line


def test_statics_on_one_pe_only_are_an_error() -> None:
    app = [program("boot")]
    result = run(OSHRUN, "-n", "1", *app, ":", "-n", "1", "-x", "WATTLE_STATICS=off", *app)
    assert result.code == 78 and "WATTLE_STATICS" in result.said[0], result


def test_wrong_setting_of_one_pe_alone_is_reported() -> None:
    app = [program("boot")]
    result = run(OSHRUN, "-n", "1", *app, ":", "-n", "1", "-x", "WATTLE_WAIT=never", *app)
    assert result.code == 78 and any("WATTLE_WAIT=never" in line for line in result.said), result


def test_nested_starts_and_ends_count() -> None:
    result = oshrun(3, "arena", 1, 4)
    assert result.code == 0 and result.out.count("good") == 3, result


def test_bare_program_may_start_again_after_its_end() -> None:
    result = run(program("arena"), "5")
    assert result.code == 0 and result.out.count("good") == 5, result


def test_a_finished_library_starts_again() -> None:
    result = oshrun(3, "arena", 2)
    assert result.code == 0 and result.out.count("good") == 6 and result.err == "", result


@needs_root
def test_ordinary_user_can_run_a_job(tmp_path: Path) -> None:
    result = run(OSHRUN, "-n", "2", program("boot"), user="nobody", cwd=Path("/"))
    assert result.code == 0 and len(good_pes(result.out)) == 2, result


@pytest.mark.parametrize("size", ["65536", "100000", "3M", "64G"])
def test_heap_may_have_any_size_allowed(size: str) -> None:
    result = oshrun(2, "boot", env={"SHMEM_SYMMETRIC_SIZE": size})
    assert result.code == 0 and len(good_pes(result.out)) == 2, result


def test_heap_larger_than_the_address_space_is_an_error() -> None:
    result = oshrun(16, "boot", env={"SHMEM_SYMMETRIC_SIZE": "16T"})
    assert result.code != 0 and "SHMEM_SYMMETRIC_SIZE" in result.err, result
    # Open MPI's mpirun with PMIx 4.2.2 breaks at its own end (PMIx_server_finalize) once in a while, when a job of many
    # ends while it begins on a busy machine: 4 times of 60 here.
    assert result.code != 139 or "the launcher was ended by signal 11" in result.err, result


def test_limit_on_memory_is_an_error_that_says_so() -> None:
    result = run("sh", "-c", f"ulimit -v 400000; exec '{program('boot')}'")
    assert result.code == 71 and len(result.said) == 1 and "SHMEM_SYMMETRIC_SIZE" in result.said[0], result


def test_limit_on_file_size_is_an_error_that_says_so() -> None:
    result = run("sh", "-c", f"ulimit -f 1000; exec '{program('boot')}'")
    assert result.code == 71 and len(result.said) == 1 and "ulimit -f" in result.said[0], result


def test_home_of_the_tests_is_the_one_named() -> None:
    assert OSHRUN.is_relative_to(HOME)


def with_odd_pmix(kind: str, n: int, *command: str | Path, **env: str) -> Result:
    """A job whose PMIx answers in another of the ways its interface allows: programs/odd_pmix.c."""
    preload = [f"LD_PRELOAD={program('libodd_pmix.so')}", f"ODD_PMIX={kind}"]
    result = run(OSHRUN, "-n", str(n), "env", *preload, *(command or [program("boot")]), env=env)
    assert f"odd: {kind}" in result.err, result
    return result


def test_a_pmix_that_names_a_pe_beyond_the_job_is_an_error() -> None:
    result = with_odd_pmix("beyond", 2)
    assert result.code != 0 and "no list of PEs 0 to 1" in result.err, result


def test_pmix_that_registers_no_handler_is_an_error_and_not_a_hang() -> None:
    result = with_odd_pmix("refuse", 2)
    assert result.code != 0 and "good" not in result.out and "loss of the launcher" in result.err, result


@pytest.mark.parametrize("kind", ["handled", "fence"])
def test_pmix_that_is_done_at_once_is_a_success(kind: str) -> None:
    result = with_odd_pmix(kind, 3)
    assert result.code == 0 and len(good_pes(result.out)) == 3 and result.said == [], result


def test_a_pe_ends_where_the_launcher_does_not_answer_that_it_ends_the_job() -> None:
    result = with_odd_pmix("mute", 2, program("ends"), "global_exit_7", "1")
    assert result.code == 7, result


def test_few_pes_of_a_node_leave_at_a_time(tmp_path: Path) -> None:
    """PMIx's goodbye has a limit of 2 s, and a job in which one runs into it has failed: as many did."""

    def start() -> Result:
        place = tmp_path / uuid.uuid4().hex
        place.mkdir()
        return with_odd_pmix("crowd", 16, ODD_PMIX_PLACE=str(place))

    result = run_again(start, launcher_crashed)
    leaving = [int(n) for n in re.findall(r"leaving: (\d+)", result.err)]
    assert result.code == 0 and len(leaving) == 16 and max(leaving) <= 4, result


def test_the_lowest_pe_of_a_node_reads_its_meter_in_whatever_order_pmix_names_them(tmp_path: Path) -> None:
    result = with_odd_pmix("peers", 3, WATTLE_PROFILE_DIR=str(tmp_path))
    assert result.code == 0 and len(good_pes(result.out)) == 3, result
    readers = [json.loads(path.read_text())["node"] is not None for path in sorted(tmp_path.glob("*.json"))]
    assert readers == [True, False, False]
