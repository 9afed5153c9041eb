"""Makes the MPI front end from the table of MPI calls (calls.toml) and the templates beside it.

usage: generate.py calls.toml BUILD_DIR

BUILD_DIR/generated/mpi_calls.h      the calls, by number
                    mpi_stubs.c      the names, each a jump through a slot: for libwattle-mpi, which links no MPI
                    mpi_wrappers.c   the functions for the slots: compiled against each MPI
                    mpi_own_names.h  the names by which the functions call the MPI
                    mpi_abi_calls.h  their prototypes for the interface of MPI 5 (abi/mpi.h)
                    mpi_calls.json   for the tests
"""

import json
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "base"))
from c_templates import environment, write

TEMPLATES = environment(Path(__file__).parent / "templates")

# The start and the end of a job are written by hand in src/mpi.
SPECIAL = {"Init": 0, "Init_thread": 2, "Finalize": 0, "Abort": 2}  # Fortran arguments without ierror
MPICHS = ("Grequest_start", "Grequest_class_allocate")  # MPICH's own MPIX_ calls, which exist only in C
# Calls of the standard that may wait and have no row. They pass unchanged and are counted. LARGE: with large counts.
PASSED_LARGE = (
    *(f"File_{verb}_{how}" for verb in ("read", "write") for how in ("shared", "ordered")),
    *(f"File_{verb}_{how}_begin" for verb in ("read", "write") for how in ("all", "at_all", "ordered")),
    "Comm_detach_buffer",
    "Session_detach_buffer",
)
PASSED = (
    *PASSED_LARGE,
    *(f"File_{verb}_{how}_end" for verb in ("read", "write") for how in ("all", "at_all", "ordered")),
    *(f"File_{what}" for what in ("preallocate", "seek_shared", "set_atomicity", "set_info", "set_size", "set_view")),
    *("Comm_set_info", "Win_set_info", "Session_init", "Session_finalize"),
    *("Comm_create_from_group", "Intercomm_create_from_groups"),
    *("Buffer_flush", "Comm_flush_buffer", "Session_flush_buffer"),
    *("Buffer_iflush", "Comm_iflush_buffer", "Session_iflush_buffer"),
    *("Request_get_status_all", "Request_get_status_any", "Request_get_status_some"),
    *("Parrived", "Pready", "Pready_list", "Pready_range"),
)
# Those of them that MPI 3.1 does not have.
PASSED_NEWER = re.compile(r"Session_|_from_group|flush|_detach_buffer|get_status_|Parrived|Pready")
# Types of the table: in C, and in the form of a call with large counts.
SIZED = {"count": ("int", "MPI_Count"), "displ": ("int", "MPI_Aint"), "disp_unit": ("int", "MPI_Aint")}


# --- the table ---


@dataclass(frozen=True)
class Argument:
    """A C declaration in three parts: `type` ends before the name, `array` is [] or nothing."""

    type: str
    name: str
    array: str

    @classmethod
    def of(cls, declaration: str) -> "Argument":
        array = "[]" if declaration.endswith("[]") else ""
        declaration = declaration.removesuffix("[]")
        name = declaration.split()[-1].lstrip("*")
        return cls(declaration.removesuffix(name), name, array)

    @property
    def sized(self) -> str | None:
        """The word of its type that is another type in the form with large counts."""
        return next((word for word in SIZED if word in self.type.split()), None)

    def c_type(self, large: bool) -> str:
        word = self.sized
        return self.type.replace(f"{word} ", f"{SIZED[word][large]} ") if word else self.type

    def declared(self, large: bool) -> str:
        return f"{self.c_type(large)}{self.name}{self.array}"

    @property
    def field(self) -> str:
        """The same as a member of a struct: an array as a pointer."""
        return f"{self.c_type(False)}{'*' if self.array else ''}{self.name}"


@dataclass(frozen=True)
class Call:
    """A row of the table, or the non-blocking counterpart of one."""

    name: str
    row: dict
    args: tuple[Argument, ...]
    how: str

    @property
    def names(self) -> list[str]:
        return [arg.name for arg in self.args]

    @property
    def is_collective(self) -> bool:
        return "comm" in self.names and not {"dest", "source"} & set(self.names)

    @property
    def reduces_for_all(self) -> bool:
        return self.name == "Allreduce"

    @property
    def has_large(self) -> bool:
        return any(arg.sized for arg in self.args)

    @property
    def has_fortran(self) -> bool:
        return self.row.get("fortran", True)

    @property
    def counterpart(self) -> str:
        return self.row.get("counterpart") or "I" + self.name[0].lower() + self.name[1:]

    @property
    def since(self) -> int:
        """Version of MPI, where it matters; 0 otherwise."""
        if self.how == "start" and "counterpart_of" in self.row:
            return self.row.get("counterpart_since", self.row.get("since", 0))
        return self.row.get("since", 0)

    def id(self, large: bool = False) -> str:
        return f"WTL_MPI_{self.name}{'_c' if large else ''}"

    @property
    def kind(self) -> str:
        kind = self.row.get("kind", "transfer")
        return "transfer" if self.how == "start" and kind == "wait" else kind  # a barrier's counterpart does not wait

    @property
    def to(self) -> str:
        return self.row.get("to", "put" if "bytes" in self.row else "none")


# The columns of calls.toml. Any other column is an error.
COLUMNS = {
    *("args", "how", "kind", "to", "bytes", "unchanged", "keeps_waitall", "outsiders", "synchronizes", "since"),
    *("counterpart", "counterpart_since", "fortran", "like", "test", "with", "done"),
}


def calls_of(table: dict) -> list[Call]:
    """Returns all rows, and the counterparts that have no row of their own."""
    calls: dict[str, Call] = {}
    for names, own in table.items():
        if unknown := own.keys() - COLUMNS:
            raise SystemExit(f"calls.toml: {names}: there is no column {', '.join(sorted(unknown))}")
        row = {"how": "unchanged"} | (calls[own["like"]].row if "like" in own else {}) | own
        args = tuple(Argument.of(part.strip()) for part in row["args"].split(",") if part.strip())
        calls |= {name: Call(name, row, args, row["how"]) for name in names.split(", ")}
    for call in list(calls.values()):
        if call.how == "counterpart":
            args = tuple(arg for arg in call.args if arg.name != "status")
            row = {**call.row, "counterpart_of": call.name}
            request = Argument("MPI_Request *", "request", "")
            calls.setdefault(call.counterpart, Call(call.counterpart, row, (*args, request), "start"))
    if "Irecv" not in calls or "Isend" not in calls:
        raise SystemExit("calls.toml: Sendrecv needs the counterparts of Send and Recv")
    return list(calls.values())


# --- the wrappers ---


@dataclass(frozen=True)
class Language:
    """The language of a wrapper."""

    name: str  # part of the wrapper's name
    title: str
    fortran: bool = False
    large: bool = False


C = Language("c", "C")
LARGE = Language("l", "C, with large counts", large=True)
F = Language("f", "Fortran: mpif.h and the module mpi", fortran=True)
F8 = Language("f8", "Fortran: the module mpi_f08", fortran=True)


@dataclass(frozen=True)
class Wrapper:
    """The function behind the name of a call in one language."""

    call: Call
    of: Language

    @property
    def language(self) -> str:
        return self.of.name

    @property
    def fortran(self) -> bool:
        return self.of.fortran

    @property
    def large(self) -> bool:
        return self.of.large

    @property
    def name(self) -> str:
        return f"wtl_{self.language}_{self.call.name}"

    @property
    def symbol(self) -> str:
        """The symbol to which the name of the call leads."""
        return f"{self.name}_noted" if self.call.how == "poll" else self.name

    @property
    def id(self) -> str:
        return self.call.id(self.large)

    @property
    def since(self) -> int:
        return max(4, self.call.since) if self.large else self.call.since

    @property
    def rc_type(self) -> str:
        return "MPI_Fint" if self.fortran else "int"

    @property
    def head(self) -> str:
        if self.fortran:
            args = ", ".join([*(f"void *{name}" for name in self.call.names), "MPI_Fint *ierror"])
            return f"void {self.name}({args})"
        args = ", ".join(arg.declared(self.large) for arg in self.call.args)
        return f"int {self.name}({args or 'void'})"

    @property
    def fields(self) -> list[str]:
        """Members of a struct of its arguments."""
        return [f"void *{arg.name}" if self.fortran else arg.field for arg in self.call.args]

    @property
    def test_values(self) -> list[str]:
        """Arguments for the test of a call, from that struct and from `flag`."""
        return ["&flag" if value == "FLAG" else f"a->{value}" for value in self.call.row["with"].split(", ")]


def languages_of(calls: list[Call]) -> dict[Language, list[Wrapper]]:
    found = {C: calls, LARGE: [c for c in calls if c.has_large]}
    found |= {language: [c for c in calls if c.has_fortran] for language in (F, F8)}
    return {language: [Wrapper(call, language) for call in members] for language, members in found.items()}


# --- names ---


@dataclass(frozen=True)
class Symbol:
    """A name that the program may call, and the function behind it. One without a function passes unchanged."""

    name: str
    wrapper: str
    where: str = ""  # condition on an MPI that has it
    is_c: bool = False
    is_newer: bool = False  # than MPI 3.1, in C

    @property
    def by_tools(self) -> "Symbol":
        """The name by which a tool with wrappers of its own calls the MPI. It leads to the same function."""
        return Symbol(f"P{self.name}", self.wrapper, self.where, is_newer=self.is_newer)

    @property
    def own(self) -> str:
        """For such a name, the one that leads to the MPI itself."""
        return f"wtl_{self.name.lower().split('_')[0]}_{self.name.split('_', 1)[1]}" if self.name[0] == "P" else ""

    @property
    def is_counted(self) -> bool:
        """Whether its calls are counted where the module has no function for it."""
        return not self.wrapper or bool(self.where)


def fortran_names(name: str) -> list[str]:
    """The names that Fortran compilers give a call. The one in lower case without an underscore is left out, because
    libraries have C functions of their own with such names (`mpi_barrier` of R's Rmpi).
    """
    lower = f"mpi_{name.lower()}"
    return [f"{lower}_", f"{lower}__", lower.upper()]


def symbols(calls: list[Call]) -> list[Symbol]:
    found = []

    def add(names: list[str], w: Wrapper) -> None:
        where = f"MPI_VERSION >= {w.since}" if w.since else ""
        found.extend(Symbol(name, w.symbol, where, not w.fortran, w.since >= 4 and not w.fortran) for name in names)

    for call in calls:
        add([f"MPI_{call.name}"], Wrapper(call, C))
        if call.has_large:
            add([f"MPI_{call.name}_c"], Wrapper(call, LARGE))
        if call.has_fortran:
            add(fortran_names(call.name), Wrapper(call, F))
            add([f"mpi_{call.name.lower()}{end}" for end in ("_f08_", "_f08ts_")], Wrapper(call, F8))
    for name in SPECIAL:
        found.append(Symbol(f"MPI_{name}", f"wtl_c_{name}", is_c=True))
        found += [Symbol(alias, f"wtl_f_{name}") for alias in fortran_names(name)]
        found.append(Symbol(f"mpi_{name.lower()}_f08_", f"wtl_f8_{name}"))
    found += [Symbol(f"MPIX_{name}", f"wtl_x_{name}", "defined(MPICH_VERSION)", True) for name in MPICHS]
    for name in PASSED:
        ends = ("_f08_", "_f08ts_")
        newer = PASSED_NEWER.search(name) is not None
        large = [Symbol(f"MPI_{name}_c", "", is_c=True, is_newer=True)] if name in PASSED_LARGE else []
        found += [Symbol(f"MPI_{name}", "", is_c=True, is_newer=newer), *large]
        found += [Symbol(each, "") for each in (*fortran_names(name), *(f"mpi_{name.lower()}{end}" for end in ends))]
    return found + [symbol.by_tools for symbol in found if symbol.is_c]


# --- the files ---


def numbered(calls: list[Call]) -> list[tuple[Call, bool]]:
    return [(call, large) for call in calls for large in ((False, True) if call.has_large else (False,))]


def entries(calls: list[Call]) -> list[dict]:
    """Entries of the table of calls, in the order of their numbers."""
    return [
        {"name": f"{call.name}{'_c' if large else ''}", "kind": call.kind, "to": call.to}
        for call, large in numbered(calls)
    ]


def described(calls: list[Call]) -> list[dict]:
    return [
        {
            "name": f"MPI_{c.name}{'_c' if large else ''}",
            "how": c.how,
            "large": large,
            "fortran": c.has_fortran,
            "since": max(c.since, 4 if large else 0),
        }
        for c, large in numbered(calls)
    ]


def main() -> None:
    calls = calls_of(tomllib.loads(Path(sys.argv[1]).read_text()))
    out = Path(sys.argv[2]) / "generated"
    words = {
        "entries": entries(calls),
        "special": list(SPECIAL),
        "symbols": symbols(calls),
        "languages": languages_of(calls),
        "fortran_names": [*(call.name for call in calls if call.has_fortran), *SPECIAL],
    }
    for name in ("mpi_calls.h", "mpi_stubs.c", "mpi_wrappers.c", "mpi_own_names.h", "mpi_abi_calls.h"):
        write(out / name, TEMPLATES.get_template(f"{name}.j2").render(words))
    write(out / "mpi_calls.json", json.dumps(described(calls), indent=1) + "\n")


if __name__ == "__main__":
    main()
