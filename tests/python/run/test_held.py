"""Signals that ask for an end wait while the results of a run are kept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from wattle import cli
from wattle.machine import stopping
from wattle.run import finish


@pytest.fixture(autouse=True)
def ctrl_c_interrupts() -> Iterator[None]:
    """It is ignored where a shell has started the tests in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("threads", [0, 1])
def test_ctrl_c_waits_until_the_results_are_kept(threads: int) -> None:
    """Another thread that has not blocked it may take the signal."""
    kept, over = False, threading.Event()
    others = [threading.Thread(target=over.wait) for _ in range(threads)]
    for thread in others:
        thread.start()
    try:
        with pytest.raises(KeyboardInterrupt), stopping.held():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            kept = True
    finally:
        over.set()
        for thread in others:
            thread.join()
    assert kept
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_terminals_ctrl_c_ends_no_command_that_keeps_results() -> None:
    with stopping.held():
        ended = subprocess.run(["sh", "-c", "kill -INT $$; kill -TERM $$; echo kept"], capture_output=True, text=True)
    assert ended.stdout == "kept\n"


def test_the_signals_that_were_blocked_before_are_known_and_come_back() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    with stopping.held() as known:
        assert known == before | {signal.SIGUSR1}
    assert signal.pthread_sigmask(signal.SIG_SETMASK, before) == before | {signal.SIGUSR1}


@pytest.mark.parametrize("repeats", [1, 3])
def test_a_run_that_has_ended_is_kept_if_ctrl_c_comes_then(home, tmp_path, monkeypatch, capsys, repeats: int) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(finish, "collect", lambda *_: os.kill(os.getpid(), signal.SIGINT))
    monkeypatch.setattr(sys, "argv", ["wattle", "run", "-n", "1", "--repeat", str(repeats), "-o", "kept", "true"])
    try:
        code = cli.main()
    except SystemExit as end:
        code = end.code
    assert code == 128 + signal.SIGINT
    record = json.loads((tmp_path / "kept/manifest.json").read_text())
    assert record["exit_code"] == 0
    assert record.get("repeats", []) == (["repeat-001"] if repeats > 1 else [])
    assert "its figures are in kept" in capsys.readouterr().err


HANGS = """
import os, signal, subprocess
from wattle import cli
from wattle.run import finish

def hang(*_):
    child = subprocess.Popen(["sleep", "1000"])  # must end as well: it has our standard error
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(os.getpid(), number)
    child.wait()

finish.collect = hang
signal.signal(signal.SIGINT, signal.default_int_handler)
cli.main(["run", "-n", "1", "-o", "kept", "true"])
"""


def test_a_second_signal_ends_a_command_whose_results_cannot_be_kept(environment, tmp_path) -> None:
    words = [sys.executable, "-c", HANGS]
    done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stderr.splitlines()[-1] == f"wattle: interrupted again: the figures in {tmp_path}/kept are incomplete"
