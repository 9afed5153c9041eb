"""ARMCI beside MPI and OpenSHMEM in one process, whichever begins; mistakes end the job with a line."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from armci_jobs import ENVIRONMENT, OURS, compile_program, need, run, start_job
from jobs import HOME, clean_environment, mistakes_of
from mpi_jobs import MPICH, OPEN_MPI
from nodes_of_test import launch
from tree import ROOT
from wattle.machine.nodes import Nodes, unavailable
from wattle.record import timeline_file as timeline

WRONG = [
    ("too early", "ARMCI_Barrier: called before ARMCI_Init"),
    ("no such process", "PE 0: ARMCI_Put: there is no process 2; this job has processes 0 to 1"),
    ("not its memory", "ARMCI_Put: dst=0x[0-9a-f]+ and 8 bytes from there are not memory that process 1 allocated"),
    ("too far", "ARMCI_Get: src=0x[0-9a-f]+ and 8 bytes from there are not memory"),
    ("patch too far", "ARMCI_PutS: dst=0x[0-9a-f]+ and [0-9]+ bytes from there are not memory"),
    ("list elsewhere", "ARMCI_PutV: an address in the list=0x[0-9a-f]+ and 8 bytes"),
    ("negative", "ARMCI_Put: bytes=-4 is not valid here; allowed: 0 and more"),
    ("levels", "ARMCI_GetS: stride_levels=9 is not valid here; allowed: 0 to 8"),
    ("type", "ARMCI_Acc: datatype=77 is not valid here; allowed: ARMCI_ACC_INT to ARMCI_ACC_DCP"),
    (
        "half an element",
        re.escape("ARMCI_AccS: count[0]=24 is not valid here; allowed: multiples of an element's bytes"),
    ),
    ("rmw", "ARMCI_Rmw: op=9 is not valid here"),
    ("no mutexes", "ARMCI_Lock: there are no mutexes"),
    ("no group", "armci_msg_group_barrier: the group at 0x[0-9a-f]+ is no group"),
    ("free twice", "ARMCI_Free_local: ptr=0x[0-9a-f]+ is not the start of memory that this process got"),
    ("operation", 'armci_msg_dgop: op="plus" is no operation; there are'),
    ("of reals", 'armci_msg_dgop: op="or" is for integers only'),
    ("more threads", "ARMCI_Init_thread: level 3: this process was initialized with a lower thread level"),
    ("mutexes twice", "ARMCI_Create_mutexes: there are mutexes already"),
    ("no mutexes to destroy", "ARMCI_Destroy_mutexes: there are none"),
    (
        "a mutex too many",
        "ARMCI_Lock: mutex=2 is not valid here; allowed: less than the number that the process asked for",
    ),
    ("not locked", "ARMCI_Unlock: this PE does not hold mutex 1 of process 0"),
    ("locked twice", "ARMCI_Lock: this PE already holds mutex 1 of process 1"),
    ("a set's not locked", "ARMCIX_Unlock_hdl: this PE does not hold mutex 1 of process 0"),
    ("a set's mutex too many", "ARMCIX_Lock_hdl: mutex=2 is not valid here"),
    ("a value too early", "ARMCI_GetValueLong: called before ARMCI_Init"),
    ("a value of nobody", "ARMCI_GetValueInt: there is no process 2"),
    ("a value to nobody", "ARMCI_PutValueDouble: there is no process 2"),
    ("a scope's operation", 'armci_msg_gop_scope: op="plus" is no operation'),
    ("a node's operation", 'armci_msg_clus_igop: op="plus" is no operation'),
    ("a group's operation", 'armci_msg_group_lgop: op="plus" is no operation'),
    ("no neighbour", "armci_sameclusnode: there is no process 2"),
    ("no group to double", "ARMCIX_Group_dup: the group at .* is no group"),
    ("a patch and a flag", "ARMCI_PutS_flag_dir: stride_levels=9 is not valid here"),
    ("no pointers of a device", "ARMCI_Malloc_memdev: ptr_arr is NULL"),
    ("a device's memory of another", "ARMCI_Free_memdev: ptr=0x[0-9a-f]+ is not the start of memory"),
    ("a child's stranger", "ARMCI_Group_create_child: a process in pid_list=5 is not valid here"),
    ("free another's", "ARMCI_Free: ptr=0x[0-9a-f]+ is not the start of memory that this process got"),
    ("freed together twice", "ARMCI_Free: ptr=0x[0-9a-f]+ is not the start of memory that this process got"),
    ("no source", "ARMCI_Put: src is NULL"),
    ("no target", "ARMCI_Get: dst is NULL"),
    ("nowhere there", "ARMCI_Put: dst=.* and 8 bytes from there are not memory that process 1 allocated"),
    ("nowhere here", "ARMCI_Put: dst is NULL"),
    ("no scale", "ARMCI_Acc: scale is NULL"),
    ("no counts", "ARMCI_PutS: count is NULL"),
    ("no strides", "ARMCI_GetS: a list of strides is NULL"),
    ("negative count", "ARMCI_GetS: count of a level=-2 is not valid here; allowed: 0 and more"),
    ("more than a size", "ARMCI_PutS: count of a level=16 is not valid here; allowed: counts whose product is a size"),
    ("pack too many levels", "armci_write_strided: stride_levels=9 is not valid here; allowed: 0 to 8"),
    ("pack less than nothing", re.escape("armci_read_strided: count[1]=-1 is not valid here; allowed: 0 and more")),
    ("copy less than nothing", "ARMCI_Copy: bytes=-8 is not valid here; allowed: 0 and more"),
    ("copy from nowhere", "ARMCI_Copy: src is NULL"),
    ("copy to nowhere", "ARMCI_Copy: dst is NULL"),
    ("no such domain", "armci_domain_nprocs: id=5 is not valid here; allowed: the domains' numbers, and -1"),
    ("no lists", "ARMCI_PutV: darr is NULL"),
    ("no addresses", "ARMCI_GetV: a list of addresses is NULL"),
    ("fewer than no lists", "ARMCI_PutV: len=-2 is not valid here; allowed: 0 and more"),
    ("nothing to swap", "ARMCI_Rmw: ploc is NULL"),
    ("crooked counter", "ARMCI_Rmw: prem=[0-9]+ is not valid here; allowed: addresses that are multiples"),
    ("no space for pointers", "ARMCI_Malloc: ptr_arr is NULL"),
    ("less than nothing", "ARMCI_Malloc_local: bytes=-8 is not valid here; allowed: 0 and more"),
    (
        "a stranger in a group",
        "ARMCI_Group_create: a process in pid_list=5 is not valid here; allowed: the parent's processes",
    ),
    (
        "twice in a group",
        "ARMCI_Group_create: a process in pid_list=0 is not valid here; allowed: each process once",
    ),
    ("no handle", "ARMCI_Test: nb_handle is NULL"),
    ("no group to free", "ARMCI_Group_free: group is NULL"),
    ("a freed group's copy", "armci_msg_group_barrier: the group at 0x[0-9a-f]+ is no group: freed,"),
    ("another's copy", "armci_msg_group_barrier: the group at 0x[0-9a-f]+ is no group: freed,"),
    ("a group freed twice", "ARMCI_Group_free: the group at 0x[0-9a-f]+ is no group: freed,"),
    (
        "free together alone",
        "ARMCI_Free_local: ptr=0x[0-9a-f]+ is memory that several processes allocated together: free it together",
    ),
    ("free a group's alone", "ARMCI_Free_local: ptr=0x[0-9a-f]+ is memory that several processes allocated together"),
    ("a copy to free", "ARMCI_Group_free: the group at 0x[0-9a-f]+ is no group: freed,"),
    ("a group of before", "ARMCI_Malloc_group: the group at 0x[0-9a-f]+ is no group: freed,"),
    ("no such root", "armci_msg_bcast: root=2 is not valid here; allowed: processes that take part"),
    ("no message", "armci_msg_snd: buf is NULL"),
    ("no counts to pack by", "armci_write_strided: count is NULL"),
    ("nothing to pack", "armci_write_strided: ptr is NULL"),
    ("no tree", "armci_msg_bintree: Root is NULL"),
    ("no memory's place", "ARMCI_Memat: meminfo is NULL"),
    ("a sum chooses", 'armci_msg_sel: op="\\+" is not valid here; allowed: min and max'),
    ("no such scope", "armci_msg_bcast_scope: scope=9 is not valid here"),
    ("no such type", "armci_msg_reduce: type=9 is not valid here; allowed: ARMCI_INT to ARMCI_DOUBLE"),
    ("short buffer", "armci_msg_rcv: the message of PE 0 has 64 bytes, and the buffer has space for 8"),
]

SAME = "all processes must make the same calls in the same order"
UNLIKE = [
    ("unlike calls", f"PE 1: ARMCI_Barrier: processes are in different calls: PE 0 is in ARMCI_Free; {SAME}"),
    ("unlike ends", f"PE 1: ARMCI_Barrier: processes are in different calls: PE 0 is in ARMCI_Finalize; {SAME}"),
    ("unlike counts", "PE 1: armci_msg_dgop: processes pass different arguments: the bytes are 16 here, 8 on PE 0"),
    ("unlike roots", "PE 1: armci_msg_bcast: processes pass different arguments: the root is 1 here, 0 on PE 0"),
    (
        "unlike calls of a group",
        f"PE 0: armci_msg_group_dgop: processes are in different calls: PE 1 is in armci_msg_barrier; {SAME}",
    ),
    (
        "unlike counts of a group",
        "PE 0: armci_msg_group_dgop: processes pass different arguments: the bytes are 8 here, 16 on PE 1",
    ),
    (
        "unlike roots of a group",
        "PE 0: armci_msg_group_bcast_scope: processes pass different arguments: the root is 0 here, 1 on PE 1",
    ),
]

PAST = [  # with SHMEM_DEBUG: accesses beyond their block, but within the process's memory
    ("past a block", "ARMCI_Put: dst=.* 8 bytes .* block of process 1's memory: it has 64 bytes, and only 4 of them"),
    ("past one's own", "ARMCI_Get: src=0x[0-9a-f]+ is in no block of memory that process 0 has now"),
    ("patch past a block", "ARMCI_GetS: src=.* 72 bytes .* process 1's memory: it has 64 bytes, and only 64 of them"),
    ("patch before one's own", "ARMCI_PutS: dst=0x[0-9a-f]+ is in no block of memory that process 0 has now"),
    ("list past a block", "ARMCI_GetV: an address in the list=.* 8 bytes .* and only 4 of them"),
    ("counter past a block", "ARMCI_Rmw: prem=0x[0-9a-f]+ is in no block of memory that process 1 has now"),
    ("freed there", "ARMCI_Put: dst=0x[0-9a-f]+ is in no block of memory that process 1 has now"),
]


PLACE = re.compile(r" at program\+0x[0-9a-f]+ \(\w+\.c:\d+\)")  # within the wrong call
BEFORE_THE_START = ("more threads",)
TOGETHER = {  # mistakes before ARMCI_Init, those that need all processes, and one that leaves a message
    *("short buffer", "too early", "a value too early", "more threads", "mutexes twice", "no mutexes to destroy"),
    *("a mutex too many", "not locked", "locked twice", "a set's not locked", "a set's mutex too many"),
    *("free another's", "a device's memory of another", "freed together twice", "free a group's alone"),
    *("a freed group's copy", "another's copy", "a group freed twice", "a copy to free", "a group of before"),
}


def without_places(said: str) -> str:
    return PLACE.sub("", said)


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("mpicc.openmpi", "mpirun.openmpi")
    return compile_program("wrong.c", tmp_path_factory.mktemp("wrong") / "wrong", *OURS)


@pytest.mark.parametrize("settings", [{}, {"SHMEM_DEBUG": "1"}], ids=["", "debug"])
def test_each_mistake_of_one_process_ends_it_with_a_line(settings: dict[str, str], tmp_path: Path) -> None:
    need("mpicc.openmpi", "mpirun.openmpi")
    here = [f"-I{ROOT / 'tests'}", "-DEACH", "-rdynamic"]
    each = compile_program("wrong.c", tmp_path / "wrong_each", *here, *OURS)
    cases = {case: words for case, words in WRONG if case not in TOGETHER}
    if settings:
        cases |= {case: words for case, words in PAST if case != "freed there"}
    done = run(2, each, *cases, **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    made = mistakes_of(done.stdout, done.stderr)
    wrong = [
        (case, made[case])
        for case, words in cases.items()
        if made[case][0] != "64"
        or not re.search(words, without_places(made[case][1]))
        or not PLACE.search(made[case][1])
    ]
    assert wrong == [], done.stderr


IN_JOBS = [row for row in WRONG if row[0] in TOGETHER or row[0] in ("no such process", "no group")]


@pytest.mark.parametrize(("case", "words"), IN_JOBS, ids=[case.replace(" ", "_") for case, _ in IN_JOBS])
def test_a_mistake_ends_the_job_with_a_line(wrong: Path, case: str, words: str) -> None:
    done = run(2, wrong, case)
    assert done.returncode == 64, done.stdout + done.stderr
    assert re.search(words, without_places(done.stderr)), done.stderr
    if case not in BEFORE_THE_START:
        assert PLACE.search(done.stderr), done.stderr


@pytest.mark.parametrize(("case", "words"), UNLIKE, ids=[case.replace(" ", "_") for case, _ in UNLIKE])
def test_with_debug_processes_with_different_calls_are_named(wrong: Path, case: str, words: str) -> None:
    done = run(2, wrong, case, SHMEM_DEBUG="1")
    assert done.returncode == 64, done.stdout + done.stderr
    assert words in without_places(done.stderr), done.stderr


def test_with_debug_an_access_to_memory_that_all_have_freed_is_named(wrong: Path) -> None:
    case, words = PAST[-1]
    done = run(2, wrong, case, SHMEM_DEBUG="1")
    assert done.returncode == 64, done.stdout + done.stderr
    assert re.search(words, without_places(done.stderr)) and PLACE.search(done.stderr), done.stderr


def test_with_debug_what_goes_beyond_its_block_on_another_node_is_named(wrong: Path) -> None:
    if reason := unavailable():
        pytest.skip(reason)
    with Nodes(2) as nodes:
        for case, words in PAST:
            job = launch(nodes, nodes.command(str(HOME / "bin/oshrun"), 1, str(wrong), case), SHMEM_DEBUG="1")
            err = job.communicate(timeout=300)[1]
            assert job.returncode == 64, f"{case}: {err}"
            assert re.search(words, without_places(err)), err


ALONE = [
    ("alone", r"ARMCI_Free {at} with all PEs: has waited \S+ s for PE 1, whose last collective call was ARMCI_Malloc"),
    (
        "alone in a group",
        r"armci_msg_barrier {at}: has waited \S+ s for PE 1 of a group of 2 PEs, the first of them PE 1",
    ),
]


def first_report_of_lateness(wrong: Path, case: str, come: Path) -> str:
    """Runs a job to its end. Process 1 waits for the file `come`, which is made after the report."""
    job = subprocess.Popen(
        ["mpirun.openmpi", "-n", "2", wrong, case, come],
        env={**clean_environment(), **ENVIRONMENT, "SHMEM_DEBUG": "1", "WATTLE_PATIENCE": "50ms"},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert job.stderr
        said = next((line for line in job.stderr if "has waited" in line), "")
        come.touch()
        rest = job.communicate(timeout=300)[1]
    finally:
        come.touch()
        job.kill()
    assert job.returncode == 0, rest
    return said


@pytest.mark.parametrize(("case", "late"), ALONE, ids=[case.replace(" ", "_") for case, _ in ALONE])
def test_with_debug_a_process_that_is_left_alone_says_for_whom_it_waits(
    wrong: Path, tmp_path: Path, case: str, late: str
) -> None:
    """A PE reports lateness once. On a busy machine a PE may be late before, and then another job has to show it."""
    at = r"at program\+0x[0-9a-f]+ \(\w+\.c:\d+\)"
    said: list[str] = []
    for i in range(3):
        said.append(first_report_of_lateness(wrong, case, tmp_path / f"come{i}"))
        if re.search("PE 0: " + late.replace("{at}", at), said[-1]):
            return
    raise AssertionError(said)


@pytest.mark.parametrize("how", ["error", "error with its line's end"])
def test_the_programs_own_error_is_its_exit_code(wrong: Path, how: str) -> None:
    done = run(2, wrong, how)
    assert done.returncode == 42, done.stderr
    assert "ARMCI_Error: the program's own words (42)" in done.stderr


def test_without_checks_a_good_program_runs(wrong: Path) -> None:
    assert run(2, wrong, "none of them", WATTLE_CHECK="off").returncode == 0


@pytest.mark.parametrize("first", ["armci", "mpi", "shmem"])
@pytest.mark.parametrize("mpi", [OPEN_MPI, MPICH], ids=lambda mpi: mpi.name)
def test_armci_openshmem_and_mpi_share_a_process(mpi, first: str, tmp_path: Path) -> None:
    program = compile_for(mpi, "beside_mpi.c", tmp_path)
    for n, gone in ((1, "shmem"), (3, "armci"), (3, "mpi"), (3, "shmem")):
        done = run_under(mpi, n, program, first, gone)
        assert done.returncode == 0, f"{n} {first} {gone}: {done.stdout}{done.stderr}"
        assert done.stdout == "all is there\n"


@pytest.mark.parametrize("gone", ["armci", "mpi"])  # finalised last
def test_with_the_preload_library_the_profile_is_that_of_armci(gone: str, tmp_path: Path) -> None:
    program = compile_for(OPEN_MPI, "beside_mpi.c", tmp_path)
    preload = {"LD_PRELOAD": str(HOME / "lib/libwattle-mpi.so"), "WATTLE_PROFILE_DIR": str(tmp_path)}
    done = run(2, program, "mpi", gone, **preload)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [json.loads(file.read_text())["api"] for file in tmp_path.glob("pe-*.json")] == ["shmem", "shmem"]


@pytest.mark.parametrize("mpi", [OPEN_MPI, MPICH], ids=lambda mpi: mpi.name)
def test_programs_in_c_plus_plus_include_the_headers_as_they_like(mpi, tmp_path: Path) -> None:
    program, compiler = tmp_path / "plus_plus", mpi.compiler.replace("mpicc", "mpicxx")
    mpi.require(compiler=True)
    need(compiler)
    compile_program("plus_plus.cc", program, "-std=c++11", *OURS, compiler=compiler)
    done = run_under(mpi, 2, program)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("how", ["mpi", "exit"])
@pytest.mark.parametrize("mpi", [OPEN_MPI, MPICH], ids=lambda mpi: mpi.name)
def test_a_program_may_end_without_finalising(mpi, how: str, tmp_path: Path) -> None:
    done = run_under(mpi, 3, compile_for(mpi, "leaves.c", tmp_path), how)
    assert done.returncode == 0, done.stdout + done.stderr


WAITS = {
    "mutex": "ARMCI_Lock",
    "message": "armci_msg_rcv",
    "any message": "armci_msg_rcv",
    "notification": "armci_notify_wait",
    "barrier": "ARMCI_Barrier",
    "message barrier": "armci_msg_barrier",
    "sum": r"armci_msg_\w*gop",
    "group's sum": r"armci_msg_\w*gop",
    "broadcast": "armci_msg_bcast",
    "memory": "ARMCI_Malloc",
    "group's barrier": "armci_msg_barrier",
}


@pytest.mark.parametrize(("how", "call"), WAITS.items(), ids=[how.replace(" ", "_") for how in WAITS])
def test_an_end_without_finalising_that_others_wait_for_ends_the_job(how: str, call: str, tmp_path: Path) -> None:
    program = compile_for(OPEN_MPI, "leaves.c", tmp_path)
    done = run(3, program, how, WATTLE_PATIENCE="50ms")
    assert done.returncode == 64, done.stdout + done.stderr
    said = rf"wattle: PE [12]: {call}\S*{PLACE.pattern}: process 0 has ended without ARMCI_Finalize, and this process"
    assert re.search(said, done.stderr), done.stderr


def test_an_end_without_finalising_is_known_on_other_nodes(tmp_path: Path) -> None:
    if reason := unavailable():
        pytest.skip(reason)
    program = compile_for(OPEN_MPI, "leaves.c", tmp_path)
    with Nodes(2) as nodes:
        job = launch(nodes, nodes.command(str(HOME / "bin/oshrun"), 1, str(program), "message"), WATTLE_PATIENCE="50ms")
        err = job.communicate(timeout=300)[1]
    assert job.returncode == 64 and "process 0 has ended without ARMCI_Finalize" in err, err


def test_a_wait_for_a_living_process_goes_on_where_another_has_left(tmp_path: Path) -> None:
    done = run(4, compile_for(OPEN_MPI, "leaves.c", tmp_path), "alive", WATTLE_PATIENCE="50ms")
    assert done.returncode == 0, done.stdout + done.stderr


def test_others_may_still_come_to_finalise(tmp_path: Path) -> None:
    done = run(3, compile_for(OPEN_MPI, "leaves.c", tmp_path), "late_finalize", WATTLE_PATIENCE="50ms")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("words", [[], ["early"]], ids=["", "early"])
@pytest.mark.parametrize("mpi", [OPEN_MPI, MPICH], ids=lambda mpi: mpi.name)
def test_programs_made_for_other_armcis_run(mpi, words: list[str], tmp_path: Path) -> None:
    program = compile_for(mpi, "old_ways.c", tmp_path)
    for n in (1, 2, 3):
        done = run_under(mpi, n, program, *words)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout == "1\n"


@pytest.mark.parametrize("mpi", [OPEN_MPI, MPICH], ids=lambda mpi: mpi.name)
def test_a_part_of_the_processes_has_an_armci_of_its_own(mpi, tmp_path: Path) -> None:
    program = compile_for(mpi, "parts.c", tmp_path)
    for n in (2, 5):
        done = run_under(mpi, n, program)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout == "all parts worked\n"


@pytest.mark.parametrize("mpi", [OPEN_MPI, MPICH], ids=lambda mpi: mpi.name)
def test_a_program_without_mpi_has_messages_before_and_after_the_rest(mpi, tmp_path: Path) -> None:
    program = tmp_path / "without_mpi"
    mpi.require(compiler=True)
    # The linker leaves an MPI out that nothing calls; not all linkers do so by themselves.
    compile_program("without_mpi.c", program, "-Wl,--as-needed", *OURS, compiler=mpi.compiler)
    for n in (1, 3):
        done = run_under(mpi, n, program)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout == f"{n}\n"


def test_armci_msg_init_says_why_it_starts_no_mpi(tmp_path: Path) -> None:
    OPEN_MPI.require(compiler=True)
    for library in ("libwattle.so", "libwattle-shmem.so", "libarmci.so"):  # and no module for an MPI beside them
        for file in (HOME / "lib").glob(f"{library}*"):
            shutil.copy(file, tmp_path, follow_symlinks=False)
    program = compile_program("leaves.c", tmp_path / "leaves", *OURS, "-Wl,--no-as-needed")
    done = run_under(OPEN_MPI, 1, program, "exit", LD_LIBRARY_PATH=str(tmp_path))
    assert "armci_msg_init: starts no MPI, though the program is linked with one: " in done.stderr, done.stderr
    assert "libwattle-boot-mpi-openmpi.so, which cannot be loaded" in done.stderr, done.stderr


def test_a_timeline_has_its_calls_and_the_waits_of_no_call(tmp_path: Path) -> None:
    program = compile_for(OPEN_MPI, "old_ways.c", tmp_path)
    done = run(2, program, WATTLE_TIMELINE="1M", WATTLE_PROFILE_DIR=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    for pe in range(2):
        kept = timeline.read(tmp_path / f"timeline-{pe:05d}.bin", pe)
        names = {kept.call(event) for thread in kept.events for event in thread if event["span"] != timeline.Span.CLOCK}
        assert any(name.startswith("ARMCI_") for name in names) and "" not in names, names


@pytest.mark.parametrize("how", ["armci", "mpi"])
@pytest.mark.parametrize("mpi", [OPEN_MPI, MPICH], ids=lambda mpi: mpi.name)
def test_threads_call_armci_and_mpi_at_once(mpi, how: str, tmp_path: Path) -> None:
    program = compile_for(mpi, "threads_beside_mpi.c", tmp_path)
    done = run_under(mpi, 3, program, how)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("mpi", [OPEN_MPI, MPICH], ids=lambda mpi: mpi.name)
def test_making_a_group_waits_at_the_door(mpi, tmp_path: Path) -> None:
    program = compile_for(mpi, "late_member.c", tmp_path)
    profiles = tmp_path / "profiles"
    profiles.mkdir()
    done = run_under(mpi, 2, program, WATTLE_PROFILE_DIR=str(profiles))
    assert done.returncode == 0, done.stdout + done.stderr
    sites = [site for file in profiles.glob("pe-*.json") for site in json.loads(file.read_text())["sites"]]
    assert any(site["call"] == "ARMCI_Group_create" and site["waits"] > 0 for site in sites), sites


def compile_for(mpi, source: str, folder: Path) -> Path:
    mpi.require(compiler=True)
    return compile_program(source, folder / Path(source).stem, *OURS, "-lwattle-shmem", compiler=mpi.compiler)


def run_under(mpi, n: int, program: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return start_job(mpi.start(n, program, *words), settings)


def test_pkg_config_names_what_a_program_needs(tmp_path: Path) -> None:
    need("pkg-config", "readelf", "mpicc.openmpi", "mpirun.openmpi")
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "armci"],
        env=os.environ | {"PKG_CONFIG_PATH": str(HOME / "lib/pkgconfig")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    # Another ARMCI, as Debian has one by that name, in a folder that a program's own build names before ours.
    other = tmp_path / "other"
    other.mkdir()
    code, made = other / "other.c", other / "other.o"
    code.write_text("int ARMCI_Init(void) { return 1; }\n")
    subprocess.run(["gcc", "-c", code, "-o", made], check=True)
    subprocess.run(["ar", "rc", other / "libarmci.a", made], check=True)
    for archive in (False, True):
        words = [re.sub(r"libarmci\.so$", "libarmci.a", word) if archive else word for word in flags]
        program = compile_program("beside_mpi.c", tmp_path / f"beside_mpi-{archive}", f"-L{other}", *words)
        libraries = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
        assert ("libarmci.so" in libraries) is not archive
        assert run(2, program).returncode == 0
