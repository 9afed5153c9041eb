"""Makes the MPI front end of simulated programs: each call that SimGrid's smpi.h declares, carried out by the PE's
companion (src/sim/companions.h). What a call is and how many bytes it hands over is in calls.toml; those that are not
there are carried out and not counted.

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

from generate import SPECIAL, C, Call, F, calls_of, expression, info, write

DECLARED = re.compile(r"MPI_CALL\(XBT_PUBLIC (.+?), MPI_(\w+),\s*\((.*?)\)\);", re.DOTALL)
ARGUMENT = re.compile(r"(?P<type>.*?[ *])(?P<name>\w+)(?P<array>(\[\w*\])*)$")
# Time is the simulator's own; SimGrid's would be the companion's.
OWN = {*SPECIAL, "Wtime", "Wtick", "Pcontrol"}


@dataclass(frozen=True)
class Declared:
    """A call of smpi.h."""

    name: str
    result: str
    args: tuple[tuple[str, str, str], ...]  # type, name, brackets

    @property
    def names(self) -> list[str]:
        return [name for _, name, _ in self.args]

    @property
    def parameters(self) -> str:
        return ", ".join(f"{kind} {name}{brackets}" for kind, name, brackets in self.args) or "void"

    @property
    def fields(self) -> list[str]:
        """The same as members of a struct: arrays as pointers."""
        return [_field(*arg) for arg in self.args]

    def named(self, row: Call | None) -> Declared:
        """With the names that the table's words for bytes know its arguments by."""
        if row is None or len(row.args) != len(self.args):
            return self
        pairs = zip(self.args, row.names, strict=True)
        return Declared(self.name, self.result, tuple((kind, name, end) for (kind, _, end), name in pairs))


def _field(kind: str, name: str, brackets: str) -> str:
    if not brackets:
        return f"{kind} {name}"
    rest = brackets[brackets.index("]") + 1 :]
    return f"{kind} (*{name}){rest}" if rest else f"{kind} *{name}"


def declared(text: str) -> list[Declared]:
    found = []
    for result, name, parameters in DECLARED.findall(text):
        args = []
        for word in re.sub(r"\s+", " ", parameters).split(","):
            if word.strip() in ("void", "..."):
                continue
            match = ARGUMENT.match(word.strip())
            if not match:
                raise SystemExit(f"generate_sim.py: MPI_{name}: cannot read the argument {word}")
            args.append((match["type"].strip(), match["name"], match["array"]))
        found.append(Declared(name, result, tuple(args)))
    return found


# --- what the room itself calls ---


def handed_header(calls: list[Declared]) -> list[str]:
    lines = [
        "/* Made from smpi.h. */",
        "#ifndef WTL_MPI_HANDED_H",
        "#define WTL_MPI_HANDED_H",
        "#include <smpi/smpi.h>",
    ]
    for call in calls:  # MPI_Abort's is written by hand
        lines.append(f"{call.result} wtl_handed_{call.name}({call.parameters});")
        lines.append(f"#define PMPI_{call.name} wtl_handed_{call.name}")
    return [*lines, "#endif"]


# --- C ---


def carried(call: Declared) -> list[str]:
    """The call as the companion makes it: `run` of a struct of its arguments, and its answer."""
    given = ", ".join(f"a->{name}" for name in call.names)
    body = [f"  a->rc = PMPI_{call.name}({given});"]
    if call.name == "Send":  # SimGrid tells of long messages only where they are sent so
        body = [
            "  MPI_Request request;",
            f"  a->rc = PMPI_Isend({given}, &request);",
            "  if (a->rc == MPI_SUCCESS) a->rc = PMPI_Wait(&request, MPI_STATUS_IGNORE);",
        ]
    return [
        f"struct {call.name} {{",
        *(f"  {field};" for field in call.fields),
        f"  {call.result} rc;",
        "};",
        f"static void {call.name}_run(void *arg)",
        "{",
        f"  struct {call.name} *a = arg;",
        *body,
        "}",
        "",
    ]


def opened(call: Declared) -> str:
    values = "".join(f".{name} = {name}, " for name in call.names)
    return f"  struct {call.name} a = {{{values.rstrip(', ') or '.rc = 0'}}};"


def handed(call: Declared) -> list[str]:
    return [
        f"{call.result} wtl_handed_{call.name}({call.parameters});",
        f"{call.result} wtl_handed_{call.name}({call.parameters})",
        "{",
        opened(call),
        f"  wtl_mpi_hand_over({call.name}_run, &a);",
        "  return a.rc;",
        "}",
        "",
    ]


def counted(row: Call, run: str, fortran: bool, checked: bool) -> list[str]:
    """Between the call's struct `a` and its answer. `checked`: it has a communicator, whose errors may end the job."""
    language = F if fortran else C
    bytes_ = expression(row.row["bytes"], fortran, False) if "bytes" in row.row else "0"
    comm = "wtl_handed_Comm_f2c(*(const MPI_Fint *)comm)" if fortran else "comm"
    meets = [f"    wtl_mpi_meet(&f, {comm});"] if row.row.get("meets") and row.how == "twin" else []
    return [
        "  if (wtl_mpi_is_out()) {",
        f"    wtl_mpi_hand_over({run}, &a);",
        "  } else {",
        "    wtl_mpi_frame f;",
        f"    uint64_t bytes = {bytes_.replace('PMPI_', 'wtl_handed_')};",
        f"    wtl_mpi_enter(&f, {row.id(language.large)}, WTL_HERE, bytes);",
        *meets,
        f"    wtl_mpi_carry_out(&f, {run}, &a);",
        *(["    if (a.rc != MPI_SUCCESS) wtl_mpi_failed(&f, comm, a.rc);"] if checked else []),
        "    wtl_mpi_leave(&f);",
        "  }",
    ]


def program_call(call: Declared, row: Call | None) -> list[str]:
    head = [f"{call.result} MPI_{call.name}({call.parameters})", "{"]
    if row is None:
        values = ", ".join(call.names)
        return [*head, f"  return wtl_handed_{call.name}({values});", "}", ""]
    checked = ("MPI_Comm", "comm", "") in call.args
    inner = counted(row, f"{call.name}_run", False, checked)
    return [*head, opened(call), *inner, "  return a.rc;", "}", ""]


# --- Fortran: every argument is an address; lengths of texts follow ---


def fortran_call(call: Declared, row: Call | None) -> list[str]:
    symbol = f"mpi_{call.name.lower()}_"
    names = [*call.names, "ierror"]
    lengths = [f"{name}_length" for kind, name, _ in call.args if re.match(r"(const )?char ?\*", kind)]
    parameters = ", ".join([*(f"void *{name}" for name in names), *(f"size_t {name}" for name in lengths)])
    types = ", ".join(["void *"] * len(names) + ["size_t"] * len(lengths))
    given = ", ".join(f"a->{name}" for name in [*names, *lengths])
    body = [f'  wtl_mpi_fortran *real = wtl_mpi_fortran_of("{symbol}");', f"  ((void (*)({types}))real)({given});"]
    if call.name == "Send":
        body = [
            "  MPI_Fint request, status[WTL_MPI_STATUS_FINTS];",
            '  wtl_mpi_fortran *isend = wtl_mpi_fortran_of("mpi_isend_"), *wait = wtl_mpi_fortran_of("mpi_wait_");',
            f"  ((void (*)({types}, void *))isend)({', '.join(f'a->{n}' for n in call.names)}, &request, a->ierror);",
            "  if (*(MPI_Fint *)a->ierror == MPI_SUCCESS)",
            "    ((void (*)(void *, void *, void *))wait)(&request, status, a->ierror);",
        ]
    struct = [
        f"struct {call.name}_f {{",
        *(f"  void *{name};" for name in names),
        *(f"  size_t {name};" for name in lengths),
        "};",
        f"static void {call.name}_f_run(void *arg)",
        "{",
        f"  struct {call.name}_f *a = arg;",
        *body,
        "}",
        "",
    ]
    values = ", ".join([*names, *lengths])
    run = f"{call.name}_f_run"
    inner = counted(row, run, True, False) if row else [f"  wtl_mpi_hand_over({run}, &a);"]
    return [
        *struct,
        f"void {symbol}({parameters});",
        f"void {symbol}({parameters})",
        "{",
        f"  struct {call.name}_f a = {{{values}}};",
        *inner,
        "}",
        "",
    ]


def main() -> None:
    table, header, library, out = (Path(word) for word in sys.argv[1:5])
    rows = calls_of(tomllib.loads(table.read_text()))
    by_name = {row.name: row for row in rows}
    simgrid = ctypes.CDLL(str(library))
    calls = [call.named(by_name.get(call.name)) for call in declared(header.read_text())]
    calls = [call for call in calls if hasattr(simgrid, f"PMPI_{call.name}")]
    inner = [call for call in calls if call.name not in ("Wtime", "Wtick", "Pcontrol")]
    lines = [
        "/* Made from smpi.h and calls.toml. */",
        "#define WTL_MPI_HANDED_H /* PMPI_ is SimGrid's here */",
        '#include "mpi/simulated.h"',
        "",
        *info(rows),
    ]
    lines += ["const char wtl_mpi_simulated = 1;", ""]
    for call in inner:
        if call.name != "Abort":
            lines += [*carried(call), *handed(call)]
    for call in inner:
        if call.name not in OWN:
            lines += program_call(call, by_name.get(call.name))
    for call in inner:
        if call.name not in OWN and hasattr(simgrid, f"mpi_{call.name.lower()}_"):
            lines += fortran_call(call, by_name.get(call.name))
    write(out / "generated/simulated/mpi.h", handed_header(inner))
    write(out / "generated/simulated/mpi_calls.c", lines)


if __name__ == "__main__":
    main()
