"""The registry of studies. A study is a folder of this package with a `study.py`.

Its `page.py` makes the page of a directory. With a `published.toml`, its `STUDY` (engine.py) is the command `wattle
study NAME`, and `wattle compare` accepts its directories. The docstring of its `__init__.py` is the help.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from wattle.base.checked import shown
from wattle.record import manifest
from wattle.record.manifest import Manifest

if TYPE_CHECKING:
    from wattle.html.page import Page
    from wattle.study.engine import Study

HERE = Path(__file__).parent


@cache
def names() -> tuple[str, ...]:
    return tuple(sorted(path.parent.name for path in HERE.glob("*/study.py")))


def commands() -> list[str]:
    """The studies that are commands."""
    return [name for name in names() if (HERE / name / "published.toml").exists()]


def command(name: str) -> Callable[..., None]:
    """The command of a study, with all its options."""
    from wattle.study import command

    return command.of(study(name))


def words(name: str) -> str:
    """The help of a study's command: the first words of its folder, so that a list of studies imports none of them."""
    text = importlib.import_module(f"wattle.study.{name}").__doc__ or ""
    return " ".join(text.split())


def study(name: str) -> Study[Any]:
    """The study of that name."""
    found: Study[Any] = part(name, "study").STUDY
    return found


def results(directory: Path, record: Manifest) -> dict[str, Any]:
    """The contents of results.json, computed from the samples of a finished study."""
    facts = manifest.study(directory, record)
    return study(facts.text("name")).of(facts).judged(directory, record)


def page(directory: Path, record: Manifest) -> Page:
    """The page of a study's directory."""
    facts = manifest.study(directory, record)
    name = facts.text("name")
    if name not in names():
        raise facts.get("name").wrong(f"{shown(name)} is not a study of this version")
    found: Page = (
        study(name).of(facts).page(directory, record)
        if name in commands()
        else part(name, "page").build(directory, record)
    )
    return found


def part(name: str, which: str) -> ModuleType:
    """A module of a study's folder."""
    return importlib.import_module(f"wattle.study.{name}.{which}")
