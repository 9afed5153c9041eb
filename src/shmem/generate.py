"""Makes the OpenSHMEM front end from the API table (api.toml) and the templates beside it.

usage: generate.py api.toml BUILD_DIR VERSION

BUILD_DIR/include/[p]shmem.h, [p]shmemx.h, mpp/   what programs include
BUILD_DIR/generated/shmem_api_KIND.c              the routines of templates/routines/KIND.c.j2
BUILD_DIR/generated/api.json                      the table, complete: for tests and documentation

The templates make C that compiles. Where clang-format is installed it is also laid out in the house style, so that a
build needs no clang-format and what a developer reads is even.
"""

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import jinja2

sys.path.insert(0, str(Path(__file__).parents[1] / "base"))
from c_templates import environment, write

HERE = Path(__file__).parent
TEMPLATES = environment(HERE / "templates")
KINDS = sorted(path.name.removesuffix(".c.j2") for path in (HERE / "templates/routines").glob("*.c.j2"))
SIZES = ("8", "16", "32", "64", "128")


def template(name: str) -> jinja2.environment.TemplateModule:
    """The macros of a template."""
    return TEMPLATES.get_template(name).module


# --- the table -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Argument:
    """A C declaration in two parts: `type` ends before the name and may have {C} for the routine's type."""

    type: str
    name: str

    @classmethod
    def of(cls, declaration: str) -> "Argument":
        name = declaration.split()[-1].lstrip("*")
        return cls(declaration.removesuffix(name), name) if name != "..." else cls(name, "")

    @property
    def c(self) -> str:
        return self.type + self.name

    def of_type(self, c_type: str) -> "Argument":
        return Argument(self.type.replace("{C}", c_type), self.name)

    @property
    def of_any_type(self) -> "Argument":
        """The argument of a worker: memory of any type, or a value as a number."""
        return self.of_type("void" if "*" in self.type else "uint64_t")

    @property
    def direction(self) -> str:
        """As Doxygen has it, of a routine of shmemx.h: `source` and `target` are addresses of a payload."""
        is_changed = "*" in self.type and "const" not in self.type and self.name not in ("source", "target")
        return "in,out" if is_changed else "in"

    @property
    def is_typed_value(self) -> bool:
        return "{C}" in self.type and "*" not in self.type


CTX = Argument("shmem_ctx_t ", "ctx")


@dataclass(frozen=True)
class Routine:
    """One C function: a row of the table for one type, with or without a context."""

    row: dict
    type_name: str
    c_type: str
    header_type: str  # C's type by the name that C++ has for it, too
    with_ctx: bool
    call_id: int = 0
    is_worker: bool = False  # for all types; `k`, a wtl_typed, has the properties of the type

    @property
    def name(self) -> str:
        name = self.row["name"].replace("{T}", self.type_name).replace("{N}", self.type_name)
        return name.replace("shmem_", "shmem_ctx_", 1) if self.with_ctx else name

    @cached_property
    def row_args(self) -> list[Argument]:
        return [CTX] * self.with_ctx + [Argument.of(a) for a in self.row["args"]]

    @cached_property
    def args(self) -> list[Argument]:
        return [a.of_any_type if self.is_worker else a.of_type(self.c_type) for a in self.row_args]

    @property
    def names(self) -> list[str]:
        return [a.name for a in self.args]

    def has(self, name: str) -> bool:
        return name in self.names

    def position(self, name: str) -> int:
        return self.names.index(name)

    # --- its C ---

    def fill(self, text: str) -> str:
        return text.replace("{C}", self.c_type).replace("{N}", self.type_name).replace("{S}", self.size)

    @property
    def result(self) -> str:
        return self.row.get("returns", "void").replace("{C}", self.c_type)

    def parameters(self) -> str:
        return ", ".join(a.c for a in self.args) or "void"

    def prototype(self, name: str) -> str:
        return prototype_of(self.result, name, self.parameters())

    def prototype_with(self, first: str, name: str) -> str:
        return prototype_of(self.result, name, ", ".join([first, *(a.c for a in self.args[1:])]))

    def declaration(self, name: str) -> str:
        """The prototype as the header has it."""
        args = ", ".join(a.of_type(self.header_type).c for a in self.row_args)
        return prototype_of(self.row.get("returns", "void").replace("{C}", self.header_type), name, args or "void")

    @property
    def size(self) -> str:
        """C for the bytes of an element."""
        if self.is_worker:
            return "k->size"
        if self.c_type:
            return f"sizeof({self.c_type})"
        return str(int(self.type_name) // 8) if self.row.get("sizes") else "1"

    @property
    def bytes(self) -> str:
        return self.fill(self.row.get("bytes", "0"))

    def pointed(self, arg: Argument) -> str:
        return arg.type.removeprefix("const ").rsplit("*", 1)[0].strip()

    def element(self, name: str) -> str:
        """C for the bytes of what an argument points to."""
        pointed = self.pointed(self.args[self.position(name)])
        return self.size if pointed == "void" and self.is_worker else f"sizeof({pointed or 'char'})"

    @property
    def pe(self) -> str:
        """C for the PE whose memory an argument names."""
        return "pe" if self.has("pe") else "self->me"

    @property
    def word(self) -> str:
        """C for the kind of integer that a wait or test compares."""
        return "k->word" if self.is_worker else f"WTL_WORD_OF({self.pointed(self.args[0])})"

    @property
    def word_of_worker(self) -> str:
        return f"WTL_WORD_OF({self.c_type})" if self.row.get("types") == "compared" else "WTL_I64"

    @property
    def combine(self) -> str:
        """C for the inner loop of a reduction."""
        if self.is_worker:
            return "k->combine"
        return f"wtl_{self.row['combine']}_{self.type_name}" if "combine" in self.row else "NULL"

    @property
    def nbi(self) -> str:
        return "true" if self.row.get("nbi") else "false"

    @property
    def operand_bits(self) -> str:
        """C for the bits that an atomic operation combines with the variable."""
        return self.row.get("operand", "WTL_BITS(value)")

    @property
    def checks(self) -> list[str]:
        macros, lines = template("checks.c.j2"), []
        for check in self.row.get("checks", []):
            kind, *words = check if isinstance(check, list) else check.split()
            lines.append(getattr(macros, kind)(self, *map(self.fill, words)).strip())
        return lines

    @property
    def work(self) -> str:
        kind, macro = self.row["work"].split(".")
        return getattr(template(f"routines/{kind}.c.j2"), macro)(self)

    # --- where and how ---

    @property
    def kind(self) -> str:
        """Which generated file has it."""
        return self.row["work"].split(".")[0]

    @property
    def worker(self) -> str:
        return f"do_{'ctx_' if self.with_ctx else ''}{self.row['worker']}"

    @property
    def for_any_type(self) -> "Routine":
        return Routine(self.row, self.type_name, self.c_type, self.header_type, self.with_ctx, is_worker=True)

    @property
    def values_for_worker(self) -> str:
        return ", ".join(f"(uint64_t){a.name}" if a.is_typed_value else a.name for a in self.row_args)

    @property
    def is_to_a_pe(self) -> bool:
        """Puts, gets and atomics: on its own PE a handler may call them."""
        return self.row["kind"] == "transfer" and "direction" in self.row and self.has("pe")

    @property
    def target(self) -> str:
        """C for the PE and the memory of a call (wtl_target). A wait has its variable alone, a reduction its input."""
        if self.reduces:
            active_set = "((uint64_t)PE_start << 32 ^ (uint64_t)logPE_stride << 26 ^ (uint64_t)PE_size << 1)"
            return f"{{-1, NULL, source, true, {'(uintptr_t)team' if self.has('team') else active_set} | 1}}"
        if not self.is_to_a_pe:
            return "{-1, ivar, NULL, false, 0}"
        pe = "ctx == SHMEM_CTX_DEFAULT ? pe : -1" if self.with_ctx else "pe"
        gets = self.row["direction"] == "get" or not (self.has("dest") or self.has("sig_addr"))
        there = "source" if gets else "dest" if self.has("dest") else "sig_addr"
        here = ("dest" if self.has("dest") else "NULL") if gets else "source" if self.has("source") else "NULL"
        return f"{{{pe}, {there}, {here}, {'false' if gets or here == 'NULL' else 'true'}, 0}}"

    @property
    def reduces(self) -> bool:
        return self.row.get("work") in ("collectives.reduce", "collectives.to_all")

    @property
    def waits_for_one(self) -> bool:
        return self.kind == "waits" and self.has("ivar")

    @property
    def in_handlers(self) -> str:
        if self.row.get("in_handler"):
            return "WTL_IN_HANDLERS"
        return "WTL_TO_ITSELF_IN_HANDLERS" if self.is_to_a_pe else "WTL_NOT_IN_HANDLERS"

    @property
    def volatile_name(self) -> str:
        """The function that the C11 generic calls for a volatile first argument."""
        return f"wtl_volatile_{self.name}"


def prototype_of(result: str, name: str, parameters: str) -> str:
    return f"{result}{'' if result.endswith('*') else ' '}{name}({parameters})"


def replace_in(value: object, old: str, new: str) -> object:
    if isinstance(value, str):
        return value.replace(old, new)
    return [replace_in(v, old, new) for v in value] if isinstance(value, list) else value


# The columns of api.toml. Any other column is an error.
# fmt: off
COLUMNS = {
    "name", "ctx", "types", "sizes", "widths", "args", "returns", "kind", "direction", "bytes", "checks", "no_ctx",
    "work", "frame", "worker", "nbi", "amo", "operand", "exclusive", "cmp_values", "combine", "collective", "volatile",
    "generic", "select", "old_generic", "since", "deprecated", "like", "without", "each", "forms", "doc", "value",
    "wrong", "header", "others_have_it", "attributes", "arguments", "in_handler",
}
# fmt: on


def rows(table: dict) -> list[dict]:
    """The table's rows, each complete: `like` takes from an earlier row what is not said, `each` is several rows."""
    complete: list[dict] = []
    for row in table["routine"]:
        if unknown := row.keys() - COLUMNS:
            raise SystemExit(f"api.toml: {row['name']}: there is no column {', '.join(sorted(unknown))}")
        for word in row.get("each", [""]):
            own = {k: replace_in(v, "{O}", word) for k, v in row.items() if k not in ("each", "without")}
            other = next(r for r in complete if r["name"] == own["like"]) if "like" in own else {"kind": "other"}
            taken = {k: v for k, v in other.items() if k not in row.get("without", ())}
            complete.append(taken | own | {"op": word})
            complete += [of_form(complete[-1], form) for form in complete[-1].get("forms", ())]
    return complete


def of_form(row: dict, form: str) -> dict:
    """The row of another form of a routine, in which elements have no type: `forms` has those that there are."""
    untyped = {k: v for k, v in row.items() if k not in ("types", "generic", "select", "forms")}
    untyped["name"] = re.sub(r"_\{T\}(_[a-z]+)", rf"\1{form}", row["name"])
    untyped["args"] = replace_in(row["args"], "{C} *", "void *")
    if form == "mem":
        untyped["bytes"] = row["bytes"].replace(" * sizeof({C})", "")
        untyped["arguments"] = {"nelems": "Number of bytes."}
        return untyped | {"doc": f"Copies `nelems` bytes as {row['generic']} does."}
    elements = "`nelems` elements " if "mem" in row["forms"] else ""
    untyped["bytes"] = row["bytes"].replace("sizeof({C})", "({N} / 8)")
    untyped["doc"] = f"Copies {elements}as {row['generic']} does. The name has the size of an element in bits."
    return untyped | {"sizes": True}


def expand(table: dict) -> list[Routine]:
    """All functions the table stands for, in its order."""
    routines = []
    for row in rows(table):
        if "types" in row:
            variants = [(t, table["types"][t]) for t in table["groups"][row["types"]]]
        else:
            variants = [(n, "") for n in row.get("widths", SIZES)] if row.get("sizes") else [("", "")]
        for type_name, c_type in variants:
            header_type = table["header_types"].get(type_name, c_type)
            for with_ctx in (False, True) if row.get("ctx") else (False,):
                routines.append(Routine(row, type_name, c_type, header_type, with_ctx, len(routines)))
    return routines


# --- the implementation ----------------------------------------------------------------------------------------------


def functions(routines: list[Routine]) -> Iterator[str]:
    """C of each routine; a worker stands before the first that hands on to it."""
    macros = template("routine.c.j2")
    workers: dict[str, str] = {}
    for r in routines:
        if "worker" in r.row:
            w = r.for_any_type
            text = macros.worker(w, w.work)
            if r.worker not in workers:
                yield text
            if workers.setdefault(r.worker, text) != text:
                raise SystemExit(f"api.toml: {r.name}: its worker {r.worker} is another function for other rows")
            yield macros.function(r, macros.caller(r))
        elif r.row.get("frame", True):
            site = "WTL_ORIGIN"
            yield macros.function(r, macros.body(r, r.work, str(r.call_id), site))
        else:
            yield macros.function(r, r.work)


def loops(table: dict) -> list[dict]:
    """The typed inner loops of the reductions, each once."""
    found = {}
    for row in rows(table):
        for t in table["groups"][row["types"]] if "combine" in row else []:
            name = f"wtl_{row['combine']}_{t}"
            found[name] = {
                "name": name,
                "op": row["combine"],
                "c_type": table["types"][t],
                "wraps_in": table["wraps_in"].get(t),
            }
    return list(found.values())


def implementation(table: dict, routines: list[Routine], kinds: list[str]) -> str:
    """C of the routines of some kinds; `calls` is the table of all."""
    members = [r for r in routines if r.kind in kinds]
    return TEMPLATES.get_template("file.c.j2").render(
        kinds=kinds,
        routines=routines,
        functions=functions(members),
        loops=loops(table),
        macros=template("routine.c.j2"),
    )


# --- the headers -----------------------------------------------------------------------------------------------------


def selectable(table: dict, group: str) -> set[str]:
    """Types of the group that are no other C type of it by another name: int32_t where there is no int beside it."""
    types = set(table["groups"][group])
    return {t for t in types if t in table["groups"]["distinct"] or not types & set(table["same"].get(t, []))}


def generic_groups(table: dict, routines: list[Routine]) -> dict[str, list[Routine]]:
    """The routines of each generic, one for each type that can select."""
    groups: dict[str, list[Routine]] = {}
    for r in routines:
        if r.row.get("generic") and r.type_name in selectable(table, r.row["types"]):
            groups.setdefault(r.row["generic"], []).append(r)
    for r in routines:
        others = groups.get(r.row.get("old_generic", ""), [])
        has_own = r.c_type in {other.c_type for other in others}
        if others and not has_own and not r.with_ctx and r.type_name in selectable(table, r.row["types"]):
            others.append(r)
    return groups


def overloads(table: dict, routines: list[Routine]) -> list[tuple[str, Routine]]:
    """The generics in C++: overloaded functions, without a routine that already has the name and the arguments."""
    by_name = {r.name: r for r in routines}
    chosen = [(generic, r) for generic, members in generic_groups(table, routines).items() for r in members]
    chosen += [(generic, by_name[name]) for generic, names in table["generics"].items() for name in names.values()]
    found = []
    for generic, r in chosen:
        same = by_name.get(generic)
        if same and not r.row.get("volatile") and [a.type for a in same.args] == [a.type for a in r.args]:
            continue
        found.append((generic, r))
    overloaded = {generic for generic, _ in chosen}
    return found + [(r.name, r) for r in routines if r.row.get("volatile") and r.name not in overloaded]


def families(routines: list[Routine]) -> list[list[Routine]]:
    """The routines of each row."""
    found: dict[int, list[Routine]] = {}
    for r in routines:
        found.setdefault(id(r.row), []).append(r)
    return list(found.values())


def header(table: dict, routines: list[Routine], version: str) -> str:
    groups = generic_groups(table, routines)
    members = {r.name: r for group in groups.values() for r in group if r.row.get("volatile")}
    return TEMPLATES.get_template("shmem.h.j2").render(
        table=table,
        version=version,
        families=families([r for r in routines if "header" not in r.row]),
        generic_groups=groups,
        volatile_members=members.values(),
        overloads=overloads(table, routines),
    )


def extension_header(table: dict, routines: list[Routine], version: str) -> str:
    members = [r for r in routines if r.row.get("header") == "shmemx.h"]
    new = [r for r in routines if r.row.get("since") == "1.6"]
    names = dict.fromkeys([r.name for r in new] + [r.row["generic"] for r in new if r.row.get("generic")])
    return TEMPLATES.get_template("shmemx.h.j2").render(
        version=version,
        own=families([r for r in members if not r.row.get("others_have_it")]),
        others=families([r for r in members if r.row.get("others_have_it")]),
        early_names=names,
        meanings={r.name: meanings(table, r) for r in members},
    )


# --- for tests and documentation -------------------------------------------------------------------------------------

# The mistake that a failed check reports.
MISTAKES = {
    "pe": "`pe` is not a PE of the job",
    "pe_as": "`{0}` is not a PE of the job",
    "am_length": "`{0}` is more than 1 GiB",
    "am_id": "`{0}` is one of the 16 lowest values of int",
    "symmetric": "`{0}` is not symmetric, or its block is too short",
    "count": "`{0}` is larger than any memory, such as a negative number",
    "product": "`{0}` and `{1}` together are larger than any memory, such as with a negative number",
    "stride": "`{0}` is less than 1",
    "blocks_apart": "`{0}` is less than `bsize`",
    "given": "`{0}` is NULL",
    "local": "`{0}` is NULL and the count is not 0",
    "disjoint": "`{0}` and `{2}` overlap",
    "apart": "`{0}` and `{1}` overlap, but are not the same",
    "align": "`{0}` is not aligned to its type",
    "cmp": "`cmp` is not one of the six comparisons",
    "signal": "`sig_op` is neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD",
    "team": "`team` is not a team of this PE: destroyed, never created, or SHMEM_TEAM_INVALID",
    "active": "`PE_start`, `logPE_stride` and `PE_size` do not describe an active set of the job that contains this PE",
    "root": "`PE_root` is not a PE of the team or set",
}
ALIKE = {
    "symmetric_on": "symmetric",
    "symmetric1": "symmetric",
    "extent": "symmetric",
    "many": "local",
    "root_of_several": "root",
}


def mistakes(r: Routine) -> list[str]:
    """The mistakes of a call that are reported: those of its checks and those of the column `wrong`."""
    said = []
    if r.row.get("ctx"):
        never = "" if r.row.get("no_ctx") else ", or SHMEM_CTX_INVALID"
        said.append(
            f"`ctx` is not a context of this PE (destroyed, never created{never}), or it is private to another thread"
        )
    for check in r.row.get("checks", []):
        kind, *words = check if isinstance(check, list) else check.split()
        said.append(MISTAKES[ALIKE.get(kind, kind)].format(*words))
        if kind == "pe" and r.row.get("ctx"):
            said[-1] += " or, with a context, of its team"
        if kind == "active":
            said.append("`pSync` is not symmetric, or not aligned")
    return list(dict.fromkeys(said + r.row.get("wrong", [])))


CONTEXTS_SINCE = "1.4"  # OpenSHMEM 1.4 gave the routines that there were a form with a context


def since(r: Routine) -> str | None:
    """The version of the standard that brought it; none where no version did."""
    brought = r.row.get("since")
    return max(brought, CONTEXTS_SINCE) if brought and r.with_ctx else brought


def use_of(r: Routine) -> str:
    """The part of [arguments] that has precedence for a routine."""
    if "header" in r.row:
        return "messages"
    direction = r.row.get("direction", "")
    if r.row["kind"] == "wait" and direction:
        return "collective"
    return "waits" if r.has("ivars") else direction


def meanings(table: dict, r: Routine) -> dict[str, str]:
    """The meaning of each argument for the pages. KeyError if the table has none."""
    texts = table["arguments"]
    known = texts["all"] | texts.get(use_of(r), {}) | r.row.get("arguments", {})
    names = [name for name in r.names if name]
    if "team" in names:
        known |= {"pe": "Number of the PE, from 0, in `team`."}
    elif r.row.get("ctx"):
        known |= {"pe": "Number of the PE, from 0: in the job or, with a context, in its team."}
    return {name: known[name] for name in names}


def pattern(r: Routine) -> str:
    """The prototype that routines of all types share, with the standard's words for what differs."""
    name = r.row["name"].replace("{T}", "TYPENAME").replace("{N}", "SIZE")
    if r.with_ctx:
        name = name.replace("shmem_", "shmem_ctx_", 1)
    parameters = ", ".join(a.of_type("TYPE").c for a in r.row_args) or "void"
    return prototype_of(r.row.get("returns", "void").replace("{C}", "TYPE"), name, parameters)


def index(table: dict, routines: list[Routine]) -> list[dict]:
    return [
        {
            "name": r.name,
            "prototype": r.prototype(r.name),
            "pattern": pattern(r),
            "kind": r.row["kind"],
            "family": r.row["name"],
            "type": r.type_name,
            "c_type": r.c_type,
            "ctx": r.with_ctx,
            "generic": r.row.get("generic"),
            "old_generic": None if r.with_ctx else r.row.get("old_generic"),
            "header": r.row.get("header", "shmem.h"),
            "doc": r.row["doc"],
            "value": r.row["value"] if r.result != "void" else "",
            "mistakes": mistakes(r),
            "collective": r.row.get("collective", False),
            "since": since(r),
            "deprecated": r.row.get("deprecated"),
            "op": r.row["op"],
            "arguments": meanings(table, r),
        }
        for r in routines
    ]


def main() -> None:
    table_path, build, version = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    table = tomllib.loads(table_path.read_text())
    routines = expand(table)
    write(build / "include/shmem.h", header(table, routines, version))
    write(build / "include/shmemx.h", extension_header(table, routines, version))
    for name in ("shmem.h", "shmemx.h"):
        write(build / f"include/p{name}", TEMPLATES.get_template("pshmem.h.j2").render(name=name))
        for each in (name, f"p{name}"):
            write(build / "include/mpp" / each, TEMPLATES.get_template("mpp.h.j2").render(name=each))
    for kind in ("calls", *KINDS):
        write(build / f"generated/shmem_api_{kind}.c", implementation(table, routines, [kind]))
    write(build / "generated/api.json", json.dumps(index(table, routines), indent=1))


if __name__ == "__main__":
    main()
