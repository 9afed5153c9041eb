"""Files as a writer that fails, a stranger or a fuzzer leaves them: one change each, drawn from a seed."""

from __future__ import annotations

import io
import json
import os
import random
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl


class Raw(str):
    """A text that is written into JSON unchanged."""


LONG = {400: "1" + "0" * 400, 5000: "7" * 5000}
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    3_000_000_000,
    1 << 53,
    (1 << 63) - 1,
    1 << 63,
    1 << 64,
    *map(Raw, LONG.values()),
    Raw("-" + LONG[400]),
    Raw("1e400"),
    Raw("NaN"),
    Raw("-Infinity"),
    1e308,
    1e30,
    -1e30,
    1e-308,
    0.5,
    -0.0,
    "",
    "x",
    "0",
    "0x" + "f" * 16,
    "0x1" + "0" * 16,
    "\ud800",
    "[/x] \x1b[2J \n \0 é",
    "x" * 5000,
    [],
    {},
    [None],
    [[], {}],
    {"": 1},
    Raw("[" * 40 + "]" * 40),
    Raw("[" * 700 + "]" * 700),
    Raw("[" * 100_000),
    Raw('{"a": 1, "a": 2}'),
]
NUMBERS = ["", "0", "-1", "1e9", "3000000000", "9999999", "0x10", "1.5.2", "nan", "inf", "1e400", "²", *LONG.values()]
BYTES = [b"", b"\0", b"\xff", b"\xef\xbb\xbf", b"\n", b'"', b"[" * 700, b"{", b"\\ud800", b"9" * 5000, b"#", b":"]


def json_text(value: Any) -> str:
    """JSON that may be wrong: with Raw texts as they are, and halves of surrogate pairs."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(k))}: {json_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(json_text, value)) + "]"
    return json.dumps(value)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every list or object with each of its keys."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [pair for key in keys for pair in ((value, key), *_places(value[key]))]


def of_document(document: Any, rng: random.Random) -> Any:
    """A document (JSON, or a table of TOML) with one value replaced, lost, doubled or moved."""
    changed = json.loads(json.dumps(document))
    places = _places(changed)
    parent, key = rng.choice(places)
    how = rng.randrange(8)
    if how < 5 or not isinstance(parent[key], list | dict):
        parent[key] = rng.choice(VALUES)
    elif how == 5:
        del parent[key]
    elif how == 6:
        other, there = rng.choice(places)
        parent[key], other[there] = json.loads(json.dumps(other[there])), json.loads(json.dumps(parent[key]))
    else:
        parent[key] = [parent[key]] * rng.choice((2, 30))
    return changed


def of_bytes(data: bytes, rng: random.Random) -> bytes:
    """Cut off, or with bytes changed, put in or taken out."""
    at = rng.randrange(len(data) + 1)
    how = rng.randrange(4)
    if how == 0:
        return data[:at]
    if how == 1:
        return data[:at] + rng.choice(BYTES) + data[at:]
    if how == 2:
        return data[:at] + data[at + rng.randrange(1, 9) :]
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def of_json(data: bytes, rng: random.Random) -> bytes:
    if rng.random() < 0.2:
        return of_bytes(data, rng)
    return json_text(of_document(json.loads(data), rng)).encode("utf-8", "surrogatepass")


def of_timeline(data: bytes, rng: random.Random) -> bytes:
    head, _, body = data.partition(b"\n")
    if rng.random() < 0.7:
        return of_json(head, rng) + b"\n" + body
    if rng.random() < 0.5:
        return head + b"\n" + of_bytes(body, rng)
    at = 8 * rng.randrange(max(1, len(body) // 8))
    return head + b"\n" + body[:at] + rng.choice((b"\xff" * 8, b"\0" * 8, bytes(7) + b"\x80")) + body[at + 8 :]


def of_lines(data: bytes, rng: random.Random) -> bytes:
    """Text in lines: a number replaced, or a line doubled, moved or lost."""
    if rng.random() < 0.3:
        return of_bytes(data, rng)
    lines = data.decode().splitlines()
    at = rng.randrange(len(lines))
    how = rng.randrange(5)
    if how == 0:
        lines[at : at + 1] = [lines[at]] * rng.choice((0, 2, 3000))
    elif how == 1:
        lines.insert(rng.randrange(len(lines) + 1), lines.pop(at))
    else:
        words = lines[at].replace("=", "= ").replace("-", "- ").replace(",", ", ").split(" ")
        words[rng.randrange(len(words))] = rng.choice(NUMBERS)
        lines[at] = " ".join(words).replace("= ", "=").replace("- ", "-").replace(", ", ",")
    return "\n".join(lines).encode()


def of_table(data: bytes, rng: random.Random) -> bytes:
    """Parquet: cells, columns or rows changed, or the bytes of the file."""
    if rng.random() < 0.2:
        return of_bytes(data, rng)
    frame = pl.read_parquet(io.BytesIO(data))
    name = rng.choice(frame.columns)
    how = rng.randrange(8)
    if how == 0:
        frame = frame.drop(name)
    elif how == 1:
        frame = frame.sample(rng.choice((0, 1, 2, 3, frame.height // 2)), seed=rng.randrange(1 << 30))
    elif how == 2:
        frame = frame.with_columns(pl.lit(rng.choice((None, True, 1.0, "x"))).alias(name))
    else:
        frame = _with_cells(frame, name, rng)
    made = io.BytesIO()
    frame.write_parquet(made)
    return made.getvalue()


CELLS: dict[Any, list[Any]] = {
    pl.Float64: [None, 0.0, -1.0, float("nan"), float("inf"), 1e308, 1e30, -1e30, 1e-308, 1e15],
    pl.Int64: [None, 0, -1, 1, 1 << 31, 1 << 53, (1 << 63) - 1, -(1 << 63)],
    pl.String: [None, "", "x", "measured", "unavailable", "[" * 700, "{}", "[1]", "null", "[/x]\x1b[2J", "7" * 5000],
    pl.Boolean: [None, True, False],
}


def _with_cells(frame: pl.DataFrame, name: str, rng: random.Random) -> pl.DataFrame:
    """One cell of a column, some of them, or all."""
    kind = frame.schema[name]
    share = rng.choice((0.0, 0.3, 1.0))
    one = rng.randrange(max(1, frame.height))
    hit = [i == one or rng.random() < share for i in range(frame.height)]
    value = pl.lit(rng.choice(CELLS.get(kind, [None])), dtype=kind)
    return frame.with_columns(pl.when(pl.Series(hit)).then(value).otherwise(pl.col(name)).alias(name))


# ---- what stands in a file's place ----


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    place = socket.socket(socket.AF_UNIX)
    try:
        here = Path.cwd()
        os.chdir(path.parent)  # the name of a socket has little room
        place.bind(path.name)
    finally:
        os.chdir(here)
        place.close()


def _too_large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


INSTEAD: dict[str, Callable[[Path], object]] = {
    "a FIFO": _fifo,
    "a directory": lambda path: path.mkdir(),
    "a socket": _socket,
    "an endless device": lambda path: path.symlink_to("/dev/zero"),
    "a dangling link": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a file of a terabyte": _too_large,
    "an empty file": lambda path: path.write_bytes(b""),
    "nothing but blanks": lambda path: path.write_bytes(b" \n" * 9),
    "a byte order mark": lambda path: path.write_bytes(b"\xef\xbb\xbf{}"),
    "a file that has nothing to read now": lambda path: path.symlink_to("/proc/kmsg"),
    "NUL bytes": lambda path: path.write_bytes(bytes(100)),
}
