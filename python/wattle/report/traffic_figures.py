"""Figures of communication: the matrix of bytes, calls and waiting by pair of processes, and calls by size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from wattle.html.figures import Figure, heat_map, hover_text
from wattle.record.pe import PE, Partners
from wattle.record.profile import RunProfile
from wattle.text import units

CELLS = 64  # rows and columns of a matrix at most; each cell then has several processes
CALLS_DRAWN = 5
COLOURS = ("--compute", "--transfer", "--spin", "--yield", "--no-core", "--asleep")


def figures(profile: RunProfile | None) -> list[Figure]:
    """The figures of a run; none where its profiles have no counts by partner or by size."""
    if profile is None:
        return []
    return [*_matrices(profile), *_sizes(profile.pes, profile.noun)]


def _matrices(profile: RunProfile) -> list[Figure]:
    known = [(pe.pe, pe.partners) for pe in profile.pes if pe.partners is not None]
    kinds: list[tuple[str, str, str, Callable[[Partners], Sequence[float]]]] = [
        ("bytes", "Bytes by pair", "B", lambda found: found.bytes),
        ("calls", "Calls by pair", "", lambda found: found.calls),
        ("waiting", "Waiting by pair", "s", lambda found: found.wait_s),
    ]
    found = [_matrix(profile, known, *kind) for kind in kinds]
    return [figure for figure in found if figure is not None]


def _matrix(
    profile: RunProfile,
    known: Sequence[tuple[int, Partners]],
    name: str,
    title: str,
    unit: str,
    of: Callable[[Partners], Sequence[float]],
) -> Figure | None:
    """A map with a row for each process, or block of processes, and a column for each partner."""
    block = -(-profile.n_pes // CELLS)
    n = -(-profile.n_pes // block)
    sums = [[0.0] * n for _ in range(n)]
    for pe, partners in known:
        row = sums[pe // block]
        for partner, value in zip(partners.pe, of(partners), strict=True):
            row[partner // block] += value
    if not any(map(any, sums)):
        return None
    cells = [[value or None for value in row] for row in sums]
    names = [_block(profile, k, block) for k in range(n)]
    hover = [
        [
            hover_text(f"{profile.noun} {a}, partner {b}", [(name, _amount(value, unit))])
            for b, value in zip(names, row, strict=True)
        ]
        for a, row in zip(names, sums, strict=True)
    ]
    trace = heat_map(list(range(n)), list(range(n)), cells, unit, hover)
    ticks = list(range(0, n, max(1, n // 8)))
    axis = {"tickmode": "array", "tickvals": ticks, "ticktext": [names[k] for k in ticks], "showgrid": False}
    words = {"bytes": "moved to or from", "calls": "that name", "waiting": "for"}[name]
    return Figure(
        id=f"pairs-{name}",
        title=title,
        label=f"A map: a row for each {profile.noun}, a column for each partner; colour: {name}",
        traces=[trace],
        layout={
            "xaxis": axis | {"title": {"text": f"{name} {words} this {profile.noun}"}},
            "yaxis": axis | {"title": {"text": profile.noun}, "autorange": "reversed"},
        },
        height=420,
        note=f"each cell: {block} x {block} {profile.noun}s, added up" if block > 1 else "no colour: none",
    )


def _block(profile: RunProfile, k: int, block: int) -> str:
    first, last = k * block, min((k + 1) * block, profile.n_pes) - 1
    return str(first) if first == last else f"{first}-{last}"


def _amount(value: float, unit: str) -> str:
    return {"B": units.size, "s": units.seconds}.get(unit, units.count)(value)


def _sizes(pes: Sequence[PE], noun: str) -> list[Figure]:
    """Calls by size, stacked by routine."""
    counts: dict[str, Counter[int]] = {}
    for pe in pes:
        for of in pe.sizes:
            counts.setdefault(of.call, Counter()).update({k: n for k, n in enumerate(of.counts) if n})
    if not counts:
        return []
    by_calls = sorted(counts, key=lambda call: -counts[call].total())
    drawn = {call: counts[call] for call in by_calls[:CALLS_DRAWN]}
    if rest := by_calls[CALLS_DRAWN:]:
        drawn["others"] = sum((counts[call] for call in rest), Counter())
    classes = sorted({k for by_class in drawn.values() for k in by_class})
    names = [_class(k) for k in range(classes[0], classes[-1] + 1)]
    traces = []
    for (call, by_class), colour in zip(drawn.items(), COLOURS, strict=False):
        found = [by_class.get(k, 0) for k in range(classes[0], classes[-1] + 1)]
        traces.append(
            {
                "type": "bar",
                "name": call,
                "x": names,
                "y": found,
                "marker": {"color": colour},
                "customdata": [
                    hover_text(call, [("size", at), ("calls", units.count(n))])
                    for at, n in zip(names, found, strict=True)
                ],
                "hovertemplate": "%{customdata}<extra></extra>",
            }
        )
    return [
        Figure(
            id="sizes",
            title="Calls by size",
            label="Stacked bars: the number of calls in each class of sizes, by routine",
            traces=traces,
            layout={
                "barmode": "stack",
                "xaxis": {"type": "category", "title": {"text": "bytes of a call, from"}, "showgrid": False},
                "yaxis": {"tickformat": "~s", "rangemode": "tozero", "title": {"text": f"calls of all {noun}s"}},
                "showlegend": True,
            },
            height=340,
            note="each class reaches to the double",
        )
    ]


def _class(k: int) -> str:
    return units.size(float(1 << (k - 1)) if k else 0.0)
