"""Makes the MPI front end of simulated programs: the PE's companion carries out each call of SimGrid's smpi.h.

calls.toml has the kind and the bytes of a call. Calls that are not there are carried out and not counted. For
companions see src/sim/companions.h.

usage: generate_sim.py calls.toml smpi.h LIBSIMGRID BUILD_DIR

BUILD_DIR/generated/simulated/mpi.h       for src/mpi: PMPI_ names that have a companion call
                              mpi_calls.c the program's calls, in C and in Fortran
"""

from __future__ import annotations

import ctypes
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from generate import SPECIAL, TEMPLATES, Call, calls_of, entries, write

DECLARED = re.compile(r"MPI_CALL\(XBT_PUBLIC (.+?), MPI_(\w+),\s*\((.*?)\)\);", re.DOTALL)  # as smpi.h has it
# The simulator has the PE's time; SimGrid's calls would return the companion's.
TIME = ("Wtime", "Wtick", "Pcontrol")


@dataclass(frozen=True)
class Argument:
    """A C declaration in three parts: `kind` ends before the name, `brackets` are those of an array."""

    kind: str
    name: str
    brackets: str

    @classmethod
    def of(cls, declaration: str) -> Argument:
        declared, bracket, rest = declaration.partition("[")
        name = declared.split()[-1].lstrip("*")
        return cls(declared.removesuffix(name).strip(), name, bracket + rest)

    @property
    def declared(self) -> str:
        return f"{self.kind} {self.name}{self.brackets}"

    @property
    def field(self) -> str:
        """The same as a member of a struct: an array as a pointer."""
        if not self.brackets:
            return f"{self.kind} {self.name}"
        rest = self.brackets.partition("]")[2]
        return f"{self.kind} (*{self.name}){rest}" if rest else f"{self.kind} *{self.name}"

    @property
    def is_text(self) -> bool:
        return self.kind.removeprefix("const ").replace(" ", "").startswith("char*")


@dataclass(frozen=True)
class Declared:
    """A call of smpi.h, and its row of calls.toml."""

    name: str
    result: str
    args: tuple[Argument, ...]
    row: Call | None
    has_fortran: bool

    @property
    def names(self) -> list[str]:
        return [arg.name for arg in self.args]

    @property
    def parameters(self) -> str:
        return ", ".join(arg.declared for arg in self.args) or "void"

    @property
    def fields(self) -> list[str]:
        return [arg.field for arg in self.args]

    @property
    def given(self) -> str:
        """The arguments, taken from their struct."""
        return ", ".join(f"a->{name}" for name in self.names)

    @property
    def has_comm(self) -> bool:
        return Argument("MPI_Comm", "comm", "") in self.args

    @property
    def fortran(self) -> str:
        return f"mpi_{self.name.lower()}_"

    @property
    def lengths(self) -> list[str]:
        """Names of the lengths of texts, which Fortran passes after the arguments."""
        return [f"{arg.name}_length" for arg in self.args if arg.is_text]


def declared(text: str, rows: dict[str, Call], simgrid: ctypes.CDLL) -> list[Declared]:
    """Returns the calls that the library has, with the argument names of the table."""
    found = []
    for result, name, parameters in DECLARED.findall(text):
        words = [word.strip() for word in " ".join(parameters.split()).split(",")]
        args = [Argument.of(word) for word in words if word not in ("void", "...")]
        row = rows.get(name)
        if row and len(row.args) == len(args):
            args = [Argument(a.kind, known, a.brackets) for a, known in zip(args, row.names, strict=True)]
        if hasattr(simgrid, f"PMPI_{name}"):
            found.append(Declared(name, result, tuple(args), row, hasattr(simgrid, f"mpi_{name.lower()}_")))
    return found


def main() -> None:
    table, header, library, out = (Path(word) for word in sys.argv[1:5])
    rows = calls_of(tomllib.loads(table.read_text()))
    simgrid = ctypes.CDLL(str(library))
    calls = declared(header.read_text(), {row.name: row for row in rows}, simgrid)
    calls = [call for call in calls if call.name not in TIME]
    words = {
        "calls": calls,
        "offered": [call for call in calls if call.name not in SPECIAL],
        "entries": entries(rows),
        "special": list(SPECIAL),
    }
    for name, template in (("mpi.h", "simulated_mpi.h.j2"), ("mpi_calls.c", "simulated_calls.c.j2")):
        write(out / "generated/simulated" / name, TEMPLATES.get_template(template).render(words))


if __name__ == "__main__":
    main()
