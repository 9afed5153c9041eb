"""Findings on networks: the runtime's network modules, UCX and its transports, cards, interfaces, and whether nodes can
be made of network namespaces.
"""

from __future__ import annotations

import os
from pathlib import Path

from wattle.doctor import libfabric, ucx
from wattle.doctor.finding import Finding, Roots, Section, State, read
from wattle.doctor.libfabric import Libfabric
from wattle.doctor.ucx import Ucx
from wattle.machine import elf, nodes, paths

MODULES = "libwattle-net-*.so"


def examine(roots: Roots) -> Section:
    home = paths.find_home()
    modules = _modules(home)
    found = _ask_ucx(modules)
    ofi = _ask_libfabric(modules)
    findings = [
        _between(home, modules, found, ofi),
        *_choice(roots, modules, ofi),
        *_transports(found),
        *_providers(ofi),
        _infiniband(roots, found),
        *_datagrams(roots),
    ]
    return Section("Network", [*findings, _interfaces(roots), _made_nodes()])


def _modules(home: paths.Home) -> dict[str, Path]:
    """The network modules that the runtime can load, by name."""
    library = paths.library(home)
    files = sorted(library.parent.glob(MODULES)) if library is not None else []
    return {file.name.removeprefix("libwattle-net-").removesuffix(".so"): file for file in files}


def _library(module: Path, stem: str) -> tuple[str, str | None]:
    """The library of this name that a module needs, with its path; None where it is not found."""
    libraries = elf.libraries(str(module)) or {}
    return next(((name, path) for name, path in libraries.items() if name.startswith(stem)), (stem, None))


def _ask_ucx(modules: dict[str, Path]) -> Ucx | None:
    """The answer of UCX. None where the runtime has no module for UCX."""
    if "ucx" not in modules:
        return None
    name, path = _library(modules["ucx"], "libucp.so")
    return Ucx(why=f"{name} is not found") if path is None else ucx.ask(path)


def _ask_libfabric(modules: dict[str, Path]) -> Libfabric | None:
    """The answer of libfabric. None where the runtime has no module for it."""
    if "ofi" not in modules:
        return None
    name, path = _library(modules["ofi"], "libfabric.so")
    return Libfabric(why=f"{name} is not found") if path is None else libfabric.ask(path)


def _between(home: paths.Home, modules: dict[str, Path], found: Ucx | None, ofi: Libfabric | None) -> Finding:
    if not modules:
        why = f"no {MODULES} in {home.root}/lib; `make build` makes it, with libucx-dev"
        return _by_mpi(home, "not possible", why, ())
    if found is not None and not found.version:
        why = f"{found.why}; the runtime's module needs it"
        return _by_mpi(home, "not possible by UCX", why, ("sudo apt-get install libucx0",))
    libraries = (("UCX", found), ("libfabric", ofi))
    names = [f"{name} {one.version}".rstrip() for name, one in libraries if one is not None]
    return Finding("between nodes", State.YES, f"by {' or '.join(names)}, loaded by jobs on several nodes")


def _by_mpi(home: paths.Home, says: str, why: str, grant: tuple[str, ...]) -> Finding:
    """Without UCX: by the messages of an MPI for which the runtime has a module."""
    if any((home.root / "lib").glob("libwattle-boot-mpi-*.so")):
        return Finding("between nodes", State.PARTLY, "by MPI only", why, grant)
    return Finding("between nodes", State.NO, says, f"{why}; until then jobs run on one node", grant)


# Devices that libfabric serves by their own interface, with its providers for them, as in src/fabric/transport.c.
BETTER_BY_OFI = {
    "class/cxi/cxi*": ("Slingshot", ("cxi",)),
    "class/infiniband/hfi1_*": ("Omni-Path", ("opx", "psm3", "psm2")),
    "class/infiniband/efa_*": ("EFA", ("efa",)),
}


def _choice(roots: Roots, modules: dict[str, Path], ofi: Libfabric | None) -> list[Finding]:
    """The network that WATTLE_NETWORK=auto takes here, and the reason."""
    here = [of for pattern, of in BETTER_BY_OFI.items() if any(roots.sys.glob(pattern))]
    served = [name for name, providers in here if ofi and set(providers) & set(ofi.providers)]
    order = ("ofi", "ucx") if served else ("ucx", "ofi")
    taken = next((name for name in order if name in modules), None)
    if taken is None:
        return []
    if served:
        why = f"this node has {' and '.join(served)}"
    elif here:
        lack = f"libfabric has no provider {' or '.join(p for _, providers in here for p in providers)} here"
        lack = lack if ofi else "the runtime has no module for libfabric"
        why = f"this node has {' and '.join(name for name, _ in here)}, but {lack}"
    else:
        why = "no Slingshot, Omni-Path or EFA is here"
    name = {"ucx": "UCX", "ofi": "libfabric"}[taken]
    return [Finding("network", State.INFO, f"{name} (WATTLE_NETWORK=auto): {why}")]


def _providers(ofi: Libfabric | None) -> list[Finding]:
    if ofi is None:
        return []
    if not ofi.providers:
        return [Finding("libfabric", State.PARTLY, ofi.version or "unknown", ofi.why or "it has no provider here")]
    return [Finding("libfabric", State.INFO, f"{ofi.version}: {', '.join(ofi.providers)}")]


def _transports(found: Ucx | None) -> list[Finding]:
    if found is None or not found.version:
        return []
    if found.why:
        return [Finding("transports", State.INFO, "unknown", found.why)]
    if found.only_loopback:
        why = "other nodes cannot be reached; UCX_NET_DEVICES may exclude the interfaces of this node"
        return [Finding("transports", State.PARTLY, found.words or "none", why)]
    return [Finding("transports", State.YES, found.words)]


def _infiniband(roots: Roots, found: Ucx | None) -> Finding:
    cards = sorted(p.name for p in (roots.sys / "class" / "infiniband").glob("*"))
    if not cards:
        return Finding("InfiniBand", State.NO, "none", f"no card in {roots.sys}/class/infiniband")
    used = {device.partition(":")[0] for devices in (found.transports if found else {}).values() for device in devices}
    if used & set(cards):
        return Finding("InfiniBand", State.YES, f"{', '.join(cards)}; UCX uses {', '.join(sorted(used & set(cards)))}")
    built = found is not None and any(name in found.components for name in ucx.INFINIBAND)
    why = (
        "UCX can, but offers no transport on it: is its port up?"
        if built
        else "UCX has no component for it, or was not asked"
    )
    return Finding("InfiniBand", State.PARTLY, ", ".join(cards), why)


def _datagrams(roots: Roots) -> list[Finding]:
    """RoCE devices of other makers than Mellanox. UCX 1.13 checks a field of arriving datagrams that only Mellanox's
    devices fill in, and drops all datagrams of others with an IPv4 address.
    """
    others = [p.name for p in sorted((roots.sys / "class" / "infiniband").glob("*")) if _is_other_roce(p)]
    if not others or os.environ.get("UCX_UD_ETH_DGID_CHECK", "").lower() in ("n", "no", "off", "0"):
        return []
    why = "UCX may drop all datagrams of such a device if it has an IPv4 address, and jobs then hang at their start"
    return [Finding("RoCE", State.PARTLY, ", ".join(others), why, ("export UCX_UD_ETH_DGID_CHECK=n",))]


def _is_other_roce(card: Path) -> bool:
    is_mellanox = card.name.startswith(("mlx4_", "mlx5_")) or (card / "device/driver").resolve().name.startswith("mlx")
    return not is_mellanox and any(read(port / "link_layer") == "Ethernet" for port in (card / "ports").glob("*"))


def _interfaces(roots: Roots) -> Finding:
    links = [_link(roots, p.name) for p in sorted((roots.sys / "class" / "net").glob("*")) if p.name != "lo"]
    if not links:
        return Finding("interfaces", State.NO, "none but the loopback", "no other machine can be reached")
    return Finding("interfaces", State.INFO, ", ".join(links))


def _link(roots: Roots, name: str) -> str:
    speed = read(roots.sys / "class" / "net" / name / "speed")
    state = read(roots.sys / "class" / "net" / name / "operstate") or "?"
    rate = f" {int(speed) / 1000:g} Gbit/s" if speed and speed.lstrip("-").isdigit() and int(speed) > 0 else ""
    return f"{name} ({state}{rate})"


def _made_nodes() -> Finding:
    """Whether nodes can be made of network namespaces, for studies and tests."""
    name = "made nodes"
    if reason := nodes.unavailable():
        grant = (f"sudo apt-get install {nodes.PACKAGES}",) if "not found" in reason else ()
        return Finding(name, State.NO, "none can be made of namespaces", reason, grant)
    if (cores := len(os.sched_getaffinity(0))) < 2:
        why = f"each needs a core of its own for that, and this process may use {cores}"
        return Finding(name, State.PARTLY, "can be made of namespaces, but not for a study", why)
    return Finding(name, State.YES, "can be made of namespaces (`wattle study patterns --on two-nodes`)")
