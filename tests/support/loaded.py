"""`wattle` in a process of its own, forked from one that has loaded the libraries that the lab uses: to load them takes
most of the time of a command. Nothing of the lab itself is loaded before the fork, and the streams, the environment and
the folder are those of a command that a user starts.
"""

from __future__ import annotations

import io
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path

LIMIT_S = 300
LIBRARIES = ("jinja2", "msgspec", "numpy", "polars", "rich.console", "rich.progress", "rich.table", "typer")


class Loaded:
    """The process that forks, while the context lasts. Another is started where it has ended: a test that calls
    `wattle run` as a function ends all processes of this one."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        self._busy = threading.Lock()
        self._start()

    def _start(self) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ours.settimeout(LIMIT_S)
        words = [sys.executable, __file__, str(theirs.fileno())]
        self._process = subprocess.Popen(words, env=self._environment, pass_fds=[theirs.fileno()])
        theirs.close()

    def __enter__(self) -> Loaded:
        return self

    def __exit__(self, *_: object) -> None:
        self._ours.close()
        self._process.wait(LIMIT_S)

    def run(
        self, arguments: list[str], environment: dict[str, str], folder: Path, limit_s: float = LIMIT_S
    ) -> subprocess.CompletedProcess[str]:
        """`wattle ARGUMENTS` in `folder`, with nothing on standard input, killed after `limit_s`."""
        request = json.dumps([arguments, environment, str(folder)]).encode()
        with (
            self._busy,
            Path(os.devnull).open("rb") as nothing,
            os.fdopen(os.memfd_create("out"), "rb") as out,
            os.fdopen(os.memfd_create("err"), "rb") as err,
        ):
            if self._process.poll() is not None:
                self._ours.close()
                self._start()
            socket.send_fds(self._ours, [request], [stream.fileno() for stream in (nothing, out, err)])
            pid = int(self._ours.recv(100))
            try:
                self._ours.settimeout(limit_s)
                code = int(self._ours.recv(100))
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise
            finally:
                self._ours.settimeout(LIMIT_S)
            said = []
            for stream in (out, err):
                stream.seek(0)
                said.append(io.TextIOWrapper(io.BytesIO(stream.read()), encoding="utf-8").read())
            return subprocess.CompletedProcess(["wattle", *arguments], code, *said)


@cache
def _of_this_process() -> Loaded:
    return Loaded(dict(os.environ) | {"PYTHONPATH": str(Path(__file__).parents[2] / "python")})


def wattle(
    *arguments: object, environment: dict[str, str], folder: Path, limit_s: float = LIMIT_S
) -> subprocess.CompletedProcess[str]:
    """`wattle ARGUMENTS` in `folder`, with the real libraries of WATTLE_HOME in `environment`."""
    return _of_this_process().run([*map(str, arguments)], environment, folder, limit_s)


def _next(requests: socket.socket) -> tuple[list[str], dict[str, str], str, list[int]] | None:
    """Returns its task in a new process. Returns None at the end in the process that forks."""
    while True:
        request, streams, _, _ = socket.recv_fds(requests, 1 << 20, 3)
        if not request:
            return None
        pid = os.fork()
        if pid == 0:
            requests.close()
            return (*json.loads(request), streams)
        for stream in streams:
            os.close(stream)
        requests.send(str(pid).encode())
        requests.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())


def _become(environment: dict[str, str], folder: str, streams: list[int]) -> None:
    """Streams as Python makes them, in UTF-8."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[0] = folder


def _main() -> None:
    for name in LIBRARIES:
        __import__(name)
    with socket.socket(fileno=int(sys.argv[1])) as requests:
        asked = _next(requests)
    if asked:
        arguments, environment, folder, streams = asked
        _become(environment, folder, streams)
        sys.argv = ["wattle", *arguments]
        runpy.run_module("wattle", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _main()
