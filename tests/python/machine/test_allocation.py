"""The batch job of a command is in every manifest, from the variables of Slurm, PBS and LSF, and nowhere else."""

import json
from pathlib import Path

import fakes
import mutants
import pytest
from fakes import Wattle
from wattle.base.errors import DamagedFile
from wattle.machine import allocation
from wattle.record import manifest

SLURM = {
    "SLURM_JOB_ID": "4711",
    "SLURM_STEP_ID": "2",
    "SLURM_JOB_NAME": "halo",
    "SLURM_JOB_USER": "anna",
    "SLURM_JOB_ACCOUNT": "physics",
    "SLURM_JOB_PARTITION": "short",
    "SLURM_CLUSTER_NAME": "fire",
    "SLURM_JOB_NUM_NODES": "2",
    "SLURM_JOB_NODELIST": "n[1-2]",
    "PBS_JOBID": "4711",  # Slurm sets it too, where its plugin for PBS is on
}
OF_SLURM = {
    "system": "Slurm",
    "job": "4711",
    "step": "2",
    "name": "halo",
    "user": "anna",
    "account": "physics",
    "partition": "short",
    "cluster": "fire",
    "nodes": 2,
    "node_list": "n[1-2]",
}
PBS = {"PBS_JOBID": "12[3].head", "PBS_ARRAY_INDEX": "3", "PBS_JOBNAME": "halo", "PBS_QUEUE": "workq"} | {
    "PBS_O_LOGNAME": "anna",
    "PBS_ACCOUNT": "physics",
}
LSF = {"LSB_JOBID": "99", "LSB_JOBINDEX": "0", "LSB_JOBNAME": "halo", "LSB_QUEUE": "normal", "LSFUSER": "anna"} | {
    "LSB_PROJECT_NAME": "physics",
    "LSB_MCPU_HOSTS": "a 4 b 2",
}


def test_a_slurm_job_is_known_from_its_variables():
    assert allocation.here(SLURM) == OF_SLURM
    assert allocation.words(OF_SLURM) == (
        "Slurm job 4711.2 of anna, account physics, partition short, cluster fire, 2 nodes: n[1-2]"
    )


def test_a_pbs_job_is_known_from_its_variables_and_its_file_of_nodes(tmp_path):
    (tmp_path / "nodes").write_text("a\na\nb\n")
    found = allocation.here(PBS | {"PBS_NODEFILE": str(tmp_path / "nodes")})
    assert found["job"] == "12[3].head" and found["array_task"] == "3" and found["nodes"] == 2
    assert allocation.words(found) == (
        "PBS job 12[3].head (task 3 of an array) of anna, account physics, queue workq, 2 nodes: a,b"
    )
    for what in ("a dangling link", "a FIFO", "a socket", "an endless device", "a file of a terabyte", "NUL bytes"):
        mutants.INSTEAD[what](tmp_path / what)
        assert "nodes" not in allocation.here(PBS | {"PBS_NODEFILE": str(tmp_path / what)}), what


def test_an_lsf_job_is_known_from_its_variables():
    found = allocation.here(LSF)
    assert "array_task" not in found
    assert allocation.words(found) == "LSF job 99 of anna, account physics, queue normal, 2 nodes: a,b"


def test_outside_a_job_there_is_none(run_dir):
    assert allocation.here({"SLURM_JOB_USER": "anna", "SLURM_CLUSTER_NAME": "fire"}) is None
    assert allocation.words(None) == ""
    assert allocation.KEY not in manifest.read(run_dir).as_dict()


def test_every_manifest_has_the_job(monkeypatch):
    for name, value in SLURM.items():
        monkeypatch.setenv(name, value)
    for kind in ("run", "study"):
        assert manifest.start(kind, ["./halo"], 2).as_dict()["allocation"] == OF_SLURM


def test_the_job_survives_reading_and_a_damaged_one_is_named(tmp_path):
    run = fakes.make_run(tmp_path / "run", allocation=OF_SLURM)
    assert manifest.read(run).allocation == OF_SLURM
    bad = fakes.make_run(tmp_path / "bad", allocation={"job": 7})
    with pytest.raises(DamagedFile, match=r"allocation\.job: expected text"):
        manifest.read(bad)


def test_compare_shows_both_jobs_and_warns_of_another_partition(tmp_path: Path, wattle: Wattle):
    before = fakes.make_run(tmp_path / "before", allocation=OF_SLURM)
    after = fakes.make_run(tmp_path / "after", allocation=OF_SLURM | {"job": "4712", "partition": "gpu"})
    shown = wattle("compare", before, after).stdout
    assert "before ran in Slurm job 4711.2 of anna" in shown and "after ran in Slurm job 4712.2" in shown
    assert "different partitions: short and gpu" in shown
    assert json.loads(wattle("compare", before, after, "--json").stdout)["allocations"][0] == OF_SLURM


def test_the_report_shows_the_job(tmp_path: Path, wattle: Wattle):
    run = fakes.make_run(tmp_path / "run", allocation=OF_SLURM)
    assert wattle("report", run).returncode == 0
    assert "Slurm job 4711.2 of anna, account physics" in (run / "report.html").read_text()
