"""This machine's processor in the terms of a machine profile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CPUINFO = Path("/proc/cpuinfo")


def read(cpuinfo: Path = CPUINFO) -> dict[str, Any]:
    """{vendor, family, model, name, sockets, ghz}. A text is empty, and `ghz` None, where the kernel does not say it.
    Raises OSError.
    """
    first: dict[str, str] = {}
    packages: set[str] = set()
    for line in cpuinfo.read_text(errors="replace").splitlines():
        key, _, value = line.partition(":")
        first.setdefault(key.strip(), value.strip())
        if key.strip() == "physical id":
            packages.add(value.strip())
    return {
        "vendor": first.get("vendor_id", ""),
        "family": first.get("cpu family", ""),
        "model": first.get("model", ""),
        "name": first.get("model name", "this machine"),
        "sockets": max(1, len(packages)),
        "ghz": float(first["cpu MHz"]) / 1000 if first.get("cpu MHz") else None,
    }


def match_line(processor: dict[str, Any]) -> str:
    """The line of a profile by which it is chosen for this processor. Empty where the kernel names no vendor."""
    if not processor["vendor"]:
        return ""
    rule = ", ".join(f"{key}: {processor[key]}" for key in ("vendor", "family", "model") if processor[key])
    return f"match: [{{{rule}}}]"
