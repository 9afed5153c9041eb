"""A page holds the library of figures and stays small."""

from __future__ import annotations

import base64
import gzip
import re
from pathlib import Path

import fakes
import pytest
import studies
from wattle.html import page
from wattle.report.cli import write

# With the part for two dimensions, and with the whole library.
MOST_BYTES = {True: 1_500_000, False: 3_000_000}


@pytest.mark.parametrize("fetched", [True, False])
@pytest.mark.parametrize("kind", ["run", "study"])
def test_a_page_holds_the_library_and_is_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, fetched: bool
) -> None:
    if not fetched:
        monkeypatch.setattr(page, "CARTESIAN", tmp_path / "none.gz")
    elif not page.CARTESIAN.exists():
        pytest.skip("the part for two dimensions was not fetched (npm)")
    made = studies.make_study(tmp_path / "d") if kind == "study" else fakes.make_run(tmp_path / "d")
    text = write(made).read_text(encoding="utf-8")
    held = re.search(r'<script type="application/gzip" id="plotly">(.*?)</script>', text)[1]
    library = gzip.decompress(base64.b64decode(held))
    assert b"plotly.js" in library[:200]
    assert (b"cartesian" in library[:200]) == fetched
    assert len(text.encode()) <= MOST_BYTES[fetched]


def test_joules_of_other_orders_of_magnitude_have_a_figure_of_their_own(tmp_path: Path) -> None:
    from test_report_run import figures, page_of

    profiles = [fakes.pe_profile(0), fakes.pe_profile(1)]
    for one in profiles:
        for row in one["joules"]:
            row["joules"] *= 1000 if row["domain"] == "cpu" else 1
    found = figures(page_of(fakes.make_run(tmp_path / "run", profiles)))
    drawn = {name: [t["name"] for t in made["data"]] for name, made in found.items() if name.startswith("joules-by-pe")}
    assert drawn == {"joules-by-pe": ["cpu"], "joules-by-pe-2": ["dram"]}
