"""The published figures of a study: its published.toml, read and checked.

A table `figure` (or `bar`, of the project's own) is one figure, or those of its `rows`, whose cells are named by
`columns`; an empty or missing cell says nothing. `each` repeats the rows with further values. Each figure also has the
keys of its table and of `defaults`. All keys but those of `Published`, and those under `with`, are values: for the
`{name}` in texts (a cell "{name}" is the value itself), and for the judge. `judge` names a function of the study's
judges.py, which compares the figure with the samples and gets the values that it has parameters for. `page` is the page
of the figure, or of the section where there is no figure; None where the text at hand has no pages. The table `machine`
has the properties of the papers' machine that figures name under `rests`.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from wattle.base.errors import DamagedFile
from wattle.text import units

PAPERS = {
    "S": "S. Jana et al.: slides on data-access patterns at PGAS 2014",
    "D": "S. Jana: Optimizations for energy efficiency within distributed memory programming models. Dissertation, "
    "University of Houston, 2016",
    "P": "A. Vishnu et al.: Designing energy efficient communication runtime systems for data centric programming "
    "models, 2010",
    "this project": "What this project asks of itself",
}
TEXTS = ("id", "about", "source", "condition", "published", "tolerance", "setup", "judge")
LISTS = ("fit", "against", "rests")
OWN = (*TEXTS, *LISTS, "page", "construction", "good")
GOOD = ("", "more", "less")
TABLES = ("defaults", "values", "machine", "figure", "bar", "mark")
NAME = re.compile(r"\{(\w+)[^{}]*\}")


@dataclass(frozen=True)
class Property:
    """A property of the papers' machine: a key of a cluster's description, or `machines`. `about`: the property in
    words. `within`: the relative difference from which it counts as another one.
    """

    key: str
    about: str
    value: float
    unit: str
    source: str
    within: float = 0.1

    def is_another(self, here: float) -> bool:
        return abs(here - self.value) > self.within * abs(self.value)

    def words(self, here: float) -> str:
        return f"{self.about}: {_amount(here, self.unit)} here, {_amount(self.value, self.unit)} there ({self.source})."


def _amount(value: float, unit: str) -> str:
    if unit == "Hz":
        return f"{value / 1e9:g} GHz"
    return units.in_unit(value, unit) if unit else f"{value:g}"


@dataclass(frozen=True)
class Published:
    """One published figure. `judge` computes the outcome from samples; it may raise NotTestable. `setup`: the machine
    of the published measurement. `fit`: the machine profiles with a number that was derived from this figure.
    `construction`: why a model gives the figure with any numbers; empty where it does not. `against`: the ids of
    published figures that contradict this one, or such a statement with its source. `good`: whether `more` or `less`
    than the published figure is better; empty where neither is. `rests`: the properties of the papers' machine on which
    the figure rests.
    """

    id: str
    about: str  # its section of the report
    source: str
    condition: str
    published: str
    tolerance: str
    judge: Callable[[Any], Any]
    setup: str
    page: int | None = None
    fit: tuple[str, ...] = ()
    construction: str = ""
    against: tuple[str, ...] = ()
    good: str = ""
    rests: tuple[Property, ...] = ()


def entries(document: Mapping[str, Any], kind: str) -> Iterator[dict[str, Any]]:
    """The figures of a document, one by one, with all their keys; values are filled into texts."""
    for table in document.get(kind, []):
        shared = {key: value for key, value in table.items() if key not in ("columns", "rows", "each")}
        for more in table.get("each", [{}]):
            for row in table.get("rows", [[]]):
                cells = dict(zip(table.get("columns", []), row, strict=False))
                said = {key: cell for key, cell in cells.items() if cell not in ("", [], {})}
                found = document.get("defaults", {}) | shared | more | said if kind != "mark" else said
                given = found.pop("with", {})
                yield {key: _filled(value, found | given) for key, value in (found | given).items()}


def _filled(value: Any, values: dict[str, Any]) -> Any:
    if not isinstance(value, str) or "{" not in value:
        return value
    whole = NAME.fullmatch(value)
    return values[whole[1]] if whole and value == f"{{{whole[1]}}}" else value.format_map(values)


@dataclass(frozen=True)
class Papers:
    """The contents of a study's published.toml. `values`: numbers for figures and computations. `marks`: numbers that
    are drawn beside ours.
    """

    path: Path
    text: str

    @cached_property
    def document(self) -> dict[str, Any]:
        return tomllib.loads(self.text)

    @property
    def values(self) -> dict[str, Any]:
        found: dict[str, Any] = self.document.get("values", {})
        return found

    @property
    def marks(self) -> list[dict[str, Any]]:
        return list(entries(self.document, "mark"))

    def figures(self, module: Mapping[str, Any]) -> list[Published]:
        """The published figures in order. `module`: the names of the module with the judges that they name."""
        return self._rows("figure", module)

    def bars(self, module: Mapping[str, Any]) -> list[Published]:
        """The project's own bars."""
        return self._rows("bar", module)

    def _rows(self, kind: str, module: Mapping[str, Any]) -> list[Published]:
        known = {name: judge for name, judge in module.items() if _is_judge(judge)}
        rows = [self._row(entry, known) for entry in self._entries(kind)]
        own = {name for name, judge in known.items() if judge.__module__ == module["__name__"]}
        named = {entry.get("judge") for table in ("figure", "bar") for entry in self._entries(table)}
        if unused := own - named:
            raise DamagedFile(self.path, f"nothing names the judges {', '.join(sorted(unused))}")
        if len({row.id for row in rows}) < len(rows):
            raise DamagedFile(self.path, f"two entries of {kind} have the same id")
        if unknown := {name for row in rows for name in row.against if " " not in name} - {row.id for row in rows}:
            raise DamagedFile(self.path, f"against: no {kind} has the id {', '.join(sorted(unknown))}")
        return rows

    def _property(self, where: str, key: str) -> Property:
        try:
            return Property(key, **self.document["machine"][key])
        except (LookupError, TypeError) as error:
            raise DamagedFile(self.path, f"{where}: rests: machine.{key}: {error}") from None

    def _entries(self, kind: str) -> list[dict[str, Any]]:
        try:
            return list(entries(self.document, kind))
        except (LookupError, TypeError, ValueError) as error:
            raise DamagedFile(self.path, f"{kind}: {type(error).__name__}: {error}") from None

    def _row(self, entry: dict[str, Any], judges: dict[str, Callable[..., Any]]) -> Published:
        where = f"figure {entry.get('id')!r}"
        own = {key: value for key, value in entry.items() if key in OWN}
        if missing := set(TEXTS) - set(own):
            raise DamagedFile(self.path, f"{where}: missing keys: {', '.join(sorted(missing))}")
        if any(not isinstance(own.get(key, "-"), str) or not own.get(key, "-") for key in (*TEXTS, "construction")):
            raise DamagedFile(self.path, f"{where}: all values except `page` and lists must be texts")
        if not any(own["source"].startswith(paper) for paper in PAPERS):
            raise DamagedFile(self.path, f"{where}: its source is not one of the papers")
        page = own.get("page")
        if page is not None and (not isinstance(page, int) or page < 1):
            raise DamagedFile(self.path, f"{where}: page {page!r}")
        for key in LISTS:
            names = own.get(key, [])
            if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
                raise DamagedFile(self.path, f"{where}: {key}: expected a list of names")
            own[key] = tuple(names)
        own["rests"] = tuple(self._property(where, key) for key in own["rests"])
        if own.get("good", "") not in GOOD:
            raise DamagedFile(self.path, f"{where}: good {own['good']!r}; allowed: more, less")
        name = own.pop("judge")
        if name not in judges:
            raise DamagedFile(self.path, f"{where}: there is no judge {name!r}")
        parameters = inspect.signature(judges[name]).parameters
        given = {key: value for key, value in entry.items() if key not in OWN and key in parameters}
        if unused := set(entry) - set(OWN) - set(given) - set(NAME.findall(self.text)):
            raise DamagedFile(self.path, f"{where}: unknown keys: {', '.join(sorted(unused))}")
        try:
            inspect.signature(judges[name]).bind(None, **given)
        except TypeError as error:
            raise DamagedFile(self.path, f"{where}: {name}: {error}") from None
        return Published(**own, judge=partial(judges[name], **given))


def _is_judge(found: Any) -> bool:
    """Whether this is a public function from an analysis to an outcome."""
    kinds = getattr(found, "__annotations__", {})
    return inspect.isfunction(found) and found.__name__[0] != "_" and kinds.get("return") == "Outcome" and "a" in kinds


def read(module: str) -> Papers:
    """Reads published.toml beside a study's module. Raises DamagedFile."""
    path = Path(module).with_name("published.toml")
    found = Papers(path, path.read_text(encoding="utf-8"))
    if wrong := set(found.document) - set(TABLES):
        raise DamagedFile(path, f"unknown tables: {', '.join(sorted(wrong))}")
    return found
