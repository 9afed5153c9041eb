"""Makes of the table of MPI calls (calls.toml): what the preload library offers and what stands behind it.

usage: generate.py calls.toml BUILD_DIR

BUILD_DIR/generated/mpi_calls.h      the calls, by number
                    mpi_stubs.c      the names, each a jump through a slot: for libwattle-mpi, which knows no MPI
                    mpi_wrappers.c   what the slots are filled with: compiled against each MPI
                    mpi_calls.json   for the tests
"""

import json
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

# Written by hand in src/mpi: how a job begins and ends.
SPECIAL = {"Init": 0, "Init_thread": 2, "Finalize": 0, "Abort": 2}  # Fortran arguments, ierror left out
MPICHS = ("Grequest_start", "Grequest_class_allocate")  # and MPICH's own, after MPIX_: C alone
ARRAYS = {"count": ("int", "MPI_Count"), "displ": ("int", "MPI_Aint"), "disp_unit": ("int", "MPI_Aint")}
ARGUMENT = re.compile(r"(?P<type>.*?[ *])(?P<name>\w+)(?P<array>(\[\])?)$")


@dataclass(frozen=True)
class Call:
    """A row of the table, or the non-blocking twin of one."""

    name: str
    row: dict
    args: tuple[str, ...]
    how: str

    @property
    def names(self) -> list[str]:
        return [ARGUMENT.match(arg)["name"] for arg in self.args]

    @property
    def has_large(self) -> bool:
        return any(re.search(r"\b(count|displ|disp_unit) [*\w]", arg) for arg in self.args)

    @property
    def has_fortran(self) -> bool:
        return self.row.get("fortran", True)

    def since(self) -> int:
        """Version of MPI, where it matters; 0 otherwise."""
        if self.how == "start" and "twin_of" in self.row:
            return self.row.get("twin_since", self.row.get("since", 0))
        return self.row.get("since", 0)

    def declared(self, large: bool) -> list[str]:
        """The C arguments."""
        found = []
        for arg in self.args:
            for word, types in ARRAYS.items():
                arg = re.sub(rf"\b{word} (?=[*\w])", types[large] + " ", arg, count=1)
            found.append(arg)
        return found

    def id(self, large: bool = False) -> str:
        return f"WTL_MPI_{self.name}{'_c' if large else ''}"


def twin_name(name: str, row: dict) -> str:
    return row.get("twin") or "I" + name[0].lower() + name[1:]


def calls_of(table: dict) -> list[Call]:
    """All rows, and the twins that have no row of their own."""
    calls: dict[str, Call] = {}
    for name, row in table.items():
        args = tuple(part.strip() for part in row["args"].split(","))
        calls[name] = Call(name, row, args, row["how"])
    for call in list(calls.values()):
        if call.how == "twin":
            args = tuple(arg for arg in call.args if not arg.endswith("*status"))
            name = twin_name(call.name, call.row)
            row = {**call.row, "twin_of": call.name}
            calls.setdefault(name, Call(name, row, (*args, "MPI_Request *request"), "start"))
    if "Irecv" not in calls or "Isend" not in calls:
        raise SystemExit("calls.toml: Sendrecv needs the twins of Send and Recv")
    return list(calls.values())


# --- how many bytes, in each language ---


def expression(text: str, fortran: bool, large: bool) -> str:
    """The table's words for bytes, as C. Fortran hands over addresses, and handles that are numbers."""

    def number(name: str) -> str:
        return f"wtl_mpi_count(*(const MPI_Fint *){name})" if fortran else f"wtl_mpi_count({name})"

    def handle(kind: str, name: str) -> str:
        return f"PMPI_{kind}_f2c(*(const MPI_Fint *){name})" if fortran else name

    def array(name: str) -> str:
        return f"wtl_mpi_counts({name}, {'true' if large else 'false'})"

    def types(name: str) -> str:
        return f"(wtl_mpi_types){{{name}, {'true' if fortran else 'false'}}}"

    def root(name: str) -> str:
        return f"(int)*(const MPI_Fint *){name}" if fortran else name

    def word(match: re.Match) -> str:
        kind, names = match[1], [name.strip() for name in match[2].split(",")]
        match kind:
            case "N":
                return number(names[0])
            case "T":
                return f"wtl_mpi_type_size({handle('Type', names[0])})"
            case "S" | "D" | "INTER" | "DOUBTED":
                function = {"S": "size", "D": "degree", "INTER": "is_inter", "DOUBTED": "is_doubted"}[kind]
                function = f"wtl_mpi_{function}"
                return f"{function}({handle('Comm', names[0])})"
            case "R" | "L":
                return f"wtl_mpi_is_{'root' if kind == 'R' else 'leaf'}({root(names[0])}, {handle('Comm', names[1])})"
            case "SUM" | "MY" | "DSUM":
                function = {"SUM": "wtl_mpi_sum", "MY": "wtl_mpi_mine", "DSUM": "wtl_mpi_sum_degree"}[kind]
                return f"{function}({array(names[0])}, {handle('Comm', names[1])})"
            case "W" | "DW":
                function = {"W": "wtl_mpi_sum_types", "DW": "wtl_mpi_sum_types_degree"}[kind]
                return f"{function}({array(names[0])}, {types(names[1])}, {handle('Comm', names[2])})"
            case _:
                op, datatype, comm = (handle(k, n) for k, n in zip(("Op", "Type", "Comm"), names, strict=False))
                return f"wtl_mpi_order_matters({op}, {datatype}, {comm}, {names[3]})"

    return re.sub(r"\b(N|T|S|R|L|D|SUM|MY|W|DSUM|DW|INTER|DOUBTED|ORDER)\(([^()]*)\)", word, text)


# --- one wrapper ---


@dataclass(frozen=True)
class Language:
    """Of a wrapper: C, C with large counts, mpif.h, mpi_f08."""

    name: str  # as in the wrapper's name
    fortran: bool = False
    large: bool = False

    def wrapper(self, call: Call) -> str:
        return f"wtl_{self.name}_{call.name}"

    def arguments(self, call: Call) -> str:
        if self.fortran:
            return ", ".join([*(f"void *{name}" for name in call.names), "MPI_Fint *ierror"])
        return ", ".join(call.declared(self.large))

    def real(self, name: str, values: list[str], result: str) -> str:
        """Calls the MPI itself; its answer goes to `result`."""
        if not self.fortran:
            suffix = "_c" if self.large else ""
            return f"{result} = PMPI_{name}{suffix}({', '.join(values)});"
        types = ", ".join(["void *"] * len(values) + ["MPI_Fint *"])
        here = f"wtl_mpi_real[WTL_MPI_IN_{self.name.upper()}][WTL_MPI_{name}]"
        given = ", ".join([*(f"(void *)(uintptr_t)({value})" for value in values), f"&{result}"])
        return f"((void (*)({types})){here})({given});"


C, LARGE, F, F8 = Language("c"), Language("l", large=True), Language("f", True), Language("f8", True)


def opening(call: Call, language: Language) -> list[str]:
    """The wrapper's head, and the way past it where nobody counts."""
    out = language.fortran
    lines = [
        f"static {'void' if out else 'int'} {language.wrapper(call)}({language.arguments(call)})",
        "{",
        f"  {'MPI_Fint' if out else 'int'} rc = MPI_SUCCESS;",
        "  uint64_t bytes = 0;",
        "  wtl_mpi_frame f;",
        "  if (wtl_mpi_is_out()) {",
        "    " + language.real(call.name, call.names, "rc"),
        "    " + ("if (ierror) *ierror = rc;\n    return;" if out else "return rc;"),
        "  }",
    ]
    if "bytes" in call.row:
        lines.append(f"  bytes = {expression(call.row['bytes'], out, language.large)};")
    return lines


def closing(language: Language) -> list[str]:
    return ["  if (ierror) *ierror = rc;" if language.fortran else "  return rc;", "}", ""]


def enter(call: Call, language: Language) -> str:
    line = f"  wtl_mpi_enter(&f, {call.id(language.large)}, WTL_HERE, bytes);"
    comm = "PMPI_Comm_f2c(*(const MPI_Fint *)comm)" if language.fortran else "comm"
    if "comm" in call.names and call.how in ("twin", "exchange"):
        line += f"\n  f.comm = {comm};"
    if call.row.get("meets") and call.how == "twin":
        line += f"\n  wtl_mpi_meet(&f, {comm});"
    return line


def request_of(language: Language) -> list[str]:
    return ["  MPI_Fint request = 0, none[WTL_MPI_STATUS_FINTS];"] if language.fortran else ["  MPI_Request request;"]


def status_of(call: Call, language: Language) -> str:
    if "status" in call.names:
        return "status"
    return "none" if language.fortran else "MPI_STATUS_IGNORE"


def finish(language: Language, request: str, status: str) -> str:
    if language.fortran:
        return f"wtl_mpi_finish_f(&f, WTL_MPI_IN_{language.name.upper()}, {request}, {status})"
    return f"wtl_mpi_finish(&f, {request}, {status})"


def start_and_finish(call: Call, language: Language) -> list[str]:
    twin = twin_name(call.name, call.row)
    values = [name for name in call.names if name != "status"] + ["&request"]
    status = status_of(call, language)
    return [
        language.real(twin, values, "rc"),
        f"if (rc == MPI_SUCCESS) rc = {finish(language, '&request', status)};",
    ]


def keep(call: Call, language: Language) -> list[str]:
    return ["wtl_mpi_keep(&f);", language.real(call.name, call.names, "rc"), "wtl_mpi_kept(&f);"]


def indented(lines: list[str], by: int) -> list[str]:
    return [" " * by + line for line in lines]


def from_nobody(language: Language) -> str:
    """A receive from nobody does not wait; MPICH 4.0 leaves the status of the non-blocking one as it was."""
    return f"{'*(const MPI_Fint *)source' if language.fortran else 'source'} == MPI_PROC_NULL"


def turned(call: Call, language: Language) -> list[str]:
    """A wrapper that starts the twin and waits for it."""
    lines = opening(call, language)
    unused = language.fortran and "status" in call.names
    lines += ["  MPI_Fint request = 0;"] if unused else request_of(language)
    body = start_and_finish(call, language)
    lines.append(enter(call, language))
    if "source" in call.names:
        lines += [
            f"  if ({from_nobody(language)}) {{",
            "    " + language.real(call.name, call.names, "rc"),
            "  } else {",
        ]
        lines += [*indented(body, 4), "  }"]
    elif "keeps" in call.row:
        condition = expression(call.row["keeps"], language.fortran, language.large)
        lines += [f"  if ({condition}) {{", *indented(keep(call, language), 4), "  } else {"]
        lines += [*indented(body, 4), "  }"]
    else:
        lines += indented(body, 2)
    lines.append("  wtl_mpi_leave(&f);")
    return lines + closing(language)


def twin_or_keep(call: Call, language: Language) -> list[str]:
    since = call.row.get("twin_since", 0)
    if not since:
        return turned(call, language)
    return [f"#if MPI_VERSION >= {since}", *turned(call, language), "#else", *kept(call, language), "#endif"]


def kept(call: Call, language: Language) -> list[str]:
    lines = [*opening(call, language), enter(call, language), *indented(keep(call, language), 2)]
    return [*lines, "  wtl_mpi_leave(&f);", *closing(language)]


def started(call: Call, language: Language) -> list[str]:
    lines = [*opening(call, language), enter(call, language), "  " + language.real(call.name, call.names, "rc")]
    if call.row.get("file"):
        lines.append("  wtl_mpi_has_polled_requests();")
    return [*lines, "  wtl_mpi_leave(&f);", *closing(language)]


def exchanged(call: Call, language: Language) -> list[str]:
    """Sendrecv, by one receive and one send."""
    kind = "MPI_Fint" if language.fortran else "MPI_Request"
    lines = [*opening(call, language), f"  {kind} request[2];"]
    if language.fortran:
        lines.append("  MPI_Fint none[WTL_MPI_STATUS_FINTS];")
    lines.append(enter(call, language))
    receive = ["recvbuf", "recvcount", "recvtype", "source", "recvtag", "comm", "&request[0]"]
    send = ["sendbuf", "sendcount", "sendtype", "dest", "sendtag", "comm", "&request[1]"]
    ignore = "none" if language.fortran else "MPI_STATUS_IGNORE"
    lines += [
        f"  bool nobody = {from_nobody(language)};",
        "  if (!nobody) {",
        "    " + language.real("Irecv", receive, "rc"),
        "  }",
        "  if (rc == MPI_SUCCESS) {",
        "    " + language.real("Isend", send, "rc"),
        "  }",
        f"  if (rc == MPI_SUCCESS) rc = {finish(language, '&request[1]', ignore)};",
        "  if (rc == MPI_SUCCESS && nobody) {",
        "    " + language.real("Recv", [*receive[:-1], "status"], "rc"),
        "  } else if (rc == MPI_SUCCESS) {",
        f"    rc = {finish(language, '&request[0]', 'status')};",
        "  }",
        "  wtl_mpi_leave(&f);",
    ]
    return lines + closing(language)


def answer(row: dict, fortran: bool, prefix: str = "") -> str:
    done = row.get("done")
    if done:
        return f"*({'MPI_Fint' if fortran else 'int'} *){prefix}{done} != 0"
    return "flag != 0" if prefix else f"*({'MPI_Fint' if fortran else 'int'} *)flag != 0"


def tested(call: Call, language: Language) -> list[str]:
    """A wrapper that calls the test until it says yes."""
    name = f"{language.wrapper(call)}_args"
    fields = [f"void *{n}" for n in call.names] if language.fortran else call.declared(False)
    fields = [re.sub(r"(\w+)\[\]$", r"*\1", field) for field in fields]
    kind = "MPI_Fint" if language.fortran else "int"
    values = [part.strip() for part in call.row["with"].split(",")]
    values = ["&flag" if value == "FLAG" else f"a->{value}" for value in values]
    lines = [f"struct {name} {{", *(f"  {field};" for field in fields), f"  {kind} rc;", "};", ""]
    lines += [
        f"static bool {language.wrapper(call)}_test(void *arg)",
        "{",
        f"  struct {name} *a = arg;",
        *([] if "done" in call.row else [f"  {kind} flag = 0;"]),
        "  " + language.real(call.row["test"], values, "a->rc"),
        f"  return a->rc != MPI_SUCCESS || {answer(call.row, language.fortran, 'a->')};",
        "}",
        "",
        *opening(call, language),
        f"  struct {name} a = {{{', '.join(call.names)}, MPI_SUCCESS}};",
        enter(call, language),
        f"  wtl_mpi_wait(&f, {language.wrapper(call)}_test, &a);",
        "  rc = a.rc;",
        "  wtl_mpi_leave(&f);",
    ]
    return lines + closing(language)


def all_asked(call: Call, language: Language) -> list[str]:
    """Waitall, called when each of its requests is complete; Testall where Waitall cannot be (front.h)."""
    name = f"{language.wrapper(call)}_args"
    handle = "MPI_Fint" if language.fortran else "MPI_Request"
    count = "*(const MPI_Fint *)count" if language.fortran else "count"
    one = "a->requests[a->done]"
    if language.fortran:
        one = f"PMPI_Request_f2c({one})"
    lines = [
        f"struct {name} {{",
        f"  const {handle} *requests;",
        "  int n, done;",
        "};",
        "",
        f"static bool {language.wrapper(call)}_test(void *arg)",
        "{",
        f"  struct {name} *a = arg;",
        "  for (int complete; a->done < a->n; a->done++) {",
        f"    int rc = PMPI_Request_get_status({one}, &complete, MPI_STATUS_IGNORE);",
        "    if (rc != MPI_SUCCESS) return true; /* the call itself says it as it is to be said */",
        "    if (!complete) return false;",
        "  }",
        "  return true;",
        "}",
        "",
        *opening(call, language),
        f"  struct {name} a = {{array_of_requests, {count}, 0}};",
        f"  {'MPI_Fint' if language.fortran else 'int'} flag = 0;",
        enter(call, language),
        "  if (wtl_mpi_waitall_stays()) {",
        *indented(keep(call, language), 4),
        "    wtl_mpi_leave(&f);",
        "    " + ("if (ierror) *ierror = rc;\n    return;" if language.fortran else "return rc;"),
        "  }",
        f"  wtl_mpi_wait(&f, {language.wrapper(call)}_test, &a);",
        "  if (wtl_mpi_waitall_hangs()) {",
        "    " + language.real("Testall", [*call.names[:2], "&flag", call.names[2]], "rc"),
        "  }",
        "  if (!flag && rc == MPI_SUCCESS) {",
        "    " + language.real(call.name, call.names, "rc"),
        "  }",
        "  wtl_mpi_leave(&f);",
    ]
    return lines + closing(language)


def polled(call: Call, language: Language) -> list[str]:
    head = [line for line in opening(call, language) if "bytes" not in line]
    lines = [*head, f"  uint64_t from = wtl_mpi_poll(&f, {call.id()}, WTL_HERE);"]
    lines += ["  " + language.real(call.name, call.names, "rc")]
    lines += [f"  wtl_mpi_polled(&f, from, rc != MPI_SUCCESS || {answer(call.row, language.fortran)});"]
    lines[0] = f"__attribute__((used)) {lines[0]}"  # by what notes where it is called from
    return [*lines, *closing(language), f"WTL_MPI_NOTED({language.wrapper(call)})", ""]


WRITERS = {
    "twin": twin_or_keep,
    "test": tested,
    "all": all_asked,
    "exchange": exchanged,
    "keep": kept,
    "start": started,
    "poll": polled,
}


def only(version: int, lines: list[str]) -> list[str]:
    return [f"#if MPI_VERSION >= {version}", *lines, "#endif"] if version else lines


def wrappers(calls: list[Call]) -> list[str]:
    lines = []
    for call in calls:
        writer = WRITERS[call.how]
        lines += only(call.since(), writer(call, C))
        if call.has_large:
            lines += only(max(4, call.since()), writer(call, LARGE))
        if call.has_fortran:
            lines += only(call.since(), [*writer(call, F), *writer(call, F8)])
    return lines


# --- names ---


@dataclass(frozen=True)
class Symbol:
    """A name that the program may call, and what stands behind it."""

    name: str
    wrapper: str
    where: str = ""  # what must hold of an MPI that has it


def fortran_names(name: str) -> list[str]:
    lower = f"mpi_{name.lower()}"
    return [f"{lower}_", f"{lower}__", lower, lower.upper()]


def behind(call: Call, language: Language) -> str:
    """Where the name of a call leads to."""
    return language.wrapper(call) + ("_noted" if call.how == "poll" else "")


def needs(version: int) -> str:
    return f"MPI_VERSION >= {version}" if version else ""


def symbols(calls: list[Call]) -> list[Symbol]:
    found = []
    for call in calls:
        where = needs(call.since())
        found.append(Symbol(f"MPI_{call.name}", behind(call, C), where))
        if call.has_large:
            found.append(Symbol(f"MPI_{call.name}_c", behind(call, LARGE), needs(max(4, call.since()))))
        if call.has_fortran:
            found += [Symbol(name, behind(call, F), where) for name in fortran_names(call.name)]
            lower = f"mpi_{call.name.lower()}"
            found += [Symbol(lower + end, behind(call, F8), where) for end in ("_f08_", "_f08ts_")]
    for name in SPECIAL:
        found.append(Symbol(f"MPI_{name}", f"wtl_c_{name}"))
        found += [Symbol(alias, f"wtl_f_{name}") for alias in fortran_names(name)]
        found.append(Symbol(f"mpi_{name.lower()}_f08_", f"wtl_f8_{name}"))
    found += [Symbol(f"MPIX_{name}", f"wtl_c_{name}", "defined(MPICH_VERSION)") for name in MPICHS]
    return found


def numbered(calls: list[Call]) -> list[tuple[Call, bool]]:
    return [(call, large) for call in calls for large in ((False, True) if call.has_large else (False,))]


def header(calls: list[Call]) -> list[str]:
    lines = ["/* Made from calls.toml. */", "enum {"]
    lines += [f"  {call.id(large)}," for call, large in numbered(calls)]
    lines += [f"  WTL_MPI_{name}," for name in SPECIAL]
    return [*lines, "  WTL_MPI_N_CALLS", "};", ""]


def info(calls: list[Call]) -> list[str]:
    lines = ["const wtl_call_info wtl_mpi_calls[] = {"]
    for call, large in numbered(calls):
        kind = "WTL_CALL_" + call.row.get("kind", "transfer").upper()
        if call.how == "start" and kind == "WTL_CALL_WAIT":  # the twin of a barrier waits for nobody
            kind = "WTL_CALL_TRANSFER"
        to = call.row.get("to", "put" if "bytes" in call.row else "none").upper()
        lines.append(
            f'  {{.name = "MPI_{call.name}{"_c" if large else ""}", .kind = {kind}, .direction = WTL_DIR_{to}}},'
        )
    lines += [f'  {{.name = "MPI_{name}", .kind = WTL_CALL_OTHER, .direction = WTL_DIR_NONE}},' for name in SPECIAL]
    return [*lines, "};", ""]


def fortran_reals(calls: list[Call]) -> list[str]:
    """The names under which the MPI's own Fortran entries are looked for."""
    lines = ["const wtl_mpi_fortran_name wtl_mpi_fortran_names[] = {"]
    lines += [f'  {{"{call.name.lower()}", {call.id()}}},' for call in calls if call.has_fortran]
    lines += [f'  {{"{name.lower()}", WTL_MPI_{name}}},' for name in SPECIAL]
    return [
        *lines,
        "};",
        "const size_t wtl_mpi_n_fortran_names = sizeof wtl_mpi_fortran_names / sizeof wtl_mpi_fortran_names[0];",
        "",
    ]


def table(found: list[Symbol]) -> list[str]:
    lines = ["void *const wtl_mpi_functions[] = {"]
    for symbol in found:
        entry = f"  (void *){symbol.wrapper}, /* {symbol.name} */"
        lines += [f"#if {symbol.where}", entry, "#else", "  NULL,", "#endif"] if symbol.where else [entry]
    return [*lines, "};", "const size_t wtl_mpi_n_functions = sizeof wtl_mpi_functions / sizeof wtl_mpi_functions[0];"]


STUB = {
    "__x86_64__": '  "  jmp *wtl_mpi_slots+{at}(%rip)\\n"',
    "__aarch64__": '  "  adrp x16, wtl_mpi_slots+{at}\\n  ldr x16, [x16, :lo12:wtl_mpi_slots+{at}]\\n  br x16\\n"',
}
LATE = {
    "__x86_64__": '  "wtl_late_{i}: push ${i}\\n  jmp wtl_mpi_late\\n"',
    "__aarch64__": '  "wtl_late_{i}: mov x17, #{i}\\n  b wtl_mpi_late\\n"',
}


def stubs(found: list[Symbol]) -> list[str]:
    lines = ["/* Made from calls.toml: every name, a jump through its slot; at first to where the slots get filled. */"]
    lines += ["#include <stddef.h>", "", "const char *const wtl_mpi_names[] = {"]
    lines += [f'  "{symbol.name}",' for symbol in found]
    lines += ["};", "const size_t wtl_mpi_n_names = sizeof wtl_mpi_names / sizeof wtl_mpi_names[0];", ""]
    for machine in STUB:
        lines += [f"#if defined({machine})", "__asm__(", '  ".text\\n"']
        for i, symbol in enumerate(found):
            lines.append(f'  ".globl {symbol.name}\\n.type {symbol.name}, %function\\n{symbol.name}:\\n"')
            lines.append(STUB[machine].format(at=8 * i))
            lines.append(f'  ".size {symbol.name}, .-{symbol.name}\\n"')
            lines.append(LATE[machine].format(i=i))
        lines += ['  ".data\\n.balign 8\\n.globl wtl_mpi_slots\\n.hidden wtl_mpi_slots\\nwtl_mpi_slots:\\n"']
        lines += [f'  ".quad wtl_late_{i}\\n"' for i in range(len(found))]
        lines += ['  ".text\\n");', "#endif"]
    return lines


def described(calls: list[Call]) -> list[dict]:
    rows = [
        {"name": f"MPI_{c.name}{'_c' if large else ''}", "how": c.how, "large": large, "fortran": c.has_fortran,
         "since": max(c.since(), 4 if large else 0)}
        for c, large in numbered(calls)
    ]  # fmt: skip
    return rows


def write(path: Path, lines: list[str]) -> None:
    """Leaves a file alone that is as it should be, so that nothing is built again for it."""
    text = "\n".join(lines) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main() -> None:
    calls = calls_of(tomllib.loads(Path(sys.argv[1]).read_text()))
    out = Path(sys.argv[2]) / "generated"
    found = symbols(calls)
    write(out / "mpi_calls.h", header(calls))
    write(out / "mpi_stubs.c", stubs(found))
    write(out / "mpi_calls.json", [json.dumps(described(calls), indent=1)])
    top = ["/* Made from calls.toml. */", '#include "mpi/mpi_front.h"', ""]
    write(out / "mpi_wrappers.c", [*top, *info(calls), *fortran_reals(calls), *wrappers(calls), *table(found)])


if __name__ == "__main__":
    main()
