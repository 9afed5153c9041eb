"""The records of a study: its settings, its results, and whether it finished."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from wattle.base import files
from wattle.base.checked import Checked, read_json, require_schema
from wattle.base.errors import WattleError
from wattle.machine import stopping
from wattle.record import manifest
from wattle.record.manifest import Manifest
from wattle.study import samples
from wattle.text import console

RESULTS = "results.json"


def begin(command: list[str], n_pes: int, simulated: bool = False) -> Manifest:
    """The manifest of a study that starts now. Prints a remark where the machine is busy with other work."""
    record = manifest.start("study", command, n_pes, settings=settings())
    if record.busy and not simulated:
        console.note(f"{record.busy}: expect a larger spread of the ratios")
    return record


def settings() -> dict[str, str]:
    """The settings in force that were set by name."""
    return {k: v for k, v in sorted(os.environ.items()) if k.startswith(("WATTLE_", "SHMEM_")) and k != "WATTLE_HOME"}


def write_results(path: Path, results: dict[str, Any]) -> Path:
    """Writes the study's results to `path`, for other programs."""
    try:
        files.write_atomically(path, console.json_text(results, indent=1))
    except OSError as error:
        raise WattleError(f"{path}: cannot be written: {error.strerror}") from None
    return path


def read_results(path: Path, schema: int, study: str) -> Checked:
    """Reads the results that `write_results` wrote, and checks their schema and study."""
    document = read_json(path)
    require_schema(document, schema)
    if document.text("study") != study:
        raise document.get("study").wrong(f"expected {study!r}, found {document.text('study')!r}")
    return document


def check_finished(directory: Path, record: Manifest, study: Checked) -> None:
    """Raises WattleError for a study that ended early. It lacks samples at some points, so it cannot be judged."""
    if record.exit_code == 0:
        return
    code = record.exit_code
    if code is None:
        how = "is still running or was killed"
    else:
        how = f"was {by_signal}" if (by_signal := stopping.words(code)) else "failed"
    done = f" after {study.integer('samples')} of {study.integer('samples_planned')} samples" if code else ""
    kept = f"; those are in {samples.FILE}" if (directory / samples.FILE).exists() else ""
    raise WattleError(f"{directory}: this study {how}{done}{kept}; a partial study has no report, so run it again")
