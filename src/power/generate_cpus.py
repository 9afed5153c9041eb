"""Makes the C table of CPU generations from machines/cpus.toml.

usage: generate_cpus.py cpus.toml OUTPUT.c
"""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "base"))
from c_templates import environment, write


def curve_at(curve: dict[str, Any], load: int) -> tuple[float, float]:
    return curve["median"][load // 10], curve["spread"][load // 10]


def main(table: Path, output: Path) -> None:
    document = tomllib.loads(table.read_text(encoding="utf-8"))
    cpus = [
        row
        | {
            "steppings": row.get("steppings", [-1, -1]),
            "processors": [{"cache_mb": 0} | p for p in row["processors"]],
            "idle_factor": curve_at(row["factor"], 0),
            "full_factor": curve_at(row["factor"], 100),
        }
        for row in document["cpu"]
    ]
    packages = [
        (key.upper(), {"servers": row["servers"], "idle": curve_at(row["share"], 0), "thread": row["vcpu"]})
        for key, row in document["packages"].items()
    ]
    names = {
        "cpus": cpus,
        "packages": packages,
        "dram_idle": curve_at(document["memory"]["dram_w_per_gb"], 0),
        "text": json.dumps,
        "median": lambda pair: f"{{{pair[0]}, {pair[1]}}}",
    }
    write(output, environment(Path(__file__).parent / "templates").get_template("cpus.c.j2").render(names))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
