"""`wattle advise` on simulated runs of examples/advice: each PE has a core, and the same run takes the same time. So
the flaw is found at its line and nothing else, nothing is found in the mended twin, and the twin saves what was
predicted.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from sim_job import build, is_built, simulate
from tree import ROOT
from wattle.advise.given import Given, advise

pytestmark = pytest.mark.skipif(not is_built(), reason="built without SimGrid (libsimgrid-dev)")

FOLDER = ROOT / "examples/advice"
# A program, its rule, PEs and rounds.
PROGRAMS = {
    "neighbours": ("neighbours", 16, 100),
    "am_update": ("get-put", 4, 4),
    "fetches": ("blocking-gets", 4, 4),
    "late_receiver": ("late-receiver", 2, 20),
    "imbalance": ("imbalance", 4, 5),
    "barrier_before": ("barrier-before", 4, 200),
    "quiet_each": ("quiet-each", 2, 3),
}
ROUNDING = 0.005  # the mended imbalance.c divides the work in whole steps


def run(name: str, folder: Path, pes: int, rounds: int, *words: str) -> Given:
    build(folder, name, of=FOLDER, words=words)
    done = simulate(folder / "run", folder / name, str(rounds), n=pes)
    assert done.returncode == 0, done.stderr
    return advise(folder / "run")


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_flaw_is_found_at_its_line_and_the_twin_saves_what_is_predicted(name, tmp_path):
    rule, pes, rounds = PROGRAMS[name]
    source = (FOLDER / f"{name}.c").read_text().splitlines()
    line = next(i for i, text in enumerate(source, 1) if "/* flaw */" in text)
    for folder in ("flawed", "mended"):
        (tmp_path / folder).mkdir()
    flawed = run(name, tmp_path / "flawed", pes, rounds)
    mended = run(name, tmp_path / "mended", pes, rounds, "-DMENDED")
    (found,) = flawed.findings
    assert found.rule == rule
    assert line in {spot.place.line for spot in found.spots}
    assert mended.findings == []
    saved = 1 - mended.evidence.wall_s / flawed.evidence.wall_s
    # Lateness by chance is in no price of a barrier. Without it, PEs also wait for their neighbours alone.
    most = 1.0 if rule == "neighbours" else found.saved.share.hi
    assert found.saved.share.lo <= saved <= most + ROUNDING
