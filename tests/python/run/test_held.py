"""Signals that ask for an end wait while the results of a run are kept."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest
from wattle import stopping


def test_ctrl_c_waits_until_the_results_are_kept() -> None:
    kept = False
    with pytest.raises(KeyboardInterrupt), stopping.held():
        os.kill(os.getpid(), signal.SIGINT)
        kept = True
    assert kept


def test_a_terminals_ctrl_c_ends_no_command_that_keeps_results() -> None:
    with stopping.held():
        ended = subprocess.run(["sh", "-c", "kill -INT $$; kill -TERM $$; echo kept"], capture_output=True, text=True)
    assert ended.stdout == "kept\n"


def test_the_signals_that_were_blocked_before_are_known_and_come_back() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    with stopping.held() as known:
        assert known == before | {signal.SIGUSR1}
    assert signal.pthread_sigmask(signal.SIG_SETMASK, before) == before | {signal.SIGUSR1}
