"""The registry of studies. A study is a folder of this package with a `study.py`. Its `judged`
computes the results of a directory.

Its `page.py` has `build`, which makes the page of a directory. With a `command.py`, its `command` is `wattle study
NAME`, and the docstring of its `__init__.py` is the help. With `COMPARED` in `samples.py`, `wattle compare` accepts its
directories.
"""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from wattle import manifest
from wattle.manifest import Manifest

HERE = Path(__file__).parent


@cache
def names() -> tuple[str, ...]:
    return tuple(sorted(path.parent.name for path in HERE.glob("*/study.py")))


def commands() -> list[str]:
    """The studies that are commands."""
    return [name for name in names() if (HERE / name / "command.py").exists()]


def words(name: str) -> str:
    """The help of a study's command: the first words of its folder, so that a list of studies imports none of them."""
    text = importlib.import_module(f"wattle.study.{name}").__doc__ or ""
    return " ".join(text.split())


def compared() -> list[str]:
    """The studies that `wattle compare` accepts."""
    with_samples = (name for name in names() if (HERE / name / "samples.py").exists())
    return [name for name in with_samples if hasattr(part(name, "samples"), "COMPARED")]


def results(directory: Path, record: Manifest) -> dict[str, Any]:
    """The contents of results.json, computed from the samples of a finished study."""
    return part(manifest.study(directory, record).text("name"), "study").judged(directory, record)


def part(name: str, which: str) -> ModuleType:
    """A module of a study's folder."""
    return importlib.import_module(f"wattle.study.{name}.{which}")
