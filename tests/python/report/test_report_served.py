"""The table of call sites on a run's page has the joules of the PEs that serve a call beside those of the PE that
makes it.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import fakes
from wattle.record.pe import Served
from wattle.report.cli import write

MARK = 7


def served(mark: int, cpu: float) -> list[Any]:
    """The row of a PE for requests of PE 1."""
    found = {"pe": 1, "mark": mark, "requests": 1000, "bytes": 8000, "agents_s": 0.125, "handlers_s": 0.125}
    found |= {"waits_s": 0.0, "cpu": cpu, "dram": 0.0}
    return [found[name] for name in Served._fields]


def run(directory: Path, *rows: list[Any]) -> Path:
    """PE 1 asks, and PE 0 serves it."""
    pes = [fakes.pe_profile(pe, 2, sites=[fakes.site(mark=MARK * pe)]) for pe in range(2)]
    found = {"agents_s": 0.125, "columns": Served._fields, "rows": list(rows)}
    return fakes.make_run(directory, [pes[0] | {"served": found}, pes[1]])


def section(directory: Path) -> str:
    page = write(directory, directory.parent / "report.html").read_text(encoding="utf-8")
    found = re.search(r'<section id="sites">(.*?)</section>', page, re.DOTALL)
    assert found
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", found[1])).split())


def test_the_table_has_a_column_for_the_joules_of_other_pes(tmp_path):
    text = section(run(tmp_path / "run", served(MARK, 2.0)))
    assert "joules, here elsewhere" in text
    assert re.search(r" 2\.0+ ± 0\.5 J 250 ms", text)  # a quarter of the joules is uncertain in these profiles
    assert "Messages of no call site" not in text


def test_joules_of_no_call_site_are_named_below_it(tmp_path):
    text = section(run(tmp_path / "run", served(MARK, 2.0), served(0, 1.0)))
    assert re.search(r"such as those of barriers, took another 1\.0+ ± 0\.2 J modelled", text)


def test_a_run_in_which_no_pe_serves_another_has_no_such_column(tmp_path, run_dir):
    assert "elsewhere" not in section(run_dir)
