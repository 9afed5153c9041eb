"""The pages that follow from the studies are up to date, and the example of samples.md works."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import studies
from tree import ROOT
from wattle.reproduce import columns

SAMPLES = ROOT / "docs/samples.md"


def test_the_tables_are_those_of_the_studies() -> None:
    script = [sys.executable, str(ROOT / "tools/studies_doc.py")]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["figure 8.4", "figure 13.3d", "table 12.1", "figure 11.3"])
def test_a_figure_is_listed_with_its_command(name: str) -> None:
    (line, *_) = [
        line for line in (ROOT / "docs/figures.md").read_text().splitlines() if line.startswith(f"| {name} |")
    ]
    assert re.search(r"`wattle study [a-z]+` \| \[[a-z-]+\]\(studies\.md#[a-z-]+\)", line)


def test_the_example_reads_the_samples_of_a_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = studies.make_study(tmp_path / "study")
    (code,) = [
        block for block in re.findall(r"```python\n(.*?)```", SAMPLES.read_text(), re.DOTALL) if "polars" in block
    ]
    exec(re.sub(r"wattle-runs/study-patterns-[0-9-]+", str(made), code), {})
    said = capsys.readouterr().out
    assert "latency_s" in said
    assert "shape: (" in said


def test_each_column_of_a_study_is_described(tmp_path: Path) -> None:
    text = SAMPLES.read_text()
    for name in pl.read_parquet(studies.make_study(tmp_path / "study") / "samples.parquet").columns:
        known = f"| `{name}` |" in text
        end = next((end for end in columns.ENDS if name.endswith(end)), None)
        assert known or (end and f"`cpu{end}`" in text), name
