"""Draws the rooms of src/ and what they include, from the code: docs/images/architecture.svg.

usage: architecture_picture.py            prints the picture (SVG)
       architecture_picture.py --write    writes docs/images/architecture.svg anew

A box is a room, with its number of files and lines; floors are rows. An arrow leads to a room whose headers are
included. Arrows that follow from others (A to C where A includes B and B includes C) are left out.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

from check_floors import ROOMS, SUFFIXES, includes

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
PICTURE = ROOT / "docs" / "images" / "architecture.svg"
WIDTH, BOX_WIDTH, BOX_HEIGHT, ROW = 960, 150, 44, 78
FLOORS = range(max(room.floor for room in ROOMS), -1, -1)
INK, FAINT, FILL = "#24323d", "#8fa3b1", "#eaf2f7"


def used_rooms() -> dict[str, set[str]]:
    """By room, the rooms whose headers its files include."""
    used: dict[str, set[str]] = {room.name: set() for room in ROOMS}
    for file, _, _, header in includes(SOURCE):
        room, other = file.parts[0], header.parts[0]
        if room in used and other in used and other != room:
            used[room].add(other)
    return used


def reachable(used: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    todo = [start]
    while todo:
        for other in used[todo.pop()] - seen:
            seen.add(other)
            todo.append(other)
    return seen


def direct_arrows(used: dict[str, set[str]]) -> list[tuple[str, str]]:
    """The arrows that no chain of others replaces."""
    return sorted(
        (room, other)
        for room, others in used.items()
        for other in others
        if not any(other in reachable(used, via) for via in others - {other})
    )


def places() -> dict[str, tuple[float, float]]:
    """The middle of each room's box."""
    at: dict[str, tuple[float, float]] = {}
    for row, floor in enumerate(FLOORS):
        names = [room.name for room in ROOMS if room.floor == floor]
        for i, name in enumerate(names):
            at[name] = (WIDTH * (i + 1) / (len(names) + 1), 40 + row * ROW)
    return at


def size_of(room: str) -> str:
    files = [p for p in (SOURCE / room).rglob("*") if p.suffix in SUFFIXES]
    lines = sum(len(p.read_text(encoding="utf-8").splitlines()) for p in files)
    return f"{len(files)} files, {lines:,} lines"


def arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    """A path from the lower edge of a box to the upper edge of another. A long one curves around the boxes between."""
    (x1, y1), (x2, y2) = (start[0], start[1] + BOX_HEIGHT / 2), (end[0], end[1] - BOX_HEIGHT / 2 - 4)
    middle = WIDTH / 2
    right = x2 > middle if x2 != middle else x1 > middle
    room_beside = (WIDTH - max(x1, x2) if right else min(x1, x2)) - 10  # the curve extends by 3/4 of its bow
    bow = min(room_beside / 0.75, max(200.0, 0.6 * (y2 - y1))) if y2 - y1 > ROW else 0.0
    bow = bow if right else -bow
    a, b = (x1 + bow, y1 + (y2 - y1) / 3), (x2 + bow, y2 - (y2 - y1) / 3)
    return (
        f'<path d="M{x1:.0f},{y1:.0f} C{a[0]:.0f},{a[1]:.0f} {b[0]:.0f},{b[1]:.0f} {x2:.0f},{y2:.0f}" '
        f'fill="none" stroke="{FAINT}" stroke-width="1.2" marker-end="url(#tip)"/>'
    )


def picture() -> str:
    at = places()
    shown = [(a, b) for a, b in direct_arrows(used_rooms()) if a in at and b in at]
    height = 40 + (len(FLOORS) - 1) * ROW + BOX_HEIGHT / 2 + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" font-family="sans-serif" '
        f'role="img" aria-label="Rooms of src and what they include">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" fill="{FAINT}"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height:.0f}" fill="white"/>',
        *[arrow(at[a], at[b]) for a, b in shown],
    ]
    for name, (x, y) in at.items():
        parts += [
            f'<rect x="{x - BOX_WIDTH / 2:.0f}" y="{y - BOX_HEIGHT / 2:.0f}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" '
            f'rx="6" fill="{FILL}" stroke="{INK}"/>',
            f'<text x="{x:.0f}" y="{y - 3:.0f}" text-anchor="middle" font-size="15" font-weight="bold" fill="{INK}">'
            f"{escape(name)}</text>",
            f'<text x="{x:.0f}" y="{y + 14:.0f}" text-anchor="middle" font-size="10.5" fill="{INK}">'
            f"{escape(size_of(name))}</text>",
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> int:
    """Prints or writes the picture."""
    if sys.argv[1:] == ["--write"]:
        PICTURE.write_text(picture(), encoding="utf-8")
        return 0
    print(picture(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
