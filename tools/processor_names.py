#!/usr/bin/env python3
"""Makes machines/names.csv, a table of processors by name, from public tables.

    tools/processor_names.py FOLDER     FOLDER has clones of the repositories of machines/measured/README.md

Each row has the name as /proc/cpuinfo contains it, the class of machines that the processor is made for, its thermal
design power, cores and threads, and the source of TDP. Of several sources the first in the order of SOURCES counts.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from wattle.machines.classes import DESKTOP, NOTEBOOK, SERVER, class_of_name  # noqa: E402

TABLE = ROOT / "machines" / "names.csv"
BUILDER = "codecarbon/codecarbon/data/hardware/cpu_dataset_builder"

# The source's key, its file, and the columns of name, market segment, TDP, cores and threads; "" where there is none.
SOURCES = (
    ("intel", f"{BUILDER}/intel_cpu_ark_dataset.csv", "cpu_name", "", "tdp", "total_cores", ""),
    ("intel-2023", "cpu-spec-dataset/dataset/intel-cpus.csv", "CpuName", "MarketSegment", "MaxTDP", "CoreCount",
     "ThreadCount"),
    ("intel-2023", "cpu-spec-dataset/dataset/intel-cpus.csv", "CpuName", "MarketSegment", "ProcessorBasePower",
     "CoreCount", "ThreadCount"),
    ("amd", f"{BUILDER}/amd_cpu_desktop_dataset.csv", "Name", "Form Factor", "Default TDP", "# of CPU Cores",
     "# of Threads"),
    ("amd", f"{BUILDER}/amd_cpu_server_dataset.csv", "Name", "", "Default TDP", "# of CPU Cores", "# of Threads"),
    ("amd-2023", "cpu-spec-dataset/dataset/amd-cpus.csv", "Model", "Platform", "Default TDP", "# of CPU Cores",
     "# of Threads"),
    ("ampere", "cpu-spec-dataset/dataset/ampere-cpus.csv", "CpuName", "", "TDP", "Cores", ""),
    ("boavizta", "boaviztapi/boaviztapi/data/crowdsourcing/cpu_specs.csv", "name", "", "tdp", "cores", "threads"),
    ("intel-processors", "intel-processors/Intel_*_v1_9.csv", "Product", "Vertical Segment", "TDP(W)", "Cores",
     "Threads"),
    ("intel-processors", "intel-processors/intel_core_processors_v1_8.csv", "Product", "", "TDP(W)", "Cores",
     "Threads"),
    ("intel-processors", "intel-processors/intel_xeon_processors_v1_8.csv", "Product", "", "TDP(W)", "Cores",
     "Threads"),
)  # fmt: skip
SEGMENTS = dict.fromkeys(("Mobile", "Laptop", "Laptops", "Notebooks"), NOTEBOOK)
NOISE = re.compile(
    r"\((?:r|tm)\)|[®™]|\bintel\b|\bamd\b|\bprocessors?\b|\bcpu\b|\b\w+-core\b|\bx-series\b|\bextreme edition\b"
    r"|\bwith .*|\bw/ .*|\bformerly .*| - .*|@.*|,.*|\([^)]*\)|/.*",
    re.IGNORECASE,
)
# Since 2022 Intel's pages name a base power and a maximum turbo power, and the last source has the second. The base
# power of these lines follows from the mark behind the number (Intel, product specifications). "": no mark.
TURBO_ONLY = re.compile(r"(?:i\d-14\d{3}|Ultra \d \d{3}|Core \d \d{3})([A-Z]*)$")
BASE_W = {"U": 15, "V": 17, "H": 28, "HL": 45, "HX": 55, "T": 35, "": 65, "F": 65}
OF_K = 125
PPT = 1.35  # AMD's package power tracking over TDP, sockets AM4 and AM5, from the second generation of Zen on
# Cores that draw about as much as another kind, of which more machines were measured (assumed).
SAME_CORE = {"A73": "A72", "A57": "A72", "A35": "A53", "A510": "A55", "A520": "A55", "A75": "A76", "A78": "A76"}
CORE_2 = re.compile(r"\b(core )?2? ?(duo|quad|extreme|solo)\b", re.IGNORECASE)
LINES = re.compile(r"\b(core|xeon|pentium|celeron|gold|silver|bronze|platinum)\b", re.IGNORECASE)


class Row(NamedTuple):
    """A row of the table."""

    name: str
    machine: str
    tdp_w: float
    limit_w: float
    cores: int
    threads: int
    source: str


def name_of(text: str) -> str:
    """The processor's name as a part of what the CPU reports: "i7-7600U", "E5-2650 v3", "Ryzen 9 7950X"."""
    name = " ".join(NOISE.sub(" ", text).split())
    bare = " ".join(LINES.sub(" ", CORE_2.sub("", name)).split())
    # "Core 5 120U" and "Xeon 6732P" keep the line, because the rest is a plain number.
    keeps_line = re.fullmatch(r"\d+|\d \w+", bare) or re.fullmatch(r"\d{3,4}\w?\w?", bare)
    return name if keeps_line and re.match(r"(core|xeon|pentium|celeron|atom)\b", name, re.IGNORECASE) else bare


def number(text: str | None) -> float:
    """The first number of a cell, such as "155W / 170W"; 0 where there is none."""
    found = re.search(r"\d+(?:\.\d+)?", text or "")
    return float(found[0]) if found else 0.0


def read(folder: Path) -> Iterator[Row]:
    """All rows of all sources, in their order of trust."""
    for key, pattern, name, segment, tdp, cores, threads in SOURCES:
        files = sorted(folder.glob(pattern))
        if not files:
            raise SystemExit(f"{folder}/{pattern}: no such file")
        for file in files:
            with file.open(encoding="utf-8-sig", newline="") as lines:
                for row in csv.DictReader(lines):
                    watts, count = number(row[tdp]), int(number(row[cores]))
                    own = name_of(row[name])
                    if watts and count and re.search(r"\d", own) and len(own) > 3:
                        machine = class_of_name(row[name]) or DESKTOP
                        if key == "ampere":
                            machine = SERVER
                        if machine == DESKTOP:
                            machine = SEGMENTS.get(row.get(segment, ""), DESKTOP)
                        limit = number(row.get("MaxTurboPower"))
                        mark = TURBO_ONLY.search(own) if key == "intel-processors" else None
                        if mark:
                            watts, limit = BASE_W.get(mark[1], OF_K), watts
                        yield Row(own, machine, watts, limit, count, int(number(row.get(threads, ""))), key)


def arm_rows() -> Iterator[tuple[object, ...]]:
    """Rows of systems on a chip, whose watts follow from their cores."""
    with (ROOT / "machines" / "measured" / "arm.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            parts = re.sub(r"A\d+", lambda core: SAME_CORE.get(core[0], core[0]), row["parts"])
            kinds = parts.split("+") if "x" in parts else []
            count = row["cores"] or sum(int(kind.partition("x")[0]) for kind in kinds) or ""
            yield (row["name"], row["class"], row["tdp_w"], "", count, count, parts, row["part"], row["source"])


def main() -> None:
    folder = Path(sys.argv[1])
    rows: dict[str, Row] = {}
    for row in read(folder):
        known = rows.setdefault(row.name.casefold(), row)
        better = known._replace(threads=known.threads or row.threads, limit_w=known.limit_w or row.limit_w)
        if row.machine == NOTEBOOK and known.machine == DESKTOP:
            better = better._replace(machine=NOTEBOOK)  # only some sources have the segment
        rows[row.name.casefold()] = better
    with (ROOT / "machines" / "measured" / "limits.csv").open(encoding="utf-8", newline="") as lines:
        for limit in csv.DictReader(lines):
            known_row = rows.get(limit["name"].casefold())
            if known_row:
                rows[limit["name"].casefold()] = known_row._replace(limit_w=float(limit["limit_w"]))
    for key, row in rows.items():
        if re.match(r"Ryzen \d (?:PRO )?[3-9]\d{3}", row.name) and row.machine == DESKTOP and not row.limit_w:
            rows[key] = row._replace(limit_w=round(PPT * row.tdp_w))
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("name", "class", "tdp_w", "limit_w", "cores", "threads", "parts", "part", "source"))
        for row in sorted(rows.values(), key=lambda row: (row.machine, row.name.casefold())):
            limit = f"{row.limit_w:g}" if row.limit_w else ""
            writer.writerow((*row[:2], f"{row.tdp_w:g}", limit, row.cores, row.threads or "", "", "", row.source))
        writer.writerows(arm_rows())
    print(f"{TABLE.relative_to(ROOT)}: {len(rows)} processors")


if __name__ == "__main__":
    main()
