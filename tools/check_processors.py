#!/usr/bin/env python3
"""Compares machines/measured/processors.csv with public tables of processors: thermal design power, cores, threads.

    tools/check_processors.py FOLDER            print the differences and the tallies
    tools/check_processors.py FOLDER --write    mend the table, and name the source of each row

FOLDER has clones of the repositories of SOURCES, each in a folder with the repository's name.
machines/measured/README.md explains the columns that this program fills.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

MEASURED = Path(__file__).resolve().parent.parent / "machines" / "measured"
COLUMNS = (
    *("generation", "name", "tdp_w", "cores", "threads", "cache_mb"),
    *("tag", "source", "tdp_before_w", "cores_before"),
)
CHECKED = {"tdp_w": "tdp_before_w", "cores": "cores_before", "threads": None}  # with the column of the old value

# Each source in order of trust: its key, whether the maker of processor or machine printed the figures, its files, and
# the columns of name, TDP, cores and threads. Several columns of TDP: the first that is filled.
SOURCES = (
    ("specpower", True, "cloud-energy/data/spec_data_cleaned_unmelted.csv",
     "HW_CPUName", (), "CPUCores", "CPUThreads"),
    ("intel", True, "codecarbon/codecarbon/data/hardware/cpu_dataset_builder/intel_cpu_ark_dataset.csv",
     "cpu_name", ("tdp",), "total_cores", None),
    ("intel-2023", True, "cpu-spec-dataset/dataset/intel-cpus.csv",
     "CpuName", ("MaxTDP", "ProcessorBasePower", "ConfigTDPMax"), "CoreCount", "ThreadCount"),
    ("amd", True, "codecarbon/codecarbon/data/hardware/cpu_dataset_builder/amd_cpu_*_dataset.csv",
     "Name", ("Default TDP",), "# of CPU Cores", "# of Threads"),
    ("amd-2023", True, "cpu-spec-dataset/dataset/amd-cpus.csv",
     "Model", ("Default TDP", "AMD Configurable TDP (cTDP)"), "# of CPU Cores", "# of Threads"),
    ("cpu-world", False, "cpu-spec-dataset/dataset/cpuworld-cpus.csv",
     "CpuName", ("Thermal Design Power",), "The number of CPU cores", "The number of threads"),
    ("boavizta", False, "boaviztapi/boaviztapi/data/crowdsourcing/cpu_specs.csv",
     "name", ("tdp",), "cores", "threads"),
    ("intel-processors", False, "intel-processors/[Ii]ntel_[Cx]*_[Pp]rocessors_v1_[89].csv",
     "Product", (), "Cores", "Threads"),
    ("green-coding", False, "cloud-energy/data/spec_data_cleaned_unmelted.csv", "HW_CPUName", ("TDP",), "", None),
    ("open-db", False, "buildcores-open-db/open-db/CPU/*.json", "", (), "", ""),
)  # fmt: skip
MAKERS = {key for key, is_maker, *_ in SOURCES if is_maker}

OTHER_WORDS = re.compile(
    r"\b(intel|amd|processors?|cpu|xeon|core|epyc|ryzen|opteron|platinum|gold|silver|bronze|max|x-series|series|family"
    r"|(?:dual|quad|six|\d+)-core|mobile|formerly.*|with (?:radeon|vega).*)\b",
    re.IGNORECASE,
)
NOT_OF_A_HOST = re.compile(r"cpubenchmark|xmrig")  # sources that count the cores of virtual machines
OTHER_BRANDS = ("pentium", "celeron", "atom", "itanium", "phi", "embedded")
BRANDS = ("threadripper", "epyc", "opteron", "ryzen")


@dataclass(frozen=True)
class Known:
    """One processor as a source describes it. A list is empty for an unknown value; some state two values of TDP."""

    brand: str
    values: dict[str, list[float]]


def brand_of(name: str) -> str | None:
    """The line of products, because several have the same numbers. None: one that the table does not have."""
    text = name.casefold()
    if any(word in text for word in OTHER_BRANDS):
        return None
    for brand in BRANDS:
        if brand in text:
            return brand
    if re.search(r"platinum|gold|silver|bronze|\bmax\b", text):
        return "xeon-metal"
    return "xeon" if "xeon" in text else "core"


def key_of(name: str) -> str:
    """The number of a processor without words, spaces and hyphens: "e52650v2"."""
    text = re.sub(r"\((r|tm)\)|[^ -~]", " ", name, flags=re.IGNORECASE)
    text = re.sub(r"\([^)]*\)|@.*| - .*|,.*| OEM/Tray.*| \d+(\.\d+)? GHz.*", "", text)
    return re.sub(r"[\s-]", "", OTHER_WORDS.sub(" ", text)).casefold()


def brands_of_row(row: dict[str, str]) -> set[str]:
    name = row["name"]
    for brand in BRANDS:
        if brand.capitalize() in name or brand.upper() in name:
            return {brand}
    if re.fullmatch(r"\d{4}\S*", name):
        if row["generation"] == "intel-core2":
            return {"xeon"}
        return {"xeon-metal", "xeon"} if re.search("[A-Z+]", name) else {"xeon-metal"}
    return {"xeon"} if re.match(r"E-|E\d|[XLW][\d-]|D-|w\d", name) else {"core"}


def numbers(text: str | None) -> list[float]:
    """The numbers of a cell, such as "155W / 170W" or "35-54W"."""
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text or "")]


def read(folder: Path) -> dict[str, dict[str, list[Known]]]:
    """The processors of each source, by the source's key and the processor's."""
    found: dict[str, dict[str, list[Known]]] = {}
    for key, _, pattern, *columns in SOURCES:
        files = sorted(folder.glob(pattern))
        if not files:
            raise SystemExit(f"{folder}/{pattern}: no such file; clone the repositories of SOURCES into {folder}")
        of_source = defaultdict(list)
        for name, values in _entries(files, *columns):
            brand = brand_of(name)
            if brand:
                of_source[key_of(name)].append(Known(brand, values))
        found[key] = of_source
    return found


def _entries(
    files: Iterable[Path], name: str, tdps: tuple[str, ...], cores: str, threads: str | None
) -> Iterator[tuple[str, dict[str, list[float]]]]:
    for file in files:
        if file.suffix == ".json":
            part = json.loads(file.read_text(encoding="utf-8"))
            values = (part["specifications"].get("tdp"), part["cores"].get("total"), part["cores"].get("threads"))
            lists = [[float(value)] if value else [] for value in values]
            yield part["metadata"].get("name") or "", dict(zip(CHECKED, lists, strict=True))
            continue
        with file.open(encoding="utf-8-sig", newline="") as text:
            for row in csv.DictReader(text):
                if not row.get("source", "-") or NOT_OF_A_HOST.search(row.get("source", "")):
                    continue
                tdp = next((numbers(row[column]) for column in tdps if row[column]), [])
                chips = float(row.get("CPUChips") or 1)  # reports of machines count the cores of all sockets
                of_cores, of_threads = ([n / chips for n in numbers(row[c])[:1]] if c else [] for c in (cores, threads))
                yield row[name], dict(zip(CHECKED, (tdp, of_cores, of_threads), strict=True))


def values_of(row: dict[str, str], column: str, known: dict[str, dict[str, list[Known]]]) -> dict[str, list[float]]:
    """The values that each source has for this column of this processor."""
    keys = [key_of(row["name"])]
    if row["name"].startswith("EPYC"):  # P: for one socket only, with the same figures
        keys += [keys[0].removesuffix("p") if keys[0].endswith("p") else keys[0] + "p"]
    found = {}
    for source, processors in known.items():
        for key in keys:
            hits = [k for k in processors.get(key, []) if k.brand in brands_of_row(row)]
            values = sorted({value for hit in hits for value in hit.values[column]})
            if values:
                found[source] = values
                break
    return found


def judge(value: float, found: dict[str, list[float]]) -> tuple[float, str, bool]:
    """The value to keep, its source, and whether it is verified.

    The maker's value counts; it may be a range. Without one, a value is verified if half of the sources have it.
    A value that one source alone has is taken, but not verified.
    """
    makers = {source: values for source, values in found.items() if source in MAKERS}
    agreeing = [source for source, values in (makers or found).items() if values[0] <= value <= values[-1]]
    if agreeing and (makers or 2 * len(agreeing) >= len(found)):
        return value, agreeing[0], True
    if makers:
        source, values = next(iter(makers.items()))
        return values[-1], source, True
    if not found:
        return value, "", False
    votes = Counter(v for values in found.values() for v in values)
    most, count = votes.most_common(1)[0]
    return most, next(source for source, values in found.items() if most in values), count > 1


def check(row: dict[str, str], smt: int, known: dict[str, dict[str, list[Known]]]) -> dict[str, str]:
    """The row with its sources, mended. A row whose source was named by hand is kept."""
    if row.get("source", "").startswith("http"):
        return row | {"tag": "verified"}
    new, sources, is_verified = dict(row), [], True
    for column, before in CHECKED.items():
        old = float(row.get(column) or int(new["cores"]) * smt)
        value, source, is_right = judge(old, values_of(row, column, known))
        new[column] = f"{value:g}"
        if before:
            is_verified &= is_right
            new[before] = row.get(before, "") if value == old else f"{old:g}"
        if source and source not in sources:
            sources.append(source)
    return new | {"tag": "verified" if is_verified else "assumed", "source": " ".join(sources)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="clones of the repositories of SOURCES")
    parser.add_argument("--write", action="store_true", help="mend machines/measured/processors.csv")
    wanted = parser.parse_args()
    known = read(wanted.folder)
    with (MEASURED / "generations.csv").open(encoding="utf-8", newline="") as file:
        smt = {row["name"]: int(row["smt"]) for row in csv.DictReader(file)}
    table = MEASURED / "processors.csv"
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    mended = [check(row, smt[row["generation"]], known) for row in rows]
    for old, new in zip(rows, mended, strict=True):
        for column, before in CHECKED.items():
            if before and old[column] != new[column]:
                print(f"{old['name']}: {column} {old[column]} becomes {new[column]} ({new['source']})")
        if new["tag"] == "assumed":
            print(f"{new['name']}: not verified ({new['source'] or 'no source'})")
    for words, count in sorted(Counter((row["tag"], row["source"].partition(" ")[0]) for row in mended).items()):
        print(count, *words)
    if wanted.write:
        with table.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n", restval="")
            writer.writeheader()
            writer.writerows(mended)


if __name__ == "__main__":
    main()
