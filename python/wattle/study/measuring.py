"""Options that all studies have: `--shield` and `--meter-log`, and what they do around the jobs of a study."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattle.base.errors import WattleError
from wattle.meter_log import kept, options
from wattle.meter_log.given import READINGS, Given
from wattle.meter_log.session import Session
from wattle.record import manifest
from wattle.shield import shield as shields
from wattle.text import console

SIMULATED = "sim"
LONG = ("race", "mst", "groups")  # studies whose quick simulation takes too long to run three times


@dataclass(frozen=True)
class Asked:
    """The options of the study that is being started. `judged`: it has published figures, as all have except that of a
    user's program.
    """

    shield: str | None = None
    log: Given | None = None
    simulated: bool = False
    quick: bool = False
    judged: bool = True


NOTHING = Asked()
_asked: ContextVar[Asked] = ContextVar("asked", default=NOTHING)
_session: ContextVar[tuple[Session, Iterator[int]] | None] = ContextVar("session", default=None)


@contextmanager
def asking(
    place: str, quick: bool, judged: bool, shield: str | None, log: Path | None, settings: list[str] | None
) -> Iterator[None]:
    """The options of the study that is started in the context. `place`: as `--on` names it. Raises WattleError for
    those that the place does not have.
    """
    kind = place.partition(":")[0]
    asked = Asked(shield, options.chosen(log, settings), kind == SIMULATED, quick, judged)
    for option, value in (("--shield", asked.shield), ("--meter-log", asked.log)):
        if asked.simulated and value is not None:
            raise WattleError(f"{option}: is for real jobs, and --on sim simulates them")
    if kind == "hosts" and shield is not None:
        raise WattleError("--shield: shields cores of this machine, and --hosts starts PEs on others")
    token = _asked.set(asked)
    try:
        yield
    finally:
        _asked.reset(token)


@contextmanager
def around(directory: Path) -> Iterator[dict[str, Any]]:
    """Shields the cores and makes the load patterns around a study. Gives further entries of its manifest, which are
    complete after the context; they are also written to DIR/manifest.json where the study ended early.
    """
    asked = _asked.get()
    facts: dict[str, Any] = {}
    shields.repair()
    try:
        with ExitStack() as stack:
            if asked.shield is not None:
                facts["shield"] = stack.enter_context(shields.shielded(asked.shield))
            session = Session(asked.log, directory) if asked.log else None
            if session:
                console.note(
                    f"external meter: samples last for {least_s():.3g} s or more, {READINGS} readings, where they can"
                )
                session.begin()
                stack.callback(_session.reset, _session.set((session, itertools.count(1))))
            yield facts
            if session:
                facts["external"] = _read(session, directory)
    except BaseException:
        _add(directory, facts)
        raise


def _read(session: Session, directory: Path) -> dict[str, Any]:
    from wattle.study import metered  # imports all studies

    found = session.end()
    if found.why:
        console.error(f"external meter: {found.why}; read a later log with `wattle external {directory} LOG`")
    else:
        metered.add(directory, found)
    return dict(kept.summary(found))


def _add(directory: Path, facts: dict[str, Any]) -> None:
    """Adds the entries to the manifest of a study that ended early."""
    if facts and (directory / manifest.FILE).exists():
        record = manifest.read(directory)
        record.extra |= facts
        manifest.keep(directory, record)


def reading_s() -> float:
    """Seconds between two readings of the external meter of the study that is being started; 0 without one."""
    log = _asked.get().log
    return log.every_s if log else 0.0


def least_s() -> float:
    """The shortest sample of which that meter can give joules; 0 without one."""
    return READINGS * reading_s()


def varies_network(name: str) -> bool:
    """Whether the study that is being started is also simulated at the ends of half-widths of times."""
    asked = _asked.get()
    return asked.simulated and asked.judged and not (asked.quick and name in LONG)


def interval() -> tuple[str, ...]:
    """The options of the pattern benchmark for that meter."""
    return ("--interval", f"{reading_s():g}") if reading_s() else ()


@contextmanager
def job(name: str) -> Iterator[None]:
    """A job of the study: an interval of the external meter, where there is one."""
    current = _session.get()
    if current is None:
        yield
        return
    session, numbers = current
    with session.interval(f"job-{next(numbers):05d} {name}"):
        yield
