"""`wattle advise` on made-up profiles: each rule finds its pattern and nothing in sound ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import advised
import fakes
import pytest
from wattle.advise.evidence import WIDEST
from wattle.advise.finding import LEAST
from wattle.advise.given import advise
from wattle.advise.words import markdown
from wattle.base.errors import WattleError
from wattle.machine import symbols
from wattle.machine.symbols import Place
from wattle.record.pe import STEP_COLUMNS

MANY = 20_000
PUT, QUIET, FENCE, BARRIER = "shmem_double_put", "shmem_quiet", "shmem_fence", "shmem_barrier_all"
WHOLE = {"transfers": 100, "same_pe": 100}
NEXT = {**WHOLE, "next_there": 100, "next_here": 100}
BURST = {"bursts": 100, "burst_calls": 100}
COMPUTING = {"gaps": 10, "gap_s": 3e-4}
CLOSE = {"gaps": 10, "gap_s": 1e-6}
TWICE = {"reductions": 100, "alike": 100, "inputs": 99, "ready": 99}  # alike, and the second input is there first


def site(i: int, call: str, bytes_a_call: int = 8, **changes: Any) -> dict[str, Any]:
    kind = "wait" if "barrier" in call.lower() or "reduce" in call.lower() else "transfer"
    given = {"calls": MANY, "bytes": MANY * bytes_a_call, "time_s": 0.4} | changes
    return fakes.site(0x1000 + 0x100 * i, call, kind, **given)


def spun(seconds: float) -> dict[str, float]:
    return {"spin": seconds, "yield": 0.0, "asleep": 0.0}


def step(origin: int, to: int, bytes_a_call: int = 8, area: tuple[int, int, int] = (-1, 0, 0), **counts: int) -> list:
    row = dict.fromkeys(STEP_COLUMNS, 0) | {"from": origin, "to": to, "times": 100, "time_s": 0.001}
    row |= {"bytes": 100 * bytes_a_call, **dict(zip(("area", "low", "high"), area, strict=True)), **counts}
    return [row[name] for name in STEP_COLUMNS]


def run(folder: Path, sites: list[dict], steps: list[list], n: int = 2, lines: bool = True, **changes: Any) -> Path:
    sequence = {"noted": 1000, "lost": 0, "timer_s": 1e-8, "columns": STEP_COLUMNS, "steps": steps}
    profiles = [fakes.pe_profile(pe, n, sites=sites, sequence=sequence, **changes) for pe in range(n)]
    return fakes.make_run(folder / "run", [advised.with_lines(pe) if lines else pe for pe in profiles])


def rules(directory: Path) -> list[str]:
    return [finding.rule for finding in advise(directory).findings]


FLAGGED = (1, 64, 72)
PATTERNS = {
    "quiet-each": ([site(0, PUT), site(1, QUIET)], [step(0, 1, 0, **BURST), step(1, 0, **WHOLE)]),
    "adjacent": ([site(0, PUT)], [step(0, 0, **NEXT)]),
    "adjacent, strided": ([site(0, PUT)], [step(0, 0, **WHOLE, stride_there=96, stride_here=96)]),
    "adjacent, gets": ([site(0, "shmem_getmem")], [step(0, 0, **NEXT)]),
    "adjacent, with quiets": ([site(0, PUT), site(1, QUIET)], [step(0, 1, 0, **BURST), step(1, 0, **NEXT)]),
    "flag": (
        [site(0, "shmem_putmem", 64), site(1, FENCE), site(2, "shmem_uint64_p"), site(3, "shmem_uint64_wait_until", 0)],
        [step(0, 1, 0, **BURST), step(1, 2, area=FLAGGED, **WHOLE), step(2, 3, 0, area=FLAGGED)],
    ),
    "get-put": (
        [site(0, "shmem_long_g"), site(1, "shmem_long_p")],
        [step(0, 1, **WHOLE, same_there=100), step(1, 0, **WHOLE)],
    ),
    "get-put, of ARMCI on another node": (
        [site(0, "ARMCI_Get", 64), site(1, "ARMCI_Put", 64)],
        [step(0, 1, **WHOLE, same_there=100), step(1, 0, **WHOLE)],
    ),
    "unchanged": ([site(0, PUT)], [step(0, 0, **WHOLE, same_there=100, compared=99, unchanged=99)]),
    "small-sends": ([site(0, "MPI_Send"), site(1, "MPI_Recv")], [step(0, 0, **WHOLE, **CLOSE), step(1, 1)]),
    "barrier-before": (
        [site(0, "MPI_Barrier", 0), site(1, "MPI_Allreduce")],
        [step(0, 1), step(1, 0, 0)],
    ),
    "reductions": (
        [site(0, "MPI_Allreduce"), site(1, "MPI_Allreduce")],
        [step(0, 1, **TWICE), step(1, 0, reductions=100, alike=100, inputs=99)],
    ),
    "reductions, of OpenSHMEM": (
        [site(0, "shmem_double_sum_reduce"), site(1, "shmem_double_sum_reduce")],
        [step(0, 1, **TWICE), step(1, 0, reductions=100, alike=100, inputs=99)],
    ),
    "windows": ([site(0, "MPI_Win_allocate", 0), site(1, "MPI_Win_free", 0)], [step(0, 1), step(1, 0)]),
    "blocking-gets": ([site(0, "shmem_long_g")], [step(0, 0, **WHOLE)]),
    "blocking-gets, of atomic operations": ([site(0, "shmem_long_atomic_fetch_add")], [step(0, 0, **WHOLE)]),
    "get-put, of a block on another node": (
        [site(0, "shmem_double_get", 64), site(1, "shmem_double_put", 64)],
        [step(0, 1, **WHOLE, same_there=100), step(1, 0, **WHOLE)],
    ),
    "get-put, by compare-and-swap": (
        [site(0, "shmem_long_atomic_fetch"), site(1, "shmem_long_atomic_compare_swap")],
        [step(0, 1, **WHOLE, same_there=100), step(1, 0, **WHOLE)],
    ),
    "late-receiver": (
        [site(0, "MPI_Send", 65536, wait_s=spun(0.4)), site(1, "MPI_Recv")],
        [step(0, 1, time_s=0.004, **COMPUTING)],
    ),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_rule_finds_its_pattern_and_no_other_does(tmp_path, name):
    sites, steps = PATTERNS[name]
    (finding,) = advise(run(tmp_path, sites, steps)).findings
    assert finding.rule == name.partition(",")[0]
    share = finding.saved.share
    assert LEAST <= share.lo <= share.hi <= WIDEST * share.lo


SOUND = {
    "puts to other PEs": ([site(0, PUT)], [step(0, 0, transfers=100, same_pe=20)]),
    "scattered puts of changing bytes": ([site(0, PUT)], [step(0, 0, **WHOLE, compared=60, unchanged=10)]),
    "large puts side by side": ([site(0, PUT, 65536)], [step(0, 0, 65536, **NEXT)]),
    "one quiet after many puts": (
        [site(0, PUT), site(1, QUIET)],
        [step(0, 1, 0, bursts=100, burst_calls=6400), step(1, 0, **WHOLE)],
    ),
    "a flag for which nobody waits": (
        [site(0, "shmem_putmem", 64), site(1, FENCE), site(2, "shmem_uint64_p")],
        [step(0, 1, 0), step(1, 2, area=FLAGGED, **WHOLE)],
    ),
    "a put to another place than the get": (
        [site(0, "shmem_long_g"), site(1, "shmem_long_p")],
        [step(0, 1, **WHOLE), step(1, 0, **WHOLE)],
    ),
    "a get and a put of ARMCI within a node": (
        [site(0, "ARMCI_Get", 64, time_s=0.02), site(1, "ARMCI_Put", 64, time_s=0.02)],
        [step(0, 1, **WHOLE, same_there=100), step(1, 0, **WHOLE)],
    ),
    "a get and a put of a block within a node": (
        [site(0, "shmem_double_get", 64, time_s=0.02), site(1, "shmem_double_put", 64, time_s=0.02)],
        [step(0, 1, **WHOLE, same_there=100), step(1, 0, **WHOLE)],
    ),
    "sends with no computing after them": (
        [site(0, "MPI_Send", 65536, wait_s=spun(0.4)), site(1, "MPI_Recv")],
        [step(0, 1, time_s=0.004, **CLOSE)],
    ),
    "sends that wait while their bytes move": (
        [site(0, "MPI_Send", 65536, wait_s=spun(0.3)), site(1, "MPI_Recv", wait_s=spun(0.3))],
        [step(0, 1, time_s=0.004, **COMPUTING)],
    ),
    "small sends with computing between them, as of a wavefront": (
        [site(0, "MPI_Send"), site(1, "MPI_Recv")],
        [step(0, 0, **WHOLE, **COMPUTING), step(1, 1)],
    ),
    "small sends of which the time between them is not known": ([site(0, "MPI_Send")], [step(0, 0, **WHOLE)]),
    "a reduction that needs the first one's result": (
        [site(0, "MPI_Allreduce"), site(1, "MPI_Allreduce")],
        [step(0, 1, **TWICE | {"ready": 0}), step(1, 0)],
    ),
    "reductions whose inputs do not change": (
        [site(0, "MPI_Allreduce"), site(1, "MPI_Allreduce")],
        [step(0, 1, **TWICE | {"inputs": 0, "ready": 0}), step(1, 0)],
    ),
    "reductions of different types or operations": (
        [site(0, "MPI_Allreduce"), site(1, "MPI_Allreduce")],
        [step(0, 1, **TWICE | {"alike": 0}), step(1, 0)],
    ),
    "windows that are made once": (
        [site(0, "MPI_Win_allocate", 0, calls=1), site(1, "MPI_Win_free", 0, calls=1)],
        [step(0, 1), step(1, 0)],
    ),
    "small sends that wait": ([site(0, "MPI_Send", 64, wait_s=spun(0.3))], []),
    "large messages": ([site(0, "MPI_Send", 65536)], [step(0, 0, 65536, **WHOLE)]),
    "a barrier before a send": ([site(0, "MPI_Barrier", 0), site(1, "MPI_Send", 65536)], [step(0, 1), step(1, 0)]),
    "too few samples": ([site(0, PUT)], [step(0, 0, transfers=3, same_pe=3, next_there=3, next_here=3)]),
    "no samples": ([site(0, PUT)], []),
    "a flaw that costs little": ([site(0, PUT, time_s=0.001)], [step(0, 0, **NEXT)]),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_pattern_gets_no_advice(tmp_path, name):
    assert rules(run(tmp_path, *SOUND[name])) == []


EVEN = [0] * 12 + [100]  # calls that waited 2.05 to 4.1 ms


def neighbours(folder: Path, n: int = 8, partners: int = 2, **changes: Any) -> Path:
    """PEs that put to the next ones and meet in a barrier."""
    sites = [
        site(0, PUT, calls=200),
        site(1, BARRIER, 0, calls=100, time_s=0.5, wait_s=spun(0.5), waited=EVEN) | changes,
    ]
    pes = []
    times = {"compute": 1.2, "transfer": 0.1, "wait": 0.7}
    for profile in fakes.on_nodes(n // 2, sites=sites, time_s=times):
        near = sorted((profile["pe"] + 1 + k) % n for k in range(partners))
        each = {"pe": near} | {key: [100] * partners for key in ("calls", "bytes", "wait_s")}
        pes.append(advised.with_lines(profile | {"partners": each, "waited_from_s": 1e-6}))
    return fakes.make_run(folder / "run", pes)


def test_barriers_of_neighbours_are_found_and_those_of_other_programs_are_not(tmp_path):
    (finding,) = advise(neighbours(tmp_path / "few")).findings
    assert finding.rule == "neighbours"
    assert "exchange with 2 others at most" in finding.advice.title
    # 100 calls, of which those that came last waited 2.05 to 4.1 ms.
    assert finding.saved.seconds.as_list() == pytest.approx([0.8 * 0.7 * 100 * 2.048e-3, 0.8 * 100 * 4.096e-3])
    assert rules(neighbours(tmp_path / "many", partners=6)) == []
    assert rules(neighbours(tmp_path / "seldom", calls=10)) == []
    assert rules(neighbours(tmp_path / "three", n=4, partners=3)) == []


def test_no_signals_are_advised_where_one_pe_is_late_at_all_barriers(tmp_path):
    directory = neighbours(tmp_path)
    late = directory / "profile/pe-00003.json"
    profile = json.loads(late.read_text())
    profile["sites"][1] |= {"waited": [100], "wait_s": spun(1e-5)}
    late.write_text(json.dumps(profile))
    assert rules(directory) == []


def polls(folder: Path, wait: str, waited: list[int]) -> Path:
    """A run of 2 s whose PEs poll for a second, in a barrier."""
    state = {"active": 1.0, "spin": 1.0, "yield": 0.0, "asleep": 0.0}
    barrier = site(0, BARRIER, 0, calls=100, time_s=1.0, wait_s=spun(1.0)) | {"waited": waited}
    changes = {"sites": [barrier], "state_s": state, "waited_from_s": 1e-6, "wait_joules": {"cpu": 4.0, "dram": 0.0}}
    pes = [advised.with_lines(fakes.pe_profile(pe, 2, **changes)) for pe in range(2)]
    return fakes.make_run(folder / "run", pes, settings={"WATTLE_WAIT": wait} if wait else {})


LONG = [0] * 14 + [100]  # of 8.2 to 16.4 ms


def test_polling_in_long_waits_costs_joules_and_no_time(tmp_path, wattle):
    directory = polls(tmp_path, "spin", LONG)
    (finding,) = advise(directory).findings
    saved = finding.saved
    assert (finding.rule, saved.seconds.hi, saved.share.hi) == ("wait-setting", 0.0, 0.0)
    # At least 0.82 s of the second were in such waits: 3.3 J of the 4 J of each PE, half to all.
    most = 2 * 4.0 * 100 * 2**13 * 1e-6
    assert saved.joules is not None
    assert saved.joules.as_list() == pytest.approx([0.5 * most, most])
    assert saved.doubt == pytest.approx(0.25)
    assert "saves no time and" in " ".join(wattle("advise", directory).stdout.split())
    done = wattle("advise", directory, "--check", 1)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "a replay shows no wait policy" in done.stderr


@pytest.mark.parametrize(("wait", "waited"), [("adaptive", LONG), ("", LONG), ("spin", [0, 0, 100])])
def test_other_settings_and_short_waits_get_no_such_advice(tmp_path, wait, waited):
    assert rules(polls(tmp_path, wait, waited)) == []


def test_the_pe_with_more_computing_is_named(tmp_path):
    def pe(number: int, compute: float) -> dict:
        state = {"active": compute, "spin": 10 - compute, "yield": 0.0, "asleep": 0.0}
        times = {"compute": compute, "transfer": 0.0, "wait": 10 - compute}
        # The others send to it, and wait for it there.
        send = site(0, "MPI_Send", 65536, calls=100, time_s=10 - compute, wait_s=spun(10 - compute))
        sequence = {"noted": 100, "lost": 0, "timer_s": 1e-8, "columns": STEP_COLUMNS, "steps": [step(0, 0, time_s=20)]}
        facts = {"state_s": state, "time_s": times, "sites": [site(1, BARRIER, 0, calls=100, time_s=0.0), send]}
        return advised.with_lines(fakes.pe_profile(number, 4, wall_s=10.0, sequence=sequence, **facts))

    directory = fakes.make_run(tmp_path / "run", [pe(i, 9.9 if i == 2 else 3.0) for i in range(4)])
    (finding,) = advise(directory).findings  # the sends are a symptom
    assert finding.rule == "imbalance"
    assert "MPI_Send: the others wait here" in " ".join(finding.advice.seen)
    assert finding.advice.title == "PE 2 computes longer than the others"
    assert finding.saved.seconds.hi == pytest.approx(9.9 - (9.9 + 9) / 4)


CORES = {
    "source": "schedstat",
    "in_waits_s": 0.0,
    "other_threads_s": 0.0,
    "other_busy_threads": 0,
    "throttled_s": None,
    "quota_cores": None,
    "cores": [0],
    "cores_of_threads": [],
}


def starved(without_s: float = 1.0, cores: tuple[int, ...] = (0, 1)) -> dict[str, Any]:
    """Changes of a profile of 2 s, a part of them without a core. The PE works for 0.5 s and waits for the rest."""
    state = {"active": 0.5, "spin": 1.5 - without_s, "yield": 0.0, "asleep": 0.0, "no_core": without_s}
    times = {"compute": 0.1, "transfer": 0.4, "wait": 1.5 - without_s, "no_core": without_s}
    return {"wall_s": 2.0, "state_s": state, "time_s": times, "no_core": CORES | {"cores": list(cores)}}


@pytest.mark.parametrize(
    ("cores", "cause"),
    [((0, 1), "other programs had the cores; run it on idle ones."), ((0,), "bound to core 0 together; give each")],
)
def test_a_lack_of_cores_is_a_note_with_its_cause_and_no_finding(tmp_path, cores, cause):
    given = advise(run(tmp_path, [], [], **starved(cores=cores)))
    assert given.findings == []
    (note,) = given.notes
    assert note.startswith("PEs 0-1 had no core for up to 50.0 % of their time") and cause in note
    assert given.as_dict()["notes"] == [note]
    assert f"\nNote: {note}\n" in markdown(given)


def test_no_setting_and_no_command_is_named_for_a_lack_of_cores(wattle, tmp_path):
    shown = wattle("advise", run(tmp_path, [], [], **starved())).stdout
    assert "Note: PEs 0-1 had no core" in " ".join(shown.split()) and "No advice" in shown
    assert "WATTLE_" not in shown and "wattle run" not in shown


def test_the_note_stands_above_the_findings(wattle, tmp_path):
    shown = wattle("advise", run(tmp_path, *PATTERNS["adjacent"], **starved())).stdout
    assert shown.index("Note: ") < shown.index("1. ")
    prose = [line for line in shown.splitlines() if ";  /*" not in line and str(tmp_path) not in line]
    assert max(map(len, prose)) <= 80


@pytest.mark.parametrize(("without_s", "sure"), [(0.1, "high"), (1.0, "low")])
def test_a_finding_is_less_sure_where_pes_had_no_core_for_long(tmp_path, without_s, sure):
    given = advise(run(tmp_path, *PATTERNS["adjacent"], **starved(without_s)))
    (finding,) = given.findings
    assert str(finding.advice.sure) == sure
    assert ("not sure" in given.notes[0]) is (sure == "low")
    assert finding.saved.share.as_list() == pytest.approx(
        [s / (2.0 - without_s) for s in finding.saved.seconds.as_list()]
    )


def test_one_pe_without_a_core_keeps_nobody_waiting_so_its_finding_stays_sure(tmp_path):
    given = advise(run(tmp_path, *PATTERNS["adjacent"], n=1, **starved()))
    (finding,) = given.findings
    assert str(finding.advice.sure) == "high"
    assert len(given.notes) == 1 and "not sure" not in given.notes[0]
    assert finding.saved.share.hi == pytest.approx(finding.saved.seconds.hi / 1.0)


def test_the_saving_is_an_interval_of_time_and_joules_with_their_provenance(tmp_path):
    given = advise(run(tmp_path, *PATTERNS["quiet-each"]))
    (finding,) = given.findings
    saved = finding.saved
    # Of the quiet's 0.4 s in each PE: half to all of it, the least without 5 ns a call that may overlap with others.
    assert saved.seconds.as_list() == pytest.approx([0.5 * (0.4 - MANY * 5e-9), 0.4])
    assert saved.share.hi == pytest.approx(0.2)  # of 2 s
    assert 0 < saved.joules.lo < saved.joules.hi
    assert str(saved.provenance) == "modelled"
    assert finding.spots[0].call == QUIET


def test_joules_stay_unknown_where_those_of_the_run_are(tmp_path):
    none = [fakes.figure("cpu", None) | {"provenance": "unavailable", "joules": None, "uncertainty": None}]
    sites = [site(0, PUT, joules={})]
    directory = run(tmp_path, sites, PATTERNS["adjacent"][1], joules=none, node=None)
    (finding,) = advise(directory).findings
    assert finding.saved.joules is None
    assert "joules unavailable" in markdown(advise(directory))


def test_the_documents_have_all_of_a_finding(wattle, tmp_path):
    directory = run(tmp_path, *PATTERNS["adjacent"])
    (found,) = json.loads(wattle("advise", directory, "--json").stdout)["findings"]
    assert found["rule"] == "adjacent"
    assert found["sites"][0]["call"] == PUT
    assert found["saved_joules"]["provenance"] == "modelled"
    shown = wattle("advise", directory).stdout
    assert "saves" in shown
    assert "send them together" in " ".join(shown.split())
    text = wattle("advise", directory, "--markdown").stdout
    assert "\\n" not in text and text.startswith("### Advice of Wattle on `")
    assert text.startswith("### Advice of Wattle")
    assert "```c" in text


@pytest.mark.parametrize(
    ("name", "language", "snippet"),
    [
        ("send.c", "c", "MPI_Send(all, n * count, type, dest, tag, comm);  /* once"),
        ("send.F90", "fortran", "call MPI_Send(all, n * count, type, dest, tag, comm, ierr)  ! once"),
        ("send.f", "fortran", "call MPI_Send("),
        ("send.cpp", "cpp", "MPI_Send(all.data(), n * count, type, dest, tag, comm);  // once"),
        ("send.C", "cpp", "MPI_Send(all.data()"),
    ],
)
def test_a_change_is_in_the_language_of_its_file(tmp_path, monkeypatch, name, language, snippet):
    def resolve(keys):
        return {key: Place(key[0], key[2], f"/src/{name}", key[2], "send") for key in keys}

    monkeypatch.setattr(symbols, "resolve", resolve)
    given = advise(run(tmp_path, *PATTERNS["small-sends"], lines=False))
    assert given.findings[0].advice.change.startswith(snippet)
    assert f"```{language}\n" in markdown(given)


def test_a_finding_without_a_line_is_not_shown_and_g_is_named(tmp_path):
    given = advise(run(tmp_path, *PATTERNS["small-sends"], lines=False))
    assert given.findings == []
    assert given.missing[0] == "1 finding without a source line: compile the program with -g to see more."


def test_the_price_of_a_barrier_has_no_lateness(tmp_path):
    def seconds(waited: list[int], wait_s: float) -> list[float]:
        barrier = site(0, "MPI_Barrier", 0, calls=100, time_s=wait_s, wait_s=spun(wait_s)) | {"waited": waited}
        sites = [barrier, site(1, "MPI_Allreduce", calls=100)]
        directory = run(tmp_path / str(wait_s), sites, [step(0, 1), step(1, 0)], waited_from_s=1e-6)
        evidence = advise(directory).evidence
        price = evidence.price(next(spot for spot in evidence.spots if spot.call == "MPI_Barrier"))
        return price.as_list()

    assert seconds([0] * 12 + [100], 0.3) == pytest.approx([0.7 * 2.048e-3, 3e-3])
    assert seconds([0] * 10 + [40, 0, 0, 0, 0, 60], 1.2) == pytest.approx([0.7 * 0.512e-3, 1.024e-3])


def test_barriers_that_order_more_than_messages_are_kept(tmp_path):
    def made(name: str, *more: dict, steps: list[list] | None = None, **counts: int) -> list[str]:
        sites = [site(0, "MPI_Barrier", 0, calls=200), site(1, "MPI_Recv", 0), site(2, "MPI_Send", 1024), *more]
        own = [step(0, 2), step(1, 0, **counts), step(2, 1, **counts)]
        sequence = {"noted": 9, "lost": 0, "timer_s": 1e-8, "columns": STEP_COLUMNS, "steps": steps or own}
        each = {"pe": [0], "calls": [200], "bytes": [200], "wait_s": [0.0]}
        pes = [fakes.pe_profile(pe, 4, sites=sites, sequence=sequence) for pe in range(4)]
        pes = [advised.with_lines(pe | {"partners": each | {"pe": [(pe["pe"] + 1) % 4]}}) for pe in pes]
        return rules(fakes.make_run(tmp_path / name / "run", pes))

    assert made("messages") == ["neighbours"]
    assert made("any", any_source=1) == []
    assert made("windows", site(3, "MPI_Win_fence", 0)) == []
    assert made("others", site(3, "MPI_Bcast", 0), steps=[step(0, 3), step(3, 0)] * 4) == []


def test_no_advice_is_said(wattle, tmp_path):
    assert "No advice" in wattle("advise", run(tmp_path, *SOUND["no samples"])).stdout


def test_a_profile_without_the_order_of_calls_is_read_and_said_so(wattle, run_dir):
    assert "order of calls is not known" in " ".join(wattle("advise", run_dir).stdout.split())


DAMAGED = {
    "steps[0]": [step(0, 5)],
    "of a row": [[1, 2, 3]],
    "counts": [step(0, 0, same_pe=101)],
    "numbers": [[*step(0, 0)[:-1], "x"]],
}


@pytest.mark.parametrize("steps", DAMAGED.values(), ids=DAMAGED)
def test_damaged_steps_are_refused_in_one_line(wattle, tmp_path, steps):
    done = wattle("advise", run(tmp_path, [site(0, PUT)], steps))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "sequence.steps[0]" in done.stderr


def test_a_run_without_a_profile_is_refused(tmp_path):
    with pytest.raises(WattleError, match="without a profile"):
        advise(fakes.make_run(tmp_path / "run", [], profile=False))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--cluster", "sandybridge-ib"], "--cluster needs --check N"),
        (["--json", "--markdown"], "--json and --markdown exclude each other"),
        (["--check", "1", "--markdown"], "--markdown and --check exclude each other"),
    ],
)
def test_options_that_do_not_go_together_are_refused_in_one_line(wattle, tmp_path, options, words):
    done = wattle("advise", run(tmp_path, *PATTERNS["adjacent"]), *options)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert words in done.stderr
