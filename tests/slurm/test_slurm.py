"""Jobs under a real Slurm: srun, salloc, sbatch start them, oshrun takes srun, and what ends a job ends all of it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import HOME, OSHRUN, Job, Result, program, run
from mpi_jobs import MPICH
from slurm import START_S, Slurm, unavailable
from tree import ROOT

BOOT, ENDS, VICTIM = program("boot"), program("ends"), program("victim")
REASON = unavailable()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Slurm]:
    with Slurm(2) as two:
        yield two
        deadline = time.monotonic() + START_S
        while two.remains() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not two.remains()


@pytest.fixture
def slurm(cluster: Slurm) -> Iterator[Slurm]:
    """The cluster without jobs: a test that fails may leave an allocation, which the following ones would wait for."""
    yield cluster
    cluster.cancel_all()


def salloc(*words: object, nodes: int = 1, tasks: int = 2) -> list[str]:
    """A command inside an allocation."""
    return ["salloc", "--quiet", f"--nodes={nodes}", f"--ntasks={tasks}", *map(str, words)]


def good(result: Result, n: int) -> bool:
    return result.code == 0 and result.out.count(f"of {n} good") == n


# --- how a job starts ---


@pytest.mark.parametrize(
    "words", [["-N1", "-n2"], ["-N1", "-n4", "--overcommit"], ["-N2", "-n2"], ["-N2", "-n4"], ["-n1"]]
)
def test_srun_starts_a_job(slurm: Slurm, words: list[str]) -> None:
    result = run("srun", "--mpi=pmix", *words, BOOT, env=slurm.env)
    n = int(next(word[2:] for word in words if word.startswith("-n")))
    assert good(result, n), result


def test_srun_without_pmix_is_an_error_on_each_process(slurm: Slurm) -> None:
    """Never as many jobs of one PE as there are processes."""
    result = run("srun", "--mpi=none", "-N1", "-n2", BOOT, env=slurm.env)
    assert result.code == 69 and "good" not in result.out, result
    assert "SLURM_STEP_NUM_TASKS=2" in result.err and "srun --mpi=pmix" in result.err, result


@pytest.mark.parametrize(
    ("nodes", "tasks", "words", "n"), [(1, 2, [], 2), (1, 2, ["-n", "1"], 1), (2, 4, [], 4), (2, 4, ["-n", "3"], 3)]
)
def test_oshrun_takes_srun_and_the_tasks_of_the_allocation(
    slurm: Slurm, nodes: int, tasks: int, words: list[str], n: int
) -> None:
    result = run(*salloc(OSHRUN, *words, BOOT, nodes=nodes, tasks=tasks), env=slurm.env)
    assert good(result, n) and result.err == "", result
    result = run(*salloc(OSHRUN, "--dry-run", *words, BOOT, nodes=nodes, tasks=tasks), env=slurm.env)
    assert result.out.startswith(shutil.which("srun") or "?") and f"--ntasks={n} " in result.out, result


def test_oshrun_starts_more_pes_than_cores(slurm: Slurm) -> None:
    result = run(*salloc(OSHRUN, "-n", "9", BOOT), env=slurm.env)
    assert good(result, 9), result


def test_oshrun_asks_slurm_for_an_allocation_where_srun_is_named(slurm: Slurm) -> None:
    result = run(OSHRUN, "--launcher", "srun", "-n", "2", BOOT, env=slurm.env)
    assert good(result, 2), result
    result = run(OSHRUN, "--dry-run", BOOT, env=slurm.env)
    assert "srun" not in result.out, result


def test_oshrun_works_in_a_shell_that_srun_started(slurm: Slurm) -> None:
    """Another step than that shell's, which holds the cores."""
    result = run("srun", "-N1", "-n1", "-c2", "sh", "-c", f"'{OSHRUN}' -n 2 '{BOOT}'", env=slurm.env)
    assert good(result, 2), result


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
@pytest.mark.parametrize("nodes", [1, 2])
def test_other_launchers_work_inside_slurm(slurm: Slurm, name: str, nodes: int) -> None:
    if name == "mpich":
        MPICH.require()
    result = run(*salloc(OSHRUN, "--launcher", name, "-n", 4, BOOT, nodes=nodes, tasks=4 // (3 - nodes)), env=slurm.env)
    if result.code == 69 and "no launcher" in result.err:
        pytest.skip(f"{name} is not installed")
    assert good(result, 4), result


WHERE = ["sh", "-c", 'echo "$SLURM_PROCID on $SLURMD_NODENAME"']


def places(text: str) -> list[str]:
    return [line.split(" on ")[1] for line in sorted(text.splitlines())]


@pytest.mark.parametrize(
    ("slots", "n", "order"), [("{1}", 2, "11"), ("{1},{0}", 2, "01"), ("{1}:2,{0}", 3, "110"), ("{0},{1}:2", 4, "0110")]
)
def test_hosts_are_those_that_the_user_names(slurm: Slurm, slots: str, n: int, order: str) -> None:
    """Without slots Slurm sorts the nodes; with slots the order is the user's."""
    command = [OSHRUN, "-n", n, "--host", slots.format(*slurm.names), *WHERE]
    result = run(*salloc(*command, nodes=2, tasks=4), env=slurm.env)
    assert result.code == 0 and places(result.out) == [slurm.names[int(i)] for i in order], result


def test_pes_on_hosts_that_the_user_names_are_one_job(slurm: Slurm, tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text(f"{slurm.names[1]} slots=2\n{slurm.names[0]}\n")
    result = run(*salloc(OSHRUN, "-n", 3, "--hostfile", tmp_path / "hosts", BOOT, nodes=2, tasks=4), env=slurm.env)
    assert good(result, 3), result


def test_settings_and_input_arrive_on_all_nodes(slurm: Slurm) -> None:
    env = {**slurm.env, "SHMEM_A": "x;y,z=w 'q'", "SHMEM_E": "", "SLURM_EXPORT_ENV": "NONE"}
    script = 'read line; echo "$SLURM_PROCID|$SHMEM_A|${SHMEM_E-unset}|$line"'
    result = run(*salloc(OSHRUN, "sh", "-c", script, nodes=2, tasks=2), env=env, stdin=b"a line\n")
    assert sorted(result.out.splitlines()) == ["0|x;y,z=w 'q'||a line", "1|x;y,z=w 'q'||"], result


@pytest.mark.parametrize(
    ("text", "name"), [("WATTLE_WAIT=never", "WATTLE_WAIT"), ("SHMEM_SYMMETRIC_SIZE=lots", "SHMEM_SYMMETRIC_SIZE")]
)
def test_wrong_setting_under_srun_is_an_error(slurm: Slurm, text: str, name: str) -> None:
    key, value = text.split("=")
    result = run("srun", "--mpi=pmix", "-N1", "-n2", BOOT, env={**slurm.env, key: value})
    assert result.code != 0 and "good" not in result.out and f"{name}={value}" in result.err, result


def test_ordinary_user_can_run_a_job(slurm: Slurm) -> None:
    command = salloc(OSHRUN, "--chdir=/", BOOT)
    with Job(["sh", "-c", 'exec "$@"', "sh", *command], env=slurm.env, user="nobody", cwd=Path("/")) as job:
        result = job.wait()
    if "Permission denied" in result.err:
        pytest.skip(f"another user cannot reach {BOOT}")
    assert good(result, 2), result


# --- the batch example ---


def batch_example(place: Path) -> Path:
    """The example, beside the program that it starts."""
    shutil.copy(ROOT / "examples" / "hello-slurm.sh", place)
    shutil.copy(HOME / "bin" / "examples" / "hello", place)
    return place / "hello-slurm.sh"


def submit(slurm: Slurm, script: Path) -> Result:
    env = {**slurm.env, "PATH": f"{OSHRUN.parent}:{os.environ['PATH']}"}
    return run("sbatch", "--wait", script, env=env, cwd=script.parent)


def test_batch_example_runs_unchanged(slurm: Slurm, tmp_path: Path) -> None:
    result = submit(slurm, batch_example(tmp_path))
    number = re.search(r"Submitted batch job (\d+)", result.out)
    assert result.code == 0 and number, result
    lines = (tmp_path / f"hello-{number[1]}.out").read_text().splitlines()
    assert sorted(lines) == [f"PE {pe} of 4: my left neighbour is {(pe - 1) % 4}" for pe in range(4)]


def test_batch_example_ends_with_the_code_of_its_program(slurm: Slurm, tmp_path: Path) -> None:
    script = batch_example(tmp_path)
    shutil.copy(ENDS, tmp_path / "hello")
    script.write_text(script.read_text().replace("./hello", "./hello global_exit_7 1"))
    assert submit(slurm, script).code == 7


# --- how a job ends ---

EVERYBODY = "-1"
WAYS = [
    ("global_exit_7", "1", 7),
    ("global_exit_0", "1", 0),
    ("global_exit_300", "0", 300 & 255),
    ("exit_3", "1", 3),
    ("_exit_4", "0", 4),
    ("abort", "1", 134),
    ("segfault", "1", 139),
    ("fpe", "0", 136),
    ("global_exit_0", EVERYBODY, 0),
    ("return", EVERYBODY, 0),
    ("finalize_5", EVERYBODY, 5),
]


@pytest.mark.parametrize(("way", "who", "code"), WAYS)
def test_exit_code_of_oshrun_is_the_programs(slurm: Slurm, way: str, who: str, code: int) -> None:
    result = run(*salloc(OSHRUN, ENDS, way, who), env=slurm.env)
    lived = all(f"PE {pe} of 2 lives" in result.out for pe in range(2))
    assert result.code == code and lived, result


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize(("way", "code"), [("global_exit_7", 7), ("global_exit_0", 0)])
def test_exit_code_of_srun_is_that_of_global_exit(slurm: Slurm, way: str, code: int, nodes: int) -> None:
    result = run("srun", "--mpi=pmix", f"-N{nodes}", "-n2", ENDS, way, "1", env=slurm.env)
    assert result.code == code, result


@pytest.mark.parametrize(("way", "code"), [("return", 0), ("finalize_5", 5)])
def test_exit_code_of_srun_is_the_programs(slurm: Slurm, way: str, code: int) -> None:
    result = run("srun", "--mpi=pmix", "-N2", "-n2", ENDS, way, env=slurm.env)
    assert result.code == code, result


@pytest.mark.parametrize("place", ["barrier", "busy"])
@pytest.mark.parametrize("nodes", [1, 2])
def test_pe_that_is_killed_ends_the_job(slurm: Slurm, place: str, nodes: int) -> None:
    with Job(salloc(OSHRUN, VICTIM, place, nodes=nodes), env=slurm.env) as job:
        job.until_said("there", 2)
        job.signal(job.find("victim")[1])
        job.all_gone()
        code = job.wait().code
        assert code == 137 or (nodes == 2 and code == 69), job.err  # 69: the other node noticed first


def test_pe_that_is_killed_ends_a_job_of_plain_srun(slurm: Slurm) -> None:
    with Job(["srun", "--mpi=pmix", "-N1", "-n2", VICTIM, "barrier"], env=slurm.env) as job:
        job.until_said("there", 2)
        job.signal(job.find("victim")[1])
        job.all_gone()
        assert job.wait().code == 137, job.err


def job_number(slurm: Slurm) -> str:
    (number,) = slurm.jobs("--states=RUNNING")
    return number


@pytest.mark.parametrize("what", ["{0}", "{0}.0"])
@pytest.mark.parametrize("nodes", [1, 2])
def test_scancel_ends_all_pes(slurm: Slurm, what: str, nodes: int) -> None:
    with Job(salloc(OSHRUN, VICTIM, "barrier", nodes=nodes), env=slurm.env) as job:
        job.until_said("there", 2)
        assert slurm.run("scancel", what.format(job_number(slurm))).returncode == 0
        job.all_gone()
        assert job.wait().code != 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_signal_to_oshrun_ends_the_job(slurm: Slurm, number: signal.Signals) -> None:
    with Job([OSHRUN, "--launcher", "srun", "-n", "2", VICTIM, "barrier"], env=slurm.env) as job:
        job.until_said("there", 2)
        job.signal(job.process.pid, number)
        job.all_gone()
        assert job.wait().code == 128 + number, job.err


@pytest.mark.parametrize("who", ["oshrun", "srun"])
def test_kill_of_oshrun_or_srun_ends_the_job(slurm: Slurm, who: str) -> None:
    with Job(salloc(OSHRUN, VICTIM, "compute"), env=slurm.env) as job:
        job.until_said("there", 2)
        job.signal(job.find(who)[0])
        job.all_gone()  # salloc's own code is 0 where its command was killed


def test_signal_that_does_not_kill_reaches_the_program(slurm: Slurm) -> None:
    script = "trap 'echo caught; exit 0' USR1; echo ready; while :; do sleep 0.05; done"
    with Job([OSHRUN, "--launcher", "srun", "-n", "2", "sh", "-c", script], env=slurm.env) as job:
        job.until_said("ready", 2)
        job.signal(job.process.pid, signal.SIGUSR1)
        result = job.wait()
        assert result.code == 0 and result.out.count("caught") == 2, result
