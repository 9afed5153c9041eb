"""The page on the slack of recorded MPI programs has what the replay gives."""

from __future__ import annotations

import subprocess
import sys

import pytest
from sim_job import ROOT, environment, is_built

HANGS_S = 3600  # on a busy machine
pytestmark = [
    pytest.mark.skipif(not is_built(), reason="built without SimGrid (libsimgrid-dev)"),
    pytest.mark.timeout(HANGS_S),
]


@pytest.mark.soak
def test_the_rows_of_the_recorded_size_are_those_of_the_page() -> None:
    command = [sys.executable, str(ROOT / "bench" / "mpi_slack.py"), "--check"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
