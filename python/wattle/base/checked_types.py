"""Reads JSON documents into types. msgspec checks them while it parses.

The errors are those of `wattle.base.checked`: the place in the file, the expected and the found value. Members that a
type does not name are ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from functools import cache
from typing import Annotated, Any

import msgspec

from wattle.base import limits
from wattle.base.checked import ADDRESS, Checked, parse_json, require_schema, shown
from wattle.base.errors import DamagedFile

ERRORS = (msgspec.MsgspecError, RecursionError)
NAMES = {"int": "a whole number", "float": "a number", "str": "text", "bool": "true or false"}
NAMES |= {"array": "a list", "object": "an object"}

Count = Annotated[int, msgspec.Meta(ge=0, le=limits.WHOLE[1])]
Index = Annotated[int, msgspec.Meta(ge=-1, le=limits.WHOLE[1])]  # -1: none
Whole = Annotated[int, msgspec.Meta(ge=limits.WHOLE[0], le=limits.WHOLE[1])]
Amount = Annotated[float, msgspec.Meta(ge=0, le=limits.NUMBER)]
Number = Annotated[float, msgspec.Meta(ge=-limits.NUMBER, le=limits.NUMBER)]


class Address(int):
    """An address or offset. The file has it in hexadecimal, such as "0x1f3"."""

    __slots__ = ()


def read(source: object, text: str, kind: Any, schema: int, apart: Collection[str] = ()) -> Any:
    """Reads a document of this schema as `kind`, a type with limits. Raises DamagedFile. The members `apart` are long
    lists, of up to a million entries: only msgspec looks at these.
    """
    require_schema(_without(source, text, apart), schema)
    try:
        return _decoder(kind).decode(text)
    except ERRORS as error:
        raise _explained(parse_json(source, text), str(error)) from None


def typed(entry: Checked, kind: Any) -> Any:
    """A part of a document as this type. Raises DamagedFile."""
    try:
        return msgspec.convert(entry.value, kind, dec_hook=_of)
    except ERRORS as error:
        raise _explained(entry, str(error)) from None


def _without(source: object, text: str, apart: Collection[str]) -> Checked:
    """Parses the other members of a document. Their numbers, texts and depth are within the limits, each key unique."""
    try:
        members = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        rest = ",".join(f"{json.dumps(k)}:{bytes(raw).decode()}" for k, raw in members.items() if k not in apart)
        return parse_json(source, f"{{{rest}}}")
    except (*ERRORS, DamagedFile):
        return parse_json(source, text)  # for its error message, which counts the lines of the whole text


def prepare(kind: Any) -> None:
    """Does the work of `read` that needs no document: some milliseconds for each type."""
    _decoder(kind)


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
    if length := re.match(r"Expected `array` of length (<= |>= )?(\d+)", what):
        bounds = {"<= ": "at most ", ">= ": "at least "}
        return entry.wrong(
            f"expected a list of {bounds.get(length[1], '')}{length[2]} entries, found {len(entry.value)}"
        )
    if choice := re.search(r"matching regex '\^\((.+)\)\$'", what):
        return entry.wrong(f"expected one of {choice[1].replace('|', ', ')}, found {shown(entry.value)}")
    return entry.wrong(plain_words)


def _plain(what: str) -> str:
    """msgspec's words in those of `wattle.base.checked`."""
    named = re.sub(r"`([^`]+)`", lambda kinds: " or ".join(NAMES.get(k, k) for k in kinds[1].split(" | ")), what)
    return named[0].lower() + named[1:].replace(", got ", ", found ")
