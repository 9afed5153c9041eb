"""Checks the imports of the lab (python/wattle): each folder imports only folders on lower floors. Commands may import
each other, in no circle.

usage: check_lab_floors.py [LAB_DIR]   prints each violation; exit code 1 if there is one
       check_lab_floors.py --table     prints the table of CONTRIBUTING.md, which is made from ROOMS

A folder without a row is that of a command. Two folders in one row do not import each other. Imports inside functions
count as well.
"""

from __future__ import annotations

import ast
import graphlib
import sys
from collections.abc import Iterator
from pathlib import Path

LAB = Path(__file__).resolve().parent.parent / "python" / "wattle"
OF_A_COMMAND = (
    "a folder for each command `wattle NAME`, whose `cli.py` has its options; `api`: the names of `import wattle`"
)
ROOMS = [  # from the highest floor to the lowest: the names of a row, and what they hold
    (
        ("cli.py",),
        "the command `wattle` itself: it loads the requested command, and prints the error that ends it",
    ),
    ((), OF_A_COMMAND),
    (("frames", "meter_log"), "tables of a run with documented columns; logs of external meters"),
    (
        ("clocks", "html", "shield", "timeline"),
        "parts of several commands: plans of clocks, the frame of all pages, shielded cores, timelines for other tools",
    ),
    (("figures",), "computes: call sites, call paths, regions, waiting, balance, POP factors, power, carbon"),
    (("record",), "reads and writes what a run leaves: manifest, profiles of PEs, jobs, repeats, timelines, watts"),
    (
        ("machine",),
        "hosts, processors, launchers, nodes, batch systems, Wattle's tools, other programs, ELF files, signals",
    ),
    (("text",), "prints: console, tables, numbers with units, joules with provenance, OpenMetrics"),
    (("base",), "errors, limits, files and their checks, the packages of the extra `lab`"),
]
FLOORS = {name.removesuffix(".py"): floor for floor, (names, _) in enumerate(reversed(ROOMS)) for name in names}
OF_COMMANDS = len(ROOMS) - 1 - [names for names, _ in ROOMS].index(())


def imports(lab: Path) -> Iterator[tuple[Path, int, str]]:
    """Each import of another folder or file of the lab: file, line, and the name right under `wattle`."""
    for path in sorted(lab.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module] if node.module != "wattle" else [f"wattle.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for whole, _, rest in (name.partition(".") for name in names):
                used = rest.partition(".")[0]
                if whole == "wattle" and ((lab / used).is_dir() or (lab / f"{used}.py").is_file()):
                    yield path.relative_to(lab), node.lineno, used


def violations(lab: Path = LAB) -> Iterator[str]:
    """One line for each import that does not go down, and for a circle of commands."""
    commands: dict[str, set[str]] = {}
    for file, line, used in imports(lab):
        user = file.with_suffix("").parts[0]
        floor, below = (FLOORS.get(name, OF_COMMANDS) for name in (user, used))
        if user in (used, "__main__"):
            continue
        if floor == below == OF_COMMANDS:
            commands.setdefault(user, set()).add(used)
        elif below >= floor:
            yield f'python/wattle/{file}:{line}: "{user}" may not import "{used}"; only folders on floors below it'
    try:
        graphlib.TopologicalSorter(commands).prepare()
    except graphlib.CycleError as error:
        yield f"python/wattle: a circle of commands: {' <- '.join(error.args[1])}"


def table() -> str:
    """The table for CONTRIBUTING.md."""
    rows = [
        f"| {len(ROOMS) - 1 - at} | {' '.join(f'`{name}`' for name in names) or 'commands'} | {holds} |"
        for at, (names, holds) in enumerate(ROOMS)
    ]
    return "\n".join(["| floor | in `python/wattle` | contains |", "|---|---|---|", *rows])


def main() -> int:
    """Prints the violations or the table."""
    if sys.argv[1:] == ["--table"]:
        print(table())
        return 0
    found = list(violations(Path(sys.argv[1]) if len(sys.argv) > 1 else LAB))
    print("\n".join(found) if found else "floors: every import goes down, and commands import each other in no circle")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
