"""The launcher's front: its own options, what it passes on, and what it refuses."""

from __future__ import annotations

import os
import shutil
import signal
from itertools import pairwise
from pathlib import Path

import pytest
from jobs import OSHCC, OSHRUN, Job, Result, oshrun, program, run
from mpi_jobs import OPEN_MPI

BOOT = program("boot")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")


def refused(result: Result, code: int, *words: str) -> None:
    assert result.code == code and result.out == "", result
    assert all(word in result.err for word in words), result
    assert len(result.said) == 1, result


def test_help_names_every_option_and_goes_to_stdout() -> None:
    result = run(OSHRUN, "--help")
    assert result.code == 0 and result.err == "", result
    assert all(word in result.out for word in ("-n N", "--settings", "--version", "PROGRAM")), result


def test_version() -> None:
    result = run(OSHRUN, "--version")
    assert result.code == 0 and result.out.startswith("oshrun (Wattle) "), result


def test_settings_lists_names_values_and_help() -> None:
    result = run(OSHRUN, "--settings", env={"SHMEM_SYMMETRIC_SIZE": "3M"})
    assert result.code == 0 and "SHMEM_SYMMETRIC_SIZE=3M" in result.out and "WATTLE_WAIT=adaptive" in result.out, result


@pytest.mark.parametrize("count", ["0", "-1", "x", "", "2x", "1.5", "65537", "99999999999999999999"])
def test_wrong_number_of_pes_is_refused(count: str) -> None:
    refused(run(OSHRUN, "-n", count, BOOT), 64, "-n", "1 to 65536", count)


@pytest.mark.parametrize("words", [["-n=2"], ["-n2"], ["--np=2"], ["-np=2"], ["--np", "2"], ["-n", "5", "--n=2"]])
def test_number_of_pes_in_every_form(words: list[str]) -> None:
    result = run(OSHRUN, *words, BOOT)
    assert result.code == 0 and result.out.count("of 2 good") == 2, result


@pytest.mark.parametrize("word", ["-n=", "--np=x", "-np=0", "-n=2x", "-n2x", "--np=65537"])
def test_wrong_number_of_pes_behind_an_equals_sign_is_refused(word: str) -> None:
    refused(run(OSHRUN, word, BOOT), 64, "-n", "1 to 65536")


@pytest.mark.parametrize(
    "words",
    [["-n"], ["-n", "2"], [], ["--"], ["-n", "2", "--"], ["--mca", "a"], ["--mca"], ["--gmca", "a", "b"], ["-x"]],
)
def test_missing_words_are_refused(words: list[str]) -> None:
    refused(run(OSHRUN, *words), 64)


def test_program_that_is_not_there_is_refused(tmp_path: Path) -> None:
    refused(run(OSHRUN, "-n", "2", tmp_path / "nothing"), 64, "nothing", "no such program")
    refused(run(OSHRUN, "-n", "2", "surely-no-such-program"), 64, "surely-no-such-program")
    refused(run(OSHRUN, "-n", "2", ""), 64, "empty")


def test_program_that_is_a_directory_is_refused(tmp_path: Path) -> None:
    refused(run(OSHRUN, "-n", "2", tmp_path), 64, str(tmp_path), "directory")


def test_program_that_is_not_executable_is_refused(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\n")
    plain.chmod(0o644)
    refused(run(OSHRUN, "-n", "2", plain), 64, str(plain), "not executable")
    refused(run(OSHRUN, "-n", "2", "plain", cwd=tmp_path), 64, "plain", "not executable")


def test_program_of_another_format_is_an_error(tmp_path: Path) -> None:
    odd = tmp_path / "odd"
    odd.write_bytes(b"\x00\x01\x02 this is no program")
    odd.chmod(0o755)
    assert run(OSHRUN, "-n", "2", odd).code != 0


def test_words_after_the_program_are_the_programs() -> None:
    result = oshrun(1, "boot", "--help")
    assert result.code == 0 and "arg=--help" in result.out, result
    result = run(OSHRUN, "-n", "1", "--", BOOT, "--version")
    assert result.code == 0 and "arg=--version" in result.out, result


@pytest.mark.parametrize(
    "option",
    [
        ["-x", "FOO=bar"],
        ["--mca", "mpi_yield_when_idle", "1", "-x", "FOO=bar"],
        ["--gmca", "mpi_yield_when_idle", "1", "-x", "FOO=bar"],
        ["-gmca", "mpi_yield_when_idle", "1", "-x", "FOO=bar"],
        ["-np", "1", "-x", "FOO=bar"],
        ["--bind-to", "none", "-x", "FOO=bar"],
    ],
)
def test_options_go_to_the_launcher(option: list[str]) -> None:
    result = run(OSHRUN, *option, BOOT)
    assert result.code == 0 and "FOO=bar" in result.out, result


def launcher_words(place: Path, *options: str, env: dict[str, str]) -> list[str]:
    """The launcher's arguments, from a launcher that only prints them."""
    (place / "mpirun.openmpi").write_text('#!/bin/sh\nfor word; do echo "$word"; done\n')
    (place / "mpirun.openmpi").chmod(0o755)
    result = run(OSHRUN, *options, BOOT, env={"PATH": f"{place}:/usr/bin:/bin", **env})
    assert result.code == 0, result
    return result.out.splitlines()


def passed_on(words: list[str]) -> list[str]:
    """Without the variable of Open MPI's session, which each job takes from its programs."""
    passed = (after for word, after in pairwise(words) if word == "-x")
    return sorted(name for name in passed if not name.endswith("tmpdir_base="))


def test_settings_go_along_to_other_nodes(tmp_path: Path) -> None:
    env = {"WATTLE_WAIT": "sleep", "SHMEM_DEBUG": "", "SHMEM_OTHER": "a b", "FOO": "bar", "UCX_TLS": "^shm"}
    assert passed_on(launcher_words(tmp_path, env=env)) == ["SHMEM_DEBUG", "SHMEM_OTHER", "UCX_TLS", "WATTLE_WAIT"]
    assert passed_on(launcher_words(tmp_path, env={"FI_PROVIDER": "tcp"})) == ["FI_PROVIDER"]
    options = ["-x", "WATTLE_WAIT", "-x", "SHMEM_DEBUG=1", "-x", "FOO"]
    words = launcher_words(tmp_path, *options, env=env)
    assert passed_on(words) == ["FOO", "SHMEM_DEBUG=1", "SHMEM_OTHER", "UCX_TLS", "WATTLE_WAIT"]
    assert words[-1] == str(BOOT)


PORTS = {"UCX_TCP_PORT_RANGE": "20000-20999"}


def test_fence_names_hosts_ports_and_user() -> None:
    result = run(OSHRUN, "--fence-network", "--host", "10.0.0.5:2,10.0.0.6", "--host", "fd00::7", env=PORTS)
    assert result.code == 0 and result.err == "", result
    assert "ip saddr != { 10.0.0.5, 10.0.0.6 } drop" in result.out and "ip6 saddr != { fd00::7 } drop" in result.out
    assert f"meta skuid != {os.geteuid()} drop" in result.out and result.out.count("tcp dport 20000-20999") == 4, result


@pytest.mark.parametrize("ports", ["", "x", "20000", "20000-", "200-300", "3000-2000", "20000-70000", "2000-3000x"])
def test_fence_without_ports_is_refused(ports: str) -> None:
    result = run(OSHRUN, "--fence-network", "--host", "10.0.0.5", env={"UCX_TCP_PORT_RANGE": ports})
    refused(result, 64, "UCX_TCP_PORT_RANGE", ports)


BY_LIBFABRIC = {"WATTLE_NETWORK": "ofi", "FI_TCP_PORT_LOW_RANGE": "21000", "FI_TCP_PORT_HIGH_RANGE": "21999"}


def test_the_fence_of_libfabric_takes_its_ports() -> None:
    result = run(OSHRUN, "--fence-network", "--host", "10.0.0.5,10.0.0.6", env=PORTS | BY_LIBFABRIC)
    assert result.code == 0 and result.err == "", result
    assert result.out.count("tcp dport 21000-21999") == 3 and "20000" not in result.out, result
    assert "WATTLE_NETWORK=ofi FI_TCP_PORT_LOW_RANGE=21000 FI_TCP_PORT_HIGH_RANGE=21999" in result.out, result


@pytest.mark.parametrize(("low", "high"), [("", "21999"), ("21000", "x"), ("21000", "20000"), ("80", "90")])
def test_the_fence_of_libfabric_without_ports_is_refused(low: str, high: str) -> None:
    env = BY_LIBFABRIC | {"FI_TCP_PORT_LOW_RANGE": low, "FI_TCP_PORT_HIGH_RANGE": high}
    refused(run(OSHRUN, "--fence-network", "--host", "10.0.0.5", env=env), 64, "FI_TCP_PORT_LOW_RANGE", low, high)


def test_fence_without_hosts_is_refused() -> None:
    refused(run(OSHRUN, "--fence-network", env=PORTS), 64, "--host")
    refused(run(OSHRUN, "--fence-network", "--host", "no.such.host.invalid", env=PORTS), 64, "no.such.host.invalid")
    refused(run(OSHRUN, "--fence-network", "--host", "a[1-3]", env=PORTS), 64, "one by one")
    refused(run(OSHRUN, "--fence-network", "--host", "::1,[::2]", env=PORTS), 64, "[::2]", "IPv6", "without brackets")


def test_settings_stay_where_the_launcher_has_its_own_list_of_variables(tmp_path: Path) -> None:
    env = {"WATTLE_WAIT": "sleep"}
    assert passed_on(launcher_words(tmp_path, env={**env, "OMPI_MCA_mca_base_env_list": "FOO"})) == []
    assert passed_on(launcher_words(tmp_path, "--mca", "mca_base_env_list", "FOO", env=env)) == []


def test_settings_reach_the_program_whatever_their_value() -> None:
    env = {"SHMEM_A": "x;y,z=w 'q'", "SHMEM_E": "", "WATTLE_PROFILE_DIR": ""}
    result = run(OSHRUN, "-n", "1", "sh", "-c", 'echo "$SHMEM_A|${SHMEM_E-unset}"', env=env)
    assert result.code == 0 and result.out.strip() == "x;y,z=w 'q'|", result


def test_working_directory_option_moves_the_program() -> None:
    result = run(OSHRUN, "-n", "2", "--wdir", BOOT.parent, "./boot", cwd=Path("/"))
    assert result.code == 0 and result.out.count("good") == 2, result


def test_two_programs_in_one_job() -> None:
    result = run(OSHRUN, "-n", "1", BOOT, "first", ":", "-n", "2", BOOT, "second")
    assert result.code == 0 and result.out.count("arg=second") == 2 and result.out.count("of 3 good") == 3, result


def test_stdin_goes_to_pe_0_and_stdout_of_all_comes_back() -> None:
    result = oshrun(3, "boot", stdin=b"a line of input\n")
    assert result.code == 0 and "PE 0 of 3 good stdin=a line of input" in result.out, result
    assert result.out.count("good") == 3, result


def test_very_many_arguments_arrive() -> None:
    result = run(OSHRUN, "-n", "1", BOOT, "x y'z\"$HOME", *["word"] * 2000)
    assert result.code == 0 and "arg=x y'z\"$HOME" in result.out, result


def test_spaces_and_quotes_in_paths(tmp_path: Path) -> None:
    place = tmp_path / "a place; with 'quotes' & spaces"
    place.mkdir()
    shutil.copy(BOOT, place / "my program")
    result = run(OSHRUN, "-n", "2", place / "my program", cwd=place)
    assert result.code == 0 and result.out.count("good") == 2, result
    result = run(OSHRUN, "-n", "2", "./my program", cwd=place)
    assert result.code == 0 and result.out.count("good") == 2, result


@needs_root
def test_directory_that_may_not_be_written_to(tmp_path: Path) -> None:
    place = Path("/proc/self")  # no user, root included, can write there
    result = run(OSHRUN, "-n", "2", BOOT, cwd=place, user="nobody")
    assert result.code == 0 and result.out.count("good") == 2, result


def test_without_path() -> None:
    result = run(OSHRUN, "-n", "2", BOOT, bare_env=True)
    assert result.code == 0 and result.out.count("good") == 2, result


def test_without_a_launcher_the_error_names_the_remedy(tmp_path: Path) -> None:
    for name in ("sh", "true"):
        (tmp_path / name).symlink_to(shutil.which(name) or f"/bin/{name}")
    refused(run(OSHRUN, "-n", "2", BOOT, env={"PATH": str(tmp_path)}), 69, "no launcher", "openmpi-bin")
    (tmp_path / "mpirun.openmpi").mkdir()
    refused(run(OSHRUN, "-n", "2", BOOT, env={"PATH": str(tmp_path)}), 69, "no launcher")
    mpich = tmp_path / "mpirun"
    mpich.write_text("#!/bin/sh\necho HYDRA build details\n")
    mpich.chmod(0o755)
    refused(run(OSHRUN, "-n", "2", BOOT, env={"PATH": str(tmp_path)}), 69, "no launcher")


def test_oshrun_under_another_name_of_mpirun(tmp_path: Path) -> None:
    place = tmp_path / "bin with spaces"
    place.mkdir()
    real = shutil.which("mpirun.openmpi")
    if not real:
        pytest.skip("no mpirun.openmpi here")
    (place / "mpirun").write_text(f'#!/bin/sh\nexec {real} "$@"\n')
    (place / "mpirun").chmod(0o755)
    (place / "sh").symlink_to("/bin/sh")
    result = run(OSHRUN, "-n", "2", BOOT, env={"PATH": str(place)})
    assert result.code == 0 and result.out.count("good") == 2, result


def test_exit_code_passes_through() -> None:
    result = run(OSHRUN, "-n", "2", "sh", "-c", "exit 42")
    assert result.code == 42, result


def test_signal_that_does_not_kill_reaches_the_program(tmp_path: Path) -> None:
    script = "trap 'echo caught; exit 0' USR1; echo ready; while :; do sleep 0.05; done"
    with Job([OSHRUN, "-n", "2", "sh", "-c", script]) as job:
        job.until_said("ready", 2)
        os.kill(job.process.pid, signal.SIGUSR1)
        result = job.wait()
        assert result.code == 0 and result.out.count("caught") == 2, result


def test_compiler_wrapper_and_oshrun_from_a_path_with_spaces(tmp_path: Path) -> None:
    source = tmp_path / "a program.c"
    source.write_text("#include <shmem.h>\nint main(void){shmem_init();shmem_finalize();return 0;}\n")
    assert run(OSHCC, source, "-o", tmp_path / "a program", clean=False).code == 0
    assert run(OSHRUN, "-n", "2", "a program", cwd=tmp_path).code == 0


def test_launcher_that_waits_for_itself_is_ended(tmp_path: Path) -> None:
    """Open MPI does that when a PE dies while it joins the job."""
    (tmp_path / "mpirun.openmpi").symlink_to(program("stuck"))
    result = run(OSHRUN, "-n", "2", BOOT, env={"PATH": str(tmp_path)})
    assert result.code == 137 and len(result.said) == 1 and "does not end" in result.said[0], result


def test_launcher_that_waits_for_a_slow_reader_is_left_alone() -> None:
    """The PEs are gone long before their output has been read."""
    print_much = "i=0; while [ $i -lt 40000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done"
    reader = f"'{OSHRUN}' -n 1 sh -c '{print_much}' | (sleep 3; wc -l)"
    result = run("sh", "-c", reader)
    assert result.code == 0 and result.out.strip() == "40000" and result.err == "", result


MPI_PROGRAM = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d\\n", rank);
  return MPI_Finalize();
}
"""


def test_every_part_of_a_job_may_start_mpi(tmp_path: Path) -> None:
    """Open MPI's MPI_Init refuses the variable by which oshrun names the session's folder to mpirun."""
    OPEN_MPI.require(compiler=True)
    (tmp_path / "ranks.c").write_text(MPI_PROGRAM)
    ranks = tmp_path / "ranks"
    assert run(OPEN_MPI.compiler, str(tmp_path / "ranks.c"), "-o", str(ranks)).code == 0
    result = run(OSHRUN, "-n", "2", str(ranks), ":", "-n", "1", str(ranks), env={"WATTLE_LAUNCHER": "openmpi"})
    assert result.code == 0 and sorted(result.out.split("\n")) == ["", "rank 0", "rank 1", "rank 2"], result
