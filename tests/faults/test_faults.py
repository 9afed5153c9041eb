"""A short campaign of faults, so that the long one, of `make soak`, keeps working."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_struck_jobs_end_leave_nothing_and_say_so_by_their_code() -> None:
    campaign = Path(__file__).parent / "campaign.py"
    words = [sys.executable, campaign, "--seed", "1", "--jobs", "10"]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout
