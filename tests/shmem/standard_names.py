"""Every routine name of OpenSHMEM 1.6, the deprecated ones included, typed from the standard's synopses and tables.

usage: standard_names.py NM shmem.h LIBRARY     demands each name, and its twin, of the header and of the library

No name here comes from our own table. So a name can only be missing in both if the standard was misread twice in the
same way.

How many names that is depends on how the old ones are read. The text of 1.6 gives shmem_TYPENAME_wait to short, int,
long and long long: 1,887 names of routines and C11 generics together, each counted once. Implementations give it to all
fourteen types that waits compare, and programs may call it: so does this list, 1,897. With the twelve types of the
atomics in its place there would be 1,895. The many forms of wait_until and test are listed for short and unsigned short
too (24 names), of which 1.6 asks for the plain forms only.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

# Table "Standard RMA Types and Names".
RMA = [
    "float",
    "double",
    "longdouble",
    "char",
    "schar",
    "short",
    "int",
    "long",
    "longlong",
    "uchar",
    "ushort",
    "uint",
    "ulong",
    "ulonglong",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "size",
    "ptrdiff",
]
# Tables "Standard", "Extended" and "Bitwise AMO Types and Names".
AMO = ["int", "long", "longlong", "uint", "ulong", "ulonglong", "int32", "int64", "uint32", "uint64", "size", "ptrdiff"]
AMO_EXTENDED = ["float", "double", *AMO]
AMO_BITWISE = ["uint", "ulong", "ulonglong", "int32", "int64", "uint32", "uint64"]
# Table "Point-to-Point Synchronization Types and Names".
SYNC = [
    "short",
    "int",
    "long",
    "longlong",
    "ushort",
    "uint",
    "ulong",
    "ulonglong",
    "int32",
    "int64",
    "uint32",
    "uint64",
    "size",
    "ptrdiff",
]
# Table "Reduction Types, Names, and Supporting Operations for Team-Based Reductions".
TEAM_BITWISE = [
    "uchar",
    "ushort",
    "uint",
    "ulong",
    "ulonglong",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "size",
]
TEAM_ORDERED = RMA
TEAM_ARITHMETIC = [*RMA, "complexd", "complexf"]
# The same for active sets.
SET_BITWISE = ["short", "int", "long", "longlong"]
SET_ORDERED = [*SET_BITWISE, "float", "double", "longdouble"]
SET_ARITHMETIC = [*SET_ORDERED, "complexd", "complexf"]
SIZES = ["8", "16", "32", "64", "128"]

# Library setup, exit, query; memory; teams; contexts; ordering; locks; caches; profiling.
SINGLE = [
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
    "shmem_team_ptr",
    "shmem_info_get_version",
    "shmem_info_get_name",
    "start_pes",
    "_my_pe",
    "_num_pes",
    "shmem_malloc",
    "shmem_free",
    "shmem_realloc",
    "shmem_align",
    "shmem_malloc_with_hints",
    "shmem_calloc",
    "shmalloc",
    "shfree",
    "shrealloc",
    "shmemalign",
    "shmem_team_my_pe",
    "shmem_team_n_pes",
    "shmem_team_get_config",
    "shmem_team_translate_pe",
    "shmem_team_split_strided",
    "shmem_team_split_2d",
    "shmem_team_destroy",
    "shmem_ctx_create",
    "shmem_team_create_ctx",
    "shmem_ctx_destroy",
    "shmem_ctx_get_team",
    "shmem_ctx_session_start",
    "shmem_ctx_session_stop",
    "shmem_fence",
    "shmem_ctx_fence",
    "shmem_quiet",
    "shmem_ctx_quiet",
    "shmem_pe_quiet",
    "shmem_ctx_pe_quiet",
    "shmem_barrier_all",
    "shmem_sync_all",
    "shmem_team_sync",
    "shmem_barrier",
    "shmem_sync",
    "shmem_signal_fetch",
    "shmem_signal_wait_until",
    "shmem_signal_add",
    "shmem_ctx_signal_add",
    "shmem_signal_set",
    "shmem_ctx_signal_set",
    "shmem_wait",
    "shmem_wait_until",
    "shmem_swap",
    "shmem_set_lock",
    "shmem_clear_lock",
    "shmem_test_lock",
    "shmem_set_cache_inv",
    "shmem_clear_cache_inv",
    "shmem_set_cache_line_inv",
    "shmem_clear_cache_line_inv",
    "shmem_udcflush",
    "shmem_udcflush_line",
    "shmem_pcontrol",
]


def remote_memory_access() -> Iterator[str]:
    for ctx in ("", "ctx_"):
        for t in RMA:
            for op in [
                "put",
                "get",
                "put_nbi",
                "get_nbi",
                "put_signal",
                "put_signal_nbi",
                "p",
                "g",
                "iput",
                "iget",
                "ibput",
                "ibget",
            ]:
                yield f"shmem_{ctx}{t}_{op}"
        for n in SIZES:
            for op in ["put", "get", "iput", "iget", "ibput", "ibget"]:
                yield f"shmem_{ctx}{op}{n}"
        for n in [*SIZES, "mem"]:
            yield from (f"shmem_{ctx}{op}{n}_nbi" for op in ("put", "get"))
            yield f"shmem_{ctx}put{n}_signal"
            yield f"shmem_{ctx}put{n}_signal_nbi"
        yield from (f"shmem_{ctx}putmem", f"shmem_{ctx}getmem")


def atomics() -> Iterator[str]:
    for ctx in ("", "ctx_"):
        for t, op in product(AMO_EXTENDED, ["fetch", "set", "swap", "fetch_nbi", "swap_nbi"]):
            yield f"shmem_{ctx}{t}_atomic_{op}"
        plain = "compare_swap fetch_inc inc fetch_add add compare_swap_nbi fetch_inc_nbi fetch_add_nbi"
        for t, op in product(AMO, plain.split()):
            yield f"shmem_{ctx}{t}_atomic_{op}"
        for t, op in product(AMO_BITWISE, ("and", "or", "xor")):
            yield from (f"shmem_{ctx}{t}_atomic_{form}" for form in (op, f"fetch_{op}", f"fetch_{op}_nbi"))
    old = ["int", "long", "longlong"]
    for t, op in product(["float", "double", *old], ("fetch", "set", "swap")):
        yield f"shmem_{t}_{op}"
    for t, op in product(old, ["cswap", "inc", "finc", "add", "fadd"]):
        yield f"shmem_{t}_{op}"


def synchronization() -> Iterator[str]:
    for t, op in product(SYNC, ("wait_until", "test")):
        yield f"shmem_{t}_{op}"
        for which, form in product(("all", "any", "some"), ("", "_vector")):
            yield f"shmem_{t}_{op}_{which}{form}"
    yield from (f"shmem_{t}_wait" for t in SYNC)


def collectives() -> Iterator[str]:
    for op in ["broadcast", "collect", "fcollect", "alltoall", "alltoalls"]:
        yield from (f"shmem_{t}_{op}" for t in RMA)
        yield from (f"shmem_{op}mem", f"shmem_{op}32", f"shmem_{op}64")
    for team, old, ops in (
        (TEAM_BITWISE, SET_BITWISE, ("and", "or", "xor")),
        (TEAM_ORDERED, SET_ORDERED, ("min", "max")),
        (TEAM_ARITHMETIC, SET_ARITHMETIC, ("sum", "prod")),
    ):
        yield from (f"shmem_{t}_{op}_reduce" for t, op in product(team, ops))
        yield from (f"shmem_{t}_{op}_to_all" for t, op in product(old, ops))
    yield from (f"shmem_{t}_sum_{scan}" for t, scan in product(TEAM_ARITHMETIC, ("inscan", "exscan")))


# C11: one name for all types.
GENERICS = [
    "shmem_put",
    "shmem_get",
    "shmem_p",
    "shmem_g",
    "shmem_iput",
    "shmem_iget",
    "shmem_ibput",
    "shmem_ibget",
    "shmem_put_nbi",
    "shmem_get_nbi",
    "shmem_put_signal",
    "shmem_put_signal_nbi",
    "shmem_signal_add",
    "shmem_signal_set",
    "shmem_atomic_fetch",
    "shmem_atomic_set",
    "shmem_atomic_swap",
    "shmem_atomic_compare_swap",
    "shmem_atomic_inc",
    "shmem_atomic_fetch_inc",
    "shmem_atomic_add",
    "shmem_atomic_fetch_add",
    "shmem_atomic_and",
    "shmem_atomic_fetch_and",
    "shmem_atomic_or",
    "shmem_atomic_fetch_or",
    "shmem_atomic_xor",
    "shmem_atomic_fetch_xor",
    "shmem_atomic_fetch_nbi",
    "shmem_atomic_swap_nbi",
    "shmem_atomic_compare_swap_nbi",
    "shmem_atomic_fetch_inc_nbi",
    "shmem_atomic_fetch_add_nbi",
    "shmem_atomic_fetch_and_nbi",
    "shmem_atomic_fetch_or_nbi",
    "shmem_atomic_fetch_xor_nbi",
    "shmem_wait_until",
    "shmem_wait_until_all",
    "shmem_wait_until_any",
    "shmem_wait_until_some",
    "shmem_wait_until_all_vector",
    "shmem_wait_until_any_vector",
    "shmem_wait_until_some_vector",
    "shmem_test",
    "shmem_test_all",
    "shmem_test_any",
    "shmem_test_some",
    "shmem_test_all_vector",
    "shmem_test_any_vector",
    "shmem_test_some_vector",
    "shmem_sync",
    "shmem_broadcast",
    "shmem_collect",
    "shmem_fcollect",
    "shmem_alltoall",
    "shmem_alltoalls",
    "shmem_and_reduce",
    "shmem_or_reduce",
    "shmem_xor_reduce",
    "shmem_min_reduce",
    "shmem_max_reduce",
    "shmem_sum_reduce",
    "shmem_prod_reduce",
    "shmem_sum_inscan",
    "shmem_sum_exscan",
    "shmem_fetch",
    "shmem_set",
    "shmem_swap",
    "shmem_cswap",
    "shmem_inc",
    "shmem_finc",
    "shmem_add",
    "shmem_fadd",
]

CONSTANTS = [
    "SHMEM_THREAD_SINGLE",
    "SHMEM_THREAD_FUNNELED",
    "SHMEM_THREAD_SERIALIZED",
    "SHMEM_THREAD_MULTIPLE",
    "SHMEM_TEAM_WORLD",
    "SHMEM_TEAM_SHARED",
    "SHMEM_TEAM_INVALID",
    "SHMEM_TEAM_NUM_CONTEXTS",
    "SHMEM_CTX_DEFAULT",
    "SHMEM_CTX_INVALID",
    "SHMEM_CTX_SERIALIZED",
    "SHMEM_CTX_PRIVATE",
    "SHMEM_CTX_NOSTORE",
    "SHMEM_CTX_SESSION_BATCH",
    "SHMEM_CTX_SESSION_TOTAL_OPS",
    "SHMEM_SIGNAL_SET",
    "SHMEM_SIGNAL_ADD",
    "SHMEM_MALLOC_ATOMICS_REMOTE",
    "SHMEM_MALLOC_SIGNAL_REMOTE",
    "SHMEM_SYNC_VALUE",
    "SHMEM_SYNC_SIZE",
    "SHMEM_BCAST_SYNC_SIZE",
    "SHMEM_REDUCE_SYNC_SIZE",
    "SHMEM_BARRIER_SYNC_SIZE",
    "SHMEM_COLLECT_SYNC_SIZE",
    "SHMEM_ALLTOALL_SYNC_SIZE",
    "SHMEM_ALLTOALLS_SYNC_SIZE",
    "SHMEM_REDUCE_MIN_WRKDATA_SIZE",
    "SHMEM_MAJOR_VERSION",
    "SHMEM_MINOR_VERSION",
    "SHMEM_MAX_NAME_LEN",
    "SHMEM_VENDOR_STRING",
    "SHMEM_CMP_EQ",
    "SHMEM_CMP_NE",
    "SHMEM_CMP_GT",
    "SHMEM_CMP_GE",
    "SHMEM_CMP_LT",
    "SHMEM_CMP_LE",
    "_SHMEM_SYNC_VALUE",
    "_SHMEM_BARRIER_SYNC_SIZE",
    "_SHMEM_BCAST_SYNC_SIZE",
    "_SHMEM_COLLECT_SYNC_SIZE",
    "_SHMEM_REDUCE_SYNC_SIZE",
    "_SHMEM_REDUCE_MIN_WRKDATA_SIZE",
    "_SHMEM_MAJOR_VERSION",
    "_SHMEM_MINOR_VERSION",
    "_SHMEM_MAX_NAME_LEN",
    "_SHMEM_VENDOR_STRING",
    "_SHMEM_CMP_EQ",
    "_SHMEM_CMP_NE",
    "_SHMEM_CMP_LT",
    "_SHMEM_CMP_LE",
    "_SHMEM_CMP_GT",
    "_SHMEM_CMP_GE",
]

TYPES = ["shmem_team_t", "shmem_ctx_t", "shmem_team_config_t", "shmem_ctx_session_config_t"]


def routines() -> list[str]:
    return [*SINGLE, *remote_memory_access(), *atomics(), *synchronization(), *collectives()]


def main() -> int:
    nm, header_path, library = sys.argv[1:]
    header = re.sub(r"/\*.*?\*/", "", Path(header_path).read_text(), flags=re.S)  # a comment may show C, too
    symbols = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    exported = {line.split()[-1].split("@")[0] for line in symbols.splitlines()}
    declared = set(re.findall(r"(\w+)\([^()]*\)(?: __attribute__\(\(\w+\)\))?;", header))
    defined = set(re.findall(r"^#define (\w+)", header, re.MULTILINE))
    generics = set(re.findall(r"^#define (\w+)\(\.\.\.\)", header, re.MULTILINE))
    names = routines()
    wanted = {name for plain in names for name in (plain, f"p{plain}")}
    problems = [f"typed twice: {name}" for name in {n for n in names if names.count(n) > 1}]
    for what, want, have in (
        ("not in the library", wanted, exported),
        ("not declared in shmem.h", wanted, declared),
        ("no C11 generic in shmem.h", set(GENERICS), generics),
        ("no constant in shmem.h", set(CONSTANTS), defined),
        ("no type in shmem.h", set(TYPES), set(re.findall(r"(\w+);", header))),
    ):
        problems += [f"{what}: {name}" for name in sorted(want - have)]
    foreign = {name for name in declared if not name.startswith(("wtl_", "pshmem", "p_", "psh", "pstart"))} - set(names)
    problems += [f"in shmem.h, but not of the standard: {name}" for name in sorted(foreign)]
    print("\n".join(problems) or f"{len(set(names) | set(GENERICS))} routine names, each with its twin")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
