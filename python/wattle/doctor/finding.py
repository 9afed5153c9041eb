"""Findings of the doctor: facts in sections, each with a state, a reason and, if there is one, a safe remedy."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path

from wattle.base import input_files, limits
from wattle.base.errors import DamagedFile

# Words of sys_vendor and product_name by which systemd knows hypervisors and cloud-init knows clouds.
GUESTS = (
    *("KVM", "QEMU", "VMware", "VirtualBox", "innotek", "Xen", "Bochs", "BHYVE", "Parallels", "Hyper-V"),
    *("Virtual Machine", "Apple Virtualization", "KubeVirt", "Nutanix", "oVirt", "OpenStack", "Amazon EC2"),
    *("Google Compute Engine", "Hetzner", "Scaleway", "Droplet", "vServer", "Tencent Cloud", "Alibaba Cloud ECS"),
)


class State(StrEnum):
    YES = "yes"
    PARTLY = "partly"
    NO = "no"
    INFO = "info"


@dataclass(frozen=True)
class Finding:
    """One finding. `says`: the finding in short. `why`: the reason where something is missing. `grant`: commands that
    make it available to some users only. `risk`: possible abuse by those users.
    """

    name: str
    state: State
    says: str
    why: str = ""
    grant: tuple[str, ...] = ()
    risk: str = ""

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), "state": str(self.state), "grant": list(self.grant)}


@dataclass(frozen=True)
class Section:
    title: str
    findings: list[Finding]

    def as_dict(self) -> dict[str, object]:
        return {"title": self.title, "findings": [f.as_dict() for f in self.findings]}


@dataclass(frozen=True)
class Roots:
    """The folders of the kernel's trees; tests replace them. WATTLE_SYSFS replaces /sys, as in the runtime."""

    sys: Path = field(default_factory=lambda: Path(os.environ.get("WATTLE_SYSFS") or "/sys"))
    proc: Path = Path("/proc")


def read(path: Path) -> str | None:
    """The text of a kernel file. None where it is missing or not readable."""
    try:
        return input_files.read_bytes(path, limits.JSON_BYTES).decode("utf-8", errors="replace").strip()
    except DamagedFile:
        return None


def is_virtual(roots: Roots) -> bool:
    """Whether this is a virtual machine, which usually cannot use sensors and clocks of its host.

    On x86 a flag of the CPU tells it. Arm has none; the rules are those of `src/power/machine/cpu_system.c`.
    """
    cpuinfo = read(roots.proc / "cpuinfo") or ""
    if read(roots.sys / "hypervisor" / "type") is not None or " hypervisor" in cpuinfo:
        return True
    return "CPU implementer" in cpuinfo and (_is_guest_by_dmi(roots.sys) or _is_guest_by_devicetree(roots.sys))


def _is_guest_by_dmi(sys: Path) -> bool:
    vendor, product = (read(sys / "class/dmi/id" / name) or "" for name in ("sys_vendor", "product_name"))
    text = f"{vendor}\n{product}".casefold()
    return "metal" not in product.casefold() and any(word.casefold() in text for word in GUESTS)


def _is_guest_by_devicetree(sys: Path) -> bool:
    tree = sys / "firmware/devicetree/base"
    names = {(read(tree / "compatible") or "").rstrip("\0")}
    return "linux,dummy-virt" in names or (tree / "hypervisor/compatible").exists() or any(tree.glob("fw-cfg@*"))


def virtual_why(roots: Roots) -> str:
    return "; this is a virtual machine whose host does not share them" if is_virtual(roots) else ""
