"""Findings on the machine: usable cores, memory, limits, and instructions for waiting at low power."""

from __future__ import annotations

import os
import platform
import re
import resource
import shutil
from pathlib import Path

from wattle.doctor.finding import Finding, Roots, Section, State, is_virtual, read
from wattle.record.manifest import cpu_name
from wattle.text import units

LIMITS = (
    ("open files", resource.RLIMIT_NOFILE),
    ("locked memory", resource.RLIMIT_MEMLOCK),
    ("processes", resource.RLIMIT_NPROC),
)
FILES_ENOUGH = 1024


def examine(roots: Roots) -> Section:
    findings = [_cpu(roots), _cores(roots), _quota(roots), _memory(roots), _shared_memory()]
    return Section("Machine and limits", [f for f in (*findings, *_limits()) if f is not None])


def waiting(roots: Roots) -> Section:
    """Instructions with which a core waits at less power than by spinning."""
    flags = _flags(roots)
    rows = [
        ("UMWAIT, TPAUSE", "waitpkg" in flags, "waitpkg", "Intel"),
        ("MWAITX", "mwaitx" in flags, "mwaitx", "AMD"),
    ]
    if platform.machine() == "aarch64":
        rows = [("WFE", True, "", "Arm"), ("WFET", "wfxt" in flags, "wfxt", "Arm")]
    return Section("Waiting", [_instruction(*row) for row in rows])


def _instruction(name: str, there: bool, flag: str, maker: str) -> Finding:
    if there:
        return Finding(name, State.YES, "the CPU has it; waits use the best there is (WATTLE_LOWPOWER)")
    return Finding(name, State.NO, "the CPU does not have it", f"no flag {flag} ({maker})")


def _flags(roots: Roots) -> set[str]:
    match = re.search(r"^(?:flags|Features)\s*:\s*(.+)$", read(roots.proc / "cpuinfo") or "", re.MULTILINE)
    return set(match.group(1).split()) if match else set()


def _cpu(roots: Roots) -> Finding:
    where = ", in a virtual machine" if is_virtual(roots) else ""
    return Finding("CPU", State.INFO, cpu_name(roots.proc / "cpuinfo") + where)


def _cores(roots: Roots) -> Finding:
    there, ours = os.cpu_count() or 1, len(os.sched_getaffinity(0))
    if ours < there:
        return Finding("cores", State.PARTLY, f"{ours} of {there}", "this process is bound to some of them (affinity)")
    threads = read(roots.sys / "devices" / "system" / "cpu" / "smt" / "active")
    return Finding("cores", State.YES, f"{ours}" + (", two threads a core" if threads == "1" else ""))


def _quota(roots: Roots) -> Finding | None:
    """The control group's share of CPU time. PEs that spin use it up and are then stopped."""
    text = _cgroup_file(roots, "cpu.max")
    if text is None or text.startswith("max"):
        return None
    quota, _, period = text.partition(" ")
    cores = int(quota) / int(period or 100000)
    why = "the control group stops all PEs for a while when this is used up, so waits appear longer"
    return Finding("CPU quota", State.PARTLY, f"{cores:.3g} cores' worth of time", why)


def _memory(roots: Roots) -> Finding:
    match = re.search(r"^MemAvailable:\s*(\d+) kB", read(roots.proc / "meminfo") or "", re.MULTILINE)
    free = int(match.group(1)) * 1024 if match else None
    limit = _cgroup_file(roots, "memory.max")
    if limit and limit.isdigit() and (free is None or int(limit) < free):
        return Finding("memory", State.PARTLY, units.size(int(limit)), "the control group allows no more")
    return Finding("memory", State.YES, f"{units.size(free)} available")


def _shared_memory() -> Finding:
    try:
        total = shutil.disk_usage("/dev/shm").total
    except OSError:
        return Finding("/dev/shm", State.INFO, "not there; Wattle does not need it, launchers may")
    return Finding(
        "/dev/shm", State.INFO, f"{units.size(total)}; Wattle's heaps are not there, launchers' files may be"
    )


def _limits() -> list[Finding]:
    findings = []
    for name, which in LIMITS:
        soft, _ = resource.getrlimit(which)
        low = name == "open files" and soft != resource.RLIM_INFINITY and soft < FILES_ENOUGH
        says = "unlimited" if soft == resource.RLIM_INFINITY else _limit_text(name, soft)
        why = f"launchers need some for each PE; `ulimit -n {FILES_ENOUGH}` raises it" if low else ""
        findings.append(Finding(name, State.PARTLY if low else State.YES, says, why))
    return findings


def _limit_text(name: str, value: int) -> str:
    return units.size(value) if name == "locked memory" else f"{value:,}"


def _cgroup_file(roots: Roots, name: str) -> str | None:
    """The nearest setting of a control group (version 2): of this process's group, else of one above it."""
    match = re.search(r"^0::(/.*)$", read(roots.proc / "self" / "cgroup") or "", re.MULTILINE)
    top = roots.sys / "fs" / "cgroup"
    group = top / match.group(1).lstrip("/") if match else top
    while group.is_relative_to(top):
        text = read(group / name)
        if text is not None and not text.startswith("max"):
            return text
        if group == top:
            return text
        group = Path(group).parent
    return None
