"""A host that does not answer a launcher's ssh is named, and ends the job at the limit."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator

import pytest
from wattle.run import job, reach

pytestmark = pytest.mark.skipif(shutil.which("ssh") is None, reason="no ssh here (Debian: openssh-client)")


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that answers no further connection: its queue is full and no process takes from it."""
    with socket.socket() as server, socket.socket() as first, socket.socket() as second:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for client in (first, second):
            client.setblocking(False)
            client.connect_ex(server.getsockname())
        yield server.getsockname()[1]


def started(port: int, monkeypatch: pytest.MonkeyPatch) -> tuple[job.Outcome, list[str]]:
    """A job whose launcher reaches `far` by ssh, and the remarks on it."""
    monkeypatch.setattr(reach, "NAMED_AFTER_S", 0.0)
    said: list[str] = []
    words = ["sh", "-c", f"ssh -F /dev/null -x -o HostName=127.0.0.1 -p {port} far true; exit 7"]
    return job.run(words, {**os.environ, reach.LIMIT: "1s"}, say=said.append), said


def test_a_host_that_does_not_answer_is_named_and_ends_the_job(silent_port, monkeypatch):
    outcome, said = started(silent_port, monkeypatch)
    assert outcome.exit_code == 7, "the launcher's own code"
    assert len(said) == 1
    assert said[0].startswith("no answer from far since ") and "the job ends after 1s without one" in said[0]


def test_a_host_that_refuses_is_not_named(monkeypatch):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    assert started(port, monkeypatch)[1] == []
