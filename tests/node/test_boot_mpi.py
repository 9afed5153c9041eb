"""Boot by MPI: programs with and without their own, under MPICH's launcher and Open MPI's, and what cannot be."""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import subprocess
import time
from functools import cache
from pathlib import Path

import pytest
from jobs import END_S, HOME, Job, Result, program, run
from mpi_jobs import AS_ROOT, MPICH, OPEN_MPI, Mpi, loses_codes, mixed_program

BY_MPI = {"WATTLE_BOOT": "mpi", **AS_ROOT}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


def start(mpi: Mpi, n: int, *words: str | Path | int, **env: str) -> Result:
    mpi.require()
    return run(*mpi.start(n, *words), env=AS_ROOT | env)


def good_pes(result: Result, n: int) -> int:
    """How often each PE of n said that it is good: the least of them."""
    return min(result.out.count(f"PE {pe} of {n} good") for pe in range(n))


def booted_by(result: Result) -> set[str]:
    """Lines that the PEs print with SHMEM_DEBUG=1."""
    return set(re.findall(r"started by (\w+)", result.err))


# --- programs without MPI ---


@pytest.mark.parametrize("n", [1, 4])
def test_program_without_mpi_runs_under_mpichs_mpiexec(n: int) -> None:
    result = start(MPICH, n, program("boot"))
    assert result.code == 0 and good_pes(result, n) == 1 and result.err == "", result


def test_several_processes_of_mpichs_mpiexec_boot_by_mpi_and_one_alone_is_one_pe() -> None:
    assert booted_by(start(MPICH, 2, program("boot"), SHMEM_DEBUG="1")) == {"mpi"}
    assert booted_by(start(MPICH, 1, program("boot"), SHMEM_DEBUG="1")) == {"single"}


def test_pmix_that_is_offered_to_mpichs_launcher_is_not_taken_for_the_programs() -> None:
    """Within an allocation of Slurm's, srun starts Hydra's proxies, and the PEs inherit their variables."""
    theirs = {"PMIX_NAMESPACE": "slurm.pmix.1.0", "PMIX_RANK": "0", "PMIX_SERVER_URI41": "1.0;tcp4://127.0.0.1:9"}
    result = start(MPICH, 3, program("boot"), SHMEM_DEBUG="1", **theirs)
    assert result.code == 0 and good_pes(result, 3) == 1 and booted_by(result) == {"mpi"}, result


@pytest.mark.parametrize("n", [1, 5])
def test_program_without_mpi_boots_by_open_mpi_if_set(n: int) -> None:
    result = start(OPEN_MPI, n, program("boot"), SHMEM_DEBUG="1", WATTLE_BOOT="mpi")
    assert result.code == 0 and good_pes(result, n) == 1 and booted_by(result) == {"mpi"}, result


def test_64_pes_start_by_mpi_on_the_cores_there_are() -> None:
    result = start(MPICH, 64, program("boot"))
    assert result.code == 0 and good_pes(result, 64) == 1, result


def test_nested_starts_and_ends_count() -> None:
    result = start(MPICH, 3, program("arena"), 1, 4)
    assert result.code == 0 and result.out.count("good") == 3, result


def test_a_finished_library_starts_again() -> None:
    result = start(MPICH, 3, program("arena"), 2)
    assert result.code == 0 and result.out.count("good") == 6 and result.err == "", result


def test_no_one_waits_for_a_late_pe_by_spinning() -> None:
    """One PE comes 2 s late, once to its first call and once to its last; the others used less than half of that."""
    late = 'case $PMI_RANK in 1) sleep 2;; esac; exec "$@"'
    with Job(MPICH.start(2, "sh", "-c", late, "sh", program("victim"), "after")) as job:
        MPICH.require()
        job.until_said("there", 2)
        used = [cpu_seconds(pid) for pid in job.find("victim")]
        assert len(used) == 2 and max(used) < 1.0, used


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


# --- programs with MPI of their own: S shmem_init, s shmem_finalize, M MPI_Init, m MPI_Finalize, d check both ---

ANY_ORDER = ["MSdsm", "MSdms", "SMdsm", "SMdms", "MdSdsdm", "MSdsSdsm"]
MPI_AFTERWARDS = ["SdsMdm", "SdsMdmSds", "SdsSds", "Sd"]


def holds(result: Result, order: str, n: int) -> None:
    """Every check of every PE was good, and there was no other output."""
    mpi = shmem = False
    checks = {"MPI": 0, "PE": 0}
    for step in order:
        mpi = (mpi or step == "M") and step != "m"
        shmem = (shmem or step == "S") and step != "s"
        if step == "d":
            checks["MPI"] += mpi
            checks["PE"] += shmem
    assert result.code == 0 and "WRONG" not in result.out and result.err == "", result
    assert result.out.count("MPI good") == checks["MPI"] * n, result
    assert good_pes(result, n) == checks["PE"], result


@pytest.mark.parametrize("order", ANY_ORDER + MPI_AFTERWARDS)
def test_mpi_and_shmem_under_mpich_in_any_order(order: str, folder: Path) -> None:
    holds(start(MPICH, 3, mixed_program(MPICH, folder), order), order, 3)


@pytest.mark.parametrize("order", ["MSdsm", "MSdms", "SMdsm", "SMdms", "MdSdsdm", "Sd"])
def test_mpi_and_shmem_under_open_mpi_boot_by_pmix_in_any_order(order: str, folder: Path) -> None:
    holds(start(OPEN_MPI, 3, mixed_program(OPEN_MPI, folder), order), order, 3)
    result = start(OPEN_MPI, 2, mixed_program(OPEN_MPI, folder), order, SHMEM_DEBUG="1")
    assert booted_by(result) == {"pmix"}, result


@pytest.mark.parametrize("order", ["MSdsm", "MSdms", "MdSdsdm", "MSdsSdsm", "SdsSds", "Sd"])
def test_mpi_and_shmem_under_open_mpi_by_mpi_where_mpi_comes_first_or_never(order: str, folder: Path) -> None:
    holds(start(OPEN_MPI, 3, mixed_program(OPEN_MPI, folder), order, WATTLE_BOOT="mpi"), order, 3)


@pytest.mark.parametrize("mpi", [MPICH, OPEN_MPI], ids=lambda mpi: mpi.name)
def test_shmem_after_the_end_of_mpi_is_an_error_that_says_so(mpi: Mpi, folder: Path) -> None:
    result = start(mpi, 2, mixed_program(mpi, folder), "MdmSds", WATTLE_BOOT="mpi")
    assert result.code == 69 or (result.code == 0 and loses_codes(mpi.name)), result
    assert "PE" not in result.out, result
    assert "call shmem_init before MPI_Finalize" in result.err, result


@cache
def leaves_files(mpi: Mpi, folder: Path) -> bool:
    """Does a bare process of this MPI alone leave files behind, as one of Open MPI 5.0 does?"""
    with Job([mixed_program(mpi, folder), "Mm"], env=AS_ROOT) as job:
        job.wait()
        return bool(job.remains())


@pytest.mark.parametrize("mpi", [MPICH, OPEN_MPI], ids=lambda mpi: mpi.name)
@pytest.mark.parametrize("boot", ["auto", "mpi"])
@pytest.mark.parametrize("order", ["Sds", "MSdms"])
def test_program_with_mpi_started_bare_is_one_pe(mpi: Mpi, boot: str, order: str, folder: Path) -> None:
    clean = not leaves_files(mpi, folder)
    holds(run(mixed_program(mpi, folder), order, clean=clean, env=AS_ROOT | {"WATTLE_BOOT": boot}), order, 1)


# --- ends ---


@pytest.mark.parametrize(("way", "code"), [("global_exit_7", 7), ("global_exit_0", 0), ("exit_3", 3)])
@pytest.mark.parametrize("mpi", [MPICH, OPEN_MPI], ids=lambda mpi: mpi.name)
def test_one_pe_ends_the_job_with_its_status_while_others_wait(mpi: Mpi, way: str, code: int) -> None:
    result = start(mpi, 3, program("ends"), way, 1, WATTLE_BOOT="mpi")
    least = 1 if mpi == MPICH else 3  # Hydra may drop what those that it kills said last
    assert result.code == code and least <= result.out.count("lives") <= 3, result


@pytest.mark.parametrize("way", ["_exit_4", "abort", "segfault"])
def test_one_pe_that_dies_ends_the_job(way: str) -> None:
    """Hydra mixes the statuses of the processes that it then kills into its own, so the failure is unknown. It may also
    drop their last output."""
    result = start(MPICH, 3, program("ends"), way, 1)
    assert result.code != 0 and 1 <= result.out.count("lives") <= 3, result


def test_all_pes_call_global_exit() -> None:
    assert start(MPICH, 3, program("ends"), "global_exit_7").code == 7


def test_global_exit_beyond_8_bits_is_not_success() -> None:
    assert start(MPICH, 2, program("ends"), "global_exit_300", 0).code == 300 & 255


@pytest.mark.parametrize(("way", "code"), [("return", 0), ("exit_0", 0), ("finalize", 0), ("finalize_5", 5)])
@pytest.mark.parametrize("mpi", [MPICH, OPEN_MPI], ids=lambda mpi: mpi.name)
def test_end_in_good_order_has_the_programs_exit_code(mpi: Mpi, way: str, code: int) -> None:
    result = start(mpi, 2, program("ends"), way, WATTLE_BOOT="mpi")
    assert result.code == code and result.out.count("lives") == 2, result


@pytest.mark.parametrize("order", ["Sx", "SMx", "MSx", "MSmx"])
def test_status_of_a_program_with_mpi_is_kept_wherever_mpi_stands(order: str, folder: Path) -> None:
    result = start(MPICH, 3, mixed_program(MPICH, folder), order)
    assert result.code == 7, result


# --- the launcher's end ---


def ends_badly(job: Job) -> None:
    begin = time.monotonic()
    job.all_gone(END_S)
    code = job.wait(max(0.1, END_S - (time.monotonic() - begin))).code
    assert code != 0 or loses_codes(Path(job.command[0]).suffix[1:])


PLACES = ("before", "compute", "barrier", "wait", "finalize", "after")
OF_PROXY = (("hydra_pmi_proxy", place) for place in ("barrier", "finalize"))


@pytest.mark.parametrize(("who", "place"), [*(("mpiexec", place) for place in PLACES), *OF_PROXY])
def test_pes_do_not_outlive_mpichs_launcher(who: str, place: str) -> None:
    MPICH.require()
    with Job(MPICH.start(2, program("victim"), place)) as job:
        job.until_said("there", 1 if place == "finalize" else 2)
        job.signal(job.find(who)[0])
        ends_badly(job)


@pytest.mark.parametrize("who", ["mpiexec", "hydra_pmi_proxy"])
def test_pes_started_through_a_shell_do_not_outlive_mpichs_launcher(who: str) -> None:
    MPICH.require()
    wrapped = f"true; {shlex.quote(str(program('victim')))} barrier; exit $?"
    with Job(MPICH.start(2, "sh", "-c", wrapped)) as job:
        job.until_said("there", 2)
        job.signal(job.find(who)[0])
        job.until(lambda: not job.find("victim"), "the end of the PEs")


@pytest.mark.parametrize("which", [0, 1])
def test_one_pe_killed_ends_the_job(which: int) -> None:
    MPICH.require()
    with Job(MPICH.start(2, program("victim"), "barrier")) as job:
        job.until_said("there", 2)
        job.signal(job.find("victim")[which])
        ends_badly(job)


@pytest.mark.parametrize("place", ["compute", "barrier", "finalize"])
def test_pes_booted_by_open_mpi_end_with_it_and_leave_nothing(place: str) -> None:
    OPEN_MPI.require()
    with Job(OPEN_MPI.start(2, program("victim"), place), env=BY_MPI) as job:
        job.until_said("there", 1 if place == "finalize" else 2)
        job.signal(job.launchers()[0])
        ends_badly(job)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_to_mpichs_launcher_ends_the_job(number: signal.Signals) -> None:
    """With which exit code is Hydra's affair; 0 is among them."""
    MPICH.require()
    with Job(MPICH.start(2, program("victim"), "barrier")) as job:
        job.until_said("there", 2)
        job.signal(job.find("mpiexec")[0], number)
        job.all_gone()


# --- what cannot be ---


def refused(result: Result, *words: str) -> None:
    assert result.code == 69 and "good" not in result.out, result
    assert result.said and all(word in result.said[0] for word in words), result


def test_boot_named_mpi_without_any_is_an_error() -> None:
    refused(run(program("boot"), env={"WATTLE_BOOT": "mpi"}), "WATTLE_BOOT=mpi", "not linked with an MPI", "mpiexec")


def test_a_launcher_that_serves_no_pe_is_an_error() -> None:
    refused(run(program("boot"), env={"PMI_SIZE": "4", "PMI_RANK": "0"}), "PMI_SIZE=4", "mpiexec")


def test_program_with_another_mpi_than_the_launchers_is_an_error_that_names_it(folder: Path) -> None:
    result = start(MPICH, 2, mixed_program(OPEN_MPI, folder), "Sd")
    refused(result, "MPICH's mpiexec", "Open MPI v")


def test_promise_that_mpi_does_not_keep_is_an_error_that_names_the_mpi(folder: Path) -> None:
    result = start(OPEN_MPI, 2, mixed_program(MPICH, folder), "Sd", WATTLE_BOOT="mpi")
    refused(result, "OMPI_COMM_WORLD_SIZE=2", "Open MPI's mpirun started 2", "boot by mpi finds 1", "MPICH")


@pytest.mark.parametrize("boot", ["auto", "mpi"])
def test_module_that_is_missing_is_named(boot: str, tmp_path: Path) -> None:
    for library in (HOME / "lib").glob("libwattle*.so*"):
        if "boot-mpi" not in library.name:
            shutil.copy(library, tmp_path, follow_symlinks=False)
    result = start(MPICH, 2, program("boot"), WATTLE_BOOT=boot, LD_LIBRARY_PATH=str(tmp_path))
    refused(result, "libwattle-boot-mpi-mpich.so", "WTL_MPICC")


def test_runtime_itself_is_linked_with_no_mpi() -> None:
    needed = subprocess.run(["ldd", HOME / "lib/libwattle-shmem.so"], capture_output=True, text=True, check=True).stdout
    assert "libmpi" not in needed
