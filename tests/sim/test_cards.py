"""Puts and gets by network cards in simulation: no core of the target has part, times are those of a calculation by
hand, sleepers are woken at once, and programs compute what they do by messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sim_job import ROOT, build, free_cluster, is_built, result, simulate
from wattle.base.errors import WattleError
from wattle.sim import cluster as clusters

pytestmark = pytest.mark.skipif(not is_built(), reason="built without SimGrid (libsimgrid-dev)")

WAKE, PAGE = 50e-6, 4096
OFF = ("--set", "WATTLE_RMA=off")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cards")
    words = ("-D_GNU_SOURCE", f"-I{ROOT / 'tests'}", f"-I{ROOT / 'src'}")
    build(folder, "litmus", of=ROOT / "tests/wait", words=words)
    build(folder, "oracle", of=ROOT / "tests/pgas", words=words)
    return build(folder, "by_card", "puts")


def run(where: Path, program: Path, *arguments: str, n: int = 2, options: tuple[str, ...] = ()) -> list[float]:
    """Runs a program. Returns the numbers of the line that it prints."""
    done = simulate(where, program, *arguments, n=n, options=options)
    assert done.returncode == 0, done.stderr
    line = next((line for line in done.stdout.splitlines() if line.startswith("us ")), "us")
    return [1e-6 * float(word) for word in line.split()[1:]]


def hardware_bytes(where: Path) -> list[int]:
    """Bytes of each PE's puts and gets that cards moved."""
    return [
        json.loads(path.read_text())["network"]["bytes"]["hardware"] for path in sorted((where / "profile").iterdir())
    ]


def run_puts(where: Path, programs: Path, times: int) -> list[int]:
    run(where, programs / "puts", "65536", str(times))
    return hardware_bytes(where)


def parts(where: Path, pe: int, what: str) -> dict[str, float]:
    return result(where)["pes"][pe][what]


def test_a_put_by_the_card_takes_no_time_of_its_target_s_core(programs: Path, tmp_path: Path) -> None:
    def target(name: str, times: int, *options: str) -> tuple[float, float, float]:
        """Seconds in which the target's core computed and woke up, and joules of its memory by bytes."""
        where = tmp_path / f"{name}-{times}"
        run(where, programs / "puts", "65536", str(times), options=("--set", "WATTLE_WAIT=sleep", *options))
        seconds = parts(where, 1, "seconds")
        return seconds["computes"], seconds["wakes"], parts(where, 1, "joules")["dram"]

    few, many = target("card", 45), target("card", 85)  # some leave before the target has registered its memory
    assert many[0] == pytest.approx(few[0], rel=1e-9)
    assert many[1] - few[1] < 3 * WAKE  # the barriers' messages come at other moments
    assert many[2] - few[2] == pytest.approx(0.625e-9 / 2 * 40 * (65536 + 64), rel=0.01)
    few, many = target("core", 5, *OFF), target("core", 45, *OFF)
    assert many[0] - few[0] > 40 * 65536 * 0.1e-9  # `byte` of the network


def test_what_cards_move_is_counted_and_can_be_turned_off(programs: Path, tmp_path: Path) -> None:
    few, many = (run_puts(tmp_path / str(times), programs, times) for times in (45, 85))
    assert few[0] > 0 and many[0] - few[0] == 40 * 65536 and many[1] == 0
    run(tmp_path / "off", programs / "puts", "65536", "45", options=OFF)
    tcp = ("--machine", "sandybridge-tcp", "--set", "WATTLE_RMA=on")
    run(tmp_path / "tcp", programs / "puts", "65536", "45", options=tcp)
    assert hardware_bytes(tmp_path / "off") == hardware_bytes(tmp_path / "tcp") == [0, 0]


def test_times_are_those_of_a_calculation_by_hand(programs: Path, tmp_path: Path) -> None:
    costs = {"latency": 1e-6, "post": 0.3e-6, "fetch": 0.7e-6, "register": 20e-6, "register_page": 2e-6}
    cluster = free_cluster(tmp_path, cards=True, **costs)
    where = ("--machine", str(cluster), "--set", "WATTLE_WAIT=spin")
    n = 16 * PAGE
    first, second, get, alone = run(tmp_path / "long", programs / "by_card", "times", str(n), options=where)
    way = costs["post"] + costs["fetch"] + 2 * costs["latency"] + costs["post"]
    # A blocking put returns with its acknowledgement, so the quiet after it finds nothing to wait for.
    assert alone == pytest.approx(way, abs=0.1e-6)
    assert second == pytest.approx(way, abs=0.1e-6)
    assert first - second == pytest.approx(20e-6 + 16 * 2e-6, abs=0.1e-6)
    assert get == pytest.approx(2 * costs["post"] + costs["fetch"] + 2 * costs["latency"], abs=0.1e-6)
    short = run(tmp_path / "short", programs / "by_card", "times", "8", options=where)
    assert short[0] == pytest.approx(short[1], abs=0.1e-6)  # copied, so its memory is not registered
    assert short[1] == pytest.approx(2 * costs["post"] + 2 * costs["latency"], abs=0.2e-6)
    assert short[3] == pytest.approx(costs["post"], abs=0.1e-6)


@pytest.mark.parametrize("wait", ["sleep", "adaptive"])
@pytest.mark.parametrize("size", [8, 16384])
@pytest.mark.parametrize("delay_ms", [0.03, 0.12, 1, 5])
def test_a_sleeper_is_woken_when_the_bytes_come(
    programs: Path, tmp_path: Path, delay_ms: float, size: int, wait: str
) -> None:
    """Two wake-ups at most: PE 0 before it puts, PE 1 when the message comes that has the bytes or follows them."""
    cluster = free_cluster(tmp_path, cards=True, wake=WAKE)
    options = ("--machine", str(cluster), "--set", f"WATTLE_WAIT={wait}")
    (waited,) = run(tmp_path / "run", programs / "by_card", "wait", str(1e-3 * delay_ms), str(size), options=options)
    assert 1e-3 * delay_ms <= waited <= 1e-3 * delay_ms + 2 * WAKE + 2e-6
    assert hardware_bytes(tmp_path / "run")[0] >= (size if size > 8192 else 0)


@pytest.mark.parametrize("wait", ["spin", "sleep", "adaptive"])
def test_a_deadlock_of_a_pe_with_a_card_is_reported(programs: Path, tmp_path: Path, wait: str) -> None:
    done = simulate(tmp_path / "run", programs / "by_card", "never", options=("--set", f"WATTLE_WAIT={wait}"))
    assert done.returncode != 0 and "deadlock" in done.stderr and "shmem_long_wait_until" in done.stderr, done


def test_a_pe_that_sleeps_since_before_its_keys_were_made_is_woken(programs: Path, tmp_path: Path) -> None:
    run(tmp_path, programs / "by_card", "first", options=("--set", "WATTLE_WAIT=sleep"))
    assert hardware_bytes(tmp_path)[0] == 1 << 20  # the word came by the card, which rings no doorbell


def test_a_network_has_all_numbers_of_cards_or_none(tmp_path: Path) -> None:
    with pytest.raises(WattleError, match=r"free.toml: operation: expected with post, fetch$"):
        clusters.read(str(free_cluster(tmp_path, post=1e-6, fetch=1e-6)))


@pytest.mark.parametrize(
    ("wait", "size"), [("spin", ""), ("sleep", ""), ("adaptive", ""), ("sleep", "large"), ("adaptive", "large")]
)
def test_random_programs_do_what_the_model_does(programs: Path, tmp_path: Path, wait: str, size: str) -> None:
    run(tmp_path, programs / "oracle", "7", "2", size, n=4, options=("--set", f"WATTLE_WAIT={wait}"))
    assert all(hardware_bytes(tmp_path))


@pytest.mark.parametrize("race", ["store_load_word", "store_load_block", "message_word", "message_block", "bell"])
def test_nothing_overtakes_and_no_wakeup_is_lost(programs: Path, tmp_path: Path, race: str) -> None:
    run(tmp_path, programs / "litmus", race, "300", "2")
    assert any(hardware_bytes(tmp_path))
