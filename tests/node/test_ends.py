"""How a job ends, and with which exit code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jobs import HOME, Result, oshrun, program, run

WAYS = [
    ("global_exit_7", 7),
    ("global_exit_0", 0),
    ("exit_3", 3),
    ("_exit_4", 4),
    ("abort", 134),
    ("segfault", 139),
    ("fpe", 136),
]


def lived(result: Result, n: int) -> bool:
    return all(f"PE {pe} of {n} lives" in result.out for pe in range(n))


@pytest.mark.parametrize(("way", "code"), WAYS)
def test_one_pe_ends_the_job_while_others_sleep_in_a_barrier(way: str, code: int) -> None:
    result = oshrun(3, "ends", way, 1)
    assert result.code == code and lived(result, 3), result


@pytest.mark.parametrize(("way", "code"), [("global_exit_7", 7), ("abort", 134), ("exit_3", 3)])
def test_pe_0_ends_the_job_while_others_sleep_in_wait_until(way: str, code: int) -> None:
    result = oshrun(2, "ends", way, 0, "wait")
    assert result.code == code and lived(result, 2), result


def test_all_pes_call_global_exit() -> None:
    result = oshrun(3, "ends", "global_exit_7")
    assert result.code == 7 and lived(result, 3), result


def test_global_exit_beyond_8_bits_is_not_success() -> None:
    result = oshrun(2, "ends", "global_exit_300", 0)
    assert result.code == 300 & 255, result


@pytest.mark.parametrize("way", ["return", "exit_0", "finalize"])
def test_end_in_good_order_is_success(way: str) -> None:
    result = oshrun(2, "ends", way)
    assert result.code == 0 and lived(result, 2) and result.err == "", result


PTHREAD_EXITS = [
    ("pthread_exit", 0),
    ("pthread_exit_with_agent", 0),
    ("pthread_exit_after_finalize", 0),
    ("thread_returns", 0),
    ("thread_finalizes", 0),
    ("thread_exit_6", 6),
]


@pytest.mark.parametrize(("way", "code"), PTHREAD_EXITS)
def test_a_process_whose_main_thread_left_ends_with_the_programs_last_thread(way: str, code: int) -> None:
    """Threads of PMIx, UCX and the runtime run on, and keep no process alive."""
    for result, n in ((oshrun(2, "ends", way), 2), (run(program("ends"), way), 1)):
        assert result.code == code and lived(result, n), result
        threads = n if way.startswith("thread_") and code == 0 else 0
        assert result.out.count("goes on") >= threads, result
        assert code or result.err == "", result


def test_exit_code_after_finalize_is_the_programs() -> None:
    result = oshrun(2, "ends", "finalize_5")
    assert result.code == 5, result


def test_leaving_without_a_word_is_no_success() -> None:
    """_exit(0) skips the implicit finalize: the others would wait for ever."""
    result = oshrun(2, "ends", "_exit_0", 1)
    assert result.code != 0, result


BARE = [
    ("global_exit_7", 7),
    ("exit_3", 3),
    ("_exit_4", 4),
    ("abort", -6),
    ("segfault", -11),
    ("return", 0),
    ("finalize_5", 5),
]


@pytest.mark.parametrize(("way", "code"), BARE)
def test_bare_program_ends_as_it_says(way: str, code: int) -> None:
    result = run(program("ends"), way)
    assert result.code == code and lived(result, 1), result


# Loads a library, calls a function of it and unloads it, as a program does with a plugin that uses the library.
UNLOADS = """
import ctypes, _ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library[sys.argv[2]](None)
_ctypes.dlclose(library._handle)
print("unloaded", flush=True)
"""


@pytest.mark.parametrize(
    ("library", "call"), [("wattle-shmem", "shmem_init"), ("armci", "ARMCI_Init"), ("wattle", "wattle_energy_open")]
)
def test_a_program_that_unloads_a_library_of_ours_ends_as_it_says(library: str, call: str) -> None:
    """Its functions for the end, for threads and for signals are still there."""
    words = ("-c", UNLOADS, HOME / f"lib/lib{library}.so", call)
    for result, n in ((run(Path(sys.executable), *words), 1), (oshrun(2, sys.executable, *words), 2)):
        assert result.code == 0 and result.out == "unloaded\n" * n and result.err == "", result
