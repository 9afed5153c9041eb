"""Finds why a command failed in its standard error: its last line, without lines that other programs print after it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MOST = 400  # characters of a reason
# Lines at the end of every run or study, whether it succeeded or failed.
AFTERWARDS = re.compile(
    r"Kept in|The report: wattle report|wattle: \w+: \d+ of \d+,|wattle: timeline: |figures: |page: "
)


def of(text: str) -> str:
    """The reason for a failure from standard error. Launchers print text about a failed process between lines of
    dashes. Such text is used only where there is no other.
    """
    said = [line for line in _lines(text) if not AFTERWARDS.match(line)]
    own = list(_unframed(said))
    rest = own or [line for line in said if not _is_rule(line)]
    return rest[-1][:MOST] if rest else "it said nothing"


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        plain = re.sub(r"\x1b\[[0-9;]*m", "", line).strip()
        if plain:
            yield plain


def _is_rule(line: str) -> bool:
    return re.fullmatch(r"[-=─━\s]{8,}", line) is not None


def _unframed(lines: Iterable[str]) -> Iterator[str]:
    inside = False
    for line in lines:
        if _is_rule(line):
            inside = not inside
        elif not inside:
            yield line
