"""Makes the C table of CPU generations from machines/cpus.toml, and that of the rules of the profiles beside it.

usage: generate_cpus.py cpus.toml OUTPUT.c
"""

import csv
import json
import math
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "base"))
from c_templates import environment, write


def curve_at(curve: dict[str, Any], load: int) -> tuple[float, float]:
    return curve["median"][load // 10], curve["spread"][load // 10]


def dram_idle(memory: dict[str, Any], ddr: int) -> tuple[float, float]:
    """Watts for each GB of modules of this generation, with their spread."""
    value, spread = curve_at(memory["dram_w_per_gb"], 0)
    factor, doubt = memory[f"ddr{ddr}"]["dram_factor"]
    return value * factor, math.hypot(spread, doubt)


def hash_of(text: bytes) -> int:
    """As wtl_hash of src/base/hash.h."""
    value = 0xCBF29CE484222325
    for byte in text:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def rules_of(text: str) -> list[dict[str, str | int]]:
    """The rules of a profile's block `match`, one key in each line. Our own files need no more of YAML."""
    block = re.search(r"^match:\n((?:  .*\n)+)", text, re.MULTILINE)
    rules: list[dict[str, str | int]] = []
    for line in block[1].splitlines() if block else []:
        part = re.fullmatch(r"  ([ -]) (vendor|family|model|name): (\S.*)", line)
        if not part:
            raise SystemExit(
                f"{line!r}: a rule of a shipped profile is `- vendor: ...` with the keys family, model and name"
            )
        if part[1] == "-":
            rules.append({})
        rules[-1][part[2]] = int(part[3]) if part[2] in ("family", "model") else part[3]
    if not block and re.search(r"^match:", text, re.MULTILINE):
        raise SystemExit("the rules of a shipped profile are indented lines below `match:`")
    return rules


def names_of(file: Path, core_w: dict[str, float]) -> list[str]:
    """The lines of wtl_processor_names. Watts of systems on a chip follow from their cores, as in classes.py."""
    lines = []
    with file.open(encoding="utf-8", newline="") as rows:
        for name, kind, tdp, limit, cores, _, parts, part, _ in list(csv.reader(rows))[1:]:
            found = [core.rpartition("x") for core in parts.split("+")] if parts else []
            watts = sum(int(n or 1) * core_w[core] for n, _, core in found)
            lines.append(f"{name}|{kind}|{tdp or format(watts, '.4g')}|{limit or 0}|{cores or 0}|{part or 0}")
    return lines


def main(table: Path, output: Path) -> None:
    document = tomllib.loads(table.read_text(encoding="utf-8"))
    memory = document["memory"]
    cpus = [
        row
        | {
            "desktop": row.get("desktop", False),
            "steppings": row.get("steppings", [-1, -1]),
            "processors": [{"cache_mb": 0, "tdp_spread": 0} | p for p in row["processors"]],
            "idle_factor": curve_at(row["factor"], 0),
            "low_factor": curve_at(row["factor"], 10),
            "full_factor": curve_at(row["factor"], 100),
            "dram_idle": dram_idle(memory, row["ddr"]),
        }
        for row in (*document["cpu"], document["unknown"])
    ]
    packages = [
        (key.upper(), {name: row[name] for name in ("servers", "idle", "core", "wake", "second", "vcpu")})
        for key, row in document["packages"].items()
    ]
    files = sorted(table.parent.glob("*.yaml"))
    profiles = [
        {"file": f.name, "hash": hash_of(f.read_bytes()), "rules": rules_of(f.read_text(encoding="utf-8"))}
        for f in files
    ]
    names = {
        "profiles": profiles,
        "cpus": cpus[:-1],
        "any": cpus[-1],
        "classes": document["class"],
        "names": names_of(table.with_name("names.csv"), document["core_w"]),
        "packages": packages,
        "text": json.dumps,
        "pair": lambda pair: f"{{{pair[0]}, {pair[1]}}}",
    }
    write(output, environment(Path(__file__).parent / "templates").get_template("cpus.c.j2").render(names))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
