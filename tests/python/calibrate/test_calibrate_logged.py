"""`wattle calibrate --profile --meter-log` to its end, with a meter's log that another process writes meanwhile."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from tree import HOME

IDLE_W, FIRST_W, FURTHER_W, NOISE_W = 40.0, 9.0, 6.0, 0.2
AHEAD_S = 1234.5  # of the meter's clock

# A meter that sees the load of one command: its processes that compute are those that are not stopped. They count as
# whole cores, because other programs of this machine may take their time.
LOGGER = r"""
import os, random, sys, time
from pathlib import Path
log, mark, ahead, idle, first, further, noise = sys.argv[1], sys.argv[2], *map(float, sys.argv[3:])
random_ = random.Random(1)

def read(pid, name):
    try:
        return (Path("/proc") / pid / name).read_bytes().decode(errors="replace")
    except OSError:
        return ""

def busy():
    children = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        state = read(pid, "stat").rpartition(")")[2].split()
        if len(state) > 1 and "sched_setaffinity" in read(pid, "cmdline"):
            children.setdefault(state[1], []).append(state[0])
    return sum(s not in "TtZX" for p, states in children.items() if mark in read(p, "cmdline") for s in states)

with open(log, "w") as file:
    print("time,power_W", file=file, flush=True)
    while os.getppid() == PARENT:
        n = busy()
        watts = idle + (first + further * (n - 1) if n else 0) + random_.uniform(-noise, noise)
        print(f"{time.time() + ahead:.3f},{watts:.2f}", file=file, flush=True)
        time.sleep(0.1)
"""


@pytest.fixture
def meter(tmp_path):
    words = [str(value) for value in (AHEAD_S, IDLE_W, FIRST_W, FURTHER_W, NOISE_W)]
    source = LOGGER.replace("PARENT", str(os.getpid()))
    logger = subprocess.Popen(
        [sys.executable, "-S", "-c", source, tmp_path / "plug.csv", tmp_path / "made.yaml", *words]
    )
    yield tmp_path / "plug.csv"
    logger.kill()
    logger.wait()


def number(text: str, key: str) -> tuple[float, float]:
    found = re.search(rf"{key}:\n +value: (\S+)\n +plus_minus: (\S+)\n", text)
    assert found, text
    return float(found[1]), float(found[2])


def has_gaps(log: Path) -> bool:
    """Whether the logger had to wait for a core. The joules of such a gap are rightly in doubt."""
    at = [float(line.partition(",")[0]) for line in log.read_text().splitlines()[1:-1]]
    steps = [b - a for a, b in pairwise(at)]
    return max(steps) > 3 * median(steps)


# It keeps every core busy for half a minute.
@pytest.mark.soak
def test_a_log_that_grows_gives_a_profile_with_the_true_watts(wattle, tmp_path, meter):
    file = tmp_path / "made.yaml"
    words = ("--meter-log", meter, "--meter-set", "every=0.5", "--seconds", 3, "--ghz", 2)
    done = wattle("calibrate", "--profile", file, *words, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    text = file.read_text()
    cores = len(os.sched_getaffinity(0))
    mean_w = (FIRST_W + FURTHER_W * (cores - 1)) / cores
    idle, idle_width = number(text, "cpu")
    active, width = number(text, "active")
    assert abs(idle - IDLE_W) <= idle_width
    assert has_gaps(meter) or idle_width < 0.15 * IDLE_W
    assert active - width <= min(FIRST_W, mean_w) and max(FIRST_W, mean_w) <= active + width
    assert "plug.csv" in text and "tag: derived" in text
    used = wattle(
        "energy", "--machine", file, "--meter", "model", "--json", "--", "true", env={"WATTLE_HOME": str(HOME)}
    )
    drawn = json.loads(used.stdout)["joules"]["idle"][0]
    assert drawn["joules"] == pytest.approx(idle * drawn["interval_s"], rel=1e-4)
