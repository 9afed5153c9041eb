"""Made-up files of `make bench`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wattle.record import manifest


def bar(**changes: Any) -> dict[str, Any]:
    """A promise that is met; `changes` make another of it."""
    usual = {
        "section": "one node",
        "label": "get 8 B",
        "other_name": "peer",
        "ours": "6 ns",
        "other": "24 ns",
        "value": 0.25,
        "low": 0.2,
        "high": 0.3,
        "best": 0.24,
        "bar": 0.5,
        "verdict": "met",
        "beyond": 0.0,
        "no_slower": None,
        "disturbed": False,
    }
    return usual | changes


def missed(**changes: Any) -> dict[str, Any]:
    return bar(label="fetch-add", value=0.6, high=0.7, verdict="not met", beyond=0.2, **changes)


def cpu_seconds() -> dict[str, Any]:
    nobody = {"other_name": "", "other": "", "best": None}
    return bar(
        section="3 s of waiting", label="lock", ours="0.002 s", value=0.002, bar=0.01, low=0.001, high=0.002, **nobody
    )


def make(path: Path, bars: list[dict[str, Any]] | None = None, **changes: Any) -> Path:
    """Writes the file; `changes` replace its top-level keys."""
    about = {
        "started": manifest.now(),
        "command": ["bench/run.py"],
        "host": manifest.host_info(),
        "versions": manifest.versions(),
        "settings": {},
        "peer": "Open MPI OSHMEM 4.1.4",
        "pairs": 9,
        "quick": False,
    }
    limits = [
        {"label": "futex wake", "bytes": 0, "s": [4e-5], "median_s": 4e-5},
        {"label": "memcpy 4 KiB", "bytes": 4096, "s": [1e-7], "median_s": 1e-7},
    ]
    bars = [bar(), missed(), cpu_seconds()] if bars is None else bars
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"schema": 3, "about": about, "bars": bars, "limits": limits} | changes))
    return path
