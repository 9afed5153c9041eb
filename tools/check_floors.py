"""Checks the floors of the house: a room of src/ includes headers only of rooms on floors below its own, or its own.

usage: check_floors.py [SOURCE_DIR]      prints each include that breaks the rule; exit code 1 if there is one
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

# A room on the same floor counts as above: the two know nothing of each other.
FLOORS = {
    "sim": -1,  # what takes the operating system's place in simulation
    "base": 0,
    "node": 1,
    "power": 2,
    "profile": 2,
    "govern": 3,
    "wait": 4,
    "fabric": 5,
    "record": 5,
    "pgas": 6,
    "shmem": 7,
    "armci": 7,
    "mpi": 7,
    "energy": 7,
}
# Programs, not rooms: they may use any room, and no room may use them.
PROGRAMS = {"launch", "info", "calibrate", "guard"}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
SUFFIXES = {".c", ".h", ".cc", ".def", ".inc"}


def allowed(user: str, used: str) -> bool:
    """Whether room `user` may include a header of room `used`."""
    if used == user or user in PROGRAMS:
        return used not in PROGRAMS or used == user
    return used in FLOORS and FLOORS[used] < FLOORS[user]


def included_room(source: Path, file: Path, header: str) -> str | None:
    """The room of `header` as included by `file`, or None where it is not a room's (a public or generated header)."""
    beside = (file.parent / header).resolve()
    if beside.is_file() and beside.is_relative_to(source):
        return beside.relative_to(source).parts[0]
    first = Path(header).parts[0]
    return first if (source / first).is_dir() else None


def violations(source: Path) -> Iterator[str]:
    """One line for each room without a floor and for each include that goes up or sideways."""
    source = source.resolve()
    for room in sorted(p for p in source.iterdir() if p.is_dir()):
        if room.name not in FLOORS and room.name not in PROGRAMS:
            yield f"src/{room.name}: this room has no floor; give it one in tools/check_floors.py"
            continue
        for file in sorted(p for p in room.rglob("*") if p.suffix in SUFFIXES):
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                used = included_room(source, file, match[1]) if match else None
                if used is not None and not allowed(room.name, used):
                    where = f"src/{file.relative_to(source)}:{number}"
                    yield f'{where}: room "{room.name}" may not include "{match[1]}"; only rooms on floors below it'


def main() -> int:
    """Prints what breaks the rule."""
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "src"
    found = list(violations(source))
    print("\n".join(found) if found else "floors: every include goes down")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
