"""Writes the test of every routine: each row of api.json becomes a test by its family's macro in calls.h.

usage: generate_calls.py api.json OUTPUT.h

A routine whose family has no macro here and no program of its own (ELSEWHERE) is an error.
"""

import json
import re
import sys
from pathlib import Path

# Family -> macro of (NAME, type, context form).
TYPED = {
    "shmem_{T}_p": "P",
    "shmem_{T}_g": "G",
    "shmem_{T}_atomic_fetch": "FETCH",
    "shmem_{T}_atomic_fetch_nbi": "FETCH_NBI",
    "shmem_{T}_atomic_set": "SET",
    "shmem_{T}_atomic_swap": "SWAP",
    "shmem_{T}_atomic_swap_nbi": "SWAP_NBI",
    "shmem_{T}_atomic_compare_swap": "COMPARE_SWAP",
    "shmem_{T}_atomic_compare_swap_nbi": "COMPARE_SWAP_NBI",
    "shmem_{T}_atomic_and": "AND",
    "shmem_{T}_atomic_fetch_and": "FETCH_AND",
    "shmem_{T}_atomic_fetch_and_nbi": "FETCH_AND_NBI",
    "shmem_{T}_atomic_or": "OR",
    "shmem_{T}_atomic_fetch_or": "FETCH_OR",
    "shmem_{T}_atomic_fetch_or_nbi": "FETCH_OR_NBI",
    "shmem_{T}_atomic_xor": "XOR",
    "shmem_{T}_atomic_fetch_xor": "FETCH_XOR",
    "shmem_{T}_atomic_fetch_xor_nbi": "FETCH_XOR_NBI",
}
# Family -> macro of (NAME, type) and the call that adds, a macro of the PE to make it on.
ADDING = {
    "shmem_{T}_atomic_inc": ("INC_LIKE", "{name}({ctx}(cell, pe))"),
    "shmem_{T}_atomic_fetch_inc": ("INC_LIKE", "*into = {name}({ctx}(cell, pe))"),
    "shmem_{T}_atomic_fetch_inc_nbi": ("INC_LIKE", "AFTER_UNSET({name}({ctx}(into, cell, pe)))"),
    "shmem_{T}_atomic_add": ("ADD_LIKE", "{name}({ctx}(cell, OPERAND, pe))"),
    "shmem_{T}_atomic_fetch_add": ("ADD_LIKE", "*into = {name}({ctx}(cell, OPERAND, pe))"),
    "shmem_{T}_atomic_fetch_add_nbi": ("ADD_LIKE", "AFTER_UNSET({name}({ctx}(into, cell, OPERAND, pe)))"),
}
# The names until OpenSHMEM 1.3 -> those of today.
OLD = {
    "shmem_{T}_fetch": "shmem_{T}_atomic_fetch",
    "shmem_{T}_set": "shmem_{T}_atomic_set",
    "shmem_{T}_swap": "shmem_{T}_atomic_swap",
    "shmem_{T}_cswap": "shmem_{T}_atomic_compare_swap",
    "shmem_{T}_inc": "shmem_{T}_atomic_inc",
    "shmem_{T}_finc": "shmem_{T}_atomic_fetch_inc",
    "shmem_{T}_add": "shmem_{T}_atomic_add",
    "shmem_{T}_fadd": "shmem_{T}_atomic_fetch_add",
}
COLLECTIVE = {
    "shmem_{T}_wait_until": "WAIT_UNTIL",
    "shmem_wait_until": "WAIT_UNTIL",
    "shmem_{T}_wait": "OLD_WAIT",
    "shmem_wait": "OLD_WAIT",
    "shmem_{T}_test": "TEST_VARIABLE",
}
# The words of a family's name -> macro of (NAME, type).
GATHERING = r"shmem_(?:\{T\}_)?(broadcast|fcollect|collect|alltoalls|alltoall)(mem|\{N\})?"
ORDERING = {
    "shmem_fence": "",
    "shmem_quiet": "",
    "shmem_pe_quiet": "&r->right, 1",
    "shmem_ctx_pe_quiet": "r->ctx, &r->right, 1",
}
COLLECTIVES = {
    "shmem_barrier_all": "",
    "shmem_sync_all": "",
    "shmem_team_sync": "SHMEM_TEAM_WORLD",
    "shmem_barrier": "0, 0, r->n, r->sync",
    "shmem_sync": "0, 0, r->n, r->sync",
}
# Routines that the hand-written programs beside this one test; completeness.py checks that they call them.
ELSEWHERE = {
    "shmem_init",
    "shmem_init_thread",
    "shmem_finalize",
    "shmem_global_exit",
    "shmem_query_thread",
    "shmem_query_initialized",
    "shmem_my_pe",
    "shmem_n_pes",
    "shmem_pe_accessible",
    "shmem_addr_accessible",
    "shmem_ptr",
    "shmem_info_get_version",
    "shmem_info_get_name",
    "shmem_team_my_pe",
    "shmem_team_n_pes",
    "shmem_team_get_config",
    "shmem_team_translate_pe",
    "shmem_team_split_strided",
    "shmem_team_split_2d",
    "shmem_team_destroy",
    "shmem_team_ptr",
    "shmem_ctx_create",
    "shmem_team_create_ctx",
    "shmem_ctx_destroy",
    "shmem_ctx_get_team",
    "shmem_ctx_session_start",
    "shmem_ctx_session_stop",
    "shmem_signal_fetch",
    "shmem_signal_wait_until",
    "shmem_swap",
    "start_pes",
    "_my_pe",
    "_num_pes",
    "shmalloc",
    "shfree",
    "shrealloc",
    "shmemalign",
    "shmem_set_cache_inv",
    "shmem_clear_cache_inv",
    "shmem_udcflush",
    "shmem_set_cache_line_inv",
    "shmem_clear_cache_line_inv",
    "shmem_udcflush_line",
    "shmem_pcontrol",
    "shmem_malloc",
    "shmem_malloc_with_hints",
    "shmem_calloc",
    "shmem_align",
    "shmem_realloc",
    "shmem_free",
    "shmem_set_lock",
    "shmem_clear_lock",
    "shmem_test_lock",
}


def element(routine: dict) -> str:
    """C type of the routine's elements."""
    if routine["type"].isdigit():
        return f"bits{routine['type']}"
    if not routine["type"]:
        return "long" if routine["family"].startswith("shmem_wait") else "bits8"
    declaration = re.search(r"\((?:shmem_\w+_t \w+, )?(?:const )?([\w ]+?) \*", routine["prototype"])
    return declaration.group(1)


def copying(name: str, family: str, c_type: str, ctx: str) -> list[str] | None:
    """Puts and gets of all forms."""
    finish = "shmem_ctx_quiet(r->ctx)" if ctx == "IN_CTX" else "shmem_quiet()"
    copy = re.fullmatch(r"shmem_(?:\{T\}_)?(put|get)(?:\{N\}|mem)?(_signal)?(_nbi)?", family)
    if copy and copy.group(2):
        return [f"PUT_SIGNAL({name}, {c_type}, {ctx})"]
    if copy:
        always = copy.group(3) or (ctx == "IN_CTX" and copy.group(1) == "put")
        return [f"{copy.group(1).upper()}({name}, {c_type}, {ctx}, {finish if always else '(void)0'})"]
    strided = re.fullmatch(r"shmem_(?:\{T\}_)?(ib?put|ib?get)(?:\{N\})?", family)
    return [f"{strided.group(1).upper()}({name}, {c_type}, {ctx})"] if strided else None


def gathering(name: str, family: str, c_type: str, op: str) -> list[str] | None:
    """Collectives that move data."""
    blocks = re.fullmatch(GATHERING, family)
    if blocks:
        return [f"{'OLD_' if blocks.group(2) == '{N}' else ''}{blocks.group(1).upper()}({name}, {c_type})"]
    if family.endswith("_reduce"):
        return [f"REDUCE({name}, {c_type}, {op})"]
    if family.endswith("_to_all"):
        return [f"TO_ALL({name}, {c_type}, {op})"]
    scan = re.search(r"_sum_(in|ex)scan$", family)
    return [f"SCAN({name}, {c_type}, {int(scan.group(1) == 'ex')})"] if scan else None


def several(name: str, family: str, c_type: str) -> list[str] | None:
    """Waits and tests on several variables."""
    form = re.fullmatch(r"shmem_\{T\}_(wait_until|test)_(all|any|some)(_vector)?", family)
    if not form:
        return None
    macro = f"{'TEST' if form.group(1) == 'test' else 'WAIT'}_{form.group(2).upper()}"
    values = "true, values" if form.group(3) else f"false, ({c_type})10"
    return [f"{macro}({name}, {c_type}, {values})"]


def lines_of(routine: dict) -> list[str] | None:
    """The test of one routine; None where another program has it."""
    name, family = routine["name"], OLD.get(routine["family"], routine["family"])
    ctx = "IN_CTX" if name.startswith("shmem_ctx_") else "PLAIN"
    if family in ELSEWHERE or routine["header"] == "shmemx.h":  # tests/am
        return None
    if family in ORDERING:
        args = ", ".join(filter(None, ["r->ctx" if routine["ctx"] else "", ORDERING[family]]))
        return [f"ORDER({name}, {ctx}, {name}({args}))"]
    if family in COLLECTIVES:
        return [f"COLLECTIVE({name}, {name}({COLLECTIVES[family]}))"]
    if family in ("shmem_signal_add", "shmem_signal_set"):
        adds = family.endswith("add")
        return [f"SIGNAL({name}, {ctx}, {1007 if adds else 7}, {int(adds)})"]
    c_type = element(routine)
    if family in TYPED:
        return [f"{TYPED[family]}({name}, {c_type}, {ctx})"]
    if family in COLLECTIVE:
        return [f"{COLLECTIVE[family]}({name}, {c_type})"]
    if family in ADDING:
        macro, call = ADDING[family]
        return [f"#define CALL_{name}(pe) {call.format(name=name, ctx=ctx)}", f"{macro}({name}, {c_type}, CALL_{name})"]
    lines = (
        several(name, family, c_type)
        or copying(name, family, c_type, ctx)
        or gathering(name, family, c_type, routine["op"])
    )
    if not lines:
        sys.exit(f"generate_calls.py: {name}: no test knows the family {family}")
    return lines


def is_collective(routine: dict) -> bool:
    """Do all PEs meet in it? Such a routine takes no context."""
    family = routine["family"]
    return family in COLLECTIVES or bool(gathering("", family, "", ""))


def main() -> None:
    routines = json.loads(Path(sys.argv[1]).read_text())
    tests = [(r, lines) for r in routines if (lines := lines_of(r)) is not None]
    table = [f'  {{"{r["name"]}", test_{r["name"]}, {str(is_collective(r)).lower()}}},' for r, _ in tests]
    Path(sys.argv[2]).write_text(
        "\n".join(
            [
                "/* Generated by generate_calls.py from the API table; do not edit. */",
                *[line for _, lines in tests for line in lines],
                "",
                "static const test call_tests[] = {",
                *table,
                "};",
                "static const size_t n_call_tests = sizeof call_tests / sizeof call_tests[0];",
                "",
            ]
        )
    )


if __name__ == "__main__":
    main()
