"""Reads JSON that others wrote: every value is checked; an error names the file, the place and what was expected."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wattle.errors import DamagedFile, WattleError


class Checked:
    """One value inside a JSON document. Every getter either returns what its name says or raises DamagedFile."""

    def __init__(self, file: object, value: Any, place: str = "") -> None:
        self.file = file
        self.value = value
        self.place = place

    def wrong(self, what: str) -> DamagedFile:
        return DamagedFile(self.file, f"{self.place}: {what}" if self.place else what)

    def _child(self, key: str) -> Checked:
        fields = self.object()
        place = f"{self.place}.{key}" if self.place else key
        if key not in fields:
            raise DamagedFile(self.file, f"{place} is missing")
        return Checked(self.file, fields[key], place)

    def has(self, key: str) -> bool:
        """True where the key is there and not null."""
        return self.object().get(key) is not None

    def object(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            raise self.wrong(f"expected an object, found {_kind(self.value)}")
        return self.value

    def get(self, key: str) -> Checked:
        return self._child(key)

    def items(self, key: str) -> Iterator[Checked]:
        child = self._child(key)
        if not isinstance(child.value, list):
            raise child.wrong(f"expected a list, found {_kind(child.value)}")
        for i, value in enumerate(child.value):
            yield Checked(self.file, value, f"{child.place}[{i}]")

    def text(self, key: str) -> str:
        child = self._child(key)
        if not isinstance(child.value, str):
            raise child.wrong(f"expected text, found {_kind(child.value)}")
        return child.value

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        value = self.text(key)
        if value not in allowed:
            raise self._child(key).wrong(f"expected one of {', '.join(allowed)}, found {value!r}")
        return value

    def integer(self, key: str, lo: int = 0) -> int:
        child = self._child(key)
        if not isinstance(child.value, int) or isinstance(child.value, bool):
            raise child.wrong(f"expected a whole number, found {_kind(child.value)}")
        if child.value < lo:
            raise child.wrong(f"expected at least {lo}, found {child.value}")
        return child.value

    def count(self, key: str) -> int | None:
        """A whole number that is not negative, or None where the writer did not know it."""
        return None if self._child(key).value is None else self.integer(key)

    def number(self, key: str, lo: float | None = 0.0) -> float | None:
        """A finite number of at least `lo`, or None where the writer did not know it."""
        child = self._child(key)
        if child.value is None:
            return None
        if not isinstance(child.value, int | float) or isinstance(child.value, bool):
            raise child.wrong(f"expected a number or null, found {_kind(child.value)}")
        if not math.isfinite(child.value):
            raise child.wrong(f"expected a finite number or null, found {child.value}")
        if lo is not None and child.value < lo:
            raise child.wrong(f"expected at least {lo:g}, found {child.value:g}")
        return float(child.value)

    def address(self, key: str) -> int:
        """An address or offset, written "0x1f3"."""
        text = self.text(key)
        try:
            value = int(text, 16)
        except ValueError:
            raise self._child(key).wrong(f"expected an address like 0x1f3, found {text!r}") from None
        if value < 0:
            raise self._child(key).wrong(f"expected an address like 0x1f3, found {text!r}")
        return value


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else type(value).__name__)


def read_json(path: Path) -> Checked:
    """The whole file, checked to be JSON."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DamagedFile(path, "is missing") from None
    except UnicodeDecodeError:
        raise DamagedFile(path, "is not text") from None
    except OSError as error:
        raise WattleError(f"{path}: cannot be read: {error.strerror}") from None
    if not text.strip():
        raise DamagedFile(path, "is empty (the writer was cut off, or the disk was full)")
    try:
        return Checked(path, json.loads(text))
    except json.JSONDecodeError as error:
        raise DamagedFile(path, f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise DamagedFile(path, "is not a run's file: nested too deeply") from None


def require_schema(document: Checked, known: int) -> None:
    """Refuses a file of another format than the one this version reads."""
    schema = document.integer("schema", lo=1)
    if schema != known:
        raise document.wrong(f"schema {schema} is unknown; this version of wattle reads schema {known}")
