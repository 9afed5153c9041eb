"""Reads the log of an external meter: CSV with a column of time and columns of watts or of a counter of joules.

Without numpy, because a log is also checked before a job starts, and no thread may exist then (wattle.run.job).
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median

from wattle.base import input_files, limits
from wattle.base.checked import shown
from wattle.base.errors import DamagedFile
from wattle.meter_log.given import UNITS, Given

LEAST_READINGS = 8
GAP = 3.5  # two readings this many usual intervals apart have a gap between them
MOST_WATTS = 1e6  # of a mean; more means a wrong unit
TIME_NAME = re.compile(r"time|date|epoch", re.I)
# The last word of a column's name, or the word in brackets, is its unit: `power_W`, `Power [mW]`, `energy (J)`.
UNIT_IN_NAME = re.compile(r"(?:^|[^a-z])(m?w|kw|m?j|kj|k?wh)[\])\s]*$", re.I)
WORDS = {"watts": "w", "watt": "w", "milliwatts": "mw", "kilowatts": "kw", "joules": "j", "joule": "j"}


@dataclass(frozen=True)
class Series:
    """The readings of one scope. `at`: s on the log's clock, ascending. `value`: W, or J so far of a `counter`.
    `source`: file and columns. `step_s`: the usual time between two readings.
    """

    scope: str
    source: str
    at: list[float]
    value: list[float]
    counter: bool
    step_s: float


def check(given: Given) -> None:
    """Checks the heading and the readings so far of a log that may just have begun. Raises DamagedFile."""
    heads, lines, rows = _table(given.file, _text(given))
    time = _time_column(given, heads)
    for columns in _columns(given, heads, time).values():
        for name in columns:
            _numbers(given.file, name, [row[_column(given.file, heads, name)] for row in rows], lines)
            _unit(given, name)
    if rows:
        _times(given.file, heads[time], [row[time] for row in rows], lines)


def _text(given: Given) -> str:
    """The complete lines. The logger may be writing the last one."""
    text = input_files.read_text(given.file, limits.TABLE_BYTES).removeprefix("\ufeff")
    return text[: text.rfind("\n") + 1]


def _columns(given: Given, heads: Sequence[str], time: int) -> Mapping[str, tuple[str, ...]]:
    return given.columns or {"node": (_only_column(given.file, heads, time),)}


def read(given: Given) -> list[Series]:
    """The series of the log, one for each scope. Raises DamagedFile with the line and column of the first error."""
    heads, first, rows = _table(given.file, _text(given))
    if len(rows) < LEAST_READINGS:
        raise DamagedFile(given.file, f"holds {len(rows)} readings; expected at least {LEAST_READINGS}")
    time = _time_column(given, heads)
    at = _times(given.file, heads[time], [row[time] for row in rows], first)
    step = median(b - a for a, b in pairwise(at))
    found = []
    for scope, columns in _columns(given, heads, time).items():
        where = [_column(given.file, heads, name) for name in columns]
        units = {_unit(given, name) for name in columns}
        if len(units) > 1:
            raise DamagedFile(given.file, f"columns {', '.join(map(shown, columns))}: have different units")
        factor, counter = UNITS[units.pop()]
        texts = {name: [row[k] for row in rows] for name, k in zip(columns, where, strict=True)}
        parts = [_numbers(given.file, name, some, first) for name, some in texts.items()]
        value = [factor * math.fsum(some) for some in zip(*parts, strict=True)]
        named = "+".join(columns)
        _check(given.file, named, value, counter, (at, first))
        found.append(Series(scope, f"{given.file.name} {named}", at, value, counter, step))
    return found


def _table(file: Path, text: str) -> tuple[list[str], list[int], list[list[str]]]:
    """The names of the columns, the numbers of the lines, and the rows. Empty lines and `#` comments are left out."""
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    if not lines:
        raise DamagedFile(file, "holds no line; expected a heading such as `time,power_W` and a reading in each line")
    separator = max(",;\t", key=lines[0][1].count)
    rows = list(csv.reader(io.StringIO("\n".join(line for _, line in lines)), delimiter=separator))
    heads = [name.strip() for name in rows[0]]
    numbers = [n for n, _ in lines[1:]]
    if len(rows) != len(lines):
        raise DamagedFile(file, "has a quoted text over several lines; expected one reading in each line")
    if len(heads) < 2 or all(_is_number(name) for name in heads):
        raise DamagedFile(file, f"line {lines[0][0]}: expected a heading such as `time,power_W`")
    for n, row in zip(numbers, rows[1:], strict=True):
        if len(row) != len(heads):
            raise DamagedFile(file, f"line {n}: has {len(row)} columns; the heading has {len(heads)}")
    return heads, numbers, rows[1:]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _time_column(given: Given, heads: Sequence[str]) -> int:
    if given.time:
        return _column(given.file, heads, given.time)
    found = [k for k, name in enumerate(heads) if TIME_NAME.search(name)]
    if len(found) > 1:
        names = ", ".join(shown(heads[k]) for k in found)
        raise DamagedFile(given.file, f"has several columns of time ({names}); choose one with --meter-set time=NAME")
    return found[0] if found else 0


def _only_column(file: Path, heads: Sequence[str], time: int) -> str:
    others = [name for k, name in enumerate(heads) if k != time]
    known = [name for name in others if _unit_of(name)]
    if len(known or others) != 1:
        names = ", ".join(map(shown, others))
        raise DamagedFile(file, f"has several columns ({names}); choose with --meter-set node=NAME, or another scope")
    return (known or others)[0]


def _column(file: Path, heads: Sequence[str], name: str) -> int:
    if name not in heads:
        raise DamagedFile(file, f"has no column {shown(name)}; it has {', '.join(map(shown, heads))}")
    return heads.index(name)


def _unit_of(name: str) -> str:
    found = UNIT_IN_NAME.search(name)
    last = re.split(r"[^a-z]+", name.lower().rstrip(")] "))[-1]
    return found[1].lower() if found else WORDS.get(last, "")


def _unit(given: Given, name: str) -> str:
    unit = given.unit or _unit_of(name)
    if not unit:
        raise DamagedFile(given.file, f"column {shown(name)}: its name has no unit; give it with --meter-set unit=W")
    return unit


def _times(file: Path, name: str, texts: Sequence[str], lines: Sequence[int]) -> list[float]:
    """Seconds. A number is seconds, milliseconds, microseconds or nanoseconds by its size; a text is ISO 8601."""
    found = [_time(file, name, text, n) for text, n in zip(texts, lines, strict=True)]
    largest = max(found)
    power = next((p for p, least in ((9, 1e17), (6, 1e14), (3, 1e11)) if largest > least), 0)
    found = [value / 10.0**power for value in found]
    for (before, now), n in zip(pairwise(found), lines[1:], strict=True):
        if now <= before:
            how = "that of the reading above" if now == before else "earlier than that of the reading above"
            raise DamagedFile(file, f"line {n}: its time is {how}; expected times that increase")
    return found


def _time(file: Path, name: str, text: str, line: int) -> float:
    text = text.strip()
    try:
        value = float(text)
        if math.isfinite(value) and abs(value) < 1e20:
            return value
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        what = "seconds or milliseconds since 1970, or ISO 8601"
        raise DamagedFile(file, f"line {line}, column {shown(name)}: expected {what}, found {shown(text)}") from None


def _numbers(file: Path, name: str, texts: Sequence[str], lines: Sequence[int]) -> list[float]:
    found = []
    for text, n in zip(texts, lines, strict=True):
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 <= value <= limits.NUMBER:
            where = f"line {n}, column {shown(name)}"
            raise DamagedFile(file, f"{where}: expected a number, at least 0, found {shown(text.strip())}")
        found.append(value)
    return found


def _check(file: Path, name: str, value: list[float], counter: bool, place: tuple[list[float], Sequence[int]]) -> None:
    """Checks that a counter grows, and that the mean is one of a computer."""
    at, lines = place
    if counter:
        for (before, now), n in zip(pairwise(value), lines[1:], strict=True):
            if now < before:
                raise DamagedFile(file, f"line {n}, column {shown(name)}: decreases; expected a counter that grows")
    mean = (value[-1] - value[0]) / (at[-1] - at[0]) if counter else fmean(value)
    if mean > MOST_WATTS:
        words = f"column {shown(name)}: is {mean:,.3g} W on average; give the right unit, as --meter-set unit=mW"
        raise DamagedFile(file, words)
    if mean == 0:
        raise DamagedFile(file, f"column {shown(name)}: is 0 throughout")
