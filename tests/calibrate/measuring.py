"""Runs wattle-calibrate as `wattle calibrate` does, and holds what it prints against what must hold on any machine.

usage: measuring.py TOOL NO_MEMBARRIER TEST
"""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

TOOL, NO_MEMBARRIER, TEST = sys.argv[1:4]
QUICK = ("--budget", "2")
SLEEPS = ("futex_same", "epoll_same", "futex_other", "epoll_other")


def run(*arguments: str, before: tuple[str, ...] = (), **env: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("WATTLE_")} | env
    command = [*before, TOOL, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)


def completed(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """A measurement that ended. The tool stops by itself where other work takes the cores, which is no error of it.
    Three times in a row: the test is skipped.
    """
    for _ in range(3):
        done = run(*arguments, **options)
        if done.returncode != 69 or "is this machine overloaded?" not in done.stderr:
            assert done.returncode == 0, done
            return done
    sys.exit(77)


def measured(**options: object) -> dict:
    return json.loads(completed(*QUICK, **options).stdout)


def cells(document: dict) -> dict[str, dict]:
    return {f"{name}.{side}": row[side] for name, row in document["prices"].items() for side in ("idle", "peer")}


def lacking(document: dict, places: Iterable[str], excuse: str | None = None, **options: object) -> dict[str, dict]:
    """The cells of these places that have no median in this measurement and in two further ones. Other work may take
    the core of a process for so long that a cell has no sample. A cell whose reason has the excuse is left out.
    """
    for further in range(3):
        found = cells(measured(**options) if further else document)
        places = [place for place in places if "median_s" not in found[place]]
        places = [place for place in places if excuse is None or excuse not in found[place]["why"]]
        if not places:
            break
    return {place: found[place] for place in places}


def check_each_price_is_measured_or_says_why_not() -> None:
    document = measured()
    for place, cell in cells(document).items():
        assert ("median_s" in cell or cell["why"] is not None) == cell["applies"], (place, cell)
        if "median_s" not in cell:
            continue
        low, middle, high = cell["quarter_s"], cell["median_s"], cell["three_quarters_s"]
        assert cell["least_s"] <= low <= middle <= high and math.isfinite(middle), (place, cell)
        assert cell["samples"] >= 1, (place, cell)
    names = ("futex_same.idle", "epoll_same.idle", "yield_alone.idle", "fence.idle", "ticks.idle", "clock.idle")
    without = lacking(document, names)
    assert not without, without


def check_all_but_the_instructions_are_measured_on_two_cores() -> None:
    if len(os.sched_getaffinity(0)) < 2:
        sys.exit(77)
    document = measured()
    places = [place for place, cell in cells(document).items() if cell["applies"] and "lowpower" not in place]
    # On a machine with other work, a peer may not get to run; that is said.
    without = lacking(document, places, excuse="peer did not run")
    if subprocess.run([NO_MEMBARRIER, "--try"], check=False).returncode == 0:
        assert not without, without


def check_on_one_core_the_others_say_why() -> None:
    core = str(min(os.sched_getaffinity(0)))
    before = ("taskset", "-c", core)
    document = measured(before=before)
    assert document["how"]["cores"] == [int(core)]
    for place, cell in cells(document).items():
        if cell["applies"] and (place.endswith(".peer") or "_other" in place):
            assert "one core" in cell["why"], (place, cell)
    without = lacking(document, ["futex_same.idle"], before=before)
    assert not without, without


def check_what_the_system_forbids_is_said_and_the_rest_measured() -> None:
    done = completed(*QUICK, before=(NO_MEMBARRIER,))
    found = cells(json.loads(done.stdout))
    assert found["membarrier.idle"]["why"] == "membarrier: Operation not permitted", found["membarrier.idle"]
    assert "median_s" in found["fence.idle"]


def check_progress_counts_every_price() -> None:
    done = completed("--progress", *QUICK)
    lines = [re.fullmatch(r"(\d+) of (\d+): (\w+)", line) for line in done.stderr.splitlines()]
    assert all(lines), done.stderr
    assert [int(line[1]) for line in lines] == list(range(int(lines[0][2])))
    assert {line[3] for line in lines} == set(json.loads(done.stdout)["prices"])


def check_wrong_words_and_settings_are_refused() -> None:
    for words in (("now",), ("--budget",), ("--budget", "0"), ("--budget", "x"), ("where", "else")):
        assert run(*words).returncode == 64, words
    done = run(*QUICK, WATTLE_LOWPOWER="wait")
    assert (done.returncode, done.stdout) == (78, "") and "WATTLE_LOWPOWER=wait" in done.stderr
    wrong = "tpause" if os.uname().machine == "aarch64" else "wfe"
    done = run(*QUICK, WATTLE_LOWPOWER=wrong)
    assert (done.returncode, done.stdout) == (78, "") and f"WATTLE_LOWPOWER={wrong}:" in done.stderr


def check_where_names_the_file_and_what_a_program_finds_in_it() -> None:
    cache = "/nonexistent"
    found = json.loads(run("where", XDG_CACHE_HOME=cache).stdout)
    assert found["file"].startswith(f"{cache}/wattle/prices-"), found
    assert found["machine"].keys() == {"host", "cpu", "kernel", "cores"}
    assert not found["read"]["known"] and "No such file" in found["read"]["why"]
    assert found["file"] == measured(XDG_CACHE_HOME=cache)["file"]


def parent(stat: Path) -> str:
    """The fourth field; the second, a name in brackets, may hold anything."""
    try:
        return stat.read_text().rpartition(")")[2].split()[1]
    except OSError:  # it has ended meanwhile
        return ""


def children(of: int) -> list[str]:
    return [stat.parent.name for stat in Path("/proc").glob("[0-9]*/stat") if parent(stat) == str(of)]


def check_nothing_is_left_of_one_that_is_killed() -> None:
    with subprocess.Popen([TOOL, "--budget", "2000"], stdout=subprocess.DEVNULL) as process:
        helpers: list[str] = []
        while not helpers and process.poll() is None:
            helpers = children(process.pid)
            time.sleep(0.01)
        assert helpers
        process.send_signal(signal.SIGKILL)
    for _ in range(500):
        if not any(Path(f"/proc/{pid}").exists() for pid in helpers):
            return
        time.sleep(0.01)
    raise AssertionError(f"helpers {helpers} still run")


if __name__ == "__main__":
    globals()[f"check_{TEST}"]()
