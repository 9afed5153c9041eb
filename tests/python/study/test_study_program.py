"""The pattern benchmark on the real runtime: data arrive, and wrong arguments are named."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from wattle.base.errors import WattleError
from wattle.machine import paths
from wattle.machine.paths import Home
from wattle.study import program


@pytest.fixture(scope="module")
def built() -> tuple[Home, Path]:
    try:
        home = paths.find_home()
        return home, program.find(home, "patterns")
    except WattleError as error:
        pytest.skip(f"the runtime is not built: {error}")


def run(built: tuple[Home, Path], *arguments: str, n: int | None = 2) -> subprocess.CompletedProcess[str]:
    home, bench = built
    launcher = [str(home.tool("oshrun")), "-n", str(n)] if n else []
    command = [*launcher, str(bench), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_every_pattern_delivers_every_byte_at_every_size_of_fragment(built):
    done = run(built, "--payload", "12K", "--fragments", "1,3,1024,12288", "--repeat", "1", "--min-time", "0")
    assert done.returncode == 0, done.stderr
    samples = [d for d in map(json.loads, done.stdout.splitlines()) if d["kind"] == "sample"]
    assert len(samples) == 5 * 4
    assert all(s["verified"] is True for s in samples)
    assert all(s["iterations"] >= 5 and s["latency_s"]["median"] > 0 for s in samples)


def test_patterns_take_turns_at_the_start_of_each_round(built):
    done = run(
        built, "--payload", "1K", "--fragments", "1", "--repeat", "5", "--min-time", "0", "--min-iterations", "1"
    )
    samples = [d for d in map(json.loads, done.stdout.splitlines()) if d["kind"] == "sample"]
    firsts = [s["pattern"] for s in samples if s["turn"] == 0]
    assert len(set(firsts)) == 5


def test_a_range_leaves_out_the_numbers_of_fragments_that_do_not_divide_a_payload(built):
    once = ("--patterns", "PQPQ", "--repeat", "1", "--min-time", "0", "--min-iterations", "1")
    done = run(built, "--payload", "3K,6,1", "--fragments", "1-4096", *once)
    setup, _, *samples = map(json.loads, done.stdout.splitlines())
    cells = {(s["payload"], s["fragments"]) for s in samples}
    assert cells == {(3072, 1 << k) for k in range(11)} | {(6, 1), (6, 2), (1, 1)}
    assert len(samples) == setup["configurations"] == 14


@pytest.mark.parametrize("pattern", ["PQPQ", "MMPQAMM"])
def test_parts_of_one_buffer_arrive_and_transfers_are_counted(built, pattern):
    once = ("--patterns", pattern, "--repeat", "1", "--min-time", "0", "--min-iterations", "1")
    done = run(built, "--payload", "4099,64", "--fragments", "1-64", "--gap", "0", "--count", "2", *once)
    samples = [d for d in map(json.loads, done.stdout.splitlines()) if d["kind"] == "sample"]
    assert {s["fragments"] for s in samples} == {1 << k for k in range(7)}
    assert all(s["verified"] for s in samples)
    for counted in (s["counted"] for s in samples):
        kinds = ("instructions", "cycles", "cache_references", "cache_misses")
        assert all((counted[kind] is None) <= bool(counted["why"]) for kind in kinds)
        assert "lo" in [card["name"] for card in counted["interfaces"]]
        assert all(card["packets_sent"] >= 0 for card in counted["interfaces"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--payload", "3K", "--fragments", "1,2048"], ["3072", "2048", "--fragments"]),
        (["--payload", "x"], ["--payload", "'x'"]),
        (["--fragments", "8-2"], ["8-2", "smaller number first"]),
        (["--fragments", "0"], ["'0'", "1 to"]),
        (["--patterns", "PPQ,PP"], ["'PP'", "MMPQAMM"]),
        (["--patterns", "PPQ,PPQ"], ["'PPQ'", "twice"]),
        (["--repeat", "0"], ["--repeat", "'0'"]),
        (["--min-time", "soon"], ["--min-time", "'soon'"]),
        (["--gap", "8"], ["--gap 8", "64 bytes", "0 is allowed"]),
        (["--clear", "wipe"], ["'wipe'", "sweep"]),
        (["--repeat"], ["--repeat"]),
        (["--nonsense", "1"], ["--nonsense"]),
    ],
)
def test_a_wrong_argument_is_named_with_the_allowed_values(built, arguments, words):
    done = run(built, *arguments, n=None)  # arguments are looked at before the number of PEs is
    assert done.returncode == 2
    assert done.stdout == ""
    for word in words:
        assert word in done.stderr, word


def test_another_number_of_pes_than_two_is_refused(built):
    done = run(built, n=1)
    assert done.returncode != 0
    assert "needs an even number of PEs" in done.stderr
