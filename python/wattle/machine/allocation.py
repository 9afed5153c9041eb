"""The batch job in which a command runs: its number, user, account and nodes, from the batch system's variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wattle.base import input_files, limits
from wattle.base.errors import DamagedFile
from wattle.text import units

KEY = "allocation"  # of a manifest
# The keys of an entry, with their types as in `Checked.expect_some`.
KEYS = {
    "system": "text",
    "job": "text",
    "step": "text",
    "array_task": "text",
    "name": "text",
    "user": "text",
    "account": "text",
    "partition": "text",
    "cluster": "text",
    "nodes": "a whole number",
    "node_list": "text",
}
# By batch system: the variables that may hold each key, the first one first. Slurm is asked first, because it can set
# PBS's variables too.
_SYSTEMS: dict[str, dict[str, tuple[str, ...]]] = {
    "Slurm": {
        "job": ("SLURM_JOB_ID",),
        "step": ("SLURM_STEP_ID",),
        "array_task": ("SLURM_ARRAY_TASK_ID",),
        "name": ("SLURM_JOB_NAME",),
        "user": ("SLURM_JOB_USER", "LOGNAME", "USER"),
        "account": ("SLURM_JOB_ACCOUNT",),
        "partition": ("SLURM_JOB_PARTITION",),
        "cluster": ("SLURM_CLUSTER_NAME",),
        "nodes": ("SLURM_JOB_NUM_NODES",),
        "node_list": ("SLURM_JOB_NODELIST", "SLURM_NODELIST"),
    },
    "PBS": {
        "job": ("PBS_JOBID",),
        "array_task": ("PBS_ARRAY_INDEX", "PBS_ARRAYID"),
        "name": ("PBS_JOBNAME",),
        "user": ("PBS_O_LOGNAME", "LOGNAME"),
        "account": ("PBS_ACCOUNT",),
        "partition": ("PBS_QUEUE",),
        "cluster": ("PBS_SERVER",),
    },
    "LSF": {
        "job": ("LSB_JOBID",),
        "array_task": ("LSB_JOBINDEX",),
        "name": ("LSB_JOBNAME",),
        "user": ("LSFUSER", "LOGNAME"),
        "account": ("LSB_PROJECT_NAME",),
        "partition": ("LSB_QUEUE",),
    },
}


def here(environment: Mapping[str, str] | None = None) -> dict[str, Any] | None:
    """The entry of a manifest for the batch job of this process, with those of KEYS that its variables give. None
    outside a job. `environment`: other variables than those of this process.
    """
    known = os.environ if environment is None else environment
    for system, variables in _SYSTEMS.items():
        texts = {key: next((known[name] for name in names if known.get(name)), "") for key, names in variables.items()}
        if not texts["job"]:
            continue
        found: dict[str, Any] = {"system": system, **{key: text for key, text in texts.items() if text}}
        if system == "LSF" and found.get("array_task") == "0":  # a job that is no array
            del found["array_task"]
        nodes = found.pop("nodes", "")
        hosts = _hosts(system, known)
        if nodes.isdigit() or hosts:
            found["nodes"] = int(nodes) if nodes.isdigit() else len(hosts)
        if hosts and "node_list" not in found:
            found["node_list"] = ",".join(hosts)
        return found
    return None


def words(entry: Mapping[str, Any] | None) -> str:
    """The job: `Slurm job 12.0 of anna, account physics, partition short, 2 nodes: n[1-2]`. Empty outside one."""
    if not entry:
        return ""
    step = f".{entry['step']}" if entry.get("step") else ""
    task = f" (task {entry['array_task']} of an array)" if entry.get("array_task") else ""
    user = f" of {entry['user']}" if entry.get("user") else ""
    parts = [f"{entry.get('system')} job {entry.get('job')}{step}{task}{user}"]
    partition = "partition" if entry.get("system") == "Slurm" else "queue"
    for key, name in (("account", "account"), ("partition", partition), ("cluster", "cluster")):
        if entry.get(key):
            parts.append(f"{name} {entry[key]}")
    if entry.get("nodes"):
        hosts = f": {entry['node_list']}" if entry.get("node_list") else ""
        parts.append(f"{units.several(entry['nodes'], 'node')}{hosts}")
    return ", ".join(parts)


def _hosts(system: str, known: Mapping[str, str]) -> list[str]:
    """The nodes of a PBS or LSF job, each once."""
    if system == "LSF":  # `a 4 b 2`: each host with its slots
        return list(dict.fromkeys(known.get("LSB_MCPU_HOSTS", "").split()[::2]))
    try:
        listed = input_files.read_text(Path(known["PBS_NODEFILE"]), limits.TEXT_BYTES) if system == "PBS" else ""
    except (KeyError, DamagedFile):
        return []
    return list(dict.fromkeys(listed.split()))
