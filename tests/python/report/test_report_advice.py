"""The section "Advice" of a run's page names each finding with all that `wattle advise` says, or that there is none."""

import html
import re
from pathlib import Path

import advised
import fakes
from wattle.advise import words
from wattle.advise.given import advise
from wattle.report.cli import write


def section(directory: Path) -> str:
    """The text of the section; empty where the page has none."""
    page = write(directory, directory.parent / "report.html").read_text(encoding="utf-8")
    found = re.search(r'<section id="advice">(.*?)</section>', page, re.DOTALL)
    assert ('href="#advice"' in page) is bool(found)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", found[1])).split()) if found else ""


def test_each_finding_has_its_place_saving_change_and_basis(tmp_path):
    directory = advised.make_run(tmp_path / "run")
    (finding,) = advise(directory).findings
    text = section(directory)
    for part in (finding.advice.title, finding.advice.rests_on, *finding.advice.seen, *words.places(finding)):
        assert " ".join(part.split()) in text
    assert f"Saves {words.percents(finding.saved.share)} of the time" in text
    assert " ".join(finding.advice.change.split()) in text
    assert f"modelled {finding.saved.source}" in text


def test_no_advice_is_an_answer(run_dir):
    assert words.NONE in section(run_dir)
    assert "The order of calls is not known" in section(run_dir)


def test_joules_that_are_not_known_are_said_to_be(tmp_path):
    unknown = [fakes.figure("cpu", None), fakes.figure("dram", None)]
    directory = advised.make_run(tmp_path / "run", joules=unknown, node=None)
    assert "of the time and joules unavailable" in section(directory)


def test_a_page_without_profiles_has_no_such_section(tmp_path):
    assert section(fakes.make_run(tmp_path / "run", [], profile=False)) == ""


def test_a_lack_of_cores_is_a_note_in_the_section(tmp_path):
    state = {"active": 0.5, "spin": 0.5, "yield": 0.0, "asleep": 0.0, "no_core": 1.0}
    directory = advised.make_run(tmp_path / "run", wall_s=2.0, state_s=state)
    (note,) = advise(directory).notes
    assert f"Note: {note}" in section(directory)
