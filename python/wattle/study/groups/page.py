"""The page of the study of groups."""

from __future__ import annotations

from collections.abc import Callable

from wattle.html.figures import Figure
from wattle.study.groups.judges import ALONE, Against, against, where
from wattle.study.sweep.analysis import Analysis, Point
from wattle.study.sweep.page import Section, boxes, look_of, only_records


def sections(a: Analysis) -> list[Section]:
    points = [p for p in a.select() if p.mode != "off"]
    pes = {p.pes for p in points if p.series == ALONE and p.y}
    usual = [p for p in points if p.series == ALONE and p.pes in pes]
    acts = only_records(a, "no mode changes a clock")
    text = (
        "Each second PE computes three times as much as the others, then each waits as its pattern says. The oracle "
        "knows each load and takes the clock of least energy that is in time; its PEs wait at the lowest clock." + acts
    )
    modes = list(dict.fromkeys(p.policy for p in usual))
    found = [Section("oracle", "Beside an oracle", text, [f for m in modes for f in _figures(a, m, usual)])]
    others = [p for p in points if p not in usual or p.series != ALONE]
    text = "The same with other numbers of PEs, and with eight PEs on a node."
    sizes = _figures(a, "energy, proactive", others, "size")
    return [*found, *([Section("sizes", "By PEs and by nodes", text, sizes)] if sizes else [])]


def _figures(a: Analysis, policy: str, points: list[Point], id: str = "part") -> list[Figure]:
    at = [(p, found) for p in points if p.policy == policy and (found := against(a, p))]
    if not any(found.parts for _, found in at):
        return []
    name = f"{id}-{policy.replace(', ', '-')}"
    return [
        _boxes(name, f"Part of the oracle's saving: {policy}", at, lambda f: f.parts),
        _boxes(f"time-{name}", f"Time lost: {policy}", at, lambda f: f.losses),
    ]


def _boxes(id: str, title: str, at: list[tuple[Point, Against]], of: Callable[[Against], list[float]]) -> Figure:
    groups = [(f"{p.name}, {where(p)}", look_of(p.mode), of(found)) for p, found in at]
    return boxes(id, title, groups, "%", "modelled, a point for each seed")
