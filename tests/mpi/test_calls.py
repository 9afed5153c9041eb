"""Every call of the table, under both MPIs, in C and in each of Fortran's three forms: right, and seen at its site."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from preload import BOTH, EITHER, MPICH, OPEN_MPI, Mpi, calls_of, profiles, table
from tree import ROOT

RIGHT = "all as it should be\n"
# The module mpi has the functions of mpif.h.
FORMS = pytest.mark.parametrize("form", ["USE_MPIF", pytest.param("USE_MPI", marks=pytest.mark.soak), "USE_F08"])


# test_members.py has the calls that make or reach other programs.
ELSEWHERE = {f"MPI_Comm_{name}" for name in ("accept", "connect", "join", "spawn", "spawn_multiple")}


def expected(mpi: Mpi, fortran: bool) -> set[str]:
    """The calls that the program must have made."""
    rows = [row for row in table() if row["since"] <= mpi.version and row["name"] not in ELSEWHERE]
    return {row["name"] for row in rows if not fortran or (row["fortran"] and not row["large"])}


def unprofiled(program: Path) -> set[str]:
    """The calls whose Fortran 2008 function has no profiling name, as Open MPI 5.0.7 has one. They stay as they are."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    symbols = b"".join(Path(path).read_bytes() for path in re.findall(r"=> (\S*usempif08\S*)", said))
    functions = {row["name"]: b"mpi_%s_f08_\0" % row["name"][4:].lower().encode() for row in table()}
    return {name for name, f in functions.items() if b"\0" + f in symbols and b"\0p" + f not in symbols}


@BOTH
def test_every_call_of_the_table_is_right_and_seen_at_its_site(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.compile("calls.c", tmp_path)
    plain = mpi.run(3, program, tmp_path / "file", preload=False)
    assert (plain.returncode, plain.stdout) == (0, RIGHT), plain.stderr
    done = mpi.run(3, program, tmp_path / "file", profile=tmp_path / "profile")
    assert (done.returncode, done.stdout, done.stderr) == (0, RIGHT, plain.stderr)
    pes = profiles(tmp_path / "profile")
    assert len(pes) == 3
    assert expected(mpi, fortran=False) - calls_of(pes, program) == set()
    assert mpi is not OPEN_MPI or all(pe["mpi"]["shows_idle"] for pe in pes)


@BOTH
@pytest.mark.parametrize("n", [3, pytest.param(4, marks=pytest.mark.soak)])
def test_every_call_is_right_as_its_counterpart(mpi: Mpi, n: int, tmp_path: Path) -> None:
    """Where an MPI does not show that it is idle: Open MPI that never yields, MPICH with MPI_THREAD_MULTIPLE. Open
    MPI 5 yields where a node has fewer slots than processes.
    """
    program = mpi.compile("calls.c", tmp_path)
    slots = ["--host", f"localhost:{n}"] if mpi is OPEN_MPI else []
    silent = {"OMPI_MCA_mpi_yield_when_idle": "0", "MPIR_CVAR_DEFAULT_THREAD_LEVEL": "MPI_THREAD_MULTIPLE"}
    done = mpi.run(n, *slots, program, tmp_path / "file", profile=tmp_path / "profile", **silent)
    assert (done.returncode, done.stdout) == (0, RIGHT), done.stderr
    pes = profiles(tmp_path / "profile")
    assert expected(mpi, fortran=False) - calls_of(pes, program) == set()
    assert not any(pe["mpi"]["shows_idle"] for pe in pes)


@BOTH
@FORMS
def test_every_fortran_entry_is_right_and_seen_at_its_site(mpi: Mpi, form: str, tmp_path: Path) -> None:
    options = [f"-D{form}"] + (["-DMPI4"] if mpi.version >= 4 else [])
    program = mpi.compile("calls.F90", tmp_path, *options)
    plain = mpi.run(3, program, tmp_path / "file", preload=False)
    assert (plain.returncode, plain.stdout) == (0, RIGHT), plain.stderr
    done = mpi.run(3, program, tmp_path / "file", profile=tmp_path / "profile")
    assert (done.returncode, done.stdout) == (0, RIGHT), done.stderr
    pes = profiles(tmp_path / "profile")
    assert len(pes) == 3
    assert expected(mpi, fortran=True) - unprofiled(program) - calls_of(pes, program) == set()


@EITHER
@pytest.mark.parametrize("policy", ["spin", "yield", "sleep"])
def test_every_call_is_right_under_every_wait_policy(mpi: Mpi, policy: str, tmp_path: Path) -> None:
    program = mpi.compile("calls.c", tmp_path)
    done = mpi.run(3, program, tmp_path / "file", WATTLE_WAIT=policy)
    assert (done.returncode, done.stdout) == (0, RIGHT), done.stderr


@pytest.mark.parametrize(("cpus", "does"), [("one", "gives"), ("all", "keeps")])
def test_with_the_policy_spin_open_mpi_yields_by_itself(cpus: str, does: str, tmp_path: Path) -> None:
    mine = sorted(os.sched_getaffinity(0))
    if len(mine) < 2:
        pytest.skip("two processes outnumber one core")
    program = OPEN_MPI.compile("yields.c", tmp_path, "-rdynamic")
    within = ["taskset", "-c", str(mine[0])] if cpus == "one" else []
    done = OPEN_MPI.run(2, "--bind-to", "none", *within, program, WATTLE_WAIT="spin")
    assert (done.returncode, done.stdout) == (0, f"{does}\n"), done


@BOTH
def test_the_thread_level_is_the_programs(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.compile("threads.c", tmp_path, "-pthread")
    plain = mpi.run(2, program, preload=False)
    done = mpi.run(2, program, profile=tmp_path / "profile")
    assert done.returncode == plain.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(plain.stdout.splitlines())


@BOTH
@pytest.mark.parametrize("threads", [0, 1], ids=["single", "multiple"])
def test_a_request_that_fails_while_waited_for_ends_as_in_the_plain_program(
    mpi: Mpi, threads: int, tmp_path: Path
) -> None:
    """Open MPI 4.1 with MPI_THREAD_MULTIPLE hangs in MPI_Waitall where the failed request is complete already. So may
    the plain program there, late on a loaded machine: the one without threads says what is right."""
    program = mpi.compile("failed.c", tmp_path)
    plain, done = mpi.run(2, program, 0, preload=False), mpi.run(2, program, threads)
    assert (plain.returncode, plain.stdout.count("\n")) == (0, 5), plain
    assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr


@BOTH
def test_a_wait_in_an_unchanged_call_sleeps(mpi: Mpi, tmp_path: Path) -> None:
    """Inside of it only the MPI knows that it has nothing to do: Open MPI yields, MPICH asks UCX in vain."""
    rounds = 20
    done = mpi.run(2, mpi.compile("unequal.c", tmp_path), rounds, "fence", profile=tmp_path / "profile")
    assert (done.returncode, done.stdout) == (0, f"count {2 * rounds}\n"), done.stderr
    early, _ = profiles(tmp_path / "profile")
    fence = next(site for site in early["sites"] if site["call"] == "MPI_Win_fence")
    assert fence["waits"] > 0, fence
    assert fence["wait_s"]["asleep"] + fence["wait_s"]["yield"] > 0, fence


@BOTH
@pytest.mark.soak
@pytest.mark.parametrize("how", ["barrier", "fence", "test"])
def test_a_waiting_pe_is_awake_while_others_access_its_memory(mpi: Mpi, how: str, tmp_path: Path) -> None:
    """Many small one-sided calls of rank 0 are served by rank 1 without a sleep before each. Once is enough: other
    programs may want the cores, and a rank that waits leaves them to those. A busy machine may never show it."""
    times, asleep = 1000, []
    program = mpi.compile("trickle.c", tmp_path)
    for attempt in range(5):
        folder = tmp_path / f"profile{attempt}"
        done = mpi.run(2, program, times, how, profile=folder, first=True)
        assert (done.returncode, done.stdout) == (0, f"count {times}\n"), done.stderr
        asleep.append(profiles(folder)[1]["sleeps"])
        if asleep[-1] < times:
            return
    raise AssertionError(asleep)


@EITHER
@pytest.mark.parametrize("how", ["computes", "computes-beside"])
@pytest.mark.parametrize("level", ["-O0", pytest.param("-O2", marks=pytest.mark.soak)])
def test_a_process_that_computes_between_tests_never_sleeps(mpi: Mpi, level: str, how: str, tmp_path: Path) -> None:
    """However short what it computes is: slept before each step, it would be a thousand times slower."""
    program = mpi.compile("pokes.c", tmp_path, level)
    plain = mpi.run(2, program, how, preload=False)
    done = mpi.run(2, program, how, profile=tmp_path / "profile")
    assert (done.returncode, done.stdout) == (0, plain.stdout), done.stderr
    tests = [site for site in profiles(tmp_path / "profile")[0]["sites"] if site["call"] in ("MPI_Iprobe", "MPI_Test")]
    assert sum(site["calls"] for site in tests) == 100000 * (1 + (how == "computes-beside"))
    assert all((site["waits"], site["wait_s"]["asleep"]) == (0, 0) for site in tests), tests


@EITHER
@pytest.mark.parametrize(
    ("how", "count"),
    [
        ("waits", 7),
        ("waits-for-some", 21),
        ("beside-complete", 7),
        ("beside-all", 7),
        ("beside-some", 7),
        ("beside-message", 7),
        ("by-the-clock", 7),
    ],
)
def test_a_loop_of_tests_that_does_nothing_else_is_a_wait(mpi: Mpi, how: str, count: int, tmp_path: Path) -> None:
    """Once is enough: where others want the cores rank 0 may come when all is there."""
    program = mpi.compile("pokes.c", tmp_path)
    for attempt in range(5):
        folder = tmp_path / f"profile{attempt}"
        done = mpi.run(2, program, how, profile=folder)
        assert (done.returncode, done.stdout) == (0, f"count {count}\n"), done.stderr
        tests = [site for site in profiles(folder)[0]["sites"] if site["call"] == "MPI_Test"]
        if sum(site["wait_s"]["asleep"] + site["wait_s"]["yield"] for site in tests) > 0:
            return
    raise AssertionError(tests)


@BOTH
@pytest.mark.parametrize("n", [1, 3])
def test_requests_of_files_end(mpi: Mpi, n: int, tmp_path: Path) -> None:
    done = mpi.run(n, mpi.compile("files.c", tmp_path), tmp_path / "file")
    assert (done.returncode, done.stdout) == (0, "count 40960\n"), done.stderr


@BOTH
@pytest.mark.parametrize("n", [3, pytest.param(2, marks=pytest.mark.soak), pytest.param(5, marks=pytest.mark.soak)])
def test_sums_of_floating_point_numbers_have_the_plain_programs_bits(mpi: Mpi, n: int, tmp_path: Path) -> None:
    program = mpi.compile("sums.c", tmp_path)
    plain, done = mpi.run(n, program, preload=False), mpi.run(n, program)
    assert plain.returncode == done.returncode == 0, done.stderr
    assert plain.stdout and done.stdout == plain.stdout


@BOTH
@pytest.mark.parametrize("n", [3, pytest.param(2, marks=pytest.mark.soak), pytest.param(5, marks=pytest.mark.soak)])
def test_two_groups_of_any_sizes_synchronize(mpi: Mpi, n: int, tmp_path: Path) -> None:
    """There the MPIs' non-blocking collectives hang or abort."""
    done = mpi.run(n, mpi.compile("sides.c", tmp_path))
    assert (done.returncode, done.stdout) == (0, "0 wrong\n" * n), done.stderr


@BOTH
@pytest.mark.parametrize("n", [3, pytest.param(2, marks=pytest.mark.soak)])
def test_a_process_with_counts_of_0_synchronizes_afterwards(mpi: Mpi, n: int, tmp_path: Path) -> None:
    """Open MPI's non-blocking MPI_Ialltoallv and MPI_Ialltoallw hang then."""
    done = mpi.run(n, mpi.compile("nothing.c", tmp_path))
    assert (done.returncode, done.stdout) == (0, "0 wrong\n" * n), done.stderr


@BOTH
@pytest.mark.parametrize("n", [1, 2, pytest.param(3, marks=pytest.mark.soak)])
def test_each_edge_of_a_ring_gets_what_it_gets_in_the_plain_program(mpi: Mpi, n: int, tmp_path: Path) -> None:
    """Open MPI's non-blocking calls mix up two edges to the same neighbour (as MPICH's MPI_Neighbor_alltoallv does)."""
    program = mpi.compile("ring.c", tmp_path)
    plain, done = mpi.run(n, program, preload=False), mpi.run(n, program)
    assert (plain.returncode, plain.stdout.count("\n")) == (0, 5 * n), plain
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, sorted(plain.stdout.splitlines())), done.stderr


@EITHER
def test_a_call_that_mpi_refuses_for_its_count_counts_no_bytes(mpi: Mpi, tmp_path: Path) -> None:
    program = mpi.compile("refused.c", tmp_path)
    done = mpi.run(2, program, profile=tmp_path / "profile")
    assert (done.returncode, done.stdout) == (0, "refused 5 of 5\n" * 2), done.stderr
    refused = {f"MPI_{name}" for name in ("Send", "Isend", "Bcast", "Alltoallv", "Alltoallw")}
    for pe in profiles(tmp_path / "profile"):
        assert {site["call"]: site["bytes"] for site in pe["sites"] if site["call"] in refused} == dict.fromkeys(
            refused, 0
        )


@BOTH
@pytest.mark.parametrize("which", ["inherits", "own"])
def test_an_error_reaches_the_same_handler_as_in_the_plain_program(mpi: Mpi, which: str, tmp_path: Path) -> None:
    """MPICH goes by MPI_COMM_WORLD's later handler where a communicator has none; Open MPI by that at its making."""
    program = mpi.compile("handlers.c", tmp_path)
    plain, done = mpi.run(1, program, which, preload=False), mpi.run(1, program, which)
    assert plain.stdout or which == "inherits", plain.stderr
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), done.stderr


@BOTH
@pytest.mark.parametrize("how", ["jump", "finalize"])
def test_an_error_handler_may_leave_the_call_that_failed(mpi: Mpi, how: str, tmp_path: Path) -> None:
    program = mpi.compile("left_call.c", tmp_path)
    plain = mpi.run(2, program, how, preload=False)
    done = mpi.run(2, program, how, profile=tmp_path / "profile")
    assert done.returncode == plain.returncode, done.stderr
    if how == "jump":
        assert done.returncode == 0, plain.stderr
        for pe in profiles(tmp_path / "profile"):
            (barrier,) = (site for site in pe["sites"] if site["call"] == "MPI_Barrier")
            assert barrier["calls"] == 20
        assert barrier["waits"] > 0  # of rank 1


def test_mpich_has_calls_with_large_counts() -> None:
    assert len([row for row in table() if row["large"] and row["since"] <= MPICH.version]) > 50


@pytest.mark.parametrize(("n", "molecule"), [pytest.param(1, "water", marks=pytest.mark.soak), (2, "hydrogen")])
def test_nwchem_finds_the_same_energy_to_the_last_digit(n: int, molecule: str, tmp_path: Path) -> None:
    """With two processes, who computes what is decided by whose counter comes first, so sums are made in another order
    in each run. Of 76 hartree, water's, that shows in the last of twelve places, in plain runs as well; of the five of
    ten hydrogen atoms it does not."""
    program = shutil.which("nwchem.openmpi")
    if not program:
        pytest.skip("no nwchem.openmpi here: package nwchem-openmpi")
    words = [program, ROOT / f"tests/mpi/inputs/{molecule}.nw"]
    energies = []
    for preload in (False, True):
        done = OPEN_MPI.run(n, *words, preload=preload, profile=tmp_path / "profile", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        energies.append(re.search(r"Total SCF energy =\s*(-?\d+\.\d+)", done.stdout)[1])
    assert energies[0] == energies[1]
    assert len(profiles(tmp_path / "profile")) == n
