"""The library of figures in a page is the one that its note names, and a page stays small."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from pathlib import Path

import fakes
import pytest
import studies
from wattle.html import page
from wattle.report.cli import write

MOST_BYTES = 1_500_000


def test_the_library_is_the_file_of_its_note() -> None:
    note = page.PLOTLY.with_name("README.md").read_text(encoding="utf-8")
    library = gzip.decompress(page.PLOTLY.read_bytes())
    version, sum_ = re.search(r"plotly\.js (\S+) ", note)[1], re.search(r"`([0-9a-f]{64})`", note)[1]
    assert hashlib.sha256(library).hexdigest() == sum_
    assert f"v{version}\n" in library[:200].decode()
    assert "MIT" in page.PLOTLY.with_name("LICENSE").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["run", "study"])
def test_a_page_holds_the_library_and_is_small(tmp_path: Path, kind: str) -> None:
    made = studies.make_study(tmp_path / "d") if kind == "study" else fakes.make_run(tmp_path / "d")
    text = write(made).read_text(encoding="utf-8")
    held = re.search(r'<script type="application/gzip" id="plotly">(.*?)</script>', text)[1]
    assert base64.b64decode(held) == page.PLOTLY.read_bytes()
    assert len(text.encode()) <= MOST_BYTES


def test_joules_of_other_orders_of_magnitude_have_a_figure_of_their_own(tmp_path: Path) -> None:
    from test_report_run import figures, page_of

    profiles = [fakes.pe_profile(0), fakes.pe_profile(1)]
    for one in profiles:
        for row in one["joules"]:
            row["joules"] *= 1000 if row["domain"] == "cpu" else 1
    found = figures(page_of(fakes.make_run(tmp_path / "run", profiles)))
    drawn = {name: [t["name"] for t in made["data"]] for name, made in found.items() if name.startswith("joules-by-pe")}
    assert drawn == {"joules-by-pe": ["cpu"], "joules-by-pe-2": ["dram"]}
