"""Findings on software: Wattle's tools, PMIx, launchers, modules for MPI programs, and the tool that finds source
lines.
"""

from __future__ import annotations

import shutil

from wattle.base.errors import WattleError
from wattle.doctor import launchers
from wattle.doctor.finding import Finding, Section, State
from wattle.machine import elf, paths, symbols
from wattle.machine.info import Info
from wattle.run import mpi
from wattle.sim import simulation


def examine(info: Info) -> Section:
    home = paths.find_home()
    findings = [Finding("Wattle", State.YES, f"{info.version or '?'} in {home.root} (found by {home.how})")]
    findings += _parts(home)
    findings.append(_pmix(home, info.pmix))
    findings += launchers.examine()
    findings.append(mpi_programs(home))
    findings.append(_simulation())
    findings.append(_lines())
    return Section("Software", findings)


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


def _pmix(home: paths.Home, version: str) -> Finding:
    """Boot by PMIx: its module, and the library that the module needs."""
    module, instead = home.root / "lib" / "libwattle-boot-pmix.so", "PEs find each other by MPI"
    if not version or not module.exists():
        why = f"Wattle was built without it, so {instead}; build Wattle again once it is there"
        return Finding("PMIx", State.NO, "not there", why, ("sudo apt-get install libpmix-dev",))
    missing = [name for name, path in (elf.libraries(str(module)) or {}).items() if path is None]
    if missing:
        why = f"{', '.join(missing)} is not found, so {instead}"
        return Finding("PMIx", State.NO, "not there", why, ("sudo apt-get install libpmix2",))
    return Finding("PMIx", State.YES, f"{version}, loaded where a launcher offers it")


def mpi_programs(home: paths.Home) -> Finding:
    """The MPI libraries whose programs can run unchanged with Wattle's library preloaded."""
    there = mpi.modules(home)
    lacking = [f"{m.name} (Debian: {m.package})" for kind, m in mpi.KINDS.items() if kind not in there]
    why = f"`make build` makes a module where that MPI's compiler wrapper is: {', '.join(lacking)}" if lacking else ""
    names = [mpi.KINDS[kind].name for kind in there]
    if (home.root / "lib" / "libwattle-mpi-abi.so").exists():
        names.append("MPIs with the standard interface of MPI 5")
    if not names:
        return Finding("MPI programs", State.NO, "run without a profile", why)
    return Finding(
        "MPI programs", State.PARTLY if lacking else State.YES, f"`wattle run --mpi`, under {' and '.join(names)}", why
    )


def _simulation() -> Finding:
    if simulation.unavailable() is None:
        return Finding("simulation", State.YES, "by SimGrid: `wattle sim`, and studies with --on sim")
    why = "Wattle was built without SimGrid; build or install Wattle again once it is there"
    return Finding("simulation", State.NO, "not possible", why, ("sudo apt-get install libsimgrid-dev",))


def _lines() -> Finding:
    if shutil.which(symbols.TOOL):
        return Finding("source lines", State.YES, f"call sites are shown as file:line ({symbols.TOOL})")
    why = f"{symbols.TOOL} is missing; call sites are shown as program+offset"
    return Finding("source lines", State.NO, "not shown", why, ("sudo apt-get install elfutils",))
