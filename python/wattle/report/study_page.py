"""The page of a study: the module `page` of its folder makes it."""

from __future__ import annotations

from pathlib import Path

from wattle import manifest as manifests
from wattle.checked import shown
from wattle.errors import DamagedFile
from wattle.html.page import Page
from wattle.manifest import Manifest
from wattle.study import registry


def build(directory: Path, record: Manifest) -> Page:
    """Reads and checks the study directory and makes its page."""
    entry = manifests.study(directory, record)
    name = entry.text("name")
    if name not in registry.names():
        raise entry.get("name").wrong(f"{shown(name)} is a study this version does not know")
    page = registry.part(name, "page")
    import numpy as np  # as the page has done: a report of a run had better not wait for it

    from wattle.study import samples

    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            return page.build(directory, record)
    except (LookupError, ArithmeticError, ValueError, TypeError, StopIteration) as error:
        # Every value is checked by itself when it is read. That a figure's samples are there, and go together, is only
        # found where the figure is made of them. (TypeError: of a null where the figure needs a value.)
        why = f"{type(error).__name__}: {error}".rstrip(": ")
        raise DamagedFile(directory / samples.FILE, f"lacks samples that the report needs ({why})") from error
