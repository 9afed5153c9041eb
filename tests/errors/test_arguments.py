"""A wrong call ends the job, with one line that names the call, the value and the PE; it never hangs or goes on."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from jobs import Result, mistakes_of, oshrun, program, run

PLACE = r" at program\+0x[0-9a-f]+ \(\w+\.c:\d+\)"  # within the wrong call

ALONE = [  # mistake, call, what the line must say
    ("put_pe_negative", "shmem_long_put", "no PE -1; this job has PEs 0 to 1"),
    ("put_pe_n", "shmem_long_put", "no PE 2; this job has PEs 0 to 1"),
    ("put_nbi_pe_huge", "shmem_long_put_nbi", "no PE 2147483647"),
    ("get_pe_n", "shmem_long_get", "no PE 2"),
    ("p_pe_n", "shmem_long_p", "no PE 2"),
    ("g_pe_min", "shmem_long_g", "no PE -2147483648"),
    ("add_pe_n", "shmem_long_atomic_add", "no PE 2"),
    ("putmem_pe_n", "shmem_putmem", "no PE 2"),
    ("broadcast_root_n", "shmem_broadcastmem", "no PE 2 to be the root; this team has PEs 0 to 1"),
    ("put_stack", "shmem_long_put", "dest=0x[0-9a-f]+ is not symmetric"),
    ("put_malloc", "shmem_long_put", "dest=0x[0-9a-f]+ is not symmetric"),
    ("put_null", "shmem_long_put", "dest is NULL"),
    ("put_thread_local", "shmem_long_put", "is not symmetric"),
    ("put_code", "shmem_char_p", "is not symmetric"),
    ("put_constant", "shmem_long_p", "dest=0x[0-9a-f]+ is not symmetric .*a constant .*can only be read"),
    ("get_over_end_of_constants", "shmem_getmem", "source=0x[0-9a-f]+ is not symmetric .*constant .*end before"),
    ("put_library_variable", "shmem_int_p", r"dest=0x[0-9a-f]+ is not symmetric .*shared library \S*libc\.so"),
    ("put_wild", "shmem_long_p", "dest=0xdeadbeef0000 is not symmetric"),
    ("put_other_slice", "shmem_long_p", "is not symmetric"),
    ("get_stack", "shmem_long_get", "source=0x[0-9a-f]+ is not symmetric"),
    ("get_null", "shmem_long_get", "source is NULL"),
    ("g_null", "shmem_long_g", "source is NULL"),
    ("swap_stack", "shmem_long_atomic_swap", "dest=0x[0-9a-f]+ is not symmetric"),
    ("fetch_null", "shmem_long_atomic_fetch", "source is NULL"),
    ("put_over_end", "shmem_long_put", "only [0-9]+ of the 1152921504606846976 bytes"),
    ("putmem_over_end", "shmem_putmem", "only [0-9]+ of the 1099511627776 bytes"),
    ("get_over_end_of_variables", "shmem_getmem", "only [0-9]+ of the 4294967296 bytes"),
    ("sum_stack", "shmem_long_sum_reduce", "source=0x[0-9a-f]+ is not symmetric"),
    ("broadcast_stack", "shmem_long_broadcast", "dest=0x[0-9a-f]+ is not symmetric"),
    ("lock_stack", "shmem_set_lock", "lock=0x[0-9a-f]+ is not symmetric"),
    ("lock_null", "shmem_set_lock", "lock is NULL"),
    ("put_count_max", "shmem_long_put", "18446744073709551615 elements of 8 bytes"),
    ("put_count_wraps", "shmem_long_put", "2305843009213693953 elements of 8 bytes"),
    ("putmem_count_max", "shmem_putmem", "18446744073709551615 elements of 1 bytes"),
    ("get_count_max", "shmem_long_get", "18446744073709551615 elements of 8 bytes"),
    ("sum_count_max", "shmem_long_sum_reduce", "18446744073709551615 elements of 8 bytes"),
    ("put_source_null", "shmem_long_put", "source is NULL"),
    ("get_dest_null", "shmem_long_get", "dest is NULL"),
    ("putmem_source_null", "shmem_putmem", "source is NULL, but 3 bytes"),
    ("fetch_nbi_null", "shmem_long_atomic_fetch_nbi", "fetch is NULL"),
    ("add_misaligned", "shmem_long_atomic_add", "dest=0x[0-9a-f]+ is not aligned to its type's 8 bytes"),
    ("cas_misaligned", "shmem_int_atomic_compare_swap", "not aligned to its type's 4 bytes"),
    ("lock_misaligned", "shmem_set_lock", "not aligned"),
    ("wait_misaligned", "shmem_long_wait_until", "ivar=0x[0-9a-f]+ is not aligned"),
    ("short_wait_misaligned", "shmem_short_wait", "ivar=0x[0-9a-f]+ is not aligned to its type's 2 bytes"),
    ("wait_all_misaligned", "shmem_int_wait_until_all", "ivars=0x[0-9a-f]+ is not aligned to its type's 4 bytes"),
    ("test_misaligned", "shmem_ushort_test", "ivar=0x[0-9a-f]+ is not aligned to its type's 2 bytes"),
    ("wait_null", "shmem_long_wait_until", "ivar is NULL"),
    ("wait_cmp_17", "shmem_long_wait_until", "cmp=17 is not valid here; allowed: SHMEM_CMP_EQ"),
    ("test_cmp_minus_1", "shmem_long_test", "cmp=-1 is not valid"),
    ("put_ctx_unknown", "shmem_ctx_long_put", "ctx=0x55 is no context .* allowed: SHMEM_CTX_DEFAULT"),
    ("quiet_ctx_unknown", "shmem_ctx_quiet", "ctx=0x55 is no context"),
    ("put_ctx_invalid", "shmem_ctx_long_p", "is no context of this PE .*SHMEM_CTX_INVALID"),
    ("put_ctx_freed", "shmem_ctx_long_p", "ctx=0x[0-9a-f]+ is no context of this PE .destroyed"),
    ("put_ctx_private", "shmem_ctx_long_p", "is private to the thread that made it"),
    ("put_ctx_pe_of_world", "shmem_ctx_long_p", "there is no PE 1; the team of ctx=0x[0-9a-f]+ has PEs 0 to 0"),
    ("ctx_options_unknown", "shmem_ctx_create", "options=1024 is not valid here"),
    ("ctx_destroy_default", "shmem_ctx_destroy", "SHMEM_CTX_DEFAULT lasts as long as the program"),
    ("split_contexts_negative", "shmem_team_split_strided", "num_contexts=-1 is not valid here; allowed: 0 and more"),
    ("session_config_null", "shmem_ctx_session_start", "config is NULL"),
    ("info_name_null", "shmem_info_get_name", "name is NULL"),
    ("info_minor_null", "shmem_info_get_version", "minor is NULL"),
    ("query_initialized_null", "shmem_query_initialized", "flag is NULL"),
    ("init_thread_null", "shmem_init_thread", "provided is NULL"),
    ("sum_team_unknown", "shmem_long_sum_reduce", "team=0x77 is no team of this PE"),
    ("sync_team_invalid", "shmem_team_sync", "is no team of this PE .*SHMEM_TEAM_INVALID"),
    ("sync_team_freed", "shmem_team_sync", "team=0x[0-9a-f]+ is no team of this PE .destroyed"),
    ("destroy_team_world", "shmem_team_destroy", "SHMEM_TEAM_WORLD lasts as long as the program"),
    ("destroy_team_with_private_ctx", "shmem_team_destroy", "private contexts are destroyed"),
    ("active_set_too_large", "shmem_barrier", "PE_start=1, logPE_stride=0, PE_size=2 is no active set of this job"),
    ("active_set_of_others", "shmem_barrier", "this PE is not in the active set PE_start=0"),
    ("active_set_sync_stack", "shmem_barrier", "pSync=0x[0-9a-f]+ is not symmetric"),
    ("broadcast_root_of_team", "shmem_long_broadcast", "there is no PE 1 to be the root; this team has PEs 0 to 0"),
    ("signal_stack", "shmem_long_put_signal", "sig_addr=0x[0-9a-f]+ is not symmetric"),
    ("signal_misaligned", "shmem_signal_add", "sig_addr=0x[0-9a-f]+ is not aligned"),
    ("signal_op_7", "shmem_long_put_signal", "sig_op=7 is not valid here; allowed: SHMEM_SIGNAL_SET"),
    (
        "signal_in_dest",
        "shmem_long_put_signal",
        r"dest=\S+ .32 bytes. and sig_addr=\S+ .8 bytes. overlap in part; allowed: no byte in common$",
    ),
    ("signal_wait_stack", "shmem_signal_wait_until", "sig_addr=0x[0-9a-f]+ is not symmetric"),
    ("iput_stride_0", "shmem_long_iput", "dst=0 is not valid here; allowed: 1 and more"),
    ("iput_over_end", "shmem_long_iput", "only [0-9]+ of the 8796093022216 bytes"),
    ("iget_over_end", "shmem_long_iget", "only [0-9]+ of the"),
    ("ibput_wraps", "shmem_long_ibput", "elements of"),
    ("ibput_blocks_overlap", "shmem_long_ibput", "dst=2 is not valid here; allowed: bsize and more"),
    ("ibget_blocks_overlap", "shmem_ibget64", "sst=2 is not valid here; allowed: bsize and more"),
    (
        "fcollect_over_end",
        "shmem_long_fcollect",
        "dest=0x[0-9a-f]+ is symmetric, but only [0-9]+ of the 17592186044416 bytes",
    ),
    ("alltoall_over_end", "shmem_long_alltoall", "only [0-9]+ of the 17592186044416 bytes"),
    ("wait_any_null", "shmem_long_wait_until_any", "ivars is NULL"),
    ("test_some_null", "shmem_long_test_some", "indices is NULL"),
    (
        "test_some_in_place",
        "shmem_ulong_test_some",
        r"indices=\S+ .32 bytes. and ivars=\S+ .32 bytes. are the same memory; allowed: no byte in common$",
    ),
    (
        "wait_some_status_in_indices",
        "shmem_long_wait_until_some",
        r"indices=\S+ .32 bytes. and status=\S+ .16 bytes. overlap in part; allowed: no byte in common$",
    ),
    (
        "wait_any_status_in_ivars",
        "shmem_long_wait_until_any",
        r"status=\S+ .16 bytes. and ivars=\S+ .32 bytes. overlap in part; allowed: no byte in common$",
    ),
    ("clear_not_held", "shmem_clear_lock", "does not hold the lock at 0x[0-9a-f]+"),
    ("clear_twice", "shmem_clear_lock", "does not hold the lock at 0x"),
    ("set_twice", "shmem_set_lock", "already holds the lock at 0x"),
    ("free_interior", "shmem_free", "ptr=0x[0-9a-f]+ is not the start of a live block"),
    ("free_malloc", "shmem_free", "ptr=0x[0-9a-f]+ is not the start of a live block"),
    ("free_global", "shmem_free", "is not the start of a live block"),
    ("free_stack", "shmem_free", "is not the start of a live block"),
    ("realloc_foreign", "shmem_realloc", "is not the start of a live block"),
    ("put_beyond_the_heap_s_blocks", "shmem_putmem", "only [0-9]+ of the 16777216 bytes up to its end are"),
    ("p_beyond_the_heap_s_blocks", "shmem_long_p", "dest=0x[0-9a-f]+ is not symmetric"),
    (
        "sum_overlaps",
        "shmem_long_sum_reduce",
        r".16 bytes. and source=\S+ .16 bytes. overlap in part; .* the same address$",
    ),
    ("broadcast_overlaps", "shmem_broadcastmem", ".9 bytes. overlap in part"),
]


def test_each_wrong_call_of_one_pe_ends_its_process_with_a_line() -> None:
    """In copies of one PE of one job; that the job ends is tested below."""
    result = oshrun(2, "wrong_each")
    assert result.code == 0, result
    made = mistakes_of(result.out, result.err)
    rows = [row for row in ALONE if row[0] != "put_ctx_private"]  # which is for another thread level
    wrong = [
        (mistake, made[mistake])
        for mistake, call, words in rows
        if made[mistake][0] != "64" or not re.fullmatch(f"wattle: PE 1: {call}{PLACE}: .*{words}.*\n", made[mistake][1])
    ]
    assert wrong == [] and len(rows) >= 100, result


# One of a process, of memory, of a lock, of a context, of a team and of another thread.
ENDING = ["put_pe_n", "put_stack", "set_twice", "put_ctx_freed", "put_ctx_private", "sync_team_freed"]


@pytest.mark.parametrize(("mistake", "call", "words"), [row for row in ALONE if row[0] in ENDING])
def test_wrong_call_of_one_pe_ends_the_job(mistake: str, call: str, words: str) -> None:
    """The other PE waits in a barrier meanwhile."""
    result = oshrun(2, "wrong", mistake)
    assert result.code == 64 and "went on" not in result.out, result
    (line,) = result.said
    assert re.match(f"wattle: PE 1: {call}{PLACE}: ", line), result
    assert re.search(words, line), result


@pytest.mark.parametrize("mistake", ["put_pe_n", "put_stack", "free_interior", "set_twice", "wait_cmp_17"])
def test_wrong_call_of_a_bare_program(mistake: str) -> None:
    result = run(program("wrong"), mistake)
    assert result.code == 64 and "went on" not in result.out and len(result.said) == 1, result
    assert result.said[0].startswith("wattle: PE 0: shmem_"), result


def test_the_place_of_a_wrong_call_is_in_its_source() -> None:
    result = run(program("wrong"), "put_stack")
    ((place, line),) = re.findall(r"shmem_long_put at program\+(0x[0-9a-f]+) \(wrong\.c:(\d+)\): ", result.said[0])
    source = (Path(__file__).parent / "programs/wrong.c").read_text().splitlines()
    assert "shmem_long_put(" in source[int(line) - 1], result
    told = subprocess.run(["eu-addr2line", "-e", program("wrong"), place], capture_output=True, text=True, check=True)
    assert f"programs/wrong.c:{line}" in told.stdout, (told, result)


def test_the_place_of_a_wrong_call_is_printed_without_its_line_if_unknown(tmp_path: Path) -> None:
    copy = tmp_path / "wrong"
    subprocess.run(["objcopy", "--strip-debug", program("wrong"), copy], check=True)
    for result in (run(copy, "put_stack"), run(program("wrong"), "put_stack", env={"PATH": str(tmp_path)})):
        assert result.code == 64 and re.search(r"shmem_long_put at program\+0x[0-9a-f]+: ", result.said[0]), result


def one_line_a_pe(lines: list[str], call: str, words: str, place: str = PLACE) -> bool:
    """At least one PE speaks, none twice; the launcher may end the second one before it does."""
    speakers = [re.match(rf"wattle: PE (\d+): {call}{place}: .*{words}", line) for line in lines]
    return bool(speakers) and all(speakers) and len({s.group(1) for s in speakers if s}) == len(speakers)


TOGETHER = [
    ("free_twice", "shmem_free", "not the start of a live block"),
    ("free_global_on_all", "shmem_free", "not the start of a live block"),
    ("realloc_unalike", "shmem_realloc", r"PEs make different calls: heap offset .* .16 bytes. here, .* on PE [01]"),
    ("free_unalike", "shmem_free", "PEs make different calls"),
    ("split_unalike", "shmem_team_split_strided", "PEs pass different arguments: PE [01] passes other values"),
    ("after_finalize_put", "shmem_long_p", "called after shmem_finalize$"),
    ("after_finalize_n_pes", "shmem_n_pes", "called after shmem_finalize$"),
    ("before_init_put", "shmem_long_p", "called before shmem_init$"),
    ("before_init_malloc", "shmem_malloc", "called before shmem_init$"),
    ("before_init_my_pe", "shmem_my_pe", "called before shmem_init$"),
    ("before_init_finalize", "shmem_finalize", "called before shmem_init$"),
]


@pytest.mark.parametrize(("mistake", "call", "words"), TOGETHER)
def test_wrong_call_of_all_pes(mistake: str, call: str, words: str) -> None:
    result = oshrun(2, "wrong", mistake)
    assert result.code == 64 and "went on" not in result.out, result
    assert one_line_a_pe(result.said, call, words), result


SUM, SAME = "shmem_long_sum_reduce", "all PEs must pass the same$"
ORDER = "all PEs of a team must make the same calls in the same order$"
UNALIKE = [
    ("count_unalike", SUM, f"nreduce=2 here, 1 on PE 0; {SAME}"),
    ("root_unalike", "shmem_long_broadcast", f"PE_root=1 here, 0 on PE 0; {SAME}"),
    ("stride_unalike", "shmem_long_alltoalls", f"dst=2 here, 1 on PE 0; {SAME}"),
    ("dest_unalike", "shmem_long_fcollect", rf"dest is at heap offset \d+ here, at heap offset \d+ on PE 0; {SAME}"),
    (
        "source_unalike",
        "shmem_long_max_reduce",
        r"source is at offset \d+ of the program's variables here, at heap off",
    ),
    ("set_count_unalike", "shmem_broadcast64", f"nelems=2 here, 1 on PE 0; {SAME}"),
    ("call_unalike", SUM, f"PE 0 is in shmem_barrier_all; {ORDER}"),
    ("type_unalike", SUM, f"PE 0 is in shmem_double_sum_reduce; {ORDER}"),
    ("sync_or_barrier", "shmem_barrier_all", f"PE 0 is in shmem_sync_all; {ORDER}"),
    ("malloc_or_barrier", "shmem_barrier_all", f"PE 0 is in shmem_malloc; {ORDER}"),
    ("destroy_or_sync", "shmem_team_sync", f"PE 0 is in shmem_team_destroy; {ORDER}"),
    (
        "fcollect_into_source",
        "shmem_long_fcollect",
        ".16 bytes. and source=.* .8 bytes. overlap in part; .* in common$",
    ),
    ("alltoall_in_place", "shmem_long_alltoall", "are the same memory; allowed: no byte in common$"),
]


def without_greetings(lines: list[str]) -> list[str]:
    return [line for line in lines if not re.search(r": (started by \w+ as|finishes$)", line)]


@pytest.mark.parametrize(("mistake", "call", "words"), UNALIKE)
def test_pes_with_different_arguments_are_named_with_debug(mistake: str, call: str, words: str) -> None:
    result = oshrun(3 if mistake.startswith("set_") else 2, "wrong", mistake, env={"SHMEM_DEBUG": "1"})
    assert result.code == 64 and "went on" not in result.out, result
    assert one_line_a_pe(without_greetings(result.said), call, words), result


def test_a_pe_that_has_ended_is_named_with_debug() -> None:
    """The PE that checks first reports it: the one that waits, or the one that ends."""
    result = oshrun(2, "wrong", "ended_or_barrier", env={"SHMEM_DEBUG": "1"})
    lines = without_greetings(result.said)
    waits = (
        f"wattle: PE 1: shmem_barrier_all{PLACE}: PE 0 is not in this call: it has ended, or is in another one; {ORDER}"
    )
    never = rf"wattle: PE 1: shmem_barrier_all.*: PE 0 has ended and cannot take part; {ORDER}"
    ends = r"wattle: PE 0: shmem_finalize \(or exit\): PE 1 is in another collective call"
    assert result.code == 64 and lines and all(re.match(f"{waits}|{never}|{ends}", line) for line in lines), result


def late_in(result: Result) -> list[re.Match[str]]:
    last = rf"(, whose last collective call was \S+{PLACE})?"
    late = rf"wattle: PE (\d): (\S+){PLACE} with (\S.*): has waited \S+ s for PE (\d){last}; it keeps"
    said = [re.match(late, line) for line in without_greetings(result.said)]
    assert result.code == 0 and all(said), result
    return [found for found in said if found]


def reports_of(
    n: int, way: str, patience: str, is_meant: Callable[[re.Match[str]], bool]
) -> tuple[list[re.Match[str]], Result]:
    """The reports of late PEs that are meant, and the result of the run. On a busy machine another call of the program
    may be late, too. A PE reports once, so it has then no report left for the call that is meant. The program runs
    again after such a report, three times at most.
    """
    for _ in range(3):
        result = oshrun(n, "shmem_apart", way, env={"SHMEM_DEBUG": "1", "WATTLE_PATIENCE": patience})
        found = late_in(result)
        reports = [late for late in found if is_meant(late)]
        if len(reports) == len(found):
            break
    return reports, result


def test_a_late_pe_is_reported_once_with_debug() -> None:
    # PE 1 is late twice, by 0.7 s and 0.1 s. A wait of ten patiences is reported, so both are long enough.
    reports, result = reports_of(2, "one_is_late", "8ms", lambda late: late[2] == "shmem_team_sync")
    assert all(", whose last collective call was shmem_team_s" in (late[5] or "") for late in reports), result
    told = [late.group(1, 3, 4) for late in reports]
    assert ("0", "a team of PEs 0 to 1", "1") in told and len(set(told)) == len(told), result


def test_a_late_pe_of_the_same_team_as_before_is_reported_with_debug() -> None:
    def is_second(late: re.Match[str]) -> bool:
        return late[2] == "shmem_barrier_all" and late[2] in (late[5] or "")

    reports, result = reports_of(2, "late_again", "20ms", is_second)
    assert ("0", "SHMEM_TEAM_WORLD", "1") in {late.group(1, 3, 4) for late in reports}, result


def test_of_several_threads_only_the_late_pe_is_reported() -> None:
    reports, result = reports_of(3, "late_threads", "50ms", lambda late: late[2] == "shmem_team_sync")
    assert all(re.fullmatch(r"a team of PEs \d to 2", late[3]) and not late[5] for late in reports), result
    told = [late.group(1, 4) for late in reports]
    assert sorted(told) == [("0", "2"), ("1", "2")], result


def test_pes_that_wait_for_each_other_are_named_with_their_calls_places_and_teams() -> None:
    result = oshrun(3, "shmem_apart", "three_in_a_circle", env={"SHMEM_DEBUG": "1"})
    (line,) = without_greetings(result.said)
    teams = enumerate(["0 to 1", "1 to 2", "0 to 2, stride 2"])
    circle = ", ".join(f"PE {pe} is in shmem_team_sync{PLACE} with a team of PEs {pes}" for pe, pes in teams)
    assert result.code == 64, result
    assert re.match(f"wattle: PE 0: shmem_team_sync: deadlock: PEs wait for each other: {circle}; {ORDER}", line), (
        result
    )


def test_pes_with_matching_calls_pass_with_debug() -> None:
    result = oshrun(2, "wrong", "alike_enough", env={"SHMEM_DEBUG": "1"})
    assert result.code == 0 and result.out.count("went on") == 2, result
    assert without_greetings(result.said) == [], result


def test_one_finalize_too_many_is_named_once_and_the_program_goes_on() -> None:
    result = oshrun(2, "wrong", "finalize_twice")
    assert result.code == 0 and result.out.count("went on") == 2, result
    (line,) = result.said
    assert line.startswith("wattle: PE 0: shmem_finalize: called although nothing is left to finalize"), result


def test_a_thread_that_the_level_does_not_allow_is_named_once_and_the_program_goes_on() -> None:
    for mistake, level in (("other_thread", "SINGLE"), ("other_thread_funneled", "FUNNELED")):
        result = oshrun(2, "wrong", mistake)
        assert result.code == 0 and result.out.count("went on") == 1, result
        (line,) = result.said
        why = f"another thread than the one that started OpenSHMEM calls, which SHMEM_THREAD_{level} does not allow: "
        assert re.match(
            f"wattle: PE 1: shmem_long_p{PLACE}: {why}request SHMEM_THREAD_MULTIPLE from shmem_init_thread", line
        )
        result = oshrun(2, "wrong", mistake, env={"WATTLE_CHECK": "off"})
        assert result.code == 0 and result.err == "", result
    result = oshrun(2, "wrong", "other_thread_serialized")
    assert result.code == 0 and result.err == "", result


def test_different_sizes_are_named_once_and_the_program_goes_on() -> None:
    result = oshrun(2, "wrong", "malloc_unalike")
    assert result.code == 0 and result.out.count("went on") == 2, result
    (line,) = result.said
    assert re.match(r"wattle: PE 1: shmem_malloc: PEs request different sizes, 108 bytes on PE 1 and 100 on PE 0", line)
    result = oshrun(2, "wrong", "malloc_unalike", env={"WATTLE_CHECK": "off"})
    assert result.code == 0 and result.out.count("went on") == 2 and result.err == "", result


def test_a_team_too_many_is_refused_on_all_pes_and_reported_once() -> None:
    result = oshrun(2, "wrong", "teams_without_end")
    assert result.code == 0 and result.out.count("went on") == 2, result
    (line,) = result.said
    why = "no team can be made: its PEs are in 62 other teams together"
    assert re.match(f"wattle: PE 0: shmem_team_split_strided{PLACE}: {why}", line)


ALIGNMENTS = [("align_0", 0), ("align_3", 3), ("align_24", 24), ("align_32m", 32 << 20), ("align_minus_1", 2**64 - 1)]


@pytest.mark.parametrize(("mistake", "value"), ALIGNMENTS)
def test_an_alignment_that_cannot_be_gives_null_and_one_warning_and_the_program_goes_on(
    mistake: str, value: int
) -> None:
    """Without waiting for the other PE, which does not ask."""
    result = oshrun(2, "wrong", mistake)
    assert result.code == 0 and result.out.count("went on") == 1, result
    assert result.out.count("NULL") == 2 and "GOT IT" not in result.out, result
    (line,) = result.said
    what = f"alignment={value} is not valid here; allowed: powers of two up to 16777216; the call returns NULL"
    assert re.match(f"wattle: PE 1: shmem_align{PLACE}: {what}; this is reported once$", line), result
    result = oshrun(2, "wrong", mistake, env={"WATTLE_CHECK": "off"})
    assert result.code == 0 and result.out.count("NULL") == 2 and result.err == "", result


EXHAUSTED = [
    ("malloc_too_much", "shmem_malloc", 1 << 40),
    ("malloc_max", "shmem_malloc", 2**64 - 1),
    ("malloc_max_less", "shmem_malloc", 2**64 - 65),
    ("malloc_all", "shmem_malloc", 1 << 20),
    ("align_too_much", "shmem_align", 1 << 40),
    ("align_max", "shmem_align", 2**64 - 101),
    ("calloc_too_much", "shmem_calloc", 1 << 40),
    ("calloc_wraps", "shmem_calloc", 2**64 - 1),
    ("realloc_too_much", "shmem_realloc", 1 << 40),
]


@pytest.mark.parametrize(("mistake", "call", "size"), EXHAUSTED)
def test_exhausted_heap_gives_null_and_a_warning_and_the_program_goes_on(mistake: str, call: str, size: int) -> None:
    result = oshrun(2, "wrong", mistake, env={"SHMEM_SYMMETRIC_SIZE": "1M"})
    assert result.code == 0 and result.out.count("went on") == 2, result
    assert result.out.count("NULL") == 2 and not re.search("GOT IT|NOT WHOLE|LOST", result.out), result
    assert len(result.said) == 2 and one_line_a_pe(result.said, call, f"{size} bytes.*SHMEM_SYMMETRIC_SIZE", ""), result


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("check", ["on", "off"])
def test_right_calls_that_look_odd_pass(n: int, check: str) -> None:
    result = oshrun(n, "wrong", "none", env={"WATTLE_CHECK": check})
    assert result.code == 0 and result.out.count("went on") == n and result.err == "" and "NOT" not in result.out, (
        result
    )


def test_checks_can_be_switched_off() -> None:
    """Harmless errors pass without checks: freeing a foreign pointer does nothing."""
    result = oshrun(2, "wrong", "free_global_on_all", env={"WATTLE_CHECK": "off"})
    assert result.code == 0 and result.out.count("went on") == 2 and result.err == "", result
    result = oshrun(2, "wrong", "realloc_unalike", env={"WATTLE_CHECK": "off"})
    assert result.code == 0 and result.out.count("went on") == 2 and result.err == "", result
    result = oshrun(2, "boot", env={"WATTLE_CHECK": "off"})
    assert result.code == 0 and result.out.count("good") == 2, result
