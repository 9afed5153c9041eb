"""Reads long lists of JSON documents into types. msgspec checks them while it parses.

The errors are those of `wattle.base.checked`: the place in the file, the expected and the found value. Members that a
type does not name are ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from wattle.base import checked, input_files, limits
from wattle.base.checked import ADDRESS, Checked, parse_json, shown
from wattle.base.errors import DamagedFile
from wattle.record.pe import Address

ERRORS = (msgspec.MsgspecError, RecursionError)
NAMES = {"int": "a whole number", "float": "a number", "str": "text", "array": "a list", "object": "an object"}


def read_json(path: Path, apart: Collection[str]) -> Checked:
    """Reads a JSON file and checks that it is within the limits. The members `apart` stay text, which `typed` reads."""
    text = input_files.read_text(path, limits.JSON_BYTES)
    try:
        members = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except ERRORS:
        return parse_json(path, text)  # for its error message
    later = {key: members.pop(key) for key in apart if bytes(members.get(key, b"null")) != b"null"}
    rest = ",".join(f"{json.dumps(key)}:{bytes(raw).decode()}" for key, raw in members.items())
    try:
        document = parse_json(path, f"{{{rest}}}")
    except DamagedFile:
        return parse_json(path, text)  # so that lines are counted in the whole file
    document.value.update(later)
    return document


def typed(document: Checked, key: str, kind: Any) -> Any:
    """The member of a document as this type, which has the limits. Raises DamagedFile."""
    value = document.get(key).value
    try:
        if isinstance(value, msgspec.Raw):
            return _decoder(kind).decode(value)
        return msgspec.convert(value, kind, dec_hook=_of)
    except ERRORS as error:
        if isinstance(value, msgspec.Raw):  # raises DamagedFile where it is not within the limits
            value = checked.read_json(document.file).value[key]
        raise _explained(Checked(document.file, value, (document, key)), str(error)) from None


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind, dec_hook=_of)


def _of(kind: type, value: Any) -> Any:
    if kind is Address and isinstance(value, str) and ADDRESS.fullmatch(value):
        return Address(value, 16)
    found = "null" if value is None else shown(value)
    raise ValueError(f"expected an address of 64 bits like 0x1f3, found {found}")


def _explained(entry: Checked, words: str) -> DamagedFile:
    """The error for msgspec's words, such as "Expected `int`, got `str` - at `$[3].calls`"."""
    what, _, place = words.partition(" - at `")
    plain_words = _plain(what)
    for name, index in re.findall(r"\.(\w+)|\[(\d+|\.{3})\]", place):
        if index == "...":
            return entry.wrong(f"{plain_words} in one of its values")
        key = name or int(index)
        entry = Checked(entry.file, entry.value[key], (entry, key))
    try:
        if missing := re.fullmatch(r"Object missing required field `(.+)`", what):
            entry.get(missing[1])
        elif expected := re.match(r"Expected `(\w+)( \| null)?`, got", what):
            entry.expect(NAMES[expected[1]], nullable=bool(expected[2]))
    except DamagedFile as error:
        return error
    if bound := re.match(r"Expected `\w+(?: \| null)?` ([<>]=) (\S+)", what):
        least, number = bound[1] == ">=", bound[2].removesuffix(".0")
        return entry.wrong(f"expected at {'least' if least else 'most'} {number}, found {shown(entry.value)}")
    if length := re.match(r"Expected `array` of length (\d+)", what):
        return entry.wrong(f"expected a list of {length[1]} entries, found {len(entry.value)}")
    return entry.wrong(plain_words)


def _plain(what: str) -> str:
    """msgspec's words in those of `wattle.base.checked`."""
    named = re.sub(r"`([^`]+)`", lambda kinds: " or ".join(NAMES.get(k, k) for k in kinds[1].split(" | ")), what)
    return named[0].lower() + named[1:].replace(", got ", ", found ")
