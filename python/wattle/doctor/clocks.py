"""Findings on clocks and power limits: whether they can be read and set, and which CPUs share one."""

from __future__ import annotations

import os
import pwd
import stat
from itertools import islice
from pathlib import Path

from wattle.doctor import packages
from wattle.doctor.finding import Finding, Roots, Section, State, read, virtual_why

COMMON_STATE = Path("/run/wattle")
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
MOST_NAMES = 10_000  # largest number of names that is read of the state folder; a repair has the same limit
RISK = "users who may write these files can slow down the whole machine"


def examine(roots: Roots) -> Section:
    cpus = roots.sys / "devices" / "system" / "cpu"
    policies = sorted((cpus / "cpufreq").glob("policy*")) or sorted(cpus.glob("cpu[0-9]*/cpufreq"))
    if not policies:
        why = "no cpufreq driver" + virtual_why(roots)
        none = Finding("cpufreq", State.NO, "clocks can be neither seen nor set", why)
        return Section("Clocks", [none, packages.uncore(roots), packages.limit(roots)])
    return Section(
        "Clocks",
        [
            _driver(policies[0]),
            _governor(policies),
            _domains(roots, policies),
            _setting(policies),
            packages.uncore(roots),
            packages.limit(roots),
            _state(roots),
            *_limits_state(roots),
        ],
    )


def _driver(policy: Path) -> Finding:
    low, high = (_ghz(read(policy / f"cpuinfo_{end}_freq")) for end in ("min", "max"))
    return Finding("cpufreq", State.YES, f"driver {read(policy / 'scaling_driver') or '?'}, {low} to {high}")


def _ghz(khz: str | None) -> str:
    return f"{int(khz) / 1e6:.2f} GHz" if khz and khz.isdigit() else "? GHz"


def _governor(policies: list[Path]) -> Finding:
    found = sorted({read(p / "scaling_governor") or "?" for p in policies})
    return Finding("governor", State.INFO, ", ".join(found))


def _domains(roots: Roots, policies: list[Path]) -> Finding:
    """The clock domains. CPUs of a domain can only change their clock together. Found as the governor finds them
    (src/power/knob/clock_domains.c), except for a CPU whose domain the kernel does not state.
    """
    groups: list[set[int]] = []
    for cpu in sorted({cpu for policy in policies for cpu in _cpus(policy / "related_cpus")}):
        at = roots.sys / "devices" / "system" / "cpu" / f"cpu{cpu}"
        mine = {cpu} | _cpus(at / "topology" / "thread_siblings_list")
        for policy in policies:
            if cpu in (related := _cpus(policy / "related_cpus")):
                mine |= related | _cpus(policy / "freqdomain_cpus")
        for other in [g for g in groups if g & mine]:
            mine |= other
            groups.remove(other)
        groups.append(mine)
    shared = [" ".join(map(str, sorted(g))) for g in sorted(groups, key=min) if len(g) > 1]
    if not groups:
        return Finding("clock domains", State.PARTLY, "unknown: cpufreq does not say which CPUs share a clock")
    if not shared:
        return Finding("clock domains", State.YES, f"{len(groups)}, one for each CPU")
    return Finding("clock domains", State.PARTLY, f"{len(groups)}, shared: CPUs {' | '.join(shared)}")


def _cpus(path: Path) -> set[int]:
    """CPUs from the kernel's form `0-3,8` or `0 1 2 3 8`. Empty where the file is missing or has another form."""
    found: set[int] = set()
    for part in (read(path) or "").replace(",", " ").split():
        first, _, last = part.partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            return set()
        found |= set(range(int(first), int(last or first) + 1))
    return found


def _setting(policies: list[Path]) -> Finding:
    """Whether clocks can be set, as src/power/knob/knob_cpufreq.c decides: all files must be writable."""
    set_by_hand = read(policies[0] / "scaling_governor") == "userspace"
    names = ("scaling_setspeed",) if set_by_hand else ("scaling_max_freq", "scaling_min_freq")
    refused = _refused(policies, names)
    if not refused:
        return Finding("setting clocks", State.YES, f"permitted, by {' and '.join(names)}; WATTLE_GOVERN requests it")
    hint = not _refused(policies, ("energy_performance_preference",))
    says = "only as a hint, by energy_performance_preference" if hint else "not permitted"
    pattern = "policy*" if policies[0].name.startswith("policy") else "../cpu[0-9]*/cpufreq"
    where = " ".join(f"{policies[0].parent}/{pattern}/{name}" for name in names)
    grant = (
        "sudo groupadd -f power && sudo usermod -aG power $USER   # then log in again",
        f"sudo chgrp power {where} && sudo chmod g+w {where}   # until the next boot",
    )
    why = f"{refused[0]} is not writable"
    return Finding("setting clocks", State.PARTLY if hint else State.NO, says, why, grant, RISK)


def _refused(policies: list[Path], names: tuple[str, ...]) -> list[Path]:
    return [p / name for p in policies for name in names if not os.access(p / name, os.W_OK)]


def _state_folder(common: bool = True) -> Path | None:
    """The state folder as a job finds it (src/power/knob/knob_state.c). None where it is switched off.

    With `common`, it may be the folder of a group.
    """
    named = os.environ.get("WATTLE_CLOCK_STATE") or "auto"
    if named != "auto":
        return None if named == "none" else Path(named)
    if os.geteuid() == 0 or (common and os.access(COMMON_STATE, os.R_OK | os.W_OK | os.X_OK)):
        return COMMON_STATE
    home = os.environ.get("XDG_STATE_HOME") or f"{os.environ.get('HOME', '')}/.local/state"
    return Path(home) / "wattle"


def _state(roots: Roots) -> Finding:
    """The folder in which jobs keep the earlier settings of clocks, and the owners of its files."""
    name, folder = "state folder", _state_folder()
    if folder is None:
        return Finding(name, State.INFO, "none: clocks of a job that is killed with its guard stay changed")
    try:
        about = folder.lstat()
        kept = _kept(folder, "clocks", roots)
    except FileNotFoundError:
        return Finding(name, State.INFO, f"{folder}, made by the first job that sets clocks")
    except OSError as error:
        return Finding(name, State.NO, f"{folder} cannot be read", error.strerror or "")
    if not stat.S_ISDIR(about.st_mode):
        return Finding(name, State.NO, f"{folder} is not used", "it is not a folder itself")
    if about.st_uid not in (0, os.geteuid()):
        return Finding(name, State.NO, f"{folder} is not used", f"it belongs to {_user(about.st_uid)}")
    if about.st_mode & stat.S_IWOTH:
        grant = (f"sudo chmod o-w {folder}",)
        return Finding(name, State.NO, f"{folder} is not used", "every user may write to it", grant)
    says = f"{folder}, " + ("shared with a group" if about.st_mode & stat.S_IWGRP else "not shared")
    return Finding(name, State.YES, says + _keep(kept))


def _limits_state(roots: Roots) -> list[Finding]:
    """The folder of earlier power limits, if there is one. No user but this one may write to it or rename it."""
    name, beside = "state of limits", _state_folder(common=False)
    folder = beside and beside.with_name(f"{beside.name}-limits")
    if folder is None or not os.path.lexists(folder):
        return []
    try:
        about = folder.lstat()
        kept = _kept(folder, "limits", roots)
        above = [p.stat() for p in folder.resolve().parents]
    except OSError as error:
        return [Finding(name, State.NO, f"{folder} cannot be read", error.strerror or "")]
    why = ""
    if not stat.S_ISDIR(about.st_mode):
        why = "it is not a folder itself"
    elif about.st_uid != os.geteuid():
        why = f"it belongs to {_user(about.st_uid)}"
    elif about.st_mode & OTHERS_WRITE:
        why = "others may write to it"
    elif any(map(_lets_rename, above)):
        why = "others may rename it, because they may write to a folder above it"
    if why:
        return [Finding(name, State.NO, f"{folder} is not used for power limits", why)]
    return [Finding(name, State.YES, f"{folder}{_keep(kept)}")]


def _lets_rename(folder: os.stat_result) -> bool:
    foreign = folder.st_uid not in (0, os.geteuid())
    return foreign or bool(folder.st_mode & OTHERS_WRITE and not folder.st_mode & stat.S_ISVTX)


def _keep(kept: list[str]) -> str:
    return f"; jobs that run, or were killed, keep {', '.join(kept)}" if kept else ""


def _kept(folder: Path, start: str, roots: Roots) -> list[str]:
    """The first few files of jobs since this boot, with their owners. No file is opened."""
    boot = read(roots.proc / "sys/kernel/random/boot_id") or "?"
    with os.scandir(folder) as entries:
        found = (e for e in islice(entries, MOST_NAMES) if e.name.startswith(f"{start}-{boot}-"))
        files = [e for e in found if e.is_file(follow_symlinks=False)]
    some = [
        f"{e.name} ({_user(e.stat(follow_symlinks=False).st_uid)})" for e in sorted(files, key=lambda e: e.name)[:4]
    ]
    return [*some, f"{len(files) - len(some)} more"] if len(files) > len(some) else some


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"
