"""The archive of a reproduction: samples, manifests, results, citation, and the description of every column."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from wattle import __version__
from wattle.base import files, input_files, limits
from wattle.base.errors import WattleError
from wattle.reproduce import columns, page
from wattle.reproduce.plan import Step
from wattle.reproduce.state import FILE as STATE
from wattle.reproduce.state import State

NAME = "wattle-reproduction"
KEPT = ("manifest.json", "samples.parquet", "results.json")
README, CITATION = "README.md", "CITATION.cff"


def write(wanted: State, todo: Sequence[Step]) -> Path:
    """Writes README.md, CITATION.cff and the archive into the directory. Returns the path of the archive."""
    folder, target = wanted.directory, wanted.directory / f"{NAME}.tar.gz"
    try:
        files.write_atomically(folder / README, readme(wanted, todo))
        files.write_atomically(folder / CITATION, citation(wanted))
        with files.writing(target) as out, tarfile.open(fileobj=out, mode="w:gz") as archive:
            for path in (folder / README, folder / CITATION, folder / STATE, folder / page.FILE):
                archive.add(path, f"{NAME}/{path.name}")
            for path in sorted(p for step in todo for name in KEPT for p in wanted.folder(step).rglob(name)):
                archive.add(path, f"{NAME}/{path.relative_to(folder)}")
    except OSError as error:
        raise WattleError(f"{target}: cannot be written: {error.strerror or error}") from None
    return target


def citation(wanted: State) -> str:
    """CITATION.cff of the data. Texts are written as JSON strings, which YAML reads unchanged."""
    host = str(wanted.host.get("cpu") or wanted.host.get("name") or "this machine")
    title = f"Energy and time of one-sided communication on {host}: data of wattle reproduce"
    return "\n".join(
        [
            "cff-version: 1.2.0",
            "message: If you use these data, please cite them by this entry.",
            "type: dataset",
            f"title: {json.dumps(title)}",
            "authors:",
            f"  - name: {json.dumps(wanted.author)}",
            f"date-released: {json.dumps(wanted.started[:10])}",
            "references:",
            "  - type: software",
            "    title: Wattle",
            f"    version: {json.dumps(__version__)}",
            "    authors:",
            "      - name: The Wattle authors",
            "",
        ]
    )


def readme(wanted: State, todo: Sequence[Step]) -> str:
    """README.md: the contents, the machine, and each column of the samples with its unit."""
    host = ", ".join(f"{key} {value}" for key, value in wanted.host.items() if value not in (None, ""))
    lines = [
        "# Data of `wattle reproduce`",
        "",
        f"Made by Wattle {__version__} from {wanted.started} on. Host: {host}.",
        "",
        f"- `{page.FILE}`: each published figure beside ours, with verdicts and figures",
        "- `studies/NAME-PLACE/samples.parquet`: one row a sample, never averaged",
        "- `studies/NAME-PLACE/manifest.json`: command, host, versions, settings, meter, place, nodes",
        "- `studies/NAME-PLACE/results.json`: medians, published figures and verdicts",
        "- `wattle report studies/NAME-PLACE` makes the page of one study, to which the page above links",
        "- `CITATION.cff`: how to cite these data",
        "",
        "Every joule has a provenance: measured, modelled or unavailable. An unknown value is null, never 0.",
    ]
    for step in todo:
        path = wanted.folder(step) / "samples.parquet"
        if path.exists():
            frame = pl.read_parquet(io.BytesIO(input_files.read_bytes(path, limits.TABLE_BYTES)))
            lines += ["", f"## {step.name}: {frame.height} samples", "", "| column | unit | meaning |", "|---|---|---|"]
            lines += [f"| `{name}` | {columns.unit(name)} | {columns.words(name)} |" for name in frame.columns]
    return "\n".join([*lines, ""])
