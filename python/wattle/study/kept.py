"""The records of a study: its settings, its results, and whether it came to its end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from wattle import console, files, manifest, stopping
from wattle.checked import Checked, read_json, require_schema
from wattle.errors import WattleError
from wattle.manifest import Manifest
from wattle.study import samples

RESULTS = "results.json"


def begin(command: list[str], n_pes: int, simulated: bool = False) -> Manifest:
    """The manifest of a study that starts now. Says so if the machine is busy with other work, where that matters."""
    record = manifest.start("study", command, n_pes, settings=settings())
    if record.busy and not simulated:
        console.note(f"{record.busy}: ratios will spread")
    return record


def settings() -> dict[str, str]:
    """Settings in force that were set by name."""
    return {k: v for k, v in sorted(os.environ.items()) if k.startswith(("WATTLE_", "SHMEM_")) and k != "WATTLE_HOME"}


def write_results(path: Path, results: dict[str, Any]) -> Path:
    """The study's results at `path`, for other programs to read."""
    try:
        files.write_atomically(path, console.json_text(results, indent=1))
    except OSError as error:
        raise WattleError(f"{path}: cannot be written: {error.strerror}") from None
    return path


def read_results(path: Path, schema: int, study: str) -> Checked:
    """What write_results wrote, checked to be of that schema and that study's."""
    document = read_json(path)
    require_schema(document, schema)
    if document.text("study") != study:
        raise document.get("study").wrong(f"expected {study!r}, found {document.text('study')!r}")
    return document


def check_finished(directory: Path, record: Manifest, study: Checked) -> None:
    """A study that ended early has samples, but not each at every point: nothing to judge by."""
    if record.exit_code == 0:
        return
    code = record.exit_code
    if code is None:
        how = "is still running or was killed"
    else:
        how = f"was {by_signal}" if (by_signal := stopping.words(code)) else "failed"
    done = f" after {study.integer('samples')} of {study.integer('samples_planned')} samples" if code else ""
    kept = f"; those are in {samples.FILE}" if (directory / samples.FILE).exists() else ""
    raise WattleError(f"{directory}: this study {how}{done}{kept}; there is no report of a part, so run it again")
