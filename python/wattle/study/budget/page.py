"""The page of the study of power budgets."""

from __future__ import annotations

from wattle.html.figures import Figure
from wattle.study.budget.judges import BUDGET, beyond, capped, part_of
from wattle.study.sweep.analysis import Analysis, Point
from wattle.study.sweep.page import OTHERS, Section, boxes


def sections(a: Analysis) -> list[Section]:
    text = (
        "Time under a budget, in percent of that under equal caps of the packages with the same watts, and beside an "
        "optimum that knows each load. A point for each ratio of the work and each budget."
    )
    names = dict.fromkeys(p.name for p in a.select(mode=BUDGET))
    return [Section("budget", "Beside equal caps and an optimum", text, [f for n in names for f in _figures(a, n)])]


def _figures(a: Analysis, name: str) -> list[Figure]:
    points = [p for p in a.select(mode=BUDGET, name=name) if capped(a, p)]
    looks = dict(zip(dict.fromkeys(p.x for p in points), OTHERS * 2, strict=False))

    def title(p: Point) -> str:
        return f"{p.x:g} to 1, {part_of(p):g} %"

    longer = [(title(p), looks[p.x], [c.median]) for p in points if (c := beyond(a, p))]
    return [boxes(f"optimum-{name}", f"{name}: longer than the optimum", longer, "%", a.provenance)] if longer else []
