"""Slurm's joules come from sacct, as measured joules of whole nodes or as unavailable with the reason, never as 0."""

import json
import os

import fakes
import pytest
from fakes import Wattle
from wattle.machine import slurm_energy
from wattle.text.provenance import Provenance

ALLOCATION = {"system": "Slurm", "job": "100"}
IN_SLURM = {"SLURM_JOB_ID": "100", "SLURM_JOB_USER": "anna"}
UNKNOWN = str(2**64 - 2)
# The lines of sacct for a job with a batch step, two steps and one that still runs.
STEPS = """\
100|7000|1000|
100.batch|7000|1000|
100.extern|7000|1000|1090
100.0|1200|1010|1020
100.1|3400|1030|1040
100.2|0|1050|
"""


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """A command starts late where other programs use all cores."""
    monkeypatch.setattr(slurm_energy, "LIMIT_S", 60)


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """Sets up `scontrol` and `sacct` that print what a test gives them."""

    def put(rows=STEPS, energy="acct_gather_energy/rapl", storage="accounting_storage/slurmdbd", sacct="cat rows"):
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        (tmp_path / "rows").write_text(rows)
        settings = f"AccountingStorageType   = {storage}\\nAcctGatherEnergyType    = {energy}\\n"
        for name, body in (("scontrol", f"printf '{settings}'"), ("sacct", f"cd {tmp_path}; {sacct}")):
            (folder / name).write_text(f"#!/bin/sh\n{body}\n")
            (folder / name).chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    return put


def test_the_joules_of_a_step_are_measured_ones_of_whole_nodes(slurm):
    slurm()
    found = slurm_energy.of(ALLOCATION | {"step": "1"}, 0, 0)
    assert found.joules.joules == 3400 and found.joules.provenance is Provenance.MEASURED
    assert found.joules.scope == "node" and found.joules.uncertainty is None
    assert found.joules.source == "Slurm's acct_gather_energy/rapl" and found.steps == ("100.1",)
    assert "3.40 ± ? kJ measured" in found.words and "step 100.1" in found.words


def test_a_run_has_the_steps_that_lie_within_it(slurm):
    slurm()
    found = slurm_energy.of(ALLOCATION, 1009.5, 1040.5)
    assert found.joules.joules == 4600 and found.steps == ("100.0", "100.1")
    assert slurm_energy.of(ALLOCATION, 1025.5, 1040.5).steps == ("100.1",)


def test_the_components_of_a_heterogeneous_step_are_added(slurm):
    slurm("100+0.3|10|1|2\n100+1.3|20|1|2\n")
    assert slurm_energy.of(ALLOCATION | {"step": "3"}, 0, 0).joules.joules == 30


@pytest.mark.parametrize("value", ["0", "", UNKNOWN, "Unknown"])
def test_an_unknown_value_is_unavailable(slurm, value):
    slurm(f"100.0|{value}|1|2\n")
    found = slurm_energy.of(ALLOCATION | {"step": "0"}, 0, 0)
    assert not found.joules.known and found.why == "sacct has no joules of 100.0"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (
            {"energy": "acct_gather_energy/none"},
            "it is off in this cluster: AcctGatherEnergyType=acct_gather_energy/none",
        ),
        ({"energy": "(null)"}, "it is off in this cluster: AcctGatherEnergyType=(null)"),
        ({"storage": "accounting_storage/none"}, "it is off in this cluster: AccountingStorageType="),
        ({"rows": ""}, "sacct does not have the step 100.0 yet"),
        ({"sacct": "echo sacct: error: no database >&2; exit 1"}, "sacct: no database"),
        ({"sacct": "exit 3"}, "sacct: exit code 3"),
        ({"sacct": "exec sleep 100"}, "sacct did not answer within"),
    ],
)
def test_no_figure_has_a_reason(slurm, monkeypatch, given, why):
    slurm(**given)
    if "sleep" in given.get("sacct", ""):
        monkeypatch.setattr(slurm_energy, "LIMIT_S", 0.5)
        # scontrol is asked first, and may take longer than this
        monkeypatch.setattr(slurm_energy, "_plugin", lambda: ("acct_gather_energy/rapl", ""))
    found = slurm_energy.of(ALLOCATION | {"step": "0"}, 0, 0)
    assert not found.joules.known and why in found.why
    assert found.words.startswith("Slurm's joules: unavailable (")


def test_without_slurms_commands_the_reason_names_one(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "scontrol cannot be started" in slurm_energy.of(ALLOCATION, 0, 0).why


def test_outside_slurm_nothing_is_asked(slurm):
    slurm(sacct="exit 9")
    assert slurm_energy.of(None, 0, 0) is None
    assert slurm_energy.of({"system": "PBS", "job": "1"}, 0, 0) is None


def test_a_run_inside_a_job_has_slurms_joules_in_manifest_report_and_compare(slurm, tmp_path, wattle: Wattle):
    slurm("100.0|1200|0|9999999999\n100.1|3400|1|2\n")
    run = fakes.make_run(tmp_path / "run", allocation=ALLOCATION | {"step": "1"})
    result = wattle("collect", run, env={"PATH": os.environ["PATH"]})
    assert "Slurm's joules: 3.40 ± ? kJ measured by Slurm's acct_gather_energy/rapl, step 100.1" in result.stderr, (
        result
    )
    entry = json.loads((run / "manifest.json").read_text())["slurm_energy"]
    assert entry["joules"]["provenance"] == "measured" and entry["joules"]["scope"] == "node"
    assert wattle("report", run).returncode == 0
    assert "kJ measured by Slurm" in (run / "report.html").read_text().replace("&#39;", "'")
    compared = wattle("compare", run, run)
    assert "Slurm, nodes" in compared.stdout and "uncertainty is not known" in compared.stdout, compared
    row = json.loads(wattle("compare", run, run, "--json").stdout)["rows"][-1]
    assert row["metric"] == "slurm_joules" and row["before"]["provenance"] == "measured"


def test_compare_gives_the_reason_where_there_is_no_figure(tmp_path, wattle: Wattle):
    off = slurm_energy.none("it is off in this cluster").as_dict()
    run = fakes.make_run(tmp_path / "run", allocation=ALLOCATION, slurm_energy=off)
    shown = wattle("compare", run, run).stdout
    assert "before: Slurm's joules: unavailable (it is off in this cluster)." in shown
