"""Reads JSON and TOML from outside the process and checks every value. An error names the file, the place in it and the
expected value.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from wattle.base import input_files, limits
from wattle.base.errors import DamagedFile

SMALL = 1 << 53  # numbers up to this are within all limits; most are, so they are checked first
PLAIN = {int, float}
ADDRESS = re.compile(r"(0[xX])?[0-9a-fA-F]{1,16}")
SHOWN = 60  # characters of a value that a message shows
DEEPER = f"is nested deeper than {limits.DEPTH} lists and objects"
KINDS: dict[str, Any] = {
    "text": str,
    "true or false": bool,
    "a whole number": int,
    "a number": int | float,
    "a list": list,
    "an object": dict,
}


class Checked:
    """One value inside a JSON or TOML document. Each getter returns a checked value or raises DamagedFile."""

    __slots__ = ("_inside", "file", "value")

    def __init__(self, file: object, value: Any, inside: str | tuple[Checked, str | int] = "") -> None:
        """`inside`: the place, or the value that contains this one and the key in it."""
        self.file = file
        self.value = value
        self._inside = inside

    @property
    def place(self) -> str:
        """The place as text, such as `sites[3].wait_s`. Only a message needs it."""
        if isinstance(self._inside, str):
            return self._inside
        parent, key = self._inside
        if isinstance(key, int):
            return f"{parent.place}[{key}]"
        return f"{parent.place}.{key}" if parent.place else key

    def wrong(self, what: str) -> DamagedFile:
        return DamagedFile(self.file, f"{self.place}: {what}" if self.place else what)

    def _child(self, key: Any) -> Checked:
        fields = self.value if type(self.value) is dict else self.object()
        child = Checked(self.file, fields.get(key), (self, key))
        if child.value is None and key not in fields:
            raise DamagedFile(self.file, f"{child.place} is missing")
        return child

    def _plain(self, key: Any) -> Any:
        """The value of a key where this is an object that has it, and otherwise None. Most values are as they should
        be, so they are tested by their exact type first.
        """
        return self.value.get(key) if type(self.value) is dict else None

    def has(self, key: str) -> bool:
        """Whether the key exists and is not null."""
        return self._plain(key) is not None or self.object().get(key) is not None

    def object(self) -> dict[str, Any]:
        found: dict[str, Any] = self.expect("an object").value
        return found

    def get(self, key: str) -> Checked:
        return self._child(key)

    def items(self, key: str) -> Iterator[Checked]:
        child = self._child(key).expect("a list")
        for i, value in enumerate(child.value):
            yield Checked(self.file, value, (child, i))

    def text(self, key: str) -> str:
        value = self._plain(key)
        return value if type(value) is str else self._child(key).expect("text").value

    def texts(self, key: str) -> list[str]:
        return [entry.expect("text").value for entry in self.items(key)]

    def numbers(self, fewest: int = 0) -> list[float | None]:
        """This value as a list of at least `fewest` numbers. No number is negative; null becomes None."""
        entry = Checked(self.file, dict(enumerate(self.expect("a list").value)), self._inside)
        if len(entry.value) < fewest:
            raise self.wrong(f"expected at least {fewest} numbers, found {len(entry.value)}")
        return [entry.number(key) for key in entry.value]

    def flag(self, key: str) -> bool:
        found: bool = self._child(key).expect("true or false").value
        return found

    def expect(self, kind: str, nullable: bool = False) -> Checked:
        """This value, after a check of its kind. `kind` is a key of KINDS."""
        if nullable and self.value is None:
            return self
        if not isinstance(self.value, KINDS[kind]) or (isinstance(self.value, bool) and kind != "true or false"):
            raise self.wrong(f"expected {kind}{' or null' * nullable}, found {_kind(self.value)}")
        return self

    def expect_some(self, **kinds: str) -> None:
        """Checks the kinds of those keys that exist and are not null."""
        for key, kind in kinds.items():
            if self.has(key):
                self._child(key).expect(kind)

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        value = self.text(key)
        if value not in allowed:
            raise self._child(key).wrong(f"expected one of {', '.join(allowed)}, found {shown(value)}")
        return value

    def integer(self, key: str, lo: int = 0, hi: int = limits.WHOLE[1]) -> int:
        value = self._plain(key)
        if type(value) is int and lo <= value <= hi:
            return value
        child = self._child(key).expect("a whole number")
        found: int = child.value
        if not lo <= found <= hi:
            allowed = f"at least {lo}" if found < lo else f"at most {hi}"
            raise child.wrong(f"expected {allowed}, found {found}")
        return found

    def count(self, key: str) -> int | None:
        """A whole number of at least 0, or None for null."""
        return None if self._child(key).value is None else self.integer(key)

    def number(self, key: Any, lo: float | None = 0.0) -> float | None:
        """A finite number of at least `lo`, or None for null."""
        value = self._plain(key)
        if type(value) in PLAIN and (0.0 if lo is None else lo) <= value <= SMALL:
            return float(value)
        child = self._child(key).expect("a number", nullable=True)
        if child.value is None:
            return None
        if not abs(child.value) <= limits.NUMBER:
            raise child.wrong(f"expected a number up to {limits.NUMBER:g}, found {child.value:g}")
        if lo is not None and child.value < lo:
            raise child.wrong(f"expected at least {lo:g}, found {child.value:g}")
        return float(child.value)

    def known(self, key: str, lo: float | None = 0.0) -> float:
        """A number that must not be null."""
        value = self.number(key, lo)
        if value is None:
            raise self._child(key).wrong("expected a number, found null")
        return value

    def positive(self, key: str) -> float:
        """A number above 0 that must not be null, and whose inverse is within the limits too."""
        value = self.known(key)
        if value < 1 / limits.NUMBER:
            raise self._child(key).wrong(f"expected a number above {1 / limits.NUMBER:g}, found {value:g}")
        return value

    def name(self, key: str) -> str:
        """A text that is not empty."""
        text = self.text(key)
        if not text.strip():
            raise self._child(key).wrong("expected a name, found an empty text")
        return text

    def address(self, key: str) -> int:
        """An address or offset in hexadecimal, such as "0x1f3"."""
        text = self.text(key)
        if not ADDRESS.fullmatch(text):
            raise self._child(key).wrong(f"expected an address of 64 bits like 0x1f3, found {shown(text)}")
        return int(text, 16)


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else type(value).__name__)


def shown(value: object) -> str:
    """A value as messages quote it. A long one is cut."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def read_json(path: Path) -> Checked:
    """Reads a JSON file and checks that it is within the limits."""
    return parse_json(path, input_files.read_text(path, limits.JSON_BYTES))


def read_toml(path: Path) -> Checked:
    """Reads a TOML file and checks that it is within the limits."""
    import tomllib  # only cluster files are TOML

    text = input_files.read_text(path, limits.TEXT_BYTES)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DamagedFile(path, f"is not TOML: {error}") from None
    except RecursionError:
        raise DamagedFile(path, DEEPER) from None
    except ValueError:  # raised by int()
        raise DamagedFile(path, _longest_whole(text)) from None
    return _within_limits(Checked(path, table))


def parse_json(source: object, text: str | bytes) -> Checked:
    """Parses JSON from a file or a program. Numbers, texts and depth must be within the limits, and each key unique."""
    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8")
        if not decoded.strip():
            raise DamagedFile(source, "is empty (the writer was cut off, or the disk was full)")
        value = json.loads(decoded, object_pairs_hook=_without_doubles, parse_constant=_no_number)
    except UnicodeDecodeError:
        raise DamagedFile(source, "is not text (UTF-8)") from None
    except json.JSONDecodeError as error:
        raise DamagedFile(
            source, f"is not JSON: {error.msg.removesuffix(' at')} at line {error.lineno}, column {error.colno}"
        ) from None
    except RecursionError:
        raise DamagedFile(source, DEEPER) from None
    except _Refused as error:
        raise DamagedFile(source, str(error)) from None
    except ValueError:  # raised by int()
        raise DamagedFile(source, _longest_whole(decoded)) from None
    return _within_limits(Checked(source, value))


def _longest_whole(text: str) -> str:
    """A message with the line of a number that has more digits than Python converts."""
    starts = (run.start() for run in re.finditer(r"[0-9_]+", text) if len(run[0]) > 4000)
    line = text.count("\n", 0, next(starts, 0)) + 1
    return f"line {line}: expected whole numbers of 64 bits, found a longer one"


class _Refused(ValueError):
    """A part of the text that the parser rejects; the message gives the reason."""


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise _Refused(f"has the key {shown(twice)} twice in one object")
    return found


def _no_number(name: str) -> None:
    raise _Refused(f"holds {name}; expected a finite number, or null where it is not known")


def _within_limits(whole: Checked) -> Checked:
    """Checks all values of the document against the limits and returns it."""
    _check_limits(whole.file, whole.value, None, 0)
    return whole


def _check_limits(file: object, value: Any, trail: Any, depth: int) -> None:
    """Checks a value and all values inside it. `trail` is the pair of the surrounding value's trail and the key."""
    if not isinstance(value, dict | list):
        if what := _beyond(value):
            raise Checked(file, value, _place(trail)).wrong(what)
        return
    if depth == limits.DEPTH:
        raise DamagedFile(file, DEEPER)
    if _is_plain(value if isinstance(value, list) else value.values()) and all(map(str.isascii, _keys(value))):
        return
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(key, str) and not key.isascii():
            _check_limits(file, key, trail, depth)
        kind = type(each)
        if each is None or (kind in PLAIN and -SMALL <= each <= SMALL) or (kind is str and each.isascii()):
            continue
        _check_limits(file, each, (trail, key), depth + 1)


def _is_plain(values: Collection[Any]) -> bool:
    """Whether all values are numbers within the limits."""
    return bool(values) and set(map(type, values)) <= PLAIN and -SMALL <= min(values) <= max(values) <= SMALL


def _keys(value: Any) -> Collection[str]:
    return value if isinstance(value, dict) else ()


def _place(trail: Any) -> str:
    """The place as text, such as `sites[3].wait_s`."""
    place = ""
    while trail:
        trail, key = trail
        place = f"[{key}]{place}" if isinstance(key, int) else f".{key}{place}"
    return place.removeprefix(".")


def _beyond(value: Any) -> str:
    """The reason why a number or text is outside the limits; empty where it is within them."""
    if isinstance(value, float) and not abs(value) <= limits.NUMBER:
        return f"expected a number from {-limits.NUMBER:g} to {limits.NUMBER:g}, found {value:g}"
    if isinstance(value, int) and not limits.WHOLE[0] <= value <= limits.WHOLE[1]:
        return "expected a whole number of 64 bits, found a larger one"
    if isinstance(value, str) and not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
        return "expected text, found half of a surrogate pair"
    return ""


def require_schema(document: Checked, *known: int) -> None:
    """Raises DamagedFile where the file has a schema number that this version does not read."""
    schema = document.integer("schema", lo=1)
    if schema not in known:
        readable = " and ".join(map(str, known))
        raise document.wrong(f"schema {schema} is unknown; this version of wattle reads schema {readable}")
