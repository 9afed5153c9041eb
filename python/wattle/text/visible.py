"""Text from outside with its invisible characters written out, so that none controls a terminal or a page."""

from __future__ import annotations

import re

# Control characters C0 and C1; invisible characters, including those that change the direction of text; line
# separators; and surrogate halves, which represent bytes that are not UTF-8.
INVISIBLE = (
    "\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f"
)
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
INVISIBLE_IN_LINES = re.compile(f"(?!\n)[{INVISIBLE}]")
SURROGATE = re.compile("[\ud800-\udfff]")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_BYTES = range(0xDC80, 0xDD00)  # Python's surrogates for bytes that are not UTF-8


def visible(text: str, lines: bool = False) -> str:
    r"""The text with invisible characters written out, as `\x1b` or `\xff`. With `lines`, line ends are kept."""
    return (INVISIBLE_IN_LINES if lines else _INVISIBLE).sub(lambda found: written_out(found[0]), text)


def written_out(character: str) -> str:
    """One character as an escape sequence of Python."""
    code = ord(character)
    if code in _BYTES:
        code -= 0xDC00
    width = 2 if code < 0x100 else 4 if code < 0x10000 else 8
    return _NAMED.get(character) or f"\\{'xuU'[(width > 2) + (width > 4)]}{code:0{width}x}"
