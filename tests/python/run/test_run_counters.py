"""The counters of a run on the terminal, in JSON and on the page: each with its count, or with the reason."""

import html
import json
import re

import fakes
import pytest

COUNTED = {
    "instructions": 3_000_000.0,
    "branches": 500_000.0,
    "loads": 700_000.0,
    "stores": 300_000.0,
    "cycles": 2_000_000.0,
    "cache_references": 4096.0,
    "cache_misses": 1234.0,
    "why": "",
}
WHY = "this processor, or its virtual machine, has no counter of instructions"
NOTHING = dict.fromkeys(COUNTED, None) | {"why": WHY}


def interface(name, sent, received, kind="net"):
    ways = {"sent": sent, "received": received}
    sizes = {key: None if n is None else 1500 * n for key, n in ways.items()}
    return {"name": name, "kind": kind, "packets": ways, "bytes": sizes}


CARDS = {"list": [interface("eth0", 250, 99), interface("lo", 0, 0), interface("mlx5_0/1", None, 7, "infiniband")]}


@pytest.fixture
def shown(wattle, tmp_path):
    """Runs a job whose PEs leave profiles with these changes; returns the words of a command on its directory."""

    def run(command, counted, cards, why=""):
        profiles = fakes.on_nodes(2, 1, operations=counted)
        for pe in profiles:
            pe["interfaces"] = cards | {"why": why}
        directory = fakes.make_run(tmp_path / "run", profiles, profile=True)
        if command == "report":
            done = wattle("report", directory)
            assert done.returncode == 0, done.stderr
            page = re.sub(r"<script.*?</script>", "", (directory / "report.html").read_text(), flags=re.S)
            return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
        ready = fakes.write_profiles(tmp_path / "ready", profiles)
        options = ["--json"] if command == "json" else []
        script = fakes.script(tmp_path / "program", "#!/bin/sh\ntrue\n")
        done = wattle("run", "-n", 2, *options, "-o", tmp_path / "out", "--", script, env={"FAKE_PROFILES": str(ready)})
        assert done.returncode == 0, done.stderr
        return done.stdout if command == "json" else done.stderr

    return run


@pytest.mark.parametrize("command", ["run", "report"])
def test_counts_stand_by_pe_and_by_interface(shown, command):
    text = shown(command, COUNTED, CARDS)
    pe = r"\b1 +(?:node1 +)?3\.00 M +2\.00 M +1\.50 +4,096 +1,234"
    assert re.search(pe, text), text
    assert re.search(r"node0 +eth0 +250 +99 +366 KiB +145 KiB", text), text
    assert re.search(r"node1 +mlx5_0/1 +(?:InfiniBand or RoCE +)?- +7 ", text), text
    assert not re.search(r"node\d +lo +0", text)


@pytest.mark.parametrize("command", ["run", "report"])
def test_a_counter_that_is_missing_has_its_reason(shown, command):
    text = " ".join(shown(command, NOTHING, {"list": []}, "no network interface in /sys/class/net").split())
    assert "his processor, or its virtual machine, has no counter of instructions" in text
    assert "No network interface in /sys/class/net." in text
    assert "Counters by PE" not in text


def test_json_has_the_counts_of_pes_and_nodes(shown):
    document = json.loads(shown("json", COUNTED, CARDS))
    assert document["pes"][1]["operations"] == COUNTED
    assert document["nodes"][1]["interfaces"]["list"][0] == interface("eth0", 250, 99)
    assert document["nodes"][0]["interfaces"]["list"][2]["packets"] == {"sent": None, "received": 7}


def test_a_run_that_was_not_asked_to_count_says_nothing_of_counters(wattle, tmp_path):
    directory = fakes.make_run(tmp_path / "run", [fakes.pe_profile(0), fakes.pe_profile(1)], profile=True)
    assert wattle("report", directory).returncode == 0
    assert 'id="counters"' not in (directory / "report.html").read_text()
