"""Says how a job ended that did not finish, and where its processes were."""

from __future__ import annotations

import signal
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from wattle.figures.sites import key_of_wait
from wattle.machine import symbols
from wattle.record.kept_counts import OF_LAUNCHERS
from wattle.record.manifest import Manifest
from wattle.record.pe import PE, Ended
from wattle.record.profile import RunProfile
from wattle.text import units
from wattle.text.console import styled
from wattle.text.tables import Table, table

ROWS_SHOWN = 16


@dataclass(frozen=True)
class Row:
    """Processes that ended in one way at one place. `for_s`: the shortest and the longest time of their waits."""

    numbers: list[int]
    how: str
    call: str  # empty: they did not wait
    place: str
    for_s: tuple[float, float] | None

    def cells(self) -> list[str]:
        lasted = units.seconds_between(*self.for_s) if self.for_s else ""
        return [units.ranges(self.numbers), self.how, self.call or "no long wait", lasted, self.place]

    def as_dict(self) -> dict[str, Any]:
        return {"pes": self.numbers, "how": self.how, "call": self.call or None, "place": self.place or None}


HEADS = ("ended by", "was in", "for", "at")


def words(profile: RunProfile, manifest: Manifest) -> str:
    """One sentence on the end of the job; empty where each process wrote its profile itself."""
    ended = [pe for pe in profile.pes if pe.ended]
    if not ended:
        return ""
    some = "" if len(ended) == profile.n_pes else f" of {units.numbered(profile.noun, [pe.pe for pe in ended])}"
    cause = _cause(profile, manifest)
    return f"The job was ended before it finished{cause}. The figures{some} are those until it was ended."


def _cause(profile: RunProfile, manifest: Manifest) -> str:
    asked = manifest.extra.get("asked_by")
    if asked:
        return f", by {signal_name(asked)}{' (Ctrl-C)' if asked == signal.SIGINT else ''} to `wattle run`"
    first = manifest.extra.get("first_end") or {}
    numbers = [pe.pe for pe in profile.pes if pe.pid == first.get("pid")]
    if numbers:
        # A launcher may notice the end of a process before the kernel shows it, and end the others meanwhile.
        seen = "was seen to end" if first.get("signal") in OF_LAUNCHERS else "ended"
        return f": {profile.noun} {numbers[0]} {seen} first, {_by(first.get('signal'), first.get('exit_code'))}"
    return ""


def _by(number: int | None, exit_code: int | None) -> str:
    if number is not None:
        return f"by {signal_name(number)}"
    return "in an unknown way" if exit_code is None else f"with exit code {exit_code}"


def signal_name(number: int) -> str:
    """`SIGKILL`, or `signal 99` for a number without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def remarks(profile: RunProfile) -> list[str]:
    """Sentences on figures that are less exact than usual."""
    last = [pe.pe for pe in profile.pes if pe.ended and pe.ended.time == "record"]
    partial = [pe.pe for pe in profile.pes if pe.ended and pe.ended.partial]
    found = []
    if last:
        end, whose = ("end", "its") if len(last) == 1 else ("ends", "their")
        found.append(
            f"The {end} of {units.numbered(profile.noun, last)} {'is' if len(last) == 1 else 'are'} not known: "
            f"times are those up to {whose} last long wait."
        )
    if partial:
        found.append(
            f"Some call sites of {units.numbered(profile.noun, partial)} are missing, or older than the end: "
            "/dev/shm had no space for them."
        )
    return found


def rows(profile: RunProfile) -> list[Row]:
    """The ends of the processes, those with most processes first."""
    groups: dict[tuple[str, str, symbols.Key | None], list[PE]] = defaultdict(list)
    for pe in profile.pes:
        if pe.ended:
            groups[_how(pe.ended), pe.ended.wait.call if pe.ended.wait else "", key_of_wait(pe)].append(pe)
    places = symbols.resolve(key for _, _, key in groups if key is not None)
    found = [_row(how, call, places[key] if key is not None else None, pes) for (how, call, key), pes in groups.items()]
    return sorted(found, key=lambda row: (-len(row.numbers), row.numbers))


def _how(ended: Ended) -> str:
    if ended.signal is not None:
        return signal_name(ended.signal)
    return "not known" if ended.exit_code is None else f"exit code {ended.exit_code}"


def _row(how: str, call: str, place: symbols.Place | None, pes: list[PE]) -> Row:
    lasted = [pe.ended.wait.for_s for pe in pes if pe.ended and pe.ended.wait and pe.ended.wait.for_s is not None]
    where = f"{place.label} {place.function}".strip() if place is not None else ""
    return Row([pe.pe for pe in pes], how, call, where, (min(lasted), max(lasted)) if lasted else None)


def ended_table(found: list[Row], noun: str) -> Table:
    """The ends for the terminal."""
    result = table(title=f"Where each {noun} was when it was ended")
    for head in (noun, *HEADS):
        result.add_column(styled("{}", head), overflow="fold")
    for row in found[:ROWS_SHOWN]:
        result.add_row(*row.cells())
    return result
