"""Findings on what can be set for a whole processor package: the clock of its uncore, and its power limit."""

from __future__ import annotations

import os
import re
from pathlib import Path

from wattle.doctor.finding import Finding, Roots, State, read, virtual_why

RISK = "users who may write these files can slow down every program on the machine"
CONSTRAINTS = 8  # largest number of constraints of a zone that is examined
GROUP = "sudo groupadd -f power && sudo usermod -aG power $USER   # then log in again"


def uncore(roots: Roots) -> Finding:
    """Whether the uncore's clock can be set, as the knob decides (src/power/knob/knob_uncore.c)."""
    name, top = "uncore clock", roots.sys / "devices/system/cpu/intel_uncore_frequency"
    clusters = sorted(p for p in top.glob("uncore[0-9]*") if re.fullmatch(r"uncore\d+", p.name))
    dies = sorted(p for p in top.glob("package_*_die_*") if re.fullmatch(r"package_\d+_die_\d+", p.name))
    if not clusters and not dies:
        why = f"no driver intel_uncore_frequency (Intel servers only){virtual_why(roots)}"
        return Finding(name, State.NO, "can be neither seen nor set", why)
    folders = clusters or dies
    ghz = [_number(p / f"{end}_freq_khz", 1e6) for p in folders for end in ("min", "max")]
    known = [g for g in ghz if g is not None]
    span = f"{min(known):.1f} to {max(known):.1f} GHz" if known else "? GHz"
    hidden = [p / "package_id" for p in clusters if not os.access(p / "package_id", os.R_OK)]
    closed = [p / "max_freq_khz" for p in folders if not os.access(p / "max_freq_khz", os.W_OK)]
    what = f"{len(folders)} {'cluster' if clusters else 'die'}{'s' if len(folders) > 1 else ''}, {span}"
    if not hidden and not closed:
        return Finding(name, State.YES, f"{what}; WATTLE_UNCORE sets it")
    why = f"{hidden[0]} is not readable" if hidden else f"{closed[0]} is not writable"
    pattern = "uncore*" if clusters else "package_*"
    grant = [GROUP, _grant(f"{top}/{pattern}/max_freq_khz", "g+w")]
    if hidden:
        grant.append(_grant(f"{top}/uncore*/package_id", "g+r"))
    return Finding(name, State.NO, f"{what}; setting it is not permitted", why, tuple(grant), RISK)


def _grant(files: str, mode: str) -> str:
    return f"sudo chgrp power {files} && sudo chmod {mode} {files}   # until the next boot"


def limit(roots: Roots) -> Finding:
    """The power limits of packages, and whether they can be set (src/power/knob/knob_powercap.c)."""
    name, top = "package limit", roots.sys / "class" / "powercap"
    zones = _package_zones(top)
    if not zones:
        why = f"no zone of a package with a power limit under {top}{virtual_why(roots)}"
        return Finding(name, State.NO, "can be neither seen nor set", why)
    files = [file for zone in zones.values() for file in _constraints(zone).values()]
    closed = [file for file in files if not os.access(file, os.W_OK)]
    says = "; ".join(f"{package}: {_limits(zone)}" for package, zone in zones.items())
    if not closed:
        return Finding(name, State.YES, f"{says}; WATTLE_PACKAGE_LIMIT sets it")
    where = f"{top}/intel-rapl:*/constraint_*_power_limit_uw"
    return Finding(
        name,
        State.NO,
        f"{says}; setting it is not permitted",
        f"{closed[0]} is not writable",
        (GROUP, _grant(where, "g+w")),
        RISK,
    )


def _package_zones(top: Path) -> dict[str, Path]:
    """The zone of each package with a limit, the first one by name: intel-rapl-mmio shows the same limits again."""
    zones: dict[str, Path] = {}
    for zone in sorted(top.glob("*:*")):
        package = read(zone / "name") or ""
        if re.fullmatch(r"package-\d+", package) and "long_term" in _constraints(zone):
            zones.setdefault(package, zone)
    return zones


def _constraints(zone: Path) -> dict[str, Path]:
    """The limits' files by the names of their constraints. Without names, 0 and 1 are the long and the short time."""
    found: dict[str, Path] = {}
    files = {i: zone / f"constraint_{i}_power_limit_uw" for i in range(CONSTRAINTS)}
    named = {i: read(zone / f"constraint_{i}_name") for i in files}
    for i, usual in enumerate(("long_term", "short_term")):
        numbers = [n for n, text in named.items() if text == usual] or ([i] if not any(named.values()) else [])
        if numbers and files[numbers[0]].exists():
            found[usual] = files[numbers[0]]
    return found


def _limits(zone: Path) -> str:
    words = []
    for file in _constraints(zone).values():
        watts = _number(file, 1e6)
        seconds = _number(file.with_name(file.name.replace("power_limit_uw", "time_window_us")), 1e6)
        over = f" over {seconds:.3g} s" if seconds else ""
        words.append(f"{watts:.0f} W{over}" if watts is not None else "? W")
    off = ", not enforced" if read(zone / "enabled") == "0" else ""
    return ", ".join(words) + off


def _number(path: Path, unit: float) -> float | None:
    text = read(path) or ""
    return int(text) / unit if text.isdigit() else None
