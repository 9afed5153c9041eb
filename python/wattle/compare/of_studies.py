"""Compares two study directories, point by point of the sweep."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattle.base.checked import Checked, read_json, shown
from wattle.base.documents import fields
from wattle.base.errors import WattleError
from wattle.compare.verdict import Difference, Verdict, difference
from wattle.figures.metrics import Spread, spread_of
from wattle.record import manifest as manifests
from wattle.study import kept, registry
from wattle.study.place import Place, of_study
from wattle.study.published import Verdict as Judged
from wattle.study.samples import Layout
from wattle.text.provenance import Joules, Provenance, unavailable

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Cell:
    """One figure at one point of the sweep."""

    at: dict[str, Any]
    figure: str
    before: Spread
    after: Spread
    difference: Difference

    def as_dict(self) -> dict[str, Any]:
        return {**fields(self, "at figure before after"), **self.difference.as_dict()}


@dataclass(frozen=True)
class Verdicts:
    """The verdicts on the published figures, before and after, by the figure's id."""

    before: dict[str, str]
    after: dict[str, str]

    @property
    def tallies(self) -> tuple[dict[str, int], dict[str, int]]:
        """The number of each verdict before and after. `fit` and `by construction` are no agreement."""
        before, after = ({str(v): list(side.values()).count(v) for v in Judged} for side in (self.before, self.after))
        return before, after

    @property
    def changed(self) -> list[tuple[str, str, str]]:
        """The figures with another verdict after than before."""
        both = ((name, verdict, self.after.get(name)) for name, verdict in self.before.items())
        return [(name, before, after) for name, before, after in both if after is not None and after != before]

    def as_dict(self) -> dict[str, Any]:
        before, after = self.tallies
        changed = [{"id": name, "before": b, "after": a} for name, b, a in self.changed]
        return {"before": before, "after": after, "changed": changed}


@dataclass(frozen=True)
class StudyComparison:
    study: str
    before: Path
    after: Path
    layout: Layout
    cells: list[Cell]
    verdicts: Verdicts
    warnings: list[str]

    def as_dict(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "kind": "compare",
            "of": "study",
            "study": self.study,
            "before": str(self.before),
            "after": str(self.after),
            "warnings": self.warnings,
            "published": self.verdicts.as_dict(),
            "rows": [cell.as_dict() for cell in self.cells],
        }

    def of(self, series: str, figure: str) -> list[Cell]:
        return [c for c in self.cells if c.at[self.layout.series] == series and c.figure == figure]

    @property
    def series(self) -> list[str]:
        return list(dict.fromkeys(str(c.at[self.layout.series]) for c in self.cells))


def compare(before: Path, after: Path) -> StudyComparison:
    manifest_b, manifest_a = manifests.read(before), manifests.read(after)
    name, other = _study(before, manifest_b), _study(after, manifest_a)
    if name != other:
        raise WattleError(f"{before} holds the study {name!r}, {after} the study {other!r}; give two of the same")
    layout = registry.study(name).layout
    cells = _cells(layout, _samples(before, layout), _samples(after, layout))
    if not cells:
        raise WattleError(f"{before} and {after} have no point of the sweep in common")
    warnings = _warnings(manifest_b, manifest_a)
    verdicts = Verdicts(_verdicts(before), _verdicts(after))
    return StudyComparison(name, before, after, layout, cells, verdicts, warnings)


def _verdicts(directory: Path) -> dict[str, str]:
    """The verdicts that results.json has. Empty for a study that ended early, which has none."""
    path = directory / kept.RESULTS
    if not path.exists():
        return {}
    known = tuple(map(str, Judged))
    return {row.text("id"): row.choice("verdict", known) for row in read_json(path).items("published")}


def _study(directory: Path, manifest: manifests.Manifest) -> str:
    name = (manifest.extra.get("study") or {}).get("name")
    if not isinstance(name, str) or name not in registry.commands():
        raise WattleError(
            f"{directory}: study {shown(name)} cannot be compared; known: {', '.join(registry.commands())}"
        )
    return name


def _samples(directory: Path, layout: Layout) -> pl.DataFrame:
    from wattle.study import samples

    return samples.read(directory, layout.schema())


def _cells(layout: Layout, before: pl.DataFrame, after: pl.DataFrame) -> list[Cell]:
    """The points of the sweep that both studies have, in order."""
    groups_b = before.partition_by(layout.cell, as_dict=True, maintain_order=True)
    groups_a = after.partition_by(layout.cell, as_dict=True)
    cells = []
    for key, b in groups_b.items():
        if key not in groups_a:
            continue
        at = dict(zip(layout.cell, key, strict=True))
        for column, _ in layout.figures:
            spreads = _spread(b, column), _spread(groups_a[key], column)
            cells.append(Cell(at, column, *spreads, difference(*spreads)))
    return cells


def _spread(frame: pl.DataFrame, column: str) -> Spread:
    if not column.endswith("_J"):
        return spread_of(frame[column].to_list())
    domain = column.removesuffix("_J")
    rows = frame.select(column, f"{domain}_uncertainty_J", f"{domain}_provenance", f"{domain}_source").iter_rows()
    return spread_of([_figure(domain, *row) for row in rows])


def _figure(domain: str, joules: float | None, uncertainty: float | None, provenance: str, source: str) -> Joules:
    if joules is None:
        return unavailable(domain, source or "")
    return Joules(joules, uncertainty, Provenance(provenance), source or "", domain=domain)


def _warnings(before: manifests.Manifest, after: manifests.Manifest) -> list[str]:
    found = []
    places = [_place(record) for record in (before, after)]
    if places[0] != places[1]:
        b, a = (f"{place.title} ({place.words})" for place in places)
        found.append(f"different places: {b} and {a}")
    if before.host.get("cpu") != after.host.get("cpu"):
        found.append(f"different CPUs: {before.host.get('cpu')} and {after.host.get('cpu')}")
    if before.n_pes != after.n_pes:
        found.append(f"different numbers of PEs: {before.n_pes} and {after.n_pes}")
    for side, record in (("before", before), ("after", after)):
        if record.exit_code != 0:
            found.append(f"the study {side} ended early: only the points it measured are compared")
    if before.meter.get("name") != after.meter.get("name"):
        found.append(f"joules come from different meters: {before.meter.get('name')} and {after.meter.get('name')}")
    return found


def _place(record: manifests.Manifest) -> Place:
    study = Checked(manifests.FILE, record.extra.get("study"), "study")
    known = isinstance(study.value, dict) and (study.has("place") or study.has("on"))
    return of_study(study) if known else Place()


def beyond(cells: list[Cell]) -> int:
    return sum(c.difference.verdict is Verdict.BEYOND for c in cells)


def joules(cells: list[Cell]) -> list[Joules]:
    """All joules in these cells."""
    return [s.joules for c in cells for s in (c.before, c.after) if s.joules is not None]
