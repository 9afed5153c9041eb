"""The benchmark program of a study: finds or builds it, runs it under oshrun, and reads its JSON lines."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from wattle.base import files
from wattle.base.checked import parse_json
from wattle.base.errors import DamagedFile, WattleError
from wattle.figures import no_core
from wattle.machine import paths
from wattle.machine.commands import run_quietly
from wattle.machine.paths import Home
from wattle.record import profile
from wattle.record.profile import RunProfile
from wattle.study import measuring
from wattle.study.hosts import NO_DEFAULT
from wattle.study.place import Start
from wattle.text import console

Reader = Callable[[Path, IO[str]], Iterator[dict[str, Any]]]
LAST_WORDS = 5  # lines of standard error that an error message repeats


def find(home: Home, name: str) -> Path:
    """The program `name` of bench/. If bin/wattle-bench-NAME does not exist, it is built and kept for later."""
    built = home.root / "bin" / f"wattle-bench-{name}"
    return built if os.access(built, os.X_OK) else _build(home, home.shared("bench") / f"{name}.c")


def find_example(home: Home, name: str) -> Path:
    """The program `name` of examples/."""
    return _build(home, home.shared("examples") / f"{name}.c")


def find_simulated(home: Home, name: str, folder: str = "bench") -> Path:
    """A program of either folder, built for simulation."""
    return _build(home, home.shared(folder) / f"{name}.c", simulated=True)


def _build(home: Home, source: Path, simulated: bool = False) -> Path:
    compiler = home.tool("oshcc")
    kind, libraries = (["--sim"], []) if simulated else ([], ["-lwattle"])
    target = _cache() / f"{source.stem}{'-sim' if simulated else ''}-{_fingerprint(home, source)}"
    if files.is_ours(target):
        return target
    console.note(f"building {source.name}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".build-") as folder:
            scratch = Path(folder) / target.name
            options = [*kind, "-O3", "-g", "-DUSE_WATTLE", "-o", str(scratch)]
            _compile([str(compiler), *options, str(source), *libraries, "-lm"])
            scratch.chmod(files.PROGRAM)
            scratch.replace(target)  # atomic, even where two studies start at once
    except OSError as error:
        raise WattleError(
            f"{target}: cannot be built: {error.strerror}; set XDG_CACHE_HOME to another folder"
        ) from None
    return target


def _compile(command: list[str]) -> None:
    result = run_quietly(command)
    if result.returncode != 0:
        raise WattleError(f"{' '.join(command)} failed: {_last(result.stderr)}")


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base).absolute() / "wattle" / "bench"


def _fingerprint(home: Home, source: Path) -> str:
    """A hash over the source, the headers beside it, the path of the tools and the library."""
    digest = hashlib.sha256()
    for file in (source, *sorted(source.parent.glob("*.h"))):
        digest.update(file.read_bytes())
    digest.update(str(home.root.resolve()).encode())
    for library in (paths.library(home), home.root / "lib" / "libwattle-sim.a"):
        if library is not None and library.exists():
            digest.update(f"{library.stat().st_mtime_ns}".encode())
    return digest.hexdigest()[:16]


def run(
    home: Home,
    program: Path,
    arguments: Sequence[str],
    n_pes: int,
    start: Start,
    folder: Path | None = None,
    read: Reader | None = None,
) -> Generator[dict[str, Any]]:
    """Runs the program and yields the JSON objects that it prints, one a line, as they arrive. `read`: makes them from
    its output; None: JSON is expected.

    `start` makes the command line of a job at its place. `folder`: where the profiles of its PEs go, in FOLDER/profile,
    which must not exist; None: a temporary folder, and a last object of kind "job" has the column of `lacked`. The
    program is ended if the reader stops early. Raises WattleError with the program's last messages if it fails or
    prints something else, and where its PEs were not at the place.
    """
    if not start.looks:
        yield from _lines(home, program, arguments, n_pes, start, dict(os.environ), read)
        return
    with ExitStack() as stack:
        base = Path(stack.enter_context(start.folder())) if folder is None else folder
        profiles = base / "profile"
        profiles.mkdir(files.FOLDER, parents=True)
        settings = {**os.environ, **NO_DEFAULT, "WATTLE_PROFILE_DIR": str(profiles)}
        yield from _lines(home, program, arguments, n_pes, start, settings, read)
        start.look(profiles, n_pes)
        if folder is None:
            yield {"kind": "job"} | lacked(profile_of(base, n_pes))


def _lines(
    home: Home,
    program: Path,
    arguments: Sequence[str],
    n_pes: int,
    start: Start,
    environment: dict[str, str],
    read: Reader | None,
) -> Iterator[dict[str, Any]]:
    signal.siginterrupt(signal.SIGINT, True)  # otherwise polars restarts a read after Ctrl-C, and the signal is lost
    command = [*start(str(home.tool("oshrun")), n_pes), str(program), *arguments]
    with measuring.job(program.name), tempfile.TemporaryFile("w+", errors="replace") as words:
        try:
            none, pipe = subprocess.DEVNULL, subprocess.PIPE
            job = subprocess.Popen(command, env=environment, stdin=none, stdout=pipe, stderr=words, text=True)
        except OSError as error:
            raise WattleError(f"{command[0]} cannot be started: {error.strerror}") from None
        try:
            assert job.stdout is not None
            yield from (read or _objects)(program, job.stdout)
            code = job.wait()
        finally:
            _end(job)
        if code != 0:
            words.seek(0)
            raise WattleError(f"{program.name} {_how(code)}: {_last(words.read())}")


def profile_of(folder: Path, pes: int) -> RunProfile | None:
    """The profile of a finished job; None where it left none (WATTLE_PROFILE=off), or not all of it."""
    if not any((folder / "profile").glob("pe-*.json")):
        return None
    found = profile.load(folder, pes)
    return found if found.complete else None


def states(found: RunProfile | None) -> dict[str, float | None]:
    """Columns of a job: `no_core`, and PE-seconds between init and finalize by state, null where they are unknown."""
    seconds = {
        f"job_{state}_s": found.sum("state_s", state) if found else None
        for state in ("active", "spin", "yield", "asleep")
    }
    return seconds | lacked(found)


def lacked(found: RunProfile | None) -> dict[str, float | None]:
    """The column `no_core` of a job: the share of its time for which a PE lacked a core; null where it is unknown."""
    short = no_core.shortage(found) if found else None
    return {"no_core": short.weighed if short else 0.0 if found else None}


def shown(program: Path, lines: IO[str]) -> Iterator[dict[str, Any]]:
    """Writes the output of a user's program to standard error. It holds no objects."""
    for line in lines:
        console.err.print(line.rstrip("\n"), soft_wrap=True)
    yield from ()


def _objects(program: Path, lines: IO[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        if not line.strip():
            continue
        try:
            yield parse_json("it", line).object()
        except DamagedFile as error:
            printed = line.strip()[:200]
            raise WattleError(
                f"{program.name} printed a line that is not a JSON object: {printed!r} ({error.wrong})"
            ) from None


def _end(job: subprocess.Popen[str]) -> None:
    """Ends the job so that no process of it is left."""
    if job.poll() is None:
        job.send_signal(signal.SIGTERM)
        try:
            job.wait(timeout=5)
        except subprocess.TimeoutExpired:
            job.kill()
            job.wait()
    if job.stdout is not None:
        job.stdout.close()


def _how(code: int) -> str:
    return f"was ended by signal {-code}" if code < 0 else f"failed with exit code {code}"


def _last(text: str) -> str:
    lines = [re.sub(r"\s+", " ", line).strip() for line in text.splitlines()]
    lines = [line for line in lines if re.search(r"\w", line)]
    return " / ".join(lines[-LAST_WORDS:]) or "it printed no message"
