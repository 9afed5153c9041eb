#!/usr/bin/env python3
"""Checks that the runtime leaves the floating-point state of the program that has loaded it alone.

usage: check_floats.py [FOLDER]   of built libraries (x86-64); prints each violation; exit code 1 if there is one

A program may trap floating-point exceptions, read their flags, or set a rounding mode. So each path from an entry to an
instruction that computes with floating-point numbers must pass a function with WTL_FLOATS_APART (src/os/floats.h). The
entries are the public functions and those whose address is taken: callbacks, threads, signal handlers.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

Key = tuple[str, int]  # library, address

# Instructions that may raise a flag, and functions of libc and libm that do.
COMPUTES = re.compile(r"v?(cvt\w+|(add|sub|mul|div|sqrt|min|max|u?comi|cmp\w*|round|fn?m(add|sub)\d*)[sp][sd])")
X87 = re.compile(r"f(i?(ld(?!cw|env)|stp?|add|sub|mul|div)|u?comi)\w*")
LIBRARY = re.compile(
    r"strto[df]|exp|log|log2|log10|pow|floor|ceil|fmin|fmax|fmod|l?l?rint|l?l?round|nearbyint|sqrt|hypot"
)
APART = re.compile(r"v?ldmxcsr")
# A program's own arithmetic (reductions, accumulates, values of its types) uses the program's environment.
PROGRAMS = re.compile(
    r"wtl_(sum|prod|min|max)_\w+|(product|sum|(abs)?(min|max))_\w+|select_one|wtl_acc_\w+|compute_avx2|__mul[sd]c3"
    r"|p?shmem_\w*longdouble\w*"
)
# Callbacks that only guarded functions call: of the files at the end, of readers, of meters' and knobs' tables.
CALLBACKS = re.compile(
    r"write_network|served|wtl_(clocks|transfers|packages|mpi_passed)_write|take_value|collect|give_up|check_number"
    r"|put_profile_number|read_(counters|event|of_pair)|(now|process)_ns|rising|with_throttled|open_ucx"
)
TABLES = re.compile(r"wtl_(meter|knob|sys)_\w+|kind\.\d+")
# Libraries of one process.
SETS = {
    "OpenSHMEM and ARMCI": [
        "armci",
        "wattle",
        *(f"wattle-{name}" for name in ("shmem", "net-*", "boot-*", "machine-yaml")),
    ],
    "MPI": ["wattle", *(f"wattle-{name}" for name in ("mpi", "mpi-*", "machine-yaml"))],
}


@dataclass
class Function:
    name: str
    computes: bool = False
    uses_x87: bool = False
    is_apart: bool = False
    calls: set[Key | str] = field(default_factory=set)  # a name: of a function of another library


@dataclass
class Code:
    functions: dict[Key, Function] = field(default_factory=dict)
    public: dict[str, Key] = field(default_factory=dict)
    entries: set[Key] = field(default_factory=set)

    def add(self, library: Path) -> None:
        functions: dict[int, Function] = {}
        taken: set[int] = set()
        current = Function("")
        for line in lines_of("objdump", "-dw", "--no-show-raw-insn", library):
            if start := re.match(r"([0-9a-f]+) <(.+)>:", line):
                current = functions[int(start[1], 16)] = Function(start[2].split("@")[0])
            elif instruction := re.match(r" *[0-9a-f]+:\t(?:(?:bnd|notrack|lock|rep|data16) )*(\w+)(?: +(.*))?", line):
                self.read(current, taken, library.name, instruction[1], instruction[2] or "")
        tables = tables_of(library)
        for line in lines_of("readelf", "-rW", library):
            relocation = re.match(r"([0-9a-f]+) +\w+ +R_X86_64_(?:RELATIVE|64) +([0-9a-f]+)", line)
            if relocation and not any(low <= int(relocation[1], 16) < high for low, high in tables):
                taken.add(int(relocation[2], 16))
        for line in lines_of("nm", "-D", "--defined-only", library):
            address, kind, name = line.split()
            if kind in "TWi":
                self.public[name.split("@")[0]] = library.name, int(address, 16)
        self.functions |= {(library.name, address): function for address, function in functions.items()}
        called_apart = (
            address for address in taken & functions.keys() if not CALLBACKS.fullmatch(functions[address].name)
        )
        self.entries |= {(library.name, address) for address in called_apart}

    def read(self, function: Function, taken: set[int], library: str, name: str, operands: str) -> None:
        function.computes |= bool(COMPUTES.fullmatch(name))
        function.uses_x87 |= bool(X87.fullmatch(name))
        function.is_apart |= bool(APART.fullmatch(name))
        target = re.search(r"([0-9a-f]+) <([^>+]+)>", operands)
        if not target:
            return
        if name == "lea":
            taken.add(int(target[1], 16))
        elif name == "call" or name.startswith("j"):
            function.calls.add(target[2].split("@")[0] if "@plt" in target[2] else (library, int(target[1], 16)))

    def violations(self) -> dict[str, str]:
        """Each function that computes in the program's environment, with its callers up to an entry."""
        found = {
            f.name: f"{f.name} (x87)" for f in self.functions.values() if f.uses_x87 and not PROGRAMS.fullmatch(f.name)
        }
        entries = self.entries | {key for name, key in self.public.items() if not name.startswith("wtl_")}
        paths = {key: (self.functions[key].name,) for key in sorted(entries) if key in self.functions}
        todo = list(paths)
        while todo:
            function = self.functions[key := todo.pop()]
            if function.is_apart or PROGRAMS.fullmatch(function.name):
                continue
            if function.computes or any(isinstance(c, str) and LIBRARY.fullmatch(c) for c in function.calls):
                found[function.name] = " < ".join(reversed(paths[key]))
            for call in function.calls:
                called = self.public.get(call) if isinstance(call, str) else call
                if called and called not in paths and called in self.functions:
                    paths[called] = (*paths[key], self.functions[called].name)
                    todo.append(called)
        return found


def lines_of(*command: object) -> list[str]:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout.splitlines()


def tables_of(library: Path) -> list[tuple[int, int]]:
    """Addresses, from and to, of the tables whose functions have guarded callers."""
    symbols = (line.split() for line in lines_of("nm", "-S", library))
    return [(int(s[0], 16), int(s[0], 16) + int(s[1], 16)) for s in symbols if len(s) == 4 and TABLES.fullmatch(s[3])]


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "build/release/lib"
    bad = 0
    for title, names in SETS.items():
        code = Code()
        for library in sorted({f.resolve() for name in names for f in folder.glob(f"lib{name}.so")}):
            code.add(library)
        for path in sorted(code.violations().values()):
            print(f"{title}: computes without WTL_FLOATS_APART: {path}")
            bad += 1
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
