"""This machine's processor in the terms of a machine profile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CPUINFO = Path("/proc/cpuinfo")
X86 = ("vendor_id", "cpu family", "model")
ARM = ("CPU implementer", "CPU architecture", "CPU part")


def read(cpuinfo: Path = CPUINFO) -> dict[str, Any]:
    """{vendor, family, model, name, sockets, ghz}: "" or None where the kernel does not say it. Raises OSError."""
    first: dict[str, str] = {}
    packages: set[str] = set()
    for line in cpuinfo.read_text(errors="replace").splitlines():
        key, _, value = line.partition(":")
        first.setdefault(key.strip(), value.strip())
        if key.strip() == "physical id":
            packages.add(value.strip())
    arm = "CPU implementer" in first
    vendor, family, model = ARM if arm else X86
    return {
        "vendor": first.get(vendor, ""),
        "family": first.get(family, ""),
        "model": str(int(first[model], 0)) if arm and model in first else first.get(model, ""),
        "name": first.get("model name", "this machine"),
        "sockets": max(1, len(packages)),
        "ghz": float(first["cpu MHz"]) / 1000 if first.get("cpu MHz") else None,
    }


def match_line(processor: dict[str, Any]) -> str:
    """The line of a profile by which it is chosen for this processor. Empty where the kernel does not tell it."""
    if not all(processor[key] for key in ("vendor", "family", "model")):
        return ""
    quoted = processor | {"vendor": f'"{vendor}"' if (vendor := processor["vendor"]).startswith("0x") else vendor}
    rule = ", ".join(f"{key}: {quoted[key]}" for key in ("vendor", "family", "model"))
    return f"match: [{{{rule}}}]"
