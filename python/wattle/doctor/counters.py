"""Findings on hardware counters, such as instructions and cache misses. They are found by opening each counter."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

from wattle.doctor.finding import Finding, Roots, Section, State, read, virtual_why

SYSCALL = {"x86_64": 298, "aarch64": 241, "ppc64le": 319, "riscv64": 241, "s390x": 331}
SIZE = 64  # PERF_ATTR_SIZE_VER0
TYPE_HARDWARE = 0
EVENTS = {"instructions": 1, "cycles": 0, "last-level cache misses": 3}  # PERF_COUNT_HW_*
EXCLUDE_KERNEL_AND_HYPERVISOR = 0b1100000
RISK = "the capability lets a program count and sample every process here; give it to one tool, not to all users"


def examine(roots: Roots, error: int | None = None) -> Section:
    """The section on counters. `error`: an errno instead of that of the attempt, for tests."""
    level = read(roots.proc / "sys" / "kernel" / "perf_event_paranoid")
    errors = {name: count(event) if error is None else error for name, event in EVENTS.items()}
    found = [_trial(", ".join(names), code, level, roots) for code, names in _by_error(errors).items()]
    return Section("Counters", [*found, _level(level)])


def _by_error(errors: dict[str, int]) -> dict[int, list[str]]:
    """The events by the result of their trial."""
    found: dict[int, list[str]] = {}
    for name, error in errors.items():
        found.setdefault(error, []).append(name)
    return found


def count(event: int) -> int:
    """Tries to open a counter of this process. Returns 0 or the errno."""
    number = SYSCALL.get(platform.machine())
    if number is None:
        return errno.ENOSYS
    # type, size, config, period, sample type, read format, flags, wake-up, breakpoint type, breakpoint address
    fields = struct.pack("IIQQQQQIIQ", TYPE_HARDWARE, SIZE, event, 0, 0, 0, EXCLUDE_KERNEL_AND_HYPERVISOR, 0, 0, 0)
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.syscall(ctypes.c_long(number), fields, 0, -1, -1, ctypes.c_ulong(0))
    if descriptor < 0:
        return ctypes.get_errno()
    os.close(descriptor)
    return 0


def _trial(names: str, error: int, level: str | None, roots: Roots) -> Finding:
    if error == 0:
        return Finding(names, State.YES, "can be counted")
    if error in (errno.EACCES, errno.EPERM):
        grant = ("sudo setcap cap_perfmon+ep PROGRAM   # for one tool", "sudo sysctl kernel.perf_event_paranoid=2")
        return Finding(names, State.NO, "not permitted", f"perf_event_paranoid is {level}", grant, RISK)
    if error in (errno.ENOENT, errno.EOPNOTSUPP, errno.ENODEV):
        return Finding(names, State.NO, "cannot be counted", "no hardware counters" + virtual_why(roots))
    return Finding(names, State.NO, "cannot be counted", os.strerror(error))


def _level(level: str | None) -> Finding:
    if level is None:
        return Finding("perf_event_paranoid", State.NO, "not there", "this kernel has no perf events")
    meaning = {
        "-1": "everything, by all users",
        "0": "all processes' counters",
        "1": "kernel too",
        "2": "own programs only",
    }
    return Finding("perf_event_paranoid", State.INFO, f"{level} ({meaning.get(level, 'nothing without CAP_PERFMON')})")
