"""Draws the measured and predicted watts of seven servers, and the residuals of the fit: docs/images/machine-fit.svg.

usage: machine_fit_picture.py            prints the picture (SVG)
       machine_fit_picture.py --write    writes docs/images/machine-fit.svg anew

A panel is a server. Dots are measured, the line is the fit of the terms to this server alone, and the band is the range
predicted from the other six servers. The last panel has the residuals of all fits.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from html import escape

import fit_machines as fitted
import numpy as np
from fit_machines import LOADS, Measured, Predicted

PICTURE = fitted.ROOT / "docs" / "images" / "machine-fit.svg"
COLUMNS, WIDTH, WIDE, HIGH, LEFT, TOP, GAP = 2, 760, 296, 190, 56, 46, 62
MOST = 1.6  # share of TDP at the top of a panel
MOST_LEFT = 0.15  # residual at the top and the bottom of the last panel
INK, FAINT, BAND, LINE = "#24323d", "#c4d0d8", "#d6e6f0", "#1f6f9f"


def x_of(load: float) -> float:
    return WIDE * load / 100


def y_of(share: float, least: float = 0.0, most: float = MOST) -> float:
    return HIGH * (1 - (share - least) / (most - least))


def path(points: Iterable[tuple[float, float]]) -> str:
    return "M" + " L".join(f"{x:.1f},{y:.1f}" for x, y in points)


def text(x: float, y: float, words: str, anchor: str = "middle", size: int = 13) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{INK}">{escape(words)}</text>'
    )


def axes(title: str, marks: Sequence[tuple[str, float]]) -> list[str]:
    parts = [text(0, -10, title, "start", 14)]
    for words, y in marks:
        parts.append(f'<line x1="0" x2="{WIDE}" y1="{y:.1f}" y2="{y:.1f}" stroke="{FAINT}"/>')
        parts.append(text(-6, y + 4, words, "end"))
    parts += [text(x_of(load), HIGH + 17, f"{load} %") for load in (0, 50, 100)]
    return parts


def panel(server: Measured, predicted: list[Predicted]) -> list[str]:
    share = server.package()
    terms = fitted.fit_terms(np.array([share[load] for load in LOADS]))
    rows = [row for row in predicted if row.server is server and row.workload == "CPUStress"]
    high = [(row.load, (row.predicted.watts + row.predicted.plus_minus) / server.total_w) for row in rows]
    low = [(row.load, (row.predicted.watts - row.predicted.plus_minus) / server.total_w) for row in rows]
    band = path((x_of(load), y_of(min(MOST, value))) for load, value in [*high, *reversed(low)])
    fit = path((x_of(load), y_of(value)) for load, value in zip(LOADS[1:], fitted.curve_of(terms), strict=True))
    parts = [f'<path d="{band} Z" fill="{BAND}"/>']
    parts += axes(server.name, [(f"{value:g}", y_of(value)) for value in (0, 0.5, 1, 1.5)])
    parts.append(f'<path d="{fit}" fill="none" stroke="{LINE}" stroke-width="2"/>')
    dots = [f'<circle cx="{x_of(load):.1f}" cy="{y_of(value):.1f}" r="3.5"/>' for load, value in share.items()]
    return [*parts, f'<g fill="{INK}">', *dots, "</g>"]


def residuals(servers: Sequence[Measured]) -> list[str]:
    marks = [(f"{value} %", y_of(value / 100, -MOST_LEFT, MOST_LEFT)) for value in (-10, 0, 10)]
    parts = axes("residuals: fit over measured, all seven", marks)
    for server in servers:
        shares = np.array([server.package()[load] for load in LOADS])
        left = fitted.curve_of(fitted.fit_terms(shares)) / shares[1:] - 1
        line = path((x_of(load), y_of(v, -MOST_LEFT, MOST_LEFT)) for load, v in zip(LOADS[1:], left, strict=True))
        parts.append(f'<path d="{line}" fill="none" stroke="{LINE}" stroke-width="1.5"/>')
    return parts


def picture() -> str:
    kinds = fitted.read_kinds()
    servers, measured = fitted.read_servers(kinds), fitted.read_measured()
    predicted = fitted.predict_packages(fitted.fit(kinds, servers, measured), servers, measured)
    panels = [*(panel(server, predicted) for server in measured), residuals(measured)]
    height = TOP + (HIGH + GAP) * -(-len(panels) // COLUMNS)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" role="img" '
        'aria-label="Package watts of seven servers as a share of TDP by load: measured, fitted and predicted">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        text(
            LEFT,
            18,
            "Package watts as a share of TDP, by load. Dots: measured. Line: fit. Band: predicted.",
            "start",
            14,
        ),
    ]
    for i, inner in enumerate(panels):
        x, y = LEFT + (WIDE + LEFT) * (i % COLUMNS), TOP + 14 + (HIGH + GAP) * (i // COLUMNS)
        parts += [f'<g transform="translate({x},{y})">', *inner, "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    if sys.argv[1:] == ["--write"]:
        PICTURE.write_text(picture(), encoding="utf-8")
    else:
        sys.stdout.write(picture())


if __name__ == "__main__":
    main()
