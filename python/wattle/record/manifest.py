"""manifest.json: describes how a run or study directory was made and what it holds."""

from __future__ import annotations

import os
import platform
import re
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattle import __version__
from wattle.base import files, limits
from wattle.base.checked import Checked, read_json, require_schema, shown
from wattle.base.errors import WattleError
from wattle.machine import allocation
from wattle.record import repository
from wattle.text import console, units

if TYPE_CHECKING:
    from wattle.machine.slurm_energy import SlurmEnergy

SCHEMA = 1
PACKAGES = ("polars", "scipy", "plotly", "rich", "typer")
FILE = "manifest.json"

# Optional keys of a manifest and of its description of the host.
HOST = {
    "name": "text",
    "cpu": "text",
    "kernel": "text",
    "cores": "a whole number",
    "memory_bytes": "a whole number",
    "load": "a number",
}
EXTRA = {
    "profile": "true or false",
    "mpi": "true or false",
    "interrupted": "true or false",
    "asked_by": "a whole number",
    "first_end": "an object",
    "job_cpu_s": "a number",
    "n_hosts": "a whole number",
    "hosts": "a list",
    "nodes": "a list",
    "repeats": "a list",
    "machine_numbers": "a list",
    "machine_title": "text",
    "carbon_g_per_kwh": "a number",
    "label": "text",
    "set": "an object",
    "timeline": "an object",
    "simulated": "an object",
    "simulated_by_series": "an object",
    "study": "an object",
    "external": "an object",
    "shield": "an object",
    "slurm_energy": "an object",
}


def machine_words(extra: dict[str, Any]) -> str:
    """The machine profile of modelled joules in words, such as `AMD EPYC 9004 (Genoa), 17 servers at the wall, 7 by
    RAPL, ±38 %`; empty where a run did not record it. The percentage is the half-width of the watts of a computing
    thread at the first clock.
    """
    title = str(extra.get("machine_title") or "")
    for row in extra.get("machine_numbers") or []:
        if title and row.get("key") == "clocks[0].active" and row.get("value"):
            return f"{title}, ±{100 * (row.get('plus_minus') or 0) / row['value']:.0f} %"
    return title


@dataclass
class Manifest:
    """The description of a run or study. `n_pes` is 1 where the number is not known (`knows_n_pes`); the file then
    holds null. `settings` are those set by name for this run. `allocation`: the batch job, or None; the file
    then lacks the key. `git`: the commit, or None. `extra` holds further keys of a study, which are written beside the
    others.
    """

    kind: str  # "run" or "study"
    command: list[str]
    n_pes: int
    started: str  # ISO 8601, UTC
    wall_s: float | None = None
    exit_code: int | None = None
    host: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    meter: dict[str, str] = field(default_factory=dict)
    machine: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    wattle_version: str = __version__
    allocation: dict[str, Any] | None = None
    git: dict[str, Any] | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def knows_n_pes(self) -> bool:
        """Whether the number of PEs is known. The launcher of an MPI job decides it, so it is known once a process left
        a profile.
        """
        return self.n_pes > 0 and (not self.extra.get("mpi") or "nodes" in self.extra)

    @property
    def noun(self) -> str:
        """The word for a process of the job, where no profile tells: `rank`, or `PE`."""
        return "rank" if self.extra.get("mpi") else "PE"

    @property
    def repeats(self) -> list[str]:
        """Names of the run directories inside this one, where `wattle run --repeat` wrote several."""
        return list(self.extra.get("repeats") or [])

    @property
    def hosts(self) -> list[str]:
        """The hosts that the job was given, each once. Empty where they are not known."""
        return list(dict.fromkeys(host["name"] for host in self.extra.get("hosts") or []))

    @property
    def n_hosts(self) -> int | None:
        """The largest possible number of hosts of the job. None where it is not known."""
        return self.extra.get("n_hosts")

    @property
    def slurm_energy(self) -> SlurmEnergy | None:
        """Slurm's own joules of the run. None outside a job of Slurm, and for manifests of earlier versions."""
        from wattle.machine import slurm_energy

        entry = self.extra.get(slurm_energy.KEY)
        return None if entry is None else slurm_energy.read(Checked(FILE, entry, slurm_energy.KEY))

    @property
    def simulated(self) -> bool:
        study = self.extra.get("study") or {}
        return "simulated" in self.extra or str(study.get("on", "")).partition(":")[0] == "sim"

    @property
    def on_cluster(self) -> str:
        """`, simulated on NAME` for a simulated run, otherwise empty."""
        cluster = (self.extra.get("simulated") or {}).get("cluster")
        return f", simulated on {cluster}" if cluster else ""

    @property
    def busy(self) -> str:
        """A remark where other work was running at the start. Empty where it was not, where the load is not known, and
        for simulated runs, whose times do not depend on it.
        """
        load, cores = self.host.get("load"), self.host.get("cores")
        if load is None or cores is None or load <= cores / 2 or self.simulated:
            return ""
        return f"Other work was running: load {load:.3g} on {units.several(cores, 'core')} when this began"

    def as_dict(self) -> dict[str, Any]:
        document = {"schema": SCHEMA, **asdict(self), "n_pes": self.n_pes if self.knows_n_pes else None}
        for key in (allocation.KEY, repository.KEY):
            if document[key] is None:
                del document[key]
        return {**document.pop("extra"), **document}


def start(kind: str, command: list[str], n_pes: int, **more: Any) -> Manifest:
    """A manifest for a run or study that starts now on this host."""
    return Manifest(
        kind,
        command,
        n_pes,
        now(),
        host=host_info(),
        versions=versions(),
        allocation=allocation.here(),
        git=repository.here(),
        **more,
    )


def write(directory: Path, manifest: Manifest) -> Path:
    """Writes DIR/manifest.json atomically."""
    path = directory / FILE
    files.write(path, console.json_text(manifest.as_dict()))
    return path


def keep(directory: Path, manifest: Manifest) -> None:
    """Writes the manifest after the program has run. A failure, such as a full disk, is only reported, because the
    program's exit code matters more.
    """
    try:
        write(directory, manifest)
    except WattleError as error:
        console.error(str(error))


def read(directory: Path) -> Manifest:
    """Reads and checks DIR/manifest.json. Raises WattleError or DamagedFile."""
    if not directory.is_dir():
        what = "is not a directory" if directory.exists() else "does not exist"
        raise WattleError(f"{directory}: {what}; expected a directory that `wattle run` or `wattle study` wrote")
    if not (directory / FILE).exists():
        raise WattleError(f"{directory}: holds no {FILE}, so `wattle run` or `wattle study` did not write it")
    return _from_document(read_json(directory / FILE))


def _from_document(document: Checked) -> Manifest:
    require_schema(document, SCHEMA)
    known = {f.name for f in fields(Manifest)} | {"schema"}
    _check_extra(document)
    exit_code = document.get("exit_code")
    is_unknown = document.has("mpi") and document.get("n_pes").value is None
    return Manifest(
        kind=document.choice("kind", ("run", "study")),
        command=document.texts("command"),
        n_pes=1 if is_unknown else document.integer("n_pes", lo=1, hi=limits.PES),
        started=_checked_time(document),
        wall_s=document.number("wall_s"),
        exit_code=exit_code.expect("a whole number", nullable=True).value,
        host=read_host(document),
        settings=read_texts(document.get("settings")),
        meter=read_texts(document.get("meter")),
        machine=document.text("machine"),
        versions=read_texts(document.get("versions")),
        wattle_version=document.text("wattle_version"),
        allocation=_read_some(document, allocation.KEY, allocation.KEYS),
        git=_read_git(document),
        extra={k: v for k, v in document.object().items() if k not in known},
    )


def _check_extra(document: Checked) -> None:
    document.expect_some(**EXTRA)
    for host in document.items("hosts") if document.has("hosts") else ():
        host.text("name")
    if document.has("n_hosts"):
        document.integer("n_hosts", lo=1, hi=limits.HOSTS)
    if document.has("repeats"):
        document.texts("repeats")
    if document.has("slurm_energy"):
        from wattle.machine import slurm_energy

        slurm_energy.read(document.get(slurm_energy.KEY))
    for row in document.items("machine_numbers") if document.has("machine_numbers") else ():
        row.text("key")
        row.expect_some(value="a number", plus_minus="a number")
    series = document.get("simulated_by_series") if document.has("simulated_by_series") else None
    of_series = [series.get(name) for name in series.object()] if series else []
    for simulated in [*of_series, *([document.get("simulated")] if document.has("simulated") else [])]:
        simulated.expect_some(cluster="text", network="text", numbers="an object", simulating_s="a number")


def read_host(parent: Checked) -> dict[str, Any]:
    """The host in a manifest or benchmark file."""
    host = parent.get("host")
    host.expect_some(**HOST)
    return host.object()


def _read_some(document: Checked, key: str, keys: dict[str, str]) -> dict[str, Any] | None:
    """An object that may be missing, as may each of its keys."""
    if not document.has(key):
        return None
    entry = document.get(key)
    entry.expect_some(**keys)
    return entry.object()


def _read_git(document: Checked) -> dict[str, Any] | None:
    found = _read_some(document, repository.KEY, repository.KEYS)
    if found is not None and not re.fullmatch(r"[0-9a-f]{40,64}", found.get("commit") or ""):
        raise document.get(repository.KEY).wrong("expected a commit of 40 to 64 hexadecimal digits")
    return found


def read_texts(entry: Checked) -> dict[str, str]:
    """An object whose values are all texts."""
    return {key: entry.text(key) for key in entry.object()}


def study(directory: Path, record: Manifest) -> Checked:
    """The entry of the study in a manifest."""
    return Checked(directory / FILE, record.extra.get("study"), "study")


def _checked_time(document: Checked) -> str:
    text = document.text("started")
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise document.get("started").wrong(f"expected a time like 2026-01-31T12:00:00Z, found {shown(text)}") from None
    return text


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def host_info() -> dict[str, Any]:
    """{name, cpu, cores, kernel, memory_bytes, load} of this host. `cores`: cores that this process may use. `load`:
    the average number of runnable processes in the last minute.
    """
    return {
        "name": platform.node(),
        "cpu": cpu_name(),
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "load": round(os.getloadavg()[0], 2),
    }


def cpu_name(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.machine()
    match = re.search(r"^(?:model name|Model|cpu model)\s*:\s*(.+)$", text, re.MULTILINE)
    return match.group(1).strip() if match else platform.machine()


def versions() -> dict[str, str]:
    """Versions of Wattle, Python and the libraries that the figures depend on."""
    return {"wattle": __version__, "python": ".".join(map(str, sys.version_info[:3])), **_installed()}


def _installed() -> dict[str, str]:
    """The versions of installed packages, by the names of their folders. `importlib.metadata` would take longer to load
    than all other work of a short run.
    """
    found: dict[str, str] = {}
    for folder in sys.path:
        with suppress(OSError):
            for entry in Path(folder).glob("*.dist-info"):
                name, _, version = entry.stem.partition("-")
                if name in PACKAGES:
                    found.setdefault(name, version)
    return {name: found[name] for name in PACKAGES if name in found}
