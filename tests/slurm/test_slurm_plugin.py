"""Slurm's plugin: `srun --wattle` profiles a step, and the epilogue restores clocks of killed jobs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from governed_job import MAX, MIN, Machine
from jobs import HOME, Job, Result, program, require_reachable, run
from mpi_jobs import OPEN_MPI
from slurm import Slurm, unavailable
from tree import PACKAGE

PLUGIN = HOME / "lib/wattle_spank.so"
BOOT, ENDS, VICTIM = program("boot"), program("ends"), program("victim")
REASON = unavailable()
pytestmark = [
    pytest.mark.skipif(REASON is not None, reason=str(REASON)),
    pytest.mark.skipif(not PLUGIN.exists(), reason="the plugin is not built (Debian: libslurm-dev)"),
]
REPAIR_S = 180


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command `wattle`, which the plugin runs."""
    folder = tmp_path_factory.mktemp("command")
    for above in (folder, *folder.parents[:2]):
        above.chmod(0o755)
    path = folder / "wattle"
    lines = ["#!/bin/sh", f"export PYTHONPATH={PACKAGE} WATTLE_HOME={HOME} PYTHONDONTWRITEBYTECODE=1"]
    path.write_text("\n".join([*lines, f'exec {sys.executable} -m wattle "$@"', ""]))
    path.chmod(0o755)
    return path


@pytest.fixture(scope="module")
def cluster(command: Path) -> Iterator[Slurm]:
    with Slurm(2, plugins=f"required {PLUGIN} command={command}\n") as two:
        yield two


@pytest.fixture
def slurm(cluster: Slurm, command: Path) -> Iterator[Slurm]:
    """The cluster without jobs, with the plugin as most tests have it."""
    cluster.load_plugins(f"required {PLUGIN} command={command}\n")
    yield cluster
    cluster.cancel_all()


def manifest_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text())


def steps_in(folder: Path) -> list[Path]:
    """The directories of steps, in order."""
    return sorted((folder / "wattle-runs").glob("slurm-*"))


def srun(slurm: Slurm, place: Path, *words: object, **env: str) -> Result:
    return run("srun", "--mpi=pmix", *words, env={**slurm.env, **env}, cwd=place)


# --- a step ---


def test_a_step_on_two_nodes_has_one_run_directory(slurm: Slurm, tmp_path: Path) -> None:
    result = srun(slurm, tmp_path, "--wattle", "-N2", "-n2", BOOT)
    assert result.code == 0 and result.out.count("of 2 good") == 2 and "By PE" not in result.out, result
    assert "on 2 PEs" in result.err and "By PE" in result.err and "Kept in wattle-runs/slurm-" in result.err, result
    (folder,) = steps_in(tmp_path)
    found = manifest_of(folder)
    assert found["n_pes"] == 2 and found["exit_code"] == 0 and found["wall_s"] > 0 and found["command"][0] == str(BOOT)
    job = found["allocation"]
    assert folder.name == f"slurm-{job['job']}.{job['step']}" and job["nodes"] == 2 and job["partition"] == "all"
    assert found["slurm_energy"]["joules"]["provenance"] == "unavailable" and found["slurm_energy"]["why"]
    assert len(list((folder / "profile").glob("pe-*.json"))) == 2


def test_an_mpi_program_is_profiled_by_preloading(slurm: Slurm, tmp_path: Path) -> None:
    OPEN_MPI.require(compiler=True)
    plain = tmp_path / "plain.c"
    plain.write_text(
        "#include <mpi.h>\nint main(void) { MPI_Init(0, 0); MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); }\n"
    )
    subprocess.run([OPEN_MPI.compiler, str(plain), "-o", str(tmp_path / "plain")], check=True)
    alone = srun(slurm, tmp_path, "-N2", "-n2", tmp_path / "plain")
    if alone.code != 0:
        pytest.skip(f"the plain program fails under srun: {alone.err}"[:300])
    result = srun(slurm, tmp_path, "--wattle=mpi", "-N2", "-n2", tmp_path / "plain")
    assert result.code == 0 and "on 2 ranks" in result.err and "MPI_Barrier" in result.err, result
    assert manifest_of(steps_in(tmp_path)[0])["mpi"] is True


@pytest.mark.parametrize(("way", "code"), [("global_exit_7", 7), ("segfault", 139)])
def test_exit_code_is_that_of_srun(slurm: Slurm, tmp_path: Path, way: str, code: int) -> None:
    result = srun(slurm, tmp_path, "--wattle", "-N1", "-n2", ENDS, way, "1")
    assert result.code == code and f"exit code {code}" in result.err, result
    assert manifest_of(steps_in(tmp_path)[0])["exit_code"] == code


def test_each_step_of_a_batch_job_is_profiled_and_the_script_is_not(slurm: Slurm, tmp_path: Path) -> None:
    lines = ["#!/bin/sh", "#SBATCH -N1 -n2", "env >environment", *[f"srun --mpi=pmix {BOOT}"] * 2, ""]
    (tmp_path / "job.sh").write_text("\n".join(lines))
    result = run("sbatch", "--wattle=mpi", "--wait", "job.sh", env=slurm.env, cwd=tmp_path)
    assert result.code == 0, result
    folders = steps_in(tmp_path)
    assert [folder.suffix for folder in folders] == [".0", ".1"]
    assert all(manifest_of(folder)["exit_code"] == 0 for folder in folders)
    assert not {"WATTLE_PROFILE_DIR", "LD_PRELOAD"} & {
        line.partition("=")[0] for line in (tmp_path / "environment").read_text().splitlines()
    }


def test_a_heterogeneous_step_is_one_run(slurm: Slurm, tmp_path: Path) -> None:
    inner = ["srun", "--wattle", "--mpi=pmix", "-n1", BOOT, ":", "-n1", BOOT]
    allocate = ["timeout", "-k", "2", "60", "salloc", "--quiet", "-N1", "-n1", ":", "-N1", "-n1"]
    for attempt in range(3):  # the srun of such a step sometimes does not end in Slurm 22.05, also without --wattle
        place = tmp_path / str(attempt)
        place.mkdir()
        result = run(*allocate, *inner, clean=False, env=slurm.env, cwd=place)
        if result.code not in (124, 137, -9):
            break
        slurm.cancel_all()
    assert result.code == 0 and result.out.count("of 2 good") == 2, result
    (folder,) = steps_in(place)
    assert manifest_of(folder)["n_pes"] == 2 and "on 2 PEs" in result.err, result
    assert len(list((folder / "profile").glob("pe-*.json"))) == 2, result


def test_another_folder_and_no_environment_of_the_user(slurm: Slurm, tmp_path: Path) -> None:
    words = ["--wattle", f"--wattle-dir={tmp_path}/kept", "--export=NONE", "-N1", "-n2", BOOT]
    result = srun(slurm, tmp_path, *words)
    assert result.code == 0 and not steps_in(tmp_path), result
    (folder,) = (tmp_path / "kept").iterdir()
    assert manifest_of(folder)["n_pes"] == 2


def test_settings_of_the_site_are_defaults(slurm: Slurm, tmp_path: Path, command: Path) -> None:
    slurm.load_plugins(f"required {PLUGIN} command={command} WATTLE_WAIT=sleep WATTLE_METER=none dir={tmp_path}/site\n")
    script = ["sh", "-c", 'echo "$WATTLE_WAIT $WATTLE_METER $WATTLE_PROFILE_DIR"']
    result = srun(slurm, tmp_path, "--wattle", "-n1", *script, WATTLE_WAIT="spin")
    (folder,) = (tmp_path / "site").iterdir()
    assert result.code == 0 and result.out == f"spin none {folder}/profile\n", result
    assert srun(slurm, tmp_path, "-n1", *script).out == "  \n"


# --- without --wattle, and wrong use ---


def test_without_the_option_nothing_is_done(slurm: Slurm, tmp_path: Path) -> None:
    (tmp_path / "run").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (tmp_path / "run").chmod(0o755)
    slurm.load_plugins(f"required {PLUGIN} command={tmp_path}/run\n")
    result = srun(slurm, tmp_path, "-N2", "-n2", "sh", "-c", 'echo "$LD_PRELOAD$WATTLE_PROFILE_DIR$SLURM_WATTLE_DIR."')
    assert result.code == 0 and result.out == ".\n.\n" and result.err == "", result
    assert not (tmp_path / "ran").exists() and not steps_in(tmp_path)


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("--wattle=fast", "--wattle=fast: expected --wattle, --wattle=shmem or --wattle=mpi"),
        ("--wattle-dir=", "--wattle-dir=: expected a folder"),
    ],
)
def test_wrong_option_starts_nothing(slurm: Slurm, tmp_path: Path, word: str, words: str) -> None:
    result = srun(slurm, tmp_path, word, "-n1", "echo", "ran")
    assert result.code != 0 and words in result.err and "ran" not in result.out, result


def test_wrong_word_in_plugstack_is_named(slurm: Slurm, tmp_path: Path) -> None:
    slurm.load_plugins(f"required {PLUGIN} folder=x\n")
    result = srun(slurm, tmp_path, "-n1", "echo", "ran")
    words = "wattle_spank.so: folder=x in plugstack.conf: expected command=PATH, dir=FOLDER, repair=off or"
    assert result.code == 0 and words in result.err and result.out == "ran\n", result


def test_command_that_is_missing_is_named(slurm: Slurm, tmp_path: Path) -> None:
    slurm.load_plugins(f"required {PLUGIN} command=/no/wattle\n")
    result = srun(slurm, tmp_path, "--wattle", "-n1", "echo", "ran")
    words = "--wattle: /no/wattle: No such file or directory; command=PATH in plugstack.conf names the command wattle"
    assert result.code == 0 and words in result.err and result.out == "ran\n", result


def test_node_without_the_folder_is_named(slurm: Slurm, tmp_path: Path) -> None:
    slurm.load_plugins(f"required {PLUGIN} command=/bin/true\n")  # so that no folder is made
    result = srun(slurm, tmp_path, "--wattle", "-n1", "echo", "ran")
    assert result.code == 0 and result.out == "ran\n", result
    assert "/profile: No such file or directory on this node; name a folder that all nodes share" in result.err, result


# --- users ---


def as_nobody(slurm: Slurm, place: Path, *words: object) -> Result:
    with Job(["sh", "-c", 'exec "$@"', "sh", *map(str, words)], env=slurm.env, user="nobody", cwd=place) as job:
        return job.wait()


@pytest.fixture
def open_place(tmp_path: Path) -> Path:
    """A folder that other users can enter and read."""
    for above in (tmp_path, *tmp_path.parents[:3]):
        if above.owner() == "root" and above != Path("/tmp"):
            above.chmod(above.stat().st_mode | 0o755)
    require_reachable(BOOT)
    require_reachable(tmp_path / "x")
    return tmp_path


def test_user_who_may_not_write_gets_the_reason_and_the_step(slurm: Slurm, open_place: Path) -> None:
    result = as_nobody(slurm, open_place, "srun", "--wattle", "-n1", "echo", "ran")
    assert "may not be written to (permission denied); give another directory\n" in result.err, result
    assert "no profile of step" in result.err and "--wattle-dir names another folder" in result.err, result
    assert result.code == 0 and result.out == "ran\n", result


def test_a_second_try_of_a_step_has_a_directory_of_its_own(slurm: Slurm, tmp_path: Path) -> None:
    """A requeued job has the numbers of its first try."""
    lines = ["#!/bin/sh", "#SBATCH -N1 -n1 --requeue --open-mode=append", f"srun --wattle --mpi=pmix -n1 {BOOT}"]
    lines.append('test -n "$SLURM_RESTART_COUNT" || { scontrol requeue $SLURM_JOB_ID; sleep 300; }\n')
    (tmp_path / "job.sh").write_text("\n".join(lines))
    result = run("sbatch", "--wait", "-o", "out", "job.sh", env=slurm.env, cwd=tmp_path)
    first, second = steps_in(tmp_path)
    assert second.name == f"{first.name}-2", (result, (tmp_path / "out").read_text())
    assert [manifest_of(folder)["exit_code"] for folder in (first, second)] == [0, 0]
    assert [manifest_of(folder)["n_pes"] for folder in (first, second)] == [1, 1]


def test_user_profiles_a_step_in_a_folder_of_theirs(slurm: Slurm, open_place: Path) -> None:
    mine = open_place / "mine"
    mine.mkdir()
    shutil.chown(mine, "nobody")
    words = ["srun", "--mpi=pmix", "--wattle", f"--wattle-dir={mine}/runs", "-N1", "-n2", BOOT]
    result = as_nobody(slurm, open_place, *words)
    assert result.code == 0 and "on 2 PEs" in result.err, result
    (folder,) = (mine / "runs").iterdir()
    assert folder.owner() == "nobody" and manifest_of(folder)["allocation"]["user"] == "nobody"


# --- ends ---


def test_scancel_leaves_a_directory_with_the_exit_code(slurm: Slurm, tmp_path: Path) -> None:
    with Job(["srun", "--mpi=pmix", "--wattle", "-N2", "-n2", VICTIM, "barrier"], env=slurm.env, cwd=tmp_path) as job:
        job.until_said("there", 2)
        (number,) = slurm.jobs("--states=RUNNING")
        assert slurm.run("scancel", number).returncode == 0
        result = job.wait()
    assert result.code != 0 and "Kept in" in result.err, result
    assert manifest_of(steps_in(tmp_path)[0])["exit_code"] == result.code


def ends_of(folder: Path) -> list[int | None]:
    """The signals that ended the PEs; None for one that wrote its profile itself."""
    pes = [json.loads(path.read_text()) for path in sorted((folder / "profile").glob("pe-*.json"))]
    return [pe["ended"]["signal"] if "ended" in pe else None for pe in pes]


def test_a_step_at_its_time_limit_keeps_its_profile(slurm: Slurm, tmp_path: Path) -> None:
    """Slurm ends the batch script, and so srun and its PEs, with the step. A PE may see that srun or the other PE ended
    before its own signal comes. It then ends by itself.
    """
    lines = ["#!/bin/sh", "#SBATCH -N2 -n2 -o out", f"srun --mpi=pmix --wattle {VICTIM} barrier", ""]
    (tmp_path / "job.sh").write_text("\n".join(lines))
    number = run("sbatch", "job.sh", env=slurm.env, cwd=tmp_path).out.split()[-1]
    out = tmp_path / "out"
    assert until(lambda: out.exists() and out.read_text().count("there") == 2), slurm.logs()
    slurm.run("scontrol", "update", f"JobId={number}", "EndTime=now+1")
    assert until(lambda: number not in slurm.jobs()), slurm.logs()
    assert "DUE TO TIME LIMIT" in out.read_text()
    (folder,) = steps_in(tmp_path)
    assert until(lambda: len(ends_of(folder)) == 2), (ends_of(folder), out.read_text(), log_of(slurm))
    assert {*ends_of(folder)} <= {signal.SIGTERM, None}, ends_of(folder)


def test_a_step_of_wattle_run_has_no_directory_of_its_own(slurm: Slurm, tmp_path: Path, command: Path) -> None:
    """A launcher may start its daemons by srun, and sbatch passes --wattle on to it."""
    lines = ["#!/bin/sh", "#SBATCH -N1 -n2 -o out", f"{command} run --mpi -o mine -- srun --mpi=pmix {BOOT}", ""]
    (tmp_path / "job.sh").write_text("\n".join(lines))
    result = run("sbatch", "--wattle=mpi", "--wait", "job.sh", env=slurm.env, cwd=tmp_path)
    assert result.code == 0 and not steps_in(tmp_path), (result, (tmp_path / "out").read_text())
    assert ends_of(tmp_path / "mine") == [None, None]


def test_srun_that_is_killed_leaves_what_collect_completes(slurm: Slurm, tmp_path: Path, command: Path) -> None:
    with Job(["srun", "--mpi=pmix", "--wattle", "-N1", "-n2", VICTIM, "barrier"], env=slurm.env, cwd=tmp_path) as job:
        job.until_said("there", 2)
        job.signal(job.find("srun")[0], signal.SIGKILL)
        job.all_gone()
    (folder,) = steps_in(tmp_path)
    assert manifest_of(folder)["exit_code"] is None
    result = run(command, "collect", folder, "--exit-code", "137")
    assert result.code == 0 and "Kept in" in result.err, result
    assert manifest_of(folder)["exit_code"] == 137


# --- the epilogue ---


def boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@pytest.fixture
def machine(open_place: Path) -> Iterator[Machine]:
    """A made-up /sys whose clocks a killed job has lowered."""
    made = Machine(open_place / "sys")
    made.put("scaling_max_freq", "1800000")
    yield made


def leave_state(machine: Machine, folder: Path, owner: str) -> Path:
    """Writes the file of a job that was killed together with its guard."""
    folder.mkdir(exist_ok=True)
    lines = ["wattle clocks 2", f"sysfs {machine.root}"]
    for cpu in machine.cpus:
        lines += [f"scaling_min_freq {cpu} {MIN}", f"scaling_max_freq {cpu} {MAX}"]
    path = folder / f"clocks-{boot_id()}-0123abcd"
    path.write_text("\n".join([*lines, "end", ""]))
    path.chmod(0o600)
    for file in (folder, path, *machine.root.rglob("scaling_m*_freq")):
        shutil.chown(file, owner)
    return path


def until(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + REPAIR_S
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)
    return holds()


def log_of(slurm: Slurm) -> str:
    return "\n".join((slurm.folder / name / "log").read_text(errors="replace") for name in slurm.names)


@pytest.mark.parametrize("user", ["root", "nobody"])
def test_epilogue_restores_clocks_of_a_killed_job(
    slurm: Slurm, open_place: Path, command: Path, machine: Machine, user: str
) -> None:
    state = leave_state(machine, open_place / "state", user)
    words = f"WATTLE_SYSFS={machine.root} WATTLE_CLOCK_STATE={state.parent}"
    slurm.load_plugins(f"required {PLUGIN} command={command} {words}\n")
    with Job(["srun", "-n1", "true"], env=slurm.env, user=None if user == "root" else user, cwd=Path("/")) as job:
        assert job.wait().code == 0
    assert until(machine.is_restored), (machine.limits(), log_of(slurm))
    assert until(lambda: not state.exists())
    assert until(lambda: "clocks that a killed job had left changed are put back" in log_of(slurm))


def test_epilogue_does_not_restore_another_users_file(
    slurm: Slurm, open_place: Path, command: Path, machine: Machine
) -> None:
    """A file of another user is not trusted, and the node stays in use."""
    state = leave_state(machine, open_place / "state", "nobody")
    shutil.chown(state.parent, "root")
    words = f"WATTLE_SYSFS={machine.root} WATTLE_CLOCK_STATE={state.parent}"
    slurm.load_plugins(f"required {PLUGIN} command={command} {words}\n")
    assert srun(slurm, open_place, "-n1", "true").code == 0
    assert until(lambda: "which is not trusted: it belongs to user" in log_of(slurm)), log_of(slurm)
    assert state.exists() and not machine.is_restored()
    assert until(lambda: slurm.run("sinfo", "--noheader", "--format=%T").stdout.split() == ["idle"])


def test_epilogue_can_be_left_out(slurm: Slurm, open_place: Path, command: Path, machine: Machine) -> None:
    state = leave_state(machine, open_place / "state", "root")
    words = f"repair=off WATTLE_SYSFS={machine.root} WATTLE_CLOCK_STATE={state.parent}"
    slurm.load_plugins(f"required {PLUGIN} command={command} {words}\n")
    assert srun(slurm, open_place, "-n1", "true").code == 0
    assert until(lambda: slurm.run("sinfo", "--noheader", "--format=%T").stdout.split() == ["idle"])
    assert state.exists() and not machine.is_restored()


def test_repair_program_says_what_it_did(open_place: Path, machine: Machine) -> None:
    """The epilogue of another batch system runs it by itself."""
    state = leave_state(machine, open_place / "state", "root")
    env = {**os.environ, "WATTLE_SYSFS": str(machine.root), "WATTLE_CLOCK_STATE": str(state.parent)}
    tool = HOME / "bin/wattle-clock-repair"
    first = subprocess.run([tool], env=env, capture_output=True, text=True)
    assert first.returncode == 0 and "are put back" in first.stdout and machine.is_restored(), first
    again = subprocess.run([tool], env=env, capture_output=True, text=True)
    assert (again.returncode, again.stdout) == (0, "")
    leave_state(machine, open_place / "state", "root").write_text("wattle clocks 2\n")  # not complete: nothing was set
    assert subprocess.run([tool], env=env, capture_output=True).returncode == 0
    wrong = subprocess.run([tool], env=env | {"WATTLE_KNOB": "x"}, capture_output=True, text=True)
    assert wrong.returncode == 78 and "WATTLE_KNOB=x" in wrong.stderr
    assert subprocess.run([tool, "now"], capture_output=True).returncode == 64
