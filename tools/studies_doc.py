"""Writes the tables that follow from the studies into their pages: docs/figures.md and docs/samples.md.

usage: studies_doc.py [--write]

Without --write the pages are only compared with what would be written; the exit code is 1 where one differs.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from wattle.reproduce import columns
from wattle.study import papers

ROOT = Path(__file__).resolve().parents[1]
STUDIES = ROOT / "python/wattle/study"
BEGIN, END = "<!-- begin: tools/studies_doc.py writes this table -->\n", "<!-- end -->"
FIGURE = re.compile(r"\b(figures?|tables?) ((?:[A-Z]|\d+)\.\d+\w?(?:\(\w+\))?(?:(?:, | and | to )\d+\.\d+\w?)*)")
NUMBER = re.compile(r"(?:[A-Z]|\d+)\.\d+\w?(?:\(\w+\))?")
OTHERWISE = {"network": "wattle calibrate --network"}  # studies that are no command of `wattle study`
# The section of docs/studies.md, or another page, that describes a study.
SECTION = {
    "tsp": "studies.md#tsp-and-mst",
    "mst": "studies.md#tsp-and-mst",
    **dict.fromkeys(("barrier", "slack", "race", "receiver"), "studies.md#barrier-slack-race-receiver"),
    "network": "lab/calibrate.md#a-network-for-simulation",
}


def figures() -> str:
    """The figures and tables of the dissertation that studies judge, in its order."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    sections: dict[tuple[str, str], str] = {}
    for path in sorted(STUDIES.glob("*/published.toml")):
        study = path.parent.name
        for row in papers.entries(tomllib.loads(path.read_text(encoding="utf-8")), "figure"):
            source = row["source"]
            for kind, numbers in FIGURE.findall(source) if source.startswith("D ") else ():
                for number in each(numbers):
                    key = (f"{kind.rstrip('s')} {number}", study)
                    found[key].append(row["id"])
                    sections.setdefault(key, re.split(r"(?:, |^)(?:figures?|tables?) ", source[2:])[0])
    lines = ["| of the dissertation | its section | command | page | judged |", "|---|---|---|---|---|"]
    for name, study in sorted(found, key=lambda key: (in_order(key[0]), key[1])):
        command = OTHERWISE.get(study, f"wattle study {study}")
        section = sections[name, study] or name.split()[1].partition(".")[0]
        page = SECTION.get(study, f"studies.md#{study}")
        count = len(found[name, study])
        rows = "1 statement" if count == 1 else f"{count} statements"
        lines.append(f"| {name} | {section} | `{command}` | [{page.partition('#')[2]}]({page}) | {rows} |")
    return "\n".join(lines) + "\n"


def each(numbers: str) -> list[str]:
    """The numbers of `4.7, 11.2 to 11.5`: 4.7, 11.2, 11.3, 11.4 and 11.5."""
    found = NUMBER.findall(numbers)
    for chapter, first, last in re.findall(r"(\d+)\.(\d+) to \d+\.(\d+)", numbers):
        found += [f"{chapter}.{k}" for k in range(int(first) + 1, int(last))]
    return found


def in_order(name: str) -> tuple[int, int, str]:
    chapter, number, rest = re.fullmatch(r"\w+ (\w+)\.(\d+)(.*)", name).groups()
    return (int(chapter) if chapter.isdigit() else 99, int(number), rest)


def samples() -> str:
    """The columns that samples may have, with unit and meaning."""
    lines = ["| column | unit | meaning |", "|---|---|---|"]
    lines += [f"| `{name}` | {unit} | {meaning} |" for name, (unit, meaning) in columns.KNOWN.items()]
    for end, (unit, meaning) in columns.ENDS.items():
        lines.append(f"| `cpu{end}`, `dram{end}`, ... | {unit} | {meaning.format('the')} |")
    return "\n".join(lines) + "\n"


PAGES = {"docs/figures.md": figures, "docs/samples.md": samples}


def made(text: str, table: str) -> str:
    """A page with its table replaced."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def main() -> int:
    differs = []
    for name, table in PAGES.items():
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        new = made(text, table())
        if text != new:
            differs.append(name)
            if "--write" in sys.argv[1:]:
                path.write_text(new, encoding="utf-8")
    if differs and "--write" not in sys.argv[1:]:
        print(f"not up to date: {', '.join(differs)}; run tools/studies_doc.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
