"""A study, with its samples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattle.base import extras
from wattle.record import manifest
from wattle.record.manifest import Manifest

if TYPE_CHECKING:
    import polars as pl


class Study:
    """A study's directory. `wattle.open` makes it.

    Attributes:
        directory: where the study is.
    """

    def __init__(self, directory: Path, record: Manifest) -> None:
        self.directory = directory
        self._record = record
        self._samples: pl.DataFrame | None = None

    @property
    def manifest(self) -> dict[str, Any]:
        """The contents of manifest.json."""
        return self._record.as_dict()

    @property
    def name(self) -> str:
        """The name of the study, such as `slack`."""
        return manifest.study(self.directory, self._record).text("name")

    @property
    def samples(self) -> pl.DataFrame:
        """A row for each sample. The page "Samples of a study" lists the columns with their units. Columns of joules
        end in `_J`, and stand beside `_uncertainty_J`, `_provenance` and `_source`. Raises DamagedFile.
        """
        if self._samples is None:
            extras.require("the samples of a study", "polars")
            from wattle.study import registry, samples

            facts = manifest.study(self.directory, self._record)
            if self.name not in registry.names():
                raise facts.get("name").wrong(f"{self.name!r} is not a study of this version")
            is_command = self.name in registry.commands()
            columns = (
                registry.study(self.name).of(facts).layout.columns
                if is_command
                else registry.part(self.name, "study").SCHEMA
            )
            self._samples = samples.read(self.directory, columns)
        return self._samples

    @property
    def results(self) -> dict[str, Any]:
        """The contents of results.json, computed from the samples: the verdict on each published figure."""
        from wattle.study import registry

        return registry.results(self.directory, self._record)

    def __repr__(self) -> str:
        return f"<wattle.Study {self.name} in {self.directory}>"
