"""Makes the OpenSHMEM front end from the API table (api.toml): [p]shmem.h, [p]shmemx.h, shmem_api_*.c and api.json.

usage: generate.py api.toml BUILD_DIR VERSION
"""

import json
import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

SIZES = ("8", "16", "32", "64", "128")
CTX = "shmem_ctx_t ctx"


@dataclass
class Routine:
    """One C function: a row of the table for one type, with or without a context."""

    row: dict
    name: str
    type_name: str
    c_type: str
    args: list[str]
    with_ctx: bool
    call_id: int = 0
    is_worker: bool = False  # for all types: what depends on the type is in `k`, a wtl_typed
    result: str = field(init=False)

    def __post_init__(self) -> None:
        self.result = self.fill(self.row.get("returns", "void"))

    def fill(self, text: str) -> str:
        if self.is_worker:
            text = text.replace("WTL_WORD_OF({C})", "k->word").replace("wtl_{O}_{T}", "k->combine")
            text = re.sub(r"wtl_\w+_\{T\}", "k->combine", text)
        return (
            text.replace("{C}", self.c_type)
            .replace("{T}", self.type_name)
            .replace("{N}", self.type_name)
            .replace("{S}", self.size)
        )

    @property
    def size(self) -> str:
        """C for the bytes of an element."""
        if self.is_worker:
            return "k->size"
        if self.c_type:
            return f"sizeof({self.c_type})"
        return str(int(self.type_name) // 8) if self.row.get("sizes") else "1"

    @property
    def prototype(self) -> str:
        return prototype_of(self.result, "{name}", self.args)


def prototype_of(result: str, name: str, args: list[str]) -> str:
    return f"{result}{'' if result.endswith('*') else ' '}{name}({', '.join(args) or 'void'})"


def arg_name(declaration: str) -> str:
    return re.search(r"(\w+)$", declaration).group(1)


def arg_type(args: list[str], name: str) -> str:
    declaration = next(a for a in args if arg_name(a) == name)
    return declaration.removeprefix("const ").rsplit("*", 1)[0].strip()


def replace_in(value: object, old: str, new: str) -> object:
    if isinstance(value, str):
        return value.replace(old, new)
    return [replace_in(v, old, new) for v in value] if isinstance(value, list) else value


def rows(table: dict) -> list[dict]:
    """The table's rows, each complete: `like` takes from an earlier row what is not said, `each` is several rows."""
    complete: list[dict] = []
    for row in table["routine"]:
        if "like" in row:
            other = next(r for r in complete if r["name"] == row["like"])
            row = {k: v for k, v in other.items() if k not in ("ctx", "generic", "old_generic", "forms")} | row
        for word in row.get("each", [""]):
            complete.append({k: replace_in(v, "{O}", word) for k, v in row.items() if k != "each"} | {"op": word})
    return complete


def expand(table: dict) -> list[Routine]:
    """All functions the table stands for, in its order."""
    routines = []
    for row in rows(table):
        if "types" in row:
            variants = [(t, table["types"][t]) for t in table["groups"][row["types"]]]
        else:
            variants = [(n, "") for n in row.get("widths", SIZES)] if row.get("sizes") else [("", "")]
        for type_name, c_type in variants:
            for with_ctx in (False, True) if row.get("ctx") else (False,):
                name = row["name"].replace("{T}", type_name).replace("{N}", type_name)
                args = [a.replace("{C}", c_type) for a in row["args"]]
                if with_ctx:
                    name, args = name.replace("shmem_", "shmem_ctx_", 1), [CTX, *args]
                routines.append(Routine(row, name, type_name, c_type, args, with_ctx, len(routines)))
    return routines


# --- the implementation ------------------------------------------------------------------------------------------


def context_line(r: Routine) -> str:
    """The default context costs a compare; another one has PEs of its own and, to other nodes, a flow of its own."""
    has_pe = any(arg_name(a) == "pe" for a in r.args)
    inside = "pe = wtl_pe_in_context(&f, ctx, pe);" if has_pe else "wtl_in_context(&f, ctx);"
    return f"if (WTL_UNLIKELY(ctx != SHMEM_CTX_DEFAULT)) {inside}"


def areas(r: Routine, words: list[str]) -> list[str]:
    """C for the memory of arguments, of which `words` has by turns the name and the length in bytes."""
    pairs = zip(words[::2], words[1::2], strict=False)
    return [f'(wtl_area){{"{name}", {name}, {r.fill(length)}}}' for name, length in pairs]


def check_lines(r: Routine) -> list[str]:
    """C for each check of the row."""
    lines = []
    pe = "pe" if any(arg_name(a) == "pe" for a in r.args) else "self->me"
    if r.with_ctx and r.row.get("no_ctx"):
        lines.append("if (WTL_UNLIKELY(ctx == SHMEM_CTX_INVALID)) {\n  wtl_leave(&f);\n  return;\n  }")
    if r.with_ctx:
        lines.append(context_line(r))
    for check in r.row.get("checks", []):
        kind, *names = check.split()
        name, last = (names[0], names[-1]) if names else ("", "")
        element = ""
        if kind in ("align", "symmetric1", "many"):
            pointed = arg_type(r.args, name)
            element = r.size if pointed == "void" and r.is_worker else f"sizeof({pointed or 'char'})"
        rest = r.fill(check.split(maxsplit=2)[2]) if len(names) > 1 else ""
        symmetric = "wtl_check_readable" if name == "source" else "wtl_check_symmetric"
        lines.append(
            {
                "pe": "wtl_check_pe(&f, pe);",
                "pe_as": f"wtl_check_pe(&f, {name});",
                "am_length": f'wtl_check_size(&f, {name} <= WTL_AM_LONGEST, "{name}", {name}, '
                '"lengths of 0 to 1 GiB");',
                "am_id": f'wtl_check_that(&f, {name} >= WTL_AM_FIRST_ID, "{name}", {name}, '
                '"any int but the 16 lowest ones, which are the library\'s own");',
                "symmetric_on": f'wtl_check_symmetric(&f, "{name}", {name}, f.bytes, {last});',
                "count": f"wtl_check_count(&f, {name}, {r.size});",
                "product": f"if (__builtin_mul_overflow_p({name}, {last}, (size_t)0)) "
                f"wtl_refuse_count(f.call, {name}, {last});",
                "symmetric": f'{symmetric}(&f, "{name}", {name}, f.bytes, {pe});',
                "symmetric1": f'{symmetric}(&f, "{name}", {name}, {element}, {pe});',
                "extent": f'{symmetric}(&f, "{name}", {name}, {rest}, {pe});',
                "stride": f'wtl_check_that(&f, {name} >= 1, "{name}", {name}, "1 and more");',
                # One block alone may have any: it has no next one.
                "blocks_apart": f'wtl_check_that(&f, nblocks < 2 || (size_t){name} >= bsize, "{name}", {name}, '
                '"bsize and more");',
                "local": f'wtl_check_local(&f, "{name}", {name}, f.bytes);',
                "given": f'wtl_check_given(&f, "{name}", {name});',
                "disjoint": f"wtl_check_disjoint(&f, {', '.join(areas(r, names))});",
                "many": f'wtl_check_local(&f, "{name}", {name}, {rest} * {element});',
                "align": f'wtl_check_alignment(&f, "{name}", {name}, {element});',
                "cmp": 'wtl_check_that(&f, (unsigned)cmp <= SHMEM_CMP_LE, "cmp", cmp, '
                '"SHMEM_CMP_EQ, NE, GT, GE, LT and LE");',
                "signal": "wtl_check_that(&f, sig_op == SHMEM_SIGNAL_SET || sig_op == SHMEM_SIGNAL_ADD, "
                '"sig_op", sig_op, "SHMEM_SIGNAL_SET and SHMEM_SIGNAL_ADD");',
                "team": "wtl_team *t = wtl_team_of(&f, team);",
                "active": "wtl_team set, *t = wtl_active_set_of(&f, &set, PE_start, logPE_stride, PE_size, pSync);",
                "root": "wtl_check_root(&f, PE_root, t);",
                # One PE alone copies nothing; programs exist that pass its number in the job as the root's.
                "root_of_several": "if (t->n > 1) wtl_check_root(&f, PE_root, t);",
            }[kind]
        )
    return lines + meeting_lines(r)


# What is wrong where a check of the row fails.
MISTAKES = {
    "pe": "`pe` is no PE of the job",
    "pe_as": "`{0}` is no PE of the job",
    "am_length": "`{0}` is more than 1 GiB",
    "am_id": "`{0}` is one of the 16 lowest ints",
    "symmetric": "`{0}` is not symmetric, or its block ends before",
    "count": "`{0}` is more than any memory has (a negative number)",
    "product": "`{0}` and `{1}` are more than any memory has (a negative number)",
    "stride": "`{0}` is less than 1",
    "blocks_apart": "`{0}` is less than `bsize`",
    "given": "`{0}` is NULL",
    "local": "`{0}` is NULL where the count is not 0",
    "disjoint": "`{0}` and `{2}` overlap",
    "align": "`{0}` is not aligned to its type",
    "cmp": "`cmp` is none of the six comparisons",
    "signal": "`sig_op` is neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD",
    "team": "`team` is no team of this PE (destroyed, never made, or SHMEM_TEAM_INVALID)",
    "active": "`PE_start`, `logPE_stride` and `PE_size` are no active set of the job, or one without this PE",
    "root": "`PE_root` is no PE of the team or set",
}
ALIKE = {
    "symmetric_on": "symmetric",
    "symmetric1": "symmetric",
    "extent": "symmetric",
    "many": "local",
    "root_of_several": "root",
}


def mistakes(r: Routine) -> list[str]:
    """What a call can do wrong that is named: of its checks, and what the row says."""
    said = []
    if r.row.get("ctx"):
        never = "" if r.row.get("no_ctx") else ", or SHMEM_CTX_INVALID"
        said.append(f"`ctx` is no context of this PE (destroyed, never made{never}), or private to another thread")
    for check in r.row.get("checks", []):
        kind, *names = check.split()
        said.append(MISTAKES[ALIKE.get(kind, kind)].format(*names))
        if kind == "pe" and r.row.get("ctx"):
            said[-1] += " or, with a context, of its team"
        if kind == "active":
            said.append("`pSync` is not symmetric, or not aligned")
    lines = meeting_lines(r)
    if any("wtl_check_apart" in line for line in lines):
        said.append("`dest` and `source` overlap in part")
    return list(dict.fromkeys(said + r.row.get("wrong", [])))


def value(r: Routine) -> str:
    """What it returns. KeyError: the table does not say."""
    return r.row["value"] if r.result != "void" else ""


# In which PEs meet.
MEETINGS = re.compile("barrier|sync|reduce|to_all|scan|collect|alltoall|broadcast|team_split")


# No PE leaves these before all have come; barriers tell timelines of it by themselves.
ALL_WAIT = re.compile("collect|alltoall|reduce|to_all")


def meeting_lines(r: Routine) -> list[str]:
    """C that compares what the PEs of a collective pass (meeting.h)."""
    if not MEETINGS.search(r.row["name"]) or "split" in r.row["name"]:
        return []
    names, checks = {arg_name(a) for a in r.args}, r.row.get("checks", [])
    lines, given = [], {}
    count = next((n for n in ("nelems", "nreduce") if n in names), None)
    if of := re.search("barrier|sync", r.row["name"]):
        given["in"] = f"WTL_MEETS_IN_{of[0].upper()}"
    if count and not re.search("_collect", r.row["name"]):
        given |= {"count_name": f'"{count}"', "count": f"(size_t){count}"}
    given |= {field: name for field, name in (("root", "PE_root"), ("dst", "dst"), ("sst", "sst")) if name in names}
    if "dest" in names:
        given |= {"dest": "dest", "source": "source"}
    if "symmetric dest" in checks:
        lines.append("wtl_check_apart(&f, dest, source, f.bytes);")
    elif "dst" not in names and any(c.startswith("extent dest") for c in checks):
        whole = any(c.startswith("extent source") for c in checks)
        given |= {"dest_bytes": "f.bytes * (size_t)t->n", "source_bytes": f"f.bytes{' * (size_t)t->n' * whole}"}
    team = "t" if {"team", "active"} & set(checks) else "&self->world"
    fields = ", ".join(f".{k} = {v}" for k, v in given.items())
    compare = f"wtl_compare_meeting(self, f.site, f.call, {team}, &(wtl_meeting){{{fields}}});"
    return [*lines, f"if (WTL_UNLIKELY(self->compares)) {compare}"]


def statements(r: Routine, call: str, site: str) -> list[str]:
    """What a routine does between its braces."""
    enter = "wtl_enter"
    to = ""
    if is_to_a_pe(r):
        enter, to = "wtl_enter_to", ", ctx == SHMEM_CTX_DEFAULT ? pe : -1" if r.with_ctx else ", pe"
    body = [f"wtl_frame f = {enter}({call}, {site}, {r.fill(r.row.get('bytes', '0'))}{to});"]
    body.append("wtl_pe *self = f.self;")
    if r.result != "void":
        body.append(f"{r.result} result;")
    body += check_lines(r)
    if "at" in r.row:
        read = r.row["at"] == "source"
        body.append(
            "const char *to = wtl_remote_source(self, source, pe);"
            if read
            else f"char *to = wtl_remote(self, {r.row['at']}, pe);"
        )
    main = r.fill(r.row["body"])
    if ALL_WAIT.search(r.row["name"]):
        main = f"uint64_t came = wtl_meeting_begins(self, t);\n  {main}\n  wtl_meeting_ends(self, f.site, came);"
    if "far" in r.row:
        main = f"if (WTL_LIKELY(to != NULL)) {{\n  {main}\n  }} else {{\n  {r.fill(r.row['far'])}\n  }}"
    body.append(main)
    body += ["(void)self;", "wtl_leave(&f);"]
    if r.result != "void":
        body.append("return result;")
    return body


SITE = "(uintptr_t)__builtin_return_address(0)"


def definition(r: Routine) -> str:
    """A routine that does its own work."""
    if "raw" in r.row:
        raw = r.fill(r.row["raw"]).replace("WTL_CALL_ID", str(r.call_id))
        return function(r, [raw or "(void)0;"])
    return function(r, statements(r, str(r.call_id), SITE))


def function(r: Routine, lines: list[str]) -> str:
    head = r.prototype.format(name="p" + r.name)
    body = "\n  ".join(lines)
    twin = r.prototype.format(name=r.name) + f' __attribute__((weak, alias("p{r.name}")));'
    return f"{head}\n{{\n  {body}\n}}\n{twin}\n"


def worker_of(r: Routine) -> Routine:
    """The same routine for any type: what depends on the type comes in a wtl_typed."""
    args = [any_type(a) for a in r.row["args"]]
    w = Routine(r.row, r.name, r.type_name, r.c_type, [CTX, *args] if r.with_ctx else args, r.with_ctx)
    w.is_worker = True
    return w


def any_type(declaration: str) -> str:
    return re.sub(r"\{C\} (?=\*)", "void ", declaration).replace("{C}", "uint64_t")


def shared(routines: list[Routine]) -> str:
    """Routines of rows that say `shared`: each hands its arguments on to a worker, one for all types."""
    out: list[str] = []
    workers: dict[str, str] = {}  # C -> name
    for r in routines:
        w = worker_of(r)
        body = "\n  ".join(statements(w, "k->call", "from"))
        args = ", ".join(["const wtl_typed *k", "uintptr_t from", *w.args])
        key = f"{w.result} ({args}) {{\n  {body}\n}}"
        if key not in workers:
            workers[key] = name = worker_name(r, set(workers.values()))
            out.append(f"static __attribute__((noinline)) {w.result} {name}({args})\n{{\n  {body}\n}}\n")
        combine = f"wtl_{r.row['combine']}_{r.type_name}" if "combine" in r.row else "NULL"
        word = f"WTL_WORD_OF({r.c_type})" if "WTL_WORD_OF" in r.row["body"] else "WTL_I64"
        values = ", ".join(
            f"(uint64_t){arg_name(a)}" if re.match(r"\{C\} \w", any_row_arg(r, a)) else arg_name(a) for a in r.args
        )
        out.append(
            function(
                r,
                [
                    f"static const wtl_typed k = {{{r.call_id}, {r.size}, {combine}, {word}}};",
                    f"{'' if r.result == 'void' else 'return '}{workers[key]}(&k, {SITE}, {values});",
                ],
            )
        )
    return "\n".join(out)


def worker_name(r: Routine, taken: set[str]) -> str:
    """do_put_signal, do_ctx_put_signal, do_reduce; with a number where another form of the same name has it."""
    name = re.sub(r"\{[TN]\}|shmem_", "", r.row["name"]).replace(r.row["op"], "").strip("_")
    form = "ctx_" if r.with_ctx else "set_" if "active" in r.row.get("checks", []) else ""
    name = re.sub("__+", "_", f"do_{form}{name}")
    return name if name not in taken else f"{name}_{len(taken)}"


def any_row_arg(r: Routine, declaration: str) -> str:
    """The row's own declaration, with {C}, of one of the routine's arguments."""
    name = arg_name(declaration)
    return next((a for a in r.row["args"] if arg_name(a) == name), declaration)


def unsigned_of(name: str, c_type: str) -> str:
    """The unsigned type of a signed integer type's width, in which sums wrap; other types are their own."""
    if name in ("char", "schar"):
        return "unsigned char"
    if name in ("short", "int", "long", "longlong"):
        return f"unsigned {c_type}"
    if name.startswith("int"):
        return f"u{c_type}"
    return "size_t" if name == "ptrdiff" else c_type


def combining(op: str, name: str, c_type: str) -> str:
    """C that takes b[i] into a[i]."""
    if op in ("min", "max"):
        return f"if (b[i] {'<' if op == 'min' else '>'} a[i]) a[i] = b[i]"
    sign = {"and": "&", "or": "|", "xor": "^", "sum": "+", "prod": "*"}[op]
    unsigned = unsigned_of(name, c_type)
    if unsigned != c_type:  # wraps, as the result of unsigned arithmetic of at least int's width
        wide = "unsigned" if name in ("char", "schar", "short", "int8", "int16") else unsigned
        return f"a[i] = ({c_type})(({wide})a[i] {sign} ({wide})b[i])"
    if op == "prod" and name in ("ushort", "uint16"):  # their product, as an int, may not fit one
        return f"a[i] = ({c_type})((unsigned)a[i] * b[i])"
    return f"a[i] = ({c_type})(a[i] {sign} b[i])"


def combines(table: dict) -> str:
    """The typed inner loops of the reductions."""
    loops: dict[str, str] = {}
    for row in rows(table):
        for t in table["groups"][row["types"]] if "combine" in row else []:
            c, name = table["types"][t], f"wtl_{row['combine']}_{t}"
            loops[name] = (
                f"static void {name}(void *to, const void *from, size_t n)\n{{\n"
                f"  {c} *a = to;\n  const {c} *b = from;\n"
                f"  for (size_t i = 0; i < n; i++) {combining(row['combine'], t, c)};\n}}\n"
            )
    return "\n".join(loops.values())


def part_of(r: Routine) -> str:
    """Which of the generated files has the routine: files of about the same size compile side by side."""
    row, kind, direction = r.row, r.row["kind"], r.row.get("direction")
    if "header" in row:
        return "others"
    if kind == "wait" and direction:
        return "collectives"
    if kind == "wait" and re.search("_(wait|test)(_until)?", row["name"]) and "types" in row:
        return "waits"
    if re.search(r"_i?b?(put|get)", row["name"]) and re.search(r"_ib?(put|get)|signal", row["name"]):
        return "strided"
    if direction == "amo" and row["op"] == "" and "nbi" in row["name"]:
        return "atomics_nbi"
    return {"put": "puts", "get": "gets", "amo": "atomics"}.get(direction, "others")


PARTS = ("others", "puts", "gets", "strided", "atomics", "atomics_nbi", "waits", "collectives")


def is_to_a_pe(r: Routine) -> bool:
    """Puts, gets and atomics: on its own PE a handler may call them."""
    return r.row["kind"] == "transfer" and "direction" in r.row and any(arg_name(a) == "pe" for a in r.args)


def in_handlers(r: Routine) -> str:
    if r.row.get("in_handler"):
        return "WTL_IN_HANDLERS"
    return "WTL_TO_ITSELF_IN_HANDLERS" if is_to_a_pe(r) else "WTL_NOT_IN_HANDLERS"


def call_table(routines: list[Routine]) -> list[str]:
    directions = {"": "NONE", "put": "PUT", "get": "GET", "amo": "AMO"}
    calls = [
        f'    {{"{r.name}", WTL_CALL_{r.row["kind"].upper()}, WTL_DIR_{directions[r.row.get("direction", "")]}, '
        f"{in_handlers(r)}}},"
        for r in routines
    ]
    fits = (
        '_Static_assert(sizeof wtl_shmem_calls / sizeof *wtl_shmem_calls <= WTL_CALLS_A_FRONT, "calls have numbers");'
    )
    return ["const wtl_call_info wtl_shmem_calls[] = {", *calls, "};", fits, ""]


def implementation(table: dict, routines: list[Routine], parts: tuple[str, ...] = PARTS) -> str:
    """C of the routines of some parts."""
    members = [r for r in routines if part_of(r) in parts]
    return "\n".join(
        [
            PROLOGUE,
            *(call_table(routines) if "others" in parts else []),
            combines(table) if "collectives" in parts else "",
            *[definition(r) for r in members if not r.row.get("shared")],
            shared([r for r in members if r.row.get("shared")]),
        ]
    )


PROLOGUE = """\
/* Generated from src/shmem/api.toml; do not edit. */
#define WTL_NO_GENERICS /* the routines themselves are meant here */
#include "shmem.h"
#include "shmemx.h"
#include "base/clock.h"
#include "am/am_mutex.h"
#include "job/job.h"
#include "shmem/shmem_front.h"
#include "shmem/shmem_meeting.h"
#include "shmem/shmem_memory.h"
#include "shmem/teams.h"
#include "team/barrier.h"
#include "team/lock.h"

/* The bytes of a value as a number, whatever its type. */
#define WTL_BITS(v) __extension__({ uint64_t bits_ = 0; memcpy(&bits_, &(v), sizeof(v)); bits_; })

#define WTL_IS_ADD_add true
#define WTL_IS_ADD_set false
#define WTL_WORD_OF(T) \\
  ((enum wtl_word)((sizeof(T) == 2 ? WTL_I16 : sizeof(T) == 4 ? WTL_I32 : WTL_I64) + ((T)-1 > (T)0)))

_Static_assert(SHMEM_CMP_EQ == (int)WTL_CMP_EQ && SHMEM_CMP_LE == (int)WTL_CMP_LE, "the comparisons agree");
_Static_assert(sizeof(shmemx_am_mutex) == sizeof(wtl_am_mutex), "both are the same");
#define WTL_MUTEX(m) ((wtl_am_mutex *)(void *)(m))
"""


# --- the header --------------------------------------------------------------------------------------------------


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


def generic_macros(table: dict, routines: list[Routine]) -> str:
    """C11 generics. The first argument may be a context, so the second may select as well."""
    out = []
    for generic, members in generic_groups(table, routines).items():
        plain = [r for r in members if not r.with_ctx]
        ctx = [r for r in members if r.with_ctx]
        position = [arg_name(a) for a in plain[0].args].index(plain[0].row["select"])
        choose = selection(plain, position)
        if ctx:
            # An unselected branch is still checked, so each selection has a last resort that no call can satisfy.
            choose = f"shmem_ctx_t: {selection(ctx, position + 1)}, \\\n    default: {choose}"
            choose = f"_Generic((WTL_ARG0(__VA_ARGS__)), {choose})"
        out.append(f"#define {generic}(...) \\\n  {choose}(__VA_ARGS__)\n")
    for generic, choices in table["generics"].items():
        cases = ", ".join(f"{c_type}: {name}" for c_type, name in choices.items())
        out.append(f"#define {generic}(...) _Generic((WTL_ARG0(__VA_ARGS__)), {cases})(__VA_ARGS__)\n")
    return "\n".join(out)


def overloads(table: dict, routines: list[Routine]) -> str:
    """The generics in C++: functions of one name. What is a routine of that name already is none of them."""
    by_name = {r.name: r for r in routines}
    chosen = [(generic, r) for generic, members in generic_groups(table, routines).items() for r in members]
    chosen += [(generic, by_name[name]) for generic, names in table["generics"].items() for name in names.values()]
    out = []
    for generic, r in chosen:
        same = by_name.get(generic)
        if same and not is_watching(r) and argument_types(same) == argument_types(r):
            continue
        head = re.sub(r"(double|float) _Complex", r"wtl_complex_\1", r.prototype.format(name=generic))
        values = ", ".join(arg_name(a) for a in r.args)
        give = "" if r.result == "void" else "return "
        own = f"WTL_INLINE {head} {{ {give}{r.name}({values}); }}"
        out.append(taking_volatile(r, generic, "const_cast<{0} *>({1})") if is_watching(r) else own)
    overloaded = {generic for generic, _ in chosen}
    out += [
        taking_volatile(r, r.name, "const_cast<{0} *>({1})")
        for r in routines
        if (is_watching(r) or is_lock(r)) and r.name not in overloaded
    ]
    return "\n".join(dict.fromkeys(out))


def taking_volatile(r: Routine, name: str, cast: str) -> str:
    """A function that is the routine for a volatile first argument; `cast`: to the routine's type."""
    head = r.prototype.format(name=name).replace(r.args[0], f"volatile {r.args[0]}", 1)
    first = cast.format(arg_type(r.args, arg_name(r.args[0])), arg_name(r.args[0]))
    values = ", ".join([first, *map(arg_name, r.args[1:])])
    return f"WTL_INLINE {head} {{ {'' if r.result == 'void' else 'return '}{r.name}({values}); }}"


def is_watching(r: Routine) -> bool:
    """Waits and tests: what others change may be volatile."""
    return re.match(r"shmem_(\{T\}_)?(wait|test)(_(until|all|any|some)|$)", r.row["name"]) is not None


def is_lock(r: Routine) -> bool:
    return re.fullmatch(r"shmem_(set|clear|test)_lock", r.row["name"]) is not None


def watching_volatile(table: dict, routines: list[Routine]) -> str:
    """C11: what the generics call for volatile variables."""
    members = {r.name: r for group in generic_groups(table, routines).values() for r in group if is_watching(r)}
    return "\n".join(taking_volatile(r, volatile_name(r), "({0} *)(uintptr_t){1}") for r in members.values())


def volatile_name(r: Routine) -> str:
    return f"wtl_volatile_{r.name}"


def argument_types(r: Routine) -> list[str]:
    return [a[: -len(arg_name(a))] for a in r.args]


def selection(members: list[Routine], position: int) -> str:
    cases = []
    for r in members:
        cases.append(f"{r.c_type} *: {r.name}")
        cases.append(f"const {r.c_type} *: {r.name}")
        if is_watching(r):
            cases.append(f"volatile {r.c_type} *: {volatile_name(r)}")
    return f"_Generic((WTL_ARG{position}(__VA_ARGS__)), " + ", ".join(cases) + ", default: wtl_no_such_type)"


def header(table: dict, routines: list[Routine], version: str) -> str:
    out = [HEADER_TOP.replace("@VERSION@", version)]
    out += [f"#define {k} {v}" for k, v in table["constants"].items()]
    out += ["", "/* Their names until OpenSHMEM 1.2. */"]
    out += [f"#define _{k} {k}" for k in table["old_constants"]["names"]]
    out.append("")
    out += prototypes([r for r in routines if "header" not in r.row])
    out += [
        HEADER_END,
        "/* C11: one name for all types. Not for pshmem.h, whose readers define routines of these names. */",
        "#if !defined(WTL_GENERICS) && !defined(WTL_NO_GENERICS) && !defined(__cplusplus) && \\",
        "    defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L",
        "#define WTL_GENERICS",
        "extern void wtl_no_such_type(void); /* exists nowhere: a call for a type the routine does not have */",
        "#define WTL_ARG0(...) WTL_ARG0_(__VA_ARGS__, 0, 0, 0)",
        "#define WTL_ARG0_(a, ...) a",
        "#define WTL_ARG1(...) WTL_ARG1_(__VA_ARGS__, 0, 0, 0)",
        "#define WTL_ARG1_(a, b, ...) b",
        "#define WTL_ARG2(...) WTL_ARG2_(__VA_ARGS__, 0, 0, 0)",
        "#define WTL_ARG2_(a, b, c, ...) c",
        "#define WTL_INLINE static inline __attribute__((always_inline, artificial))",
        watching_volatile(table, routines),
        "#undef WTL_INLINE",
        generic_macros(table, routines),
        "#endif",
        "",
        '/* C++: the same by overloading, as Sandia OpenSHMEM has it; also within extern "C". */',
        "#if !defined(WTL_GENERICS) && !defined(WTL_NO_GENERICS) && defined(__cplusplus)",
        "#define WTL_GENERICS",
        "#define WTL_INLINE static inline __attribute__((always_inline, artificial))",
        'extern "C++" {',
        overloads(table, routines),
        "}",
        "#undef WTL_INLINE",
        "#endif",
        "",
    ]
    return "\n".join(out)


def extension_header(routines: list[Routine], version: str) -> str:
    members = [r for r in routines if r.row.get("header") == "shmemx.h"]
    others = [r for r in members if r.row.get("others_have_it")]
    own = [r for r in members if r not in others]
    return "\n".join(
        [
            EXTENSION_TOP.replace("@VERSION@", version),
            *prototypes(own),
            "",
            "#ifndef SHMEMX_AM_ONLY",
            *prototypes(others),
            *[known_to_programs(r.name) for r in others],
            "",
            *early_names(routines),
            "#endif",
            HEADER_END,
        ]
    )


def known_to_programs(name: str) -> str:
    """The macro by which programs with a function of their own of that name leave it out."""
    have = f"HAVE_{name.upper()}"
    return f"#ifndef {have}\n#define {have} 1\n#endif"


def early_names(routines: list[Routine]) -> list[str]:
    """Another library had what the standard's last version brought as extensions, and its programs call it so."""
    rows = [r for r in routines if r.row.get("since") == "1.6"]
    names = dict.fromkeys([r.name for r in rows] + [r.row["generic"] for r in rows if r.row.get("generic")])
    return [
        "/* What is new in OpenSHMEM 1.6, by the names that Sandia OpenSHMEM gave it before. */",
        *[f"#define {name.replace('shmem_', 'shmemx_', 1)} {name}" for name in names],
    ]


def prototypes(routines: list[Routine]) -> list[str]:
    out, last = [], None
    for r in routines:
        if r.row is not last:
            out.append(f"\n/** {r.row['doc']}{f' @return {value(r)}' if value(r) else ''}{age(r)} */")
            last = r.row
        out.append(declaration(r))
    return out


CONTEXTS_SINCE = "1.4"  # OpenSHMEM 1.4 gave the routines that there were a form with a context


def since(r: Routine) -> str | None:
    """The version of the standard that brought it; none where no version did."""
    brought = r.row.get("since")
    return max(brought, CONTEXTS_SINCE) if brought and r.with_ctx else brought


def age(r: Routine) -> str:
    deprecated = f", deprecated since {r.row['deprecated']}" if "deprecated" in r.row else ""
    return f" (since {r.row['since']}{deprecated})" if "since" in r.row else ""


def declaration(r: Routine) -> str:
    attributes = f" __attribute__(({r.row['attributes']}))" if "attributes" in r.row else ""
    lines = [r.prototype.format(name=name) + attributes + ";" for name in (r.name, "p" + r.name)]
    return re.sub(r"(double|float) _Complex", r"wtl_complex_\1", "\n".join(lines))


HEADER_TOP = """\
/*
 * shmem.h - OpenSHMEM 1.6 by Wattle @VERSION@. Generated from src/shmem/api.toml; do not edit.
 *
 * PE numbers run from 0. "Symmetric" is memory from shmem_malloc and its kin, and the program's global and static
 * variables. Lengths are in elements of the type in a routine's name, unless it says bytes. A wrong argument ends the
 * job with a message on standard error that names the call, the value and the PE (WATTLE_CHECK=off skips the checks).
 * Each routine has a twin whose name begins with pshmem_, for profiling tools that define the plain one.
 */
#ifndef SHMEM_H
#define SHMEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* C++ has no _Complex of its own; its compilers have. */
#ifdef __cplusplus
__extension__ typedef float _Complex wtl_complex_float;
__extension__ typedef double _Complex wtl_complex_double;
#else
typedef float _Complex wtl_complex_float;
typedef double _Complex wtl_complex_double;
#endif

typedef struct wtl_shmem_ctx *shmem_ctx_t;
typedef struct wtl_shmem_team *shmem_team_t;
#ifdef __cplusplus
#define WTL_HANDLE(T, n) reinterpret_cast<T>(static_cast<uintptr_t>(n))
#define WTL_NO_HANDLE(T) static_cast<T>(nullptr)
#else
#define WTL_HANDLE(T, n) ((T)n)
#define WTL_NO_HANDLE(T) ((T)0)
#endif

typedef struct {
  int num_contexts; /* the most contexts of the team at a time, as far as the program knows */
} shmem_team_config_t;

typedef struct {
  size_t total_ops; /* the most calls within the session, as far as the program knows */
} shmem_ctx_session_config_t;
"""

EXTENSION_TOP = """\
/*
 * shmemx.h - active messages and other names beyond the standard, by Wattle @VERSION@. Generated; do not edit.
 *
 * A request runs a handler on another PE, which may answer with a reply. The interface is that of S. Jana's
 * dissertation (2016, chapter 13); routines marked (Wattle) are beyond it.
 *
 * Handlers of a PE run one at a time, in any of its threads: one that is in a blocking call of this library or in
 * shmemx_am_poll, or, while the program computes, a thread of the library (WATTLE_PROGRESS). What they share with the
 * program needs a shmemx_am_mutex or atomics. Messages of one PE to another on the same node are handled in the order
 * in which they were sent; between nodes those of more than 8 KiB may be overtaken.
 *
 * Names that other libraries have, too, are at the end: shmemx_wtime, and what OpenSHMEM 1.6 brought by its earlier
 * names. A program that has functions of its own by those names defines SHMEMX_AM_ONLY before it includes this file,
 * which then declares active messages only. HAVE_SHMEMX_WTIME says, as for other libraries, that shmemx_wtime is here.
 *
 * A handler must return (no longjmp), hold no mutex then, and may call: shmemx_am_reply (a request's handler), the
 * mutex routines, what only asks (shmem_my_pe, shmem_n_pes, shmem_ptr and their like), and puts, gets and atomics of
 * the default context on its own PE. Anything else ends the job with a message.
 */
#ifndef SHMEMX_H
#define SHMEMX_H

#include <shmem.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Names the request that a handler runs for; valid until the handler returns. */
typedef uint64_t shmemx_am_token_t;

/** buf: the payload, aligned to 8 bytes or more, the handler's own until it returns; req_pe: the PE that sent it. */
typedef void (*shmemx_am_handler)(void *buf, size_t nbytes, int req_pe, shmemx_am_token_t token);

/** Its members are the library's. All zeros is a free mutex. */
typedef struct shmemx_am_mutex {
  uintptr_t wtl_owner;
  uint32_t wtl_waiters, wtl_state;
  uint64_t wtl_since;
} shmemx_am_mutex;
"""

HEADER_END = """
#ifdef __cplusplus
}
#endif

#endif
"""


PSHMEM_HEADER = """\
/*
 * p@NAME@ - for profiling tools: what @NAME@ declares, the twins whose names begin with p among it, but no C11
 * generics, so that a tool can define the routines of those names. @NAME@ may be included too, before or after.
 */
#define WTL_NO_GENERICS
#include <@NAME@>
#undef WTL_NO_GENERICS
"""

MPP_HEADER = """\
/* mpp/@NAME@ - where programs written for SGI's SHMEM look for @NAME@. */
#include <@NAME@>
"""


def use_of(r: Routine) -> str:
    """Which part of [arguments] speaks of a routine's arguments first."""
    if "header" in r.row:
        return "messages"
    direction = r.row.get("direction", "")
    if r.row["kind"] == "wait" and direction:
        return "collective"
    return "waits" if "ivars" in (a.split("*")[-1].strip() for a in r.args) else direction


def meanings(table: dict, r: Routine) -> dict[str, str]:
    """What the pages say of each argument. KeyError: the table does not."""
    texts = table["arguments"]
    known = texts["all"] | texts.get(use_of(r), {}) | r.row.get("arguments", {})
    names = [arg_name(a) for a in r.args if a != "..."]
    if "team" in names:
        known |= {"pe": "Number of the PE, from 0, in `team`."}
    elif r.row.get("ctx"):
        known |= {"pe": "Number of the PE, from 0: in the job or, with a context, in its team."}
    return {name: known[name] for name in names}


def pattern(r: Routine) -> str:
    """The prototype that routines of all types share, with the standard's words for what differs."""
    name = r.row["name"].replace("{T}", "TYPENAME").replace("{N}", "SIZE")
    args = r.row["args"]
    if r.with_ctx:
        name, args = name.replace("shmem_", "shmem_ctx_", 1), [CTX, *args]
    return prototype_of(r.row.get("returns", "void"), name, args).replace("{C}", "TYPE")


def index(table: dict, routines: list[Routine]) -> list[dict]:
    return [
        {
            "name": r.name,
            "prototype": r.prototype.format(name=r.name),
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
            "value": value(r),
            "mistakes": mistakes(r),
            "meets": bool(meeting_lines(r)) or "split" in r.row["name"],
            "since": since(r),
            "deprecated": r.row.get("deprecated"),
            "op": r.row["op"],
            "arguments": meanings(table, r),
        }
        for r in routines
    ]


def write(path: Path, text: str) -> None:
    """Leaves a file that is already right alone, so that nothing is rebuilt for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main() -> None:
    table_path, build, version = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    table = tomllib.loads(table_path.read_text())
    routines = expand(table)
    write(build / "include/shmem.h", header(table, routines, version))
    write(build / "include/shmemx.h", extension_header(routines, version))
    for name in ("shmem.h", "shmemx.h"):
        write(build / f"include/p{name}", PSHMEM_HEADER.replace("@NAME@", name))
        for each in (name, f"p{name}"):
            write(build / "include/mpp" / each, MPP_HEADER.replace("@NAME@", each))
    for part in PARTS:
        write(build / f"generated/shmem_api_{part}.c", implementation(table, routines, (part,)))
    write(build / "generated/api.json", json.dumps(index(table, routines), indent=1))


if __name__ == "__main__":
    main()
