"""The report of a run: time and joules by PE, call sites, and what is missing is said."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import fakes
import pytest
from fakes import Wattle
from wattle.base.errors import WattleError
from wattle.figures import balance, sites
from wattle.record import profile as profiles
from wattle.report.cli import write
from wattle.text import units
from wattle.text.provenance import amount, significant

PLOTLY = re.compile(r'<script type="application/gzip" id="plotly">.*?</script>', re.DOTALL)


def page_of(directory: Path) -> str:
    return PLOTLY.sub("", write(directory, directory.parent / "report.html").read_text())


def figures(page: str) -> dict[str, dict]:
    found = re.search(r'<script type="application/json" id="figures">(.*?)</script>', page, re.DOTALL)
    return json.loads(found.group(1)) if found else {}


def plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def test_time_is_stacked_by_pe_and_stage(run_dir):
    profile = profiles.load(run_dir)
    stack = {t["name"]: t for t in figures(page_of(run_dir))["time"]["data"]}
    assert list(stack) == ["compute", "transfer", "wait: spin", "wait: yield", "wait: asleep", "no core"]
    assert stack["compute"]["x"] == [pe.time_s["compute"] for pe in profile.pes]
    assert stack["wait: asleep"]["x"] == [pe.state_s["asleep"] for pe in profile.pes]
    assert stack["compute"]["y"] == [f"PE {pe.pe}" for pe in profile.pes]


def test_joules_by_pe_have_whiskers_and_provenance(run_dir):
    profile = profiles.load(run_dir)
    page = page_of(run_dir)
    for trace in figures(page)["joules-by-pe"]["data"]:
        found = [profiles.find(pe.joules, trace["name"]) for pe in profile.pes]
        assert trace["x"] == [f.joules for f in found]
        assert trace["error_x"]["array"] == [f.uncertainty for f in found]
        for text, figure in zip(trace["customdata"], found, strict=True):
            assert str(figure.provenance) in text
            assert figure.source in text
    for pe in profile.pes:
        for figure in pe.joules:
            assert f'class="badge {figure.provenance}"' in page


def test_every_call_site_is_in_the_table_by_place_and_call(run_dir):
    page = page_of(run_dir)
    for site in sites.merge(profiles.load(run_dir)):
        assert site.call in page
        assert html.escape(site.place.label) in page
        assert units.count(site.calls) in page


def test_balance_stands_with_its_reasons_and_provenance(run_dir):
    profile = profiles.load(run_dir)
    found, page = balance.balance(profile), page_of(run_dir)
    text = plain(page[page.index('id="balance"') : page.index('id="sites"')])
    assert f"slack ratio of all PEs' time is waited {significant(100 * found.slack_ratio, 3)} %" in text
    assert f"that of the least busy PE {significant(found.compute_ratio, 3)}" in text
    assert "CI, compute intensity not counted (WATTLE_COUNTERS=on counts it) -" in text
    assert "<code>wattle run --timeline</code> tells serialisation" in page and "`" not in text
    for product in balance.products(balance.of_nodes(profile, ["cpu", "dram"]), profile.wall_s):
        assert f"joules of the nodes {amount(product.value, product.uncertainty)} {product.unit}" in text


def test_settings_meter_and_manifest_are_there(run_dir):
    text = plain(page_of(run_dir))
    manifest = json.loads((run_dir / "manifest.json").read_text())
    for key, value in manifest["settings"].items():
        assert key in text
        assert value in text
    assert manifest["started"] in text
    assert " ".join(manifest["command"]) in text


def test_a_pe_without_a_profile_is_named(run_dir):
    (run_dir / "profile" / "pe-00001.json").unlink()
    assert "PE 1 left no profile" in plain(page_of(run_dir))


def test_a_run_in_which_no_pe_left_a_profile_still_has_a_report(run_dir):
    for file in (run_dir / "profile").glob("pe-*.json"):
        file.unlink()
    text = plain(page_of(run_dir))
    assert "no PE left a profile" in text


def test_unknown_joules_are_unavailable_and_never_zero(run_dir):
    for file in (run_dir / "profile").glob("pe-*.json"):
        document = json.loads(file.read_text())
        document["joules"] = [fakes.figure("cpu", None, "unavailable")]
        file.write_text(json.dumps(document))
    page = page_of(run_dir)
    assert "joules-by-pe" not in figures(page)
    assert "unavailable" in page
    assert "Joules are not known" in plain(page)


def test_a_damaged_profile_is_an_error_that_names_the_file(run_dir, wattle: Wattle):
    path = run_dir / "profile" / "pe-00001.json"
    path.write_text(path.read_text()[:100])
    with pytest.raises(WattleError, match=r"pe-00001\.json"):
        write(run_dir)
    done = wattle("report", run_dir)
    assert done.returncode == 2
    assert "pe-00001.json" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_figures_of_a_run_are_printed_of_which_all_profiles_are_damaged(run_dir, wattle: Wattle):
    for path in (run_dir / "profile").glob("pe-*.json"):
        path.write_text(path.read_text()[:100])
    for words in (["--text"], ["--folded", "-"]):
        done = wattle("report", run_dir, *words)
        assert done.returncode == 2
        assert done.stdout == ""
        assert "pe-00000.json" in done.stderr


def test_a_target_that_cannot_be_written_is_an_error(run_dir, wattle: Wattle, tmp_path):
    for target in (tmp_path, tmp_path / "no" / "such" / "folder.html"):
        done = wattle("report", run_dir, "-o", target)
        assert done.returncode == 2
        assert str(target) in done.stderr
        assert "Traceback" not in done.stderr
