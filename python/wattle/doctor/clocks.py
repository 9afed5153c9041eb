"""Clocks: whether they can be seen and set, and which CPUs share one."""

from __future__ import annotations

import os
from pathlib import Path

from wattle.doctor.finding import Finding, Roots, Section, State, read, virtual_why

RISK = "who may write these files can slow down the whole machine for everybody"


def examine(roots: Roots) -> Section:
    cpus = roots.sys / "devices" / "system" / "cpu"
    policies = sorted((cpus / "cpufreq").glob("policy*")) or sorted(cpus.glob("cpu[0-9]*/cpufreq"))
    if not policies:
        why = "no cpufreq driver" + virtual_why(roots)
        return Section("Clocks", [Finding("cpufreq", State.NO, "clocks can be neither seen nor set", why)])
    return Section("Clocks", [_driver(policies[0]), _governor(policies), _domains(roots, policies), _setting(policies)])


def _driver(policy: Path) -> Finding:
    low, high = (_ghz(read(policy / f"cpuinfo_{end}_freq")) for end in ("min", "max"))
    return Finding("cpufreq", State.YES, f"driver {read(policy / 'scaling_driver') or '?'}, {low} to {high}")


def _ghz(khz: str | None) -> str:
    return f"{int(khz) / 1e6:.2f} GHz" if khz and khz.isdigit() else "? GHz"


def _governor(policies: list[Path]) -> Finding:
    found = sorted({read(p / "scaling_governor") or "?" for p in policies})
    return Finding("governor", State.INFO, ", ".join(found))


def _domains(roots: Roots, policies: list[Path]) -> Finding:
    """CPUs that share a clock change together: no core of a shared domain can be slowed alone. As the governor finds
    them (src/power/clock_domains.c), but for one that does not say with whom it shares."""
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
    """`0-3,8` or `0 1 2 3 8`, as the kernel writes it; none where the file is not there or is something else."""
    found: set[int] = set()
    for part in (read(path) or "").replace(",", " ").split():
        first, _, last = part.partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            return set()
        found |= set(range(int(first), int(last or first) + 1))
    return found


def _setting(policies: list[Path]) -> Finding:
    """As the knob cpufreq looks for them (src/power/knob_cpufreq.c): all files that it writes, or none."""
    set_by_hand = read(policies[0] / "scaling_governor") == "userspace"
    names = ("scaling_setspeed",) if set_by_hand else ("scaling_max_freq", "scaling_min_freq")
    refused = _refused(policies, names)
    if not refused:
        return Finding("setting clocks", State.YES, f"permitted, by {' and '.join(names)}; WATTLE_GOVERN asks for it")
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
