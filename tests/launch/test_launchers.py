"""Which launcher oshrun takes, and that it says the same to each of them in its own words."""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import signal
import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from jobs import OSHRUN, Job, Result, program, require_reachable, run, run_again
from mpi_jobs import MPICH, loses_codes
from nodes_of_test import by_mpich
from wattle.machine.nodes import Nodes, unavailable

BOOT = program("boot")
FAKES = {  # the version that each prints
    "srun": ("--mpi=list", "MPI plugin types are...\n\tnone\n\tpmix\nspecific pmix plugin versions available: pmix_v4"),
    "mpirun.openmpi": ("--version", "mpirun.openmpi (OpenRTE) 4.1.4"),
    "prterun": ("--version", "prterun (PRRTE) 3.0.0"),
    "mpirun": ("--version", "mpirun (Open MPI) 4.1.4"),
    "mpiexec.hydra": ("--version", "HYDRA build details:"),
    "mpiexec": ("--version", "HYDRA build details:"),
}
ALLOCATION = {
    "SLURM_JOB_ID": "7",
    "SLURM_JOB_NUM_NODES": "2",
    "SLURM_JOB_CPUS_PER_NODE": "4(x2)",
    "WATTLE_LAUNCHER": "auto",
}
HYDRA = shutil.which("mpiexec.hydra")
needs_mpich = pytest.mark.skipif(not HYDRA, reason="no mpiexec.hydra here (Debian: apt install mpich)")


def fake(place: Path, *names: str, says: str | None = None) -> Path:
    """A folder with launchers that say who they are, and nothing else."""
    for name in names:
        option, text = FAKES[name]
        script = f'#!/bin/sh\n[ "$1" = {option} ] && echo "{text if says is None else says}" && exit\nexit 1\n'
        (place / name).write_text(script)
        (place / name).chmod(0o755)
    return place


def dry(place: Path, *words: object, env: dict[str, str] | None = None) -> Result:
    """`oshrun --dry-run` where there are no other launchers than those in `place`."""
    return run(OSHRUN, "--dry-run", *map(str, words), env={"PATH": str(place), **(env or {})})


def line(place: Path, *words: object, env: dict[str, str] | None = None) -> list[str]:
    """The launcher's words, without variables that are set for it."""
    result = dry(place, *words, env=env)
    assert result.code == 0 and result.err == "", result
    found = shlex.split(result.out)
    while "/" not in found[0].split("=")[0]:
        found.pop(0)
    return found


def said(place: Path, *words: object) -> list[str]:
    """The words between the launcher's name and the program."""
    found = line(place, *words, BOOT)
    assert found.pop() == str(BOOT)
    return found[1:]


# --- which one ---

CHOICES = [
    (["srun", "mpirun.openmpi", "mpiexec.hydra"], False, "mpirun.openmpi"),
    (["srun", "mpirun.openmpi", "mpiexec.hydra"], True, "srun"),
    (["mpirun.openmpi", "mpiexec.hydra"], True, "mpirun.openmpi"),
    (["mpiexec.hydra"], True, "mpiexec.hydra"),
    (["srun", "mpiexec.hydra"], False, "mpiexec.hydra"),
    (["prterun", "mpirun"], False, "prterun"),
    (["mpirun", "mpiexec"], False, "mpirun"),
    (["mpiexec"], False, "mpiexec"),
]


@pytest.mark.parametrize(("there", "allocated", "taken"), CHOICES)
def test_which_launcher_is_taken(tmp_path: Path, there: list[str], allocated: bool, taken: str) -> None:
    fake(tmp_path, *there)
    assert line(tmp_path, BOOT, env=ALLOCATION if allocated else {})[0] == str(tmp_path / taken)


def test_srun_that_offers_no_pmix_is_not_taken(tmp_path: Path) -> None:
    fake(tmp_path, "srun", says="MPI plugin types are...\n\tnone\n\tpmi2")
    fake(tmp_path, "mpirun.openmpi")
    assert line(tmp_path, BOOT, env=ALLOCATION)[0] == str(tmp_path / "mpirun.openmpi")
    result = dry(tmp_path, "--launcher", "srun", BOOT)
    assert result.code == 69 and "offers pmix" in result.said[0] and "slurm-client" in result.said[0], result


@pytest.mark.parametrize(("name", "says"), [("mpiexec", "mpiexec (OpenRTE) 4.1.4"), ("mpirun", "HYDRA build details:")])
def test_program_of_another_kind_is_not_taken_for_a_launcher(tmp_path: Path, name: str, says: str) -> None:
    fake(tmp_path, name, says=says)
    result = dry(tmp_path, BOOT)
    assert result.code == 69 and len(result.said) == 1 and "no launcher" in result.said[0], result


@pytest.mark.parametrize(
    ("name", "taken"), [("openmpi", "mpirun.openmpi"), ("mpich", "mpiexec.hydra"), ("srun", "srun")]
)
def test_launcher_can_be_named(tmp_path: Path, name: str, taken: str) -> None:
    fake(tmp_path, "srun", "mpirun.openmpi", "mpiexec.hydra")
    wanted = str(tmp_path / taken)
    assert line(tmp_path, "--launcher", name, BOOT, env=ALLOCATION)[0] == wanted
    assert line(tmp_path, "-n", 3, f"--launcher={name}", BOOT)[0] == wanted
    assert line(tmp_path, BOOT, env={"WATTLE_LAUNCHER": name})[0] == wanted
    other = "mpich" if name == "openmpi" else "openmpi"
    assert line(tmp_path, "--launcher", name, BOOT, env={"WATTLE_LAUNCHER": other})[0] == wanted
    assert line(tmp_path, "--launcher", "auto", BOOT, env={"WATTLE_LAUNCHER": name})[0].endswith("/mpirun.openmpi")


def test_launcher_of_an_unknown_name_is_refused(tmp_path: Path) -> None:
    result = dry(fake(tmp_path, "mpirun.openmpi"), "--launcher", "pbs", BOOT)
    assert result.code == 64 and "--launcher pbs: openmpi, mpich, srun or auto" in result.said[0], result
    result = dry(tmp_path, BOOT, env={"WATTLE_LAUNCHER": "pbs"})
    assert result.code == 78 and "WATTLE_LAUNCHER=pbs" in result.said[0], result


@pytest.mark.parametrize(
    ("name", "package"), [("openmpi", "openmpi-bin"), ("mpich", "mpich"), ("srun", "slurm-client")]
)
def test_named_launcher_that_is_not_there_is_an_error_that_names_the_remedy(
    tmp_path: Path, name: str, package: str
) -> None:
    others = {"mpirun.openmpi", "mpiexec.hydra"} - {"openmpi": {"mpirun.openmpi"}, "mpich": {"mpiexec.hydra"}}.get(
        name, set()
    )
    result = dry(fake(tmp_path, *others), "--launcher", name, BOOT)
    assert result.code == 69 and len(result.said) == 1 and f"apt install {package})" in result.said[0], result


def test_without_any_launcher_all_that_would_do_are_named(tmp_path: Path) -> None:
    result = dry(tmp_path, BOOT)
    assert result.code == 69 and "openmpi-bin or mpich)" in result.said[0] and "srun" not in result.said[0], result
    result = dry(tmp_path, BOOT, env=ALLOCATION)
    assert result.code == 69 and "slurm-client or openmpi-bin or mpich)" in result.said[0], result


# --- in its own words ---


def contains(words: list[str], wanted: str) -> bool:
    """Do the words of `wanted` follow one another?"""
    part = wanted.split()
    return any(words[i : i + len(part)] == part for i in range(len(words)))


@pytest.mark.parametrize(
    ("options", "openmpi", "mpich", "srun"),
    [
        ("-n 3", "-n 3", "-n 3", "--ntasks=3"),
        ("--np=3", "-n 3", "-n 3", "--ntasks=3"),
        ("--host a,b -n 4", "--host a,b", "-hosts a,b", "--nodes=2 --nodelist=a,b"),
        ("-H a -H b -n 4", "--host a,b", "-hosts a,b", "--nodes=2 --nodelist=a,b"),
        ("--host=a,b,c -n 2", "--host a,b,c", "-hosts a,b,c", "--nodes=2 --nodelist=a,b"),
        ("-host a:2,b -n 3", "--host a:2,b", "-hosts a:2,b:1", "--distribution=arbitrary --nodelist=a,a,b"),
        ("--host a:1,b:2 -n 5", "--host a:1,b:2", "-hosts a:1,b:2", "--distribution=arbitrary --nodelist=a,b,b,a,b"),
        ("--host a,a,b -n 3", "--host a,a,b", "-hosts a:2,b:1", "--distribution=arbitrary --nodelist=a,a,b"),
        ("--host n[1-3],m -n 9", "--host n[1-3],m", "-hosts n[1-3],m", "--nodelist=n[1-3],m"),
        ("--host ::1 -n 2", "--host ::1", "-hosts ::1", "--nodelist=::1"),
    ],
)
def test_hosts_and_numbers_reach_each_launcher_in_its_words(
    tmp_path: Path, options: str, openmpi: str, mpich: str, srun: str
) -> None:
    fake(tmp_path, "srun", "mpirun.openmpi", "mpiexec.hydra")
    for name, wanted in (("openmpi", openmpi), ("mpich", mpich), ("srun", srun)):
        words = said(tmp_path, "--launcher", name, *options.split())
        assert contains(words, wanted), (name, words)
    assert "--nodes=" not in srun or contains(words, srun.split()[0])


FILES = [
    ("a\nb # the second\n\n", "--hostfile F", "-f F", "--nodes=2 --nodelist=a,b"),
    ("a:2\n b:1\n", "--host a:2,b:1", "-f F", "--distribution=arbitrary --nodelist=a,a,b"),
    (
        "a slots=2 max_slots=4\nb\tslots=1\n",
        "--hostfile F",
        "-hosts a:2,b:1",
        "--distribution=arbitrary --nodelist=a,a,b",
    ),
]


@pytest.mark.parametrize("option", ["--hostfile", "-hostfile", "--machinefile"])
@pytest.mark.parametrize(("text", "openmpi", "mpich", "srun"), FILES)
def test_file_of_hosts_in_either_form_reaches_each_launcher(
    tmp_path: Path, option: str, text: str, openmpi: str, mpich: str, srun: str
) -> None:
    fake(tmp_path, "srun", "mpirun.openmpi", "mpiexec.hydra")
    file = tmp_path / "hosts"
    file.write_text(text)
    for name, wanted in (("openmpi", openmpi), ("mpich", mpich), ("srun", srun)):
        words = said(tmp_path, "--launcher", name, "-n", 3, option, file)
        assert contains(words, wanted.replace(" F", f" {file}")), (name, words)


@pytest.mark.parametrize("name", ["openmpi", "mpich", "srun"])
@pytest.mark.parametrize(
    ("hosts", "why"),
    [
        *[("", "empty"), ("a,", "empty"), (":2", "empty"), ("a:0", "slots"), ("a:x", "a:x"), ("a:65537", "1 to 65536")],
        *[("a:65536,a", "more than 65536"), ("a b", "no host's name"), ("n[1,2", "no host's name")],
        *[("n1]", "no host's name"), ("a\x1b[0m", "no host's name")],
    ],
)
def test_wrong_hosts_are_refused(tmp_path: Path, name: str, hosts: str, why: str) -> None:
    result = dry(fake(tmp_path, "srun", "mpiexec.hydra", "mpirun.openmpi"), "--launcher", name, "--host", hosts, BOOT)
    assert result.code == 64 and f"--host {hosts}" in result.said[0] and why in result.said[0], result


def test_hosts_that_are_left_out_are_missed(tmp_path: Path) -> None:
    result = dry(fake(tmp_path, "mpirun.openmpi"), "--host", "-n", 2, BOOT)
    assert result.code == 64 and "the hosts are missing before -n" in result.said[0], result


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *[("a\nb slots=0\n", "line 2"), ("a 2\n", '"2"'), ("\n# a\n", "names no host"), (None, "No such file")],
        ("2a,b:2.c,ca,b\n", "no host's name"),
    ],
)
def test_wrong_file_of_hosts_is_refused(tmp_path: Path, text: str | None, why: str) -> None:
    file = tmp_path / "hosts"
    if text is not None:
        file.write_text(text)
    fake(tmp_path, "srun", "mpiexec.hydra")
    for name in ("mpich", "srun"):
        result = dry(tmp_path, "--launcher", name, "--hostfile", file, BOOT)
        assert result.code == 64 and str(file) in result.said[0] and why in result.said[0], result
    if text is None:  # Open MPI reads its contents in its own way
        result = dry(fake(tmp_path, "mpirun.openmpi"), "--launcher", "openmpi", "--hostfile", file, BOOT)
        assert result.code == 64 and str(file) in result.said[0] and why in result.said[0], result
    else:
        result = dry(tmp_path, "--launcher", "srun", "--hostfile", file, "--host", "a", BOOT)
        assert result.code == 64 and "one of the two" in result.said[0], result


def test_slots_on_a_range_of_hosts_are_refused_for_srun(tmp_path: Path) -> None:
    result = dry(fake(tmp_path, "srun"), "--launcher", "srun", "--host", "n[1-2]:2", BOOT)
    assert result.code == 64 and "one by one" in result.said[0], result


def test_settings_reach_all_nodes_with_every_launcher(tmp_path: Path) -> None:
    fake(tmp_path, "srun", "mpirun.openmpi", "mpiexec.hydra")
    env = {"WATTLE_WAIT": "sleep", "SHMEM_OTHER": "a b"}

    def words(*options: str) -> list[str]:
        return line(tmp_path, *options, BOOT, env=env)

    assert contains(words("--launcher", "openmpi"), "-x WATTLE_WAIT")
    assert "-genvall" in words("--launcher", "mpich")
    assert "--export=ALL" in words("--launcher", "srun")
    # Where the user says which variables go along, MPICH's mpiexec gets the settings one by one; srun has one list.
    named = words("--launcher", "mpich", "-genvlist", "HOME", "-genv", "WATTLE_WAIT", "spin")
    assert "-genvall" not in named and named[1:4] == ["-genv", "SHMEM_OTHER", "a b"], named
    assert named.count("WATTLE_WAIT") == 1, named
    assert "--export=ALL" not in words("--launcher", "srun", "--export=HOME,WATTLE_WAIT")


GRAMMARS = [
    ("openmpi", ["-x", "NAME", "--mca", "a", "b", "-c", "4"], ["-x", "NAME", "--mca", "a", "b"]),
    ("mpich", ["-genv", "A", "b c", "-l", "-ppn", "2"], ["-genv", "A", "b c", "-l", "-ppn", "2"]),
    ("srun", ["-x", "node", "-c", "2", "-K", "--mem", "1G"], ["-x", "node", "-c", "2", "-K", "--mem", "1G"]),
]


@pytest.mark.parametrize(("name", "options", "passed"), GRAMMARS)
def test_launchers_own_options_pass_with_their_values(
    tmp_path: Path, name: str, options: list[str], passed: list[str]
) -> None:
    fake(tmp_path, "srun", "mpirun.openmpi", "mpiexec.hydra")
    for words in ([*options, "--launcher", name], ["--launcher", name, *options]):
        found = said(tmp_path, *words)
        assert found[-len(passed) :] == passed, found


@pytest.mark.parametrize(
    ("options", "variables", "bound"),
    [
        ("-n {few}", {}, ["core:overload-allowed"]),
        ("-n {many}", {}, ["none"]),
        ("-n {many} --bind-to core", {}, ["core"]),
        ("-n {many} -bind-to=core", {}, []),  # the user's word, in one
        ("-n {few} --map-by slot:PE=2", {}, []),
        ("-n {few} --mca hwloc_base_binding_policy none", {}, []),
        ("-n {few}", {"OMPI_MCA_hwloc_base_binding_policy": "socket"}, ["socket"]),
        ("-n {few}", {"PRTE_MCA_hwloc_default_binding_policy": "numa"}, ["numa"]),
        ("-n {few}", {"PRTE_MCA_rmaps_default_mapping_policy": "node"}, []),
        ("-n {many}", {"OMPI_MCA_hwloc_base_binding_policy": "core"}, ["none"]),
    ],
)
def test_open_mpi_is_asked_once_to_bind_pes(
    tmp_path: Path, options: str, variables: dict[str, str], bound: list[str]
) -> None:
    """PEs of small jobs get a core each, as Open MPI 4 does by itself; PEs that outnumber the cores get none."""
    fake(tmp_path, "mpirun.openmpi")
    cores = len(os.sched_getaffinity(0))
    words = line(tmp_path, *options.format(few=min(2, cores), many=cores + 1).split(), BOOT, env=variables)
    assert [after for word, after in pairwise(words) if word in ("--bind-to", "-bind-to")] == bound, words


def test_job_of_two_programs_is_started_by_prterun_where_there_is_one(tmp_path: Path) -> None:
    fake(tmp_path, "mpirun.openmpi")
    assert line(tmp_path, "-n", 1, BOOT, ":", "-n", 1, BOOT)[0] == str(tmp_path / "mpirun.openmpi")
    fake(tmp_path, "prterun")
    assert line(tmp_path, "-n", 1, BOOT, ":", "-n", 1, BOOT)[0] == str(tmp_path / "prterun")
    assert "--bind-to" not in line(tmp_path, "-n", 1, BOOT, ":", "-n", 1, BOOT)
    assert line(tmp_path, "-n", 1, BOOT)[0] == str(tmp_path / "mpirun.openmpi")


LOSES_A_NODE = """#!/bin/sh
echo "PRTE has lost communication with a remote daemon." >&2
echo good
exit $CODE
"""


@pytest.mark.parametrize(("code", "ends_with"), [(0, 69), (7, 7)])
def test_job_that_lost_a_node_does_not_end_as_a_good_one(tmp_path: Path, code: int, ends_with: int) -> None:
    (tmp_path / "mpirun.openmpi").write_text(LOSES_A_NODE)
    (tmp_path / "mpirun.openmpi").chmod(0o755)
    result = run(OSHRUN, BOOT, env={"PATH": f"{tmp_path}:/usr/bin:/bin", "CODE": str(code)})
    assert (result.code, result.out) == (ends_with, "good\n") and "lost communication" in result.err, result


def test_prterun_gets_its_own_word_for_more_pes_than_cores(tmp_path: Path) -> None:
    """It warns about mpirun's --oversubscribe, and refuses a second --map-by."""
    fake(tmp_path, "prterun")
    words = said(tmp_path, "-n", 3)
    assert contains(words, "--map-by :oversubscribe") and "--oversubscribe" not in words, words
    words = said(tmp_path, "-n", 3, "--map-by", "node")
    assert words.count("--map-by") == 1 and "--oversubscribe" not in words, words


@pytest.mark.skipif(not shutil.which("mpirun.openmpi"), reason="no mpirun.openmpi here")
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_each_of_two_pes_gets_a_core_of_its_own() -> None:
    result = run(OSHRUN, "--launcher", "openmpi", "-n", "2", "grep", "Cpus_allowed_list", "/proc/self/status")
    cores = {line.split()[1] for line in result.out.splitlines()}
    assert result.code == 0 and len(cores) == 2, result
    result = run(OSHRUN, "--launcher", "openmpi", "-n", "2", "--bind-to", "none", "cat", "/proc/self/status")
    assert result.code == 0 and result.out.count("Cpus_allowed_list") == 2, result


def test_words_of_the_program_are_no_options(tmp_path: Path) -> None:
    fake(tmp_path, "mpirun.openmpi", "mpiexec.hydra")
    found = line(tmp_path, BOOT, "--launcher", "mpich", "--host", "a", "--dry-run")
    assert found[0].endswith("/mpirun.openmpi") and found[-5:] == ["--launcher", "mpich", "--host", "a", "--dry-run"]


@pytest.mark.parametrize(
    ("env", "options", "has", "has_not"),
    [
        ({"SLURM_NTASKS": "6"}, "", "--ntasks=6", "--overcommit"),
        ({"SLURM_NTASKS": "6"}, "-n 2", "--ntasks=2", "--overcommit"),
        ({}, "", "--ntasks=1", "--overcommit"),
        ({}, "-n 1", "--nodes=1", "--overcommit"),
        ({}, "-n 1 -N 1", "-N 1", "--nodes=1"),
        ({}, "-n 8", "--ntasks=8", "--overcommit"),
        ({}, "-n 9", "--overcommit", "--nodes=2"),
        ({}, "-n 5 --host a", "--overcommit", "--nodes=2"),
        ({}, "-n 2 --host a:2", "--overcommit", "--nodes=1"),
        ({"SLURM_CPUS_PER_TASK": "2"}, "-n 4", "--cpus-per-task=2", "--overcommit"),
        ({"SLURM_CPUS_PER_TASK": "2"}, "-n 5", "--overcommit", "--cpus-per-task=1"),
        ({"SLURM_CPUS_PER_TASK": "2"}, "-n 5 -c1", "-c1", "--overcommit"),
        ({}, "-n 5 --cpus-per-task 2", "--overcommit", "--cpus-per-task=2"),
        ({"SLURM_JOB_CPUS_PER_NODE": "2(x2),1"}, "-n 5", "--ntasks=5", "--overcommit"),
        ({"SLURM_JOB_CPUS_PER_NODE": "2(x2),1"}, "-n 6", "--ntasks=6", "--ntasks=5"),
        ({"SLURM_STEP_ID": "0"}, "", "--overlap", "--overcommit"),
        ({"SLURM_STEP_ID": "4294967290"}, "", "--ntasks=1", "--overlap"),
        ({}, "--mpi=pmix_v4", "--mpi=pmix_v4", "--mpi=pmix"),
        ({}, "--input all", "--input all", "--input=0"),
    ],
)
def test_srun_gets_what_fits_the_allocation(
    tmp_path: Path, env: dict[str, str], options: str, has: str, has_not: str
) -> None:
    found = line(fake(tmp_path, "srun"), *options.split(), BOOT, env={**ALLOCATION, **env})
    assert contains(found, has) and has_not not in found, found


def test_dry_line_is_one_that_a_shell_runs(tmp_path: Path) -> None:
    result = run(OSHRUN, "--launcher", "openmpi", "--dry-run", "-n", "2", BOOT, "it's")
    if result.code == 69:
        pytest.skip("no Open MPI here")
    assert result.code == 0 and len(result.out.splitlines()) == 1, result
    result = run("sh", "-c", result.out)
    assert result.code == 0 and result.out.count("of 2 good") == 2 and result.out.count("arg=it's") == 2, result


def test_dry_run_checks_the_program_and_starts_nothing(tmp_path: Path) -> None:
    fake(tmp_path, "mpirun.openmpi")
    assert dry(tmp_path, tmp_path / "nothing").code == 64
    assert dry(tmp_path, "--host", "a", tmp_path / "nothing").code == 0


# --- the folder of Open MPI's session ---

AS_OPEN_MPI = """#!/bin/sh
echo "$OMPI_MCA_orte_local_tmpdir_base $PRTE_MCA_prte_local_tmpdir_base"
[ -d "$OMPI_MCA_orte_local_tmpdir_base" ] && stat -c '%a %u' "$OMPI_MCA_orte_local_tmpdir_base"
mkdir -p "$OMPI_MCA_orte_local_tmpdir_base/ompi.here/pid.1"
"""


def as_open_mpi(place: Path, *words: str, **env: str) -> list[list[str]]:
    """The launcher's view of its folder. It leaves a folder behind, of which nothing may remain."""
    (place / "mpirun.openmpi").write_text(AS_OPEN_MPI)
    (place / "mpirun.openmpi").chmod(0o755)
    result = run(OSHRUN, "--launcher", "openmpi", *words, BOOT, env={"PATH": f"{place}:/usr/bin:/bin", **env})
    return [line.split() for line in result.out.splitlines()]


def test_launcher_gets_a_folder_that_no_other_user_may_enter(tmp_path: Path) -> None:
    (folder, same), owner = as_open_mpi(tmp_path)
    assert folder == same and Path(folder).name.startswith("wattle-") and owner == ["700", str(os.geteuid())]
    assert as_open_mpi(tmp_path)[0][0] != folder


def test_folder_that_the_user_names_is_left_to_the_launcher(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    assert as_open_mpi(tmp_path, "--mca", "orte_tmpdir_base", str(tmp_path / "own")) == [[]]
    assert as_open_mpi(tmp_path, OMPI_MCA_orte_tmpdir_base=str(tmp_path / "own")) == [[]]


def squat(job_tmp: Path) -> Path:
    """The name of Open MPI's folder, taken beforehand: by a file, so that no folder can be made there."""
    name = job_tmp / f"ompi.{os.uname().nodename.split('.')[0]}.{os.geteuid()}"
    name.write_text("somebody else's\n")
    return name


@pytest.mark.skipif(not shutil.which("mpirun.openmpi"), reason="no mpirun.openmpi here")
def test_name_that_another_user_took_stops_no_job(tmp_path: Path) -> None:
    taken = squat(tmp_path)
    result = run(OSHRUN, "--launcher", "openmpi", "-n", "2", BOOT, env={"TMPDIR": str(tmp_path)})
    assert result.code == 0 and result.out.count("good") == 2, result
    assert list(tmp_path.iterdir()) == [taken]


@pytest.mark.skipif(not shutil.which("mpirun.openmpi"), reason="no mpirun.openmpi here")
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make another user's folder")
def test_folder_of_another_user_misleads_no_job() -> None:
    """As on a node that oshrun does not run on: plain mpirun takes the folder that it finds."""
    require_reachable(BOOT)
    with tempfile.TemporaryDirectory(prefix="wtl", dir="/tmp") as place:
        Path(place).chmod(0o1777)
        taken = Path(place) / f"ompi.{os.uname().nodename.split('.')[0]}.{pwd.getpwnam('nobody').pw_uid}"
        (taken / "kept").mkdir(parents=True)
        taken.chmod(0o777)
        shutil.chown(taken, "daemon")
        words = ["mpirun.openmpi", "--oversubscribe", "-n", "2", BOOT]
        result = run(shutil.which(words[0]) or "", *words[1:], user="nobody", env={"TMPDIR": place}, cwd=Path("/"))
    assert result.code == 69 and "another user" in result.err and "good" not in result.out, result


# --- MPICH's mpiexec, for real ---


def mpich(*words: str | Path, **options: object) -> Result:
    return run(OSHRUN, "--launcher", "mpich", *words, **options)


def mpiexec_lost_its_proxy(result: Result) -> bool:
    """mpiexec 4.0.2 takes the end of its own proxy for an error if it has not yet read how the PEs ended. SIGPIPE ends
    mpiexec if the proxy has ended before it has got its input.
    """
    return (result.code == 255 and "assert (!closed) failed" in result.err) or (
        result.code == 141 and "Broken pipe" in result.err
    )


@needs_mpich
def test_mpich_starts_as_many_as_asked_for() -> None:
    result = run_again(
        lambda: mpich("-n", "3", "sh", "-c", 'echo "$PMI_RANK of $PMI_SIZE"; sleep 0.2'), mpiexec_lost_its_proxy
    )
    assert result.code == 0 and sorted(result.out.splitlines()) == ["0 of 3", "1 of 3", "2 of 3"], result


@needs_mpich
@pytest.mark.parametrize("code", [0, 9, 42])
def test_mpich_exit_code_is_the_programs(code: int) -> None:
    result = run_again(lambda: mpich("-n", "2", "sh", "-c", f"sleep 0.2; exit {code}"), mpiexec_lost_its_proxy)
    assert result.code == code, result


@needs_mpich
@pytest.mark.parametrize(
    ("script", "code"),
    [("kill -9 $$", 137), ("kill -11 $$", 139), ("[ $PMI_RANK = 1 ] && kill -15 $$; sleep 30", 143)],
)
def test_mpich_exit_code_shows_the_signal_unless_mpiexec_lost_it(script: str, code: int) -> None:
    result = mpich("-n", "2", "sh", "-c", f"ulimit -c 0; {script}")
    assert result.code == code or mpiexec_lost_its_proxy(result), result


@needs_mpich
def test_mpich_settings_and_input_arrive() -> None:
    env = {"SHMEM_A": "x;y,z=w 'q'", "SHMEM_E": "", "FOO": "bar"}
    script = '[ $PMI_RANK = 0 ] && read line; echo "$PMI_RANK|$SHMEM_A|${SHMEM_E-unset}|${FOO-unset}|$line"'
    result = mpich("-n", "2", "sh", "-c", script, env=env, stdin=b"some input\n")
    wanted = ["0|x;y,z=w 'q'||bar|some input", "1|x;y,z=w 'q'||bar|"]
    assert result.code == 0 and sorted(result.out.splitlines()) == wanted, result
    result = mpich("-genvlist", "PATH", "-n", "2", "sh", "-c", script, env=env, stdin=b"some input\n")
    assert result.code == 0 and all("|x;y,z=w 'q'||" in text for text in result.out.splitlines()), result


@pytest.mark.parametrize("n", [1, 3])
def test_mpich_runs_openshmem_programs(n: int) -> None:
    MPICH.require()
    result = mpich("-n", str(n), BOOT)
    assert result.code == 0 and result.out.count(f"of {n} good") == n and result.err == "", result


@pytest.mark.parametrize(("way", "code"), [("global_exit_7", 7), ("global_exit_0", 0), ("exit_3", 3)])
def test_mpich_exit_code_is_the_openshmem_programs(way: str, code: int) -> None:
    MPICH.require()
    result = mpich("-n", "2", program("ends"), way, "1")
    assert result.code == code, result


@pytest.mark.parametrize(("way", "code"), [("_exit_4", 4), ("abort", 134)])
def test_mpich_exit_code_shows_a_pe_that_died(way: str, code: int) -> None:
    """mpiexec joins the bits of all statuses: where it ends the other PE itself, its signal is among them."""
    MPICH.require()
    result = mpich("-n", "2", program("ends"), way, "1")
    lost = result.code == 0 and loses_codes(MPICH.name)
    assert result.code == code or 128 < result.code <= 255 or lost, result


def test_mpich_reaches_the_hosts_named_with_the_settings() -> None:
    if reason := unavailable():
        pytest.skip(reason)
    MPICH.require()
    with Nodes(2) as nodes:
        command = by_mpich(nodes, 2, "sh", "-c", f'echo "$(hostname) $SHMEM_A"; exec {BOOT}')
        at = command.index(MPICH.launcher)
        command[at : at + 1] = [str(OSHRUN), "--launcher", "mpich"]
        command[command.index("-hosts")] = "--host"
        result = run(*command, env={"SHMEM_A": "x;y 'z'"})
        assert result.code == 0 and result.out.count("of 4 good") == 4, result
        assert all(result.out.count(f"{name} x;y 'z'\n") == 2 for name in nodes.names), result


LOOP = "echo there; while :; do sleep 0.05; done"


@needs_mpich
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
@pytest.mark.parametrize("group", [False, True])
def test_mpich_signal_to_oshrun_ends_the_job(number: signal.Signals, group: bool) -> None:
    with Job([OSHRUN, "--launcher", "mpich", "-n", "2", "sh", "-c", LOOP]) as job:
        job.until_said("there", 2)
        (os.killpg if group else os.kill)(job.process.pid, number)
        job.all_gone()
        result = job.wait()
        assert result.code == 128 + number, result


@needs_mpich
@pytest.mark.parametrize("who", ["oshrun", "mpiexec.hydra"])
def test_mpich_kill_of_oshrun_or_mpiexec_ends_the_job(who: str) -> None:
    with Job([OSHRUN, "--launcher", "mpich", "-n", "2", "sh", "-c", LOOP]) as job:
        job.until_said("there", 2)
        job.signal(job.find(who)[0])
        job.all_gone()
        result = job.wait()
        assert result.code != 0, result


@needs_mpich
def test_mpich_output_of_any_size_arrives_whole() -> None:
    result = mpich("-n", "1", "sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end >&2")
    assert result.code == 0 and len(result.out) == 3000001 and result.err == "end\n", (result.code, len(result.out))


@needs_mpich
def test_mpich_without_standard_streams_runs_the_program(tmp_path: Path) -> None:
    script = f"exec '{OSHRUN}' --launcher mpich -n 2 sh -c 'echo out; echo err >&2; echo $PMI_RANK >>{tmp_path}/ran'"
    result = run("sh", "-c", script + " <&- >&- 2>&-")
    assert result.code == 0 and sorted((tmp_path / "ran").read_text().split()) == ["0", "1"], result


@needs_mpich
def test_mpich_reader_that_goes_away_ends_the_job() -> None:
    result = run("sh", "-c", f"'{OSHRUN}' --launcher mpich -n 2 sh -c 'while :; do echo y; done' | head -n 1")
    assert result.code == 0 and result.out == "y\n", result
