"""Finds the page of a study: the registry knows which module makes it."""

from __future__ import annotations

import importlib
from pathlib import Path

from wattle import manifest as manifests
from wattle.checked import Checked
from wattle.manifest import Manifest
from wattle.report.page import Page
from wattle.study import registry


def build(directory: Path, record: Manifest) -> Page:
    """Reads and checks the study directory and makes its page."""
    entry = Checked(directory / manifests.FILE, record.extra.get("study"), "study")
    name = entry.text("name")
    if name not in registry.MODULES:
        raise entry.get("name").wrong(f"{name!r} is a study this version does not know")
    study = registry.find(name)
    return importlib.import_module(study.page).build(study, directory, record)
