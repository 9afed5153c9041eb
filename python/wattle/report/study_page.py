"""The page of a study. The module `page` of the study's folder makes it."""

from __future__ import annotations

from pathlib import Path

from wattle.html.page import Page
from wattle.meter_log import kept
from wattle.record.manifest import Manifest
from wattle.report import power_figures
from wattle.study import registry


def build(directory: Path, record: Manifest) -> Page:
    """Reads and checks the study directory and makes its page."""
    made = registry.page(directory, record)
    if external := kept.load(directory):
        began = external.intervals[0].begin_s if external.intervals else None
        made.figures += power_figures.figures(external.power, began)
        about = filter(None, (external.meter_words, external.samples))
        made.power = [*external.by_program(), *(f"{words}." for words in about)]
        made.nav.insert(len(made.nav) - 1, ("power", "Power"))
    return made
