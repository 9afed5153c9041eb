"""The tables of a run as files of CSV or Parquet, one for each table."""

from __future__ import annotations

from pathlib import Path

from wattle.base import files
from wattle.base.errors import WattleError
from wattle.frames import made, of_profile
from wattle.record.profile import folder_of
from wattle.record.runs import Run


def write(folder: Path, run: Run, kind: str) -> list[Path]:
    """Writes FOLDER/processes.csv and so on; `kind`: `csv` or `parquet`. Tables without a row are left out."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WattleError(f"{folder}: cannot be made: {error.strerror}; give another folder with -o") from None
    written = []
    for name in (*of_profile.OF_PROFILE, "repeats"):
        if name == "timeline" and not _has_timelines(run):
            continue
        frame = made.frame(name, of_profile.rows(name, run.samples))
        if frame.is_empty():
            continue
        path = folder / f"{name}.{kind}"
        with files.writing(path) as out:
            frame.write_csv(out) if kind == "csv" else frame.write_parquet(out)
        written.append(path)
    return written


def _has_timelines(run: Run) -> bool:
    return all(any(folder_of(sample.directory).glob("timeline-*.bin")) for sample in run.samples)
