"""What Wattle stands on: its own tools, launchers, the tool that finds source lines, networks."""

from __future__ import annotations

import shutil
import subprocess

from wattle import paths, symbols
from wattle.doctor.finding import Finding, Roots, Section, State, read
from wattle.errors import WattleError
from wattle.info import Info

LAUNCHERS = (("mpirun", "--version"), ("prterun", "--version"), ("srun", "--version"))


def examine(info: Info) -> Section:
    home = paths.find_home()
    findings = [Finding("Wattle", State.YES, f"{info.version or '?'} in {home.root} (found by {home.how})")]
    findings += _parts(home)
    pmix = info.pmix
    missing = "the runtime was built without it: one PE only"
    findings.append(Finding("PMIx", State.YES if pmix else State.NO, pmix or "not there", "" if pmix else missing))
    findings += _launchers()
    findings.append(_lines())
    return Section("Software", findings)


def network(roots: Roots) -> Section:
    """What there is between nodes."""
    cards = sorted(p.name for p in (roots.sys / "class" / "infiniband").glob("*"))
    links = [_link(roots, p.name) for p in sorted((roots.sys / "class" / "net").glob("*")) if p.name != "lo"]
    return Section(
        "Network",
        [
            Finding("between nodes", State.INFO, "messages over UCX (TCP), loaded by jobs on several nodes"),
            Finding("InfiniBand", State.INFO if cards else State.NO, ", ".join(cards) or "none"),
            Finding("interfaces", State.INFO, ", ".join(links) or "none"),
        ],
    )


def _parts(home: paths.Home) -> list[Finding]:
    findings = []
    for name in paths.TOOLS:
        try:
            home.tool(name)
        except WattleError as error:
            findings.append(Finding(name, State.NO, "missing", str(error)))
    if paths.library(home) is None:
        findings.append(
            Finding("libwattle-shmem", State.NO, "missing", f"not in {home.root}/lib; `make build` makes it")
        )
    return findings


def _launchers() -> list[Finding]:
    found = [(name, version) for name, option in LAUNCHERS if (version := _first_line(name, option))]
    if not found:
        why = "without a launcher a program runs as one PE"
        return [Finding("launcher", State.NO, "none found", why, ("sudo apt-get install openmpi-bin",))]
    return [Finding(name, State.YES, version) for name, version in found]


def _first_line(name: str, option: str) -> str:
    if not shutil.which(name):
        return ""
    try:
        answer = subprocess.run(
            [name, option],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=10,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "does not answer"
    return (answer.stdout.strip() or answer.stderr.strip()).partition("\n")[0]


def _lines() -> Finding:
    if shutil.which(symbols.TOOL):
        return Finding("source lines", State.YES, f"call sites are shown as file:line ({symbols.TOOL})")
    why = f"{symbols.TOOL} is missing; call sites are shown as program+offset"
    return Finding("source lines", State.NO, "not shown", why, ("sudo apt-get install elfutils",))


def _link(roots: Roots, name: str) -> str:
    speed = read(roots.sys / "class" / "net" / name / "speed")
    state = read(roots.sys / "class" / "net" / name / "operstate") or "?"
    rate = f" {int(speed) / 1000:g} Gbit/s" if speed and speed.lstrip("-").isdigit() and int(speed) > 0 else ""
    return f"{name} ({state}{rate})"
