"""Findings on energy: which sensors give joules here, and how to grant them to some users."""

from __future__ import annotations

import stat
from collections import Counter
from pathlib import Path
from typing import Any

from wattle.doctor.finding import Finding, Roots, Section, State, virtual_why
from wattle.machine import processor
from wattle.machine.info import Info
from wattle.text import units

# Energy counters reveal what other programs compute, including keys. The attack is known as PLATYPUS (CVE-2020-8694).
RISK = (
    "users who read energy counters can work out secrets of other programs on this machine (PLATYPUS): "
    "grant it only to people whom you would trust with those, never to all users"
)
ENERGY_COUNTERS = ("powercap", "perf", "hwmon")  # meters whose grant lets users read energy counters
GRANT = (
    "sudo groupadd -f energy && sudo usermod -aG energy $USER   # then log in again",
    "sudo chgrp energy {files} && sudo chmod 440 {files}   # until the next boot",
)


def examine(info: Info, roots: Roots) -> Section:
    findings = [_meter(meter, roots) for meter in info.meters if meter.get("name") != "none"]
    open_to_all = _open_to_all(roots)
    if open_to_all is not None:
        findings.append(open_to_all)
    findings.append(_machine(info.machine))
    findings += _match(roots)
    return Section("Energy: joules", findings)


def _meter(meter: dict[str, Any], roots: Roots) -> Finding:
    name, why = str(meter.get("name", "?")), str(meter.get("why") or "")
    grant = _lines(meter.get("grant"))
    risk = RISK if grant and name in ENERGY_COUNTERS else ""
    if meter.get("usable"):
        return _usable(name, meter.get("domains") or [], why, grant, risk)
    if name != "powercap":
        return Finding(name, State.NO, "not usable", why, grant, risk)
    counters = counter_files(roots)
    if not counters:
        return Finding(name, State.NO, "no sensor", why or "no powercap zone" + virtual_why(roots), grant, risk)
    files = f"{roots.sys}/class/powercap/*/energy_uj"
    grant = grant or tuple(line.format(files=files) for line in GRANT)
    return Finding(name, State.NO, f"{len(counters)} counters, not readable", why, grant, RISK)


def _usable(name: str, domains: list[Any], why: str, grant: tuple[str, ...], risk: str) -> Finding:
    """A meter that opens. It is only partly usable if a domain cannot be read, or if the meter names something else."""
    read = [_domain(d) for d in domains if _is_read(d)]
    unread = [_domain(d) for d in domains if not _is_read(d)]
    listed = f" ({', '.join(read)})" if read else ""
    if name == "model":
        return Finding(name, State.PARTLY, f"usable: modelled{listed}", why)
    if not unread and not why:
        return Finding(name, State.YES, f"usable: measured{listed}")
    without = f"; not readable: {', '.join(unread)}" if unread else ""
    return Finding(name, State.PARTLY, f"usable in part: measured{listed}{without}", why, grant, risk)


def _domain(domain: Any) -> str:
    return str(domain.get("name") or domain.get("domain") or "?") if isinstance(domain, dict) else str(domain)


def _is_read(domain: Any) -> bool:
    return not isinstance(domain, dict) or bool(domain.get("available", True))


def _lines(grant: Any) -> tuple[str, ...]:
    if not grant:
        return ()
    return tuple(str(g) for g in grant) if isinstance(grant, list) else tuple(str(grant).splitlines())


def counter_files(roots: Roots) -> list[Path]:
    return sorted((roots.sys / "class" / "powercap").glob("*/energy_uj"))


def _open_to_all(roots: Roots) -> Finding | None:
    """A finding where all users can read energy counters."""
    open_to_all = []
    for path in counter_files(roots):
        try:
            if path.stat().st_mode & stat.S_IROTH:
                open_to_all.append(path)
        except OSError:
            continue
    if not open_to_all:
        return None
    return Finding(
        "exposure",
        State.PARTLY,
        f"{len(open_to_all)} energy counters can be read by every user",
        "the mode was changed; the kernel itself lets only root read them",
        (f"sudo chmod o-r {roots.sys}/class/powercap/*/energy_uj",),
        RISK,
    )


def _machine(machine: dict[str, Any]) -> Finding:
    name = str(machine.get("name") or "")
    if not name:
        return Finding("machine profile", State.NO, "none", "the model needs one of machines/")
    says = name + (f": {machine['title']}" if machine.get("title") else "") + _tags(machine) + _limits(machine)
    if machine.get("matched"):
        return Finding("machine profile", State.YES, says)
    why = "no profile matches this CPU, so modelled joules are wide ranges; WATTLE_MACHINE chooses another"
    return Finding("machine profile", State.PARTLY, says, why)


def _limits(machine: dict[str, Any]) -> str:
    """The power limits that bind modelled joules: `; a package may draw 205 W over 28 s, 250 W over 2.4 ms`."""
    limits = [
        f"{row['watts']:.4g} W over {units.seconds(row['window_s'])}" for row in machine.get("power_limits") or []
    ]
    return f"; a package may draw {', '.join(limits)}" if limits else ""


def _match(roots: Roots) -> list[Finding]:
    """The line by which a profile of one's own is chosen for this CPU."""
    try:
        line = processor.match_line(processor.read(roots.proc / "cpuinfo"))
    except OSError:
        return []
    return [Finding("line for a profile", State.INFO, line)] if line else []


def _tags(machine: dict[str, Any]) -> str:
    """How the profile's numbers were found: `; 7 numbers: 5 derived, 2 assumed`."""
    tags = Counter(str(n.get("tag")) for n in machine.get("numbers") or [])
    if not tags:
        return ""
    return f"; {tags.total()} numbers: " + ", ".join(f"{count} {tag}" for tag, count in tags.most_common())
