"""Checks the includes of src/: each room includes only rooms on lower floors, and no circle of includes is large.

usage: check_floors.py [SOURCE_DIR]   prints each violation; exit code 1 if there is one. Without SOURCE_DIR it checks
                                      the lab, too (check_lab_floors.py)
       check_floors.py --table        prints the table of CONTRIBUTING.md, which is made from ROOMS

A room is a folder of src/. A file includes only headers of its own room and of rooms on lower floors. Two rooms on one
floor do not include each other. In a circle each file includes every other one, directly or through others. A .c
file and the header of the same name count as one file.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import check_lab_floors


@dataclass(frozen=True)
class Room:
    floor: int
    name: str
    holds: str
    knows_not: str


ROOMS = [
    Room(14, "energy", "front end of `wattle.h`: joules of a region, for any program", "networks"),
    Room(14, "mpi", "front end for MPI programs: the preload library", "networks, sensors"),
    Room(14, "armci", "front end of ARMCI", "networks, sensors"),
    Room(
        14,
        "shmem",
        "front end of OpenSHMEM: names, types, argument checks, generated from `api.toml`",
        "networks, sensors",
    ),
    Room(13, "job", "start, end and exit of a PE; the network's callbacks; the joules at the end", "the use of a put"),
    Room(12, "check", "comparison of collective arguments, deadlock detection (`SHMEM_DEBUG`)", "transports"),
    Room(
        11,
        "global",
        "ARMCI's global memory: strided, vector, accumulate, groups, tagged messages, mutexes",
        "ARMCI's names",
    ),
    Room(
        10,
        "collective",
        "broadcast, reductions, scans, gathers, alltoall: one file for each algorithm",
        "global memory",
    ),
    Room(9, "team", "teams, contexts, barriers, waiting on variables, locks", "collective algorithms"),
    Room(8, "am", "active messages: requests, replies, handlers", "teams"),
    Room(7, "pgas", "a PE, the symmetric heap, put, get and atomics, near and far", "UCX, files in /sys"),
    Room(6, "record", "the record of a process: time by state, joules, the profile's file", "the use of a put"),
    Room(
        6,
        "fabric",
        "messages between nodes: wire protocol, progress agent, one folder for each transport",
        "the use of a put",
    ),
    Room(5, "wait", "the wait door, through which every wait goes, and the doorbell", "the conditions of waits"),
    Room(4, "govern", "policy: stages of a wait, regions, modes, thresholds, votes", "how a clock is set"),
    Room(
        3,
        "power",
        "the meter; `sensor/` (kinds of meters), `knob/` (clocks and limits), `machine/` (profiles, the model, CPUs)",
        "profiles of runs, anything above",
    ),
    Room(3, "profile", "call sites, counts and times", "power, anything above"),
    Room(2, "node", "the processes of a node and job: boot, arena, cores", "anything above"),
    Room(1, "base", "errors, the table of settings, JSON, files, small data structures", "anything above"),
    Room(0, "os", "the port to Linux, to the threads build and to simulation: clock, futex, threads", "anything above"),
    Room(-1, "sim", "the simulator, behind the port", "anything above"),
]
FLOORS = {room.name: room.floor for room in ROOMS}
# Programs may include any room. No room may include a program.
PROGRAMS = {"launch", "info", "calibrate", "guard", "spank"}
LARGEST_CIRCLE = 3
OF_THE_CPU = {"os/floats.h"}  # includes nothing, so any room may include it
# Rooms inside a room, and the others of them that each may include.
INSIDE = {"power": {"machine": set(), "sensor": {"machine"}, "knob": {"machine"}}}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
SUFFIXES = {".c", ".h", ".cc", ".def", ".inc"}


def allowed(user: str, used: str) -> bool:
    """Whether room `user` may include a header of room `used`."""
    if used == user or user in PROGRAMS:
        return used not in PROGRAMS or used == user
    return used in FLOORS and FLOORS[used] < FLOORS[user]


def included_file(source: Path, file: Path, header: str) -> Path | None:
    """The header of a room that `file` includes, relative to `source`; None where it is public or generated."""
    beside = (file.parent / header).resolve()
    if beside.is_file() and beside.is_relative_to(source):
        return beside.relative_to(source)
    return Path(header) if (source / Path(header).parts[0]).is_dir() else None


def includes(source: Path) -> Iterator[tuple[Path, int, str, Path]]:
    """Each include of a room's header: file, line, the header's text, the header; files relative to `source`."""
    for file in sorted(p for p in source.rglob("*") if p.suffix in SUFFIXES):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            used = included_file(source, file, match[1]) if match else None
            if match and used is not None:
                yield file.relative_to(source), number, match[1], used


def violations(source: Path) -> Iterator[str]:
    """One line for each room without a floor, and for each include of a room that is not on a lower floor."""
    for room in sorted(p for p in source.iterdir() if p.is_dir()):
        if room.name not in FLOORS and room.name not in PROGRAMS:
            yield f"src/{room.name}: this room has no floor; give it one in tools/check_floors.py"
    for file, number, text, used in includes(source):
        room = file.parts[0]
        inner = INSIDE.get(room, {})
        here, there = (p.parts[1] if p.parts[0] == room and len(p.parts) > 2 else "" for p in (file, used))
        if here in inner and there in inner and there != here and there not in inner[here]:
            yield f'src/{file}:{number}: room "{room}/{here}" may not include "{text}"'
        if used.as_posix() in OF_THE_CPU:
            continue
        if (room in FLOORS or room in PROGRAMS) and len(file.parts) > 1 and not allowed(room, used.parts[0]):
            yield f'src/{file}:{number}: room "{room}" may not include "{text}"; only rooms on floors below it'


def circles(source: Path) -> list[list[str]]:
    """The sets of files that include each other, the largest first (Tarjan's strongly connected components)."""
    edges: dict[str, set[str]] = {}
    for file, _, _, used in includes(source):
        here, there = str(file.with_suffix("")), str(used.with_suffix(""))
        edges.setdefault(there, set())
        edges.setdefault(here, set()).update({there} - {here})
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges[node]):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return sorted(found, key=len, reverse=True)


DECLARED = re.compile(r"^[A-Za-z_][^;{}()=]*?\bwtl_([a-z0-9]+)\w*\s*\([^;{}]*?\)[^;{}]*[;{]", re.M)


def shared_objects(source: Path) -> Iterator[str]:
    """Functions across files are named wtl_<object>_<verb>. One line for each object with functions in two rooms."""
    rooms: dict[str, set[str]] = {}
    for header in sorted(source.glob("*/**/*.h")):
        text = re.sub(r"/\*.*?\*/|^\s*#.*?(?<!\\)$", "", header.read_text(encoding="utf-8"), flags=re.S | re.M)
        for match in DECLARED.finditer(text):
            rooms.setdefault(match[1], set()).add(header.relative_to(source).parts[0])
    for name, users in sorted(rooms.items()):
        if len(users) > 1:
            yield f"functions wtl_{name}_... belong to one room, not to {', '.join(sorted(users))}"


def table() -> str:
    """The table of floors for CONTRIBUTING.md, with one row for each room, from the highest floor to the lowest."""
    rows = [f"| {r.floor} | `src/{r.name}` | {r.holds} | {r.knows_not} |" for r in ROOMS if r.floor >= 0]
    return "\n".join(["| floor | room | contains | must not depend on |", "|---|---|---|---|", *rows])


def main() -> int:
    """Prints the violations or the table."""
    if sys.argv[1:] == ["--table"]:
        print(table())
        return 0
    source = (Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "src").resolve()
    found = [*violations(source), *shared_objects(source)]
    if len(sys.argv) == 1:
        found += check_lab_floors.violations()
    found += [
        f"circle of {len(files)} files, {LARGEST_CIRCLE} at most: {', '.join(files)}"
        for files in circles(source)
        if len(files) > LARGEST_CIRCLE
    ]
    print("\n".join(found) if found else "floors: every include goes down, and no circle is large")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
