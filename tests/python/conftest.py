"""Fixtures of the lab's tests: a made-up home, run directories, and the command as a user starts it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import fakes
import pytest
from fakes import Interrupted, Wattle
from loaded import Loaded
from tree import PACKAGE


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A made-up home that is in force."""
    root = fakes.make_home(tmp_path / "home")
    monkeypatch.setenv("WATTLE_HOME", str(root))
    return root


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """A sound run directory of two PEs."""
    return fakes.make_run(tmp_path / "run")


@pytest.fixture(scope="session")
def python_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a command but for its home: no settings, no colour, 80 columns. Byte code is kept outside of
    the sources, so that each module is compiled once."""
    unwanted = ("WATTLE_", "SHMEM_", "FAKE_", "COLUMNS", "PYTHONDONTWRITEBYTECODE")
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(unwanted)}
    cache = {"PYTHONPYCACHEPREFIX": str(tmp_path_factory.getbasetemp() / "bytecode")}
    return {**cache, **inherited, "PYTHONPATH": str(PACKAGE)}


@pytest.fixture
def environment(home: Path, python_environment: dict[str, str]) -> dict[str, str]:
    """The environment of a command started by a test, with the made-up home."""
    return {**python_environment, "WATTLE_HOME": str(home)}


@pytest.fixture(scope="session")
def loaded(python_environment: dict[str, str]) -> Iterator[Loaded]:
    """The process from which most commands are forked."""
    with Loaded(python_environment) as process:
        yield process


@pytest.fixture
def wattle(environment: dict[str, str], loaded: Loaded, tmp_path: Path) -> Wattle:
    """Runs `wattle ARGUMENTS` in an empty directory; keyword `env` adds to the environment."""
    work = tmp_path / "work"
    work.mkdir()

    def start(
        *arguments: object, env: dict[str, str] | None = None, **options: object
    ) -> subprocess.CompletedProcess[str]:
        if not options and not any(name.startswith(("LC_", "LANG", "PYTHON")) for name in env or {}):
            return loaded.run([*map(str, arguments)], {**environment, **(env or {})}, work)
        return subprocess.run(
            [sys.executable, "-m", "wattle", *map(str, arguments)],
            env={**environment, **(env or {})},
            cwd=work,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            **({"stdin": subprocess.DEVNULL} | options),
        )

    return start


@pytest.fixture
def unheard(environment: dict[str, str]) -> Callable[..., int]:
    """Runs `wattle ARGUMENTS` with a closed pipe as its output, at every step. Returns its exit code."""

    def run(*arguments: object, **more: str) -> int:
        begin = "from wattle import cli; from wattle.text import console; console.LINE_EVERY_S = 0; cli.main()"
        reader, writer = os.pipe()
        os.close(reader)
        words = [sys.executable, "-c", begin, *map(str, arguments)]
        try:
            done = subprocess.run(
                words, env={**environment, **more}, stdout=writer, stderr=writer, timeout=300, check=False
            )
        finally:
            os.close(writer)
        return done.returncode

    return run


@pytest.fixture
def interrupted(environment: dict[str, str], tmp_path: Path) -> Interrupted:
    """Runs `wattle study NAME --quick -o OUT`, and sends it Ctrl-C or another signal once a stand-in has made
    FAKE_READY; keyword arguments add to the environment."""

    def run(study: str, out: Path, number: int = signal.SIGINT, **more: str) -> subprocess.CompletedProcess[str]:
        ready = tmp_path / "interrupt-now"
        words = ["study", study, "--quick", "-o", str(out)]
        started = fakes.started(words, {**environment, "FAKE_READY": str(ready), **more})
        fakes.until_there(ready, started)
        assert json.loads((out / "manifest.json").read_text())["exit_code"] is None
        started.send_signal(number)
        said = started.communicate(timeout=300)
        return subprocess.CompletedProcess([], started.returncode, *said)

    return run
