"""Makes the C table of CPU generations from machines/cpus.toml.

usage: generate_cpus.py cpus.toml OUTPUT.c
"""

import json
import math
import sys
import tomllib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "base"))
from c_templates import environment, write


def curve_at(curve: dict[str, Any], load: int) -> tuple[float, float]:
    return curve["median"][load // 10], curve["spread"][load // 10]


def dram_idle(memory: dict[str, Any], ddr: int) -> tuple[float, float]:
    """Watts for each GB of modules of this generation, with their spread."""
    value, spread = curve_at(memory["dram_w_per_gb"], 0)
    factor, doubt = memory[f"ddr{ddr}"]["dram_factor"]
    return value * factor, math.hypot(spread, doubt)


def main(table: Path, output: Path) -> None:
    document = tomllib.loads(table.read_text(encoding="utf-8"))
    memory = document["memory"]
    cpus = [
        row
        | {
            "steppings": row.get("steppings", [-1, -1]),
            "processors": [{"cache_mb": 0} | p for p in row["processors"]],
            "idle_factor": curve_at(row["factor"], 0),
            "low_factor": curve_at(row["factor"], 10),
            "full_factor": curve_at(row["factor"], 100),
            "dram_idle": dram_idle(memory, row["ddr"]),
        }
        for row in document["cpu"]
    ]
    packages = [
        (key.upper(), {name: row[name] for name in ("servers", "idle", "core", "wake", "second", "vcpu")})
        for key, row in document["packages"].items()
    ]
    names = {
        "cpus": cpus,
        "packages": packages,
        "text": json.dumps,
        "pair": lambda pair: f"{{{pair[0]}, {pair[1]}}}",
    }
    write(output, environment(Path(__file__).parent / "templates").get_template("cpus.c.j2").render(names))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
