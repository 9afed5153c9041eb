"""The notebooks run from their first cell to the last."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from tree import HOME, PACKAGE, ROOT

NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
RECORDED = ROOT / "tests/python/api/recorded/halo-0.1.0"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed")
    nbclient = pytest.importorskip("nbclient")
    shutil.copytree(RECORDED, tmp_path / "first")
    monkeypatch.setenv("WATTLE_HOME", str(HOME))
    monkeypatch.setenv("PYTHONPATH", f"{PACKAGE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    said = "".join(str(output) for cell in notebook.cells for output in cell.get("outputs", ()))
    assert "modelled" in said or "measured" in said


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert [cell["outputs"] for cell in cells if cell["cell_type"] == "code" and cell["outputs"]] == []
