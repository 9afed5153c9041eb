"""A run on several nodes: each node's joules count once, sums are over all nodes or not known, and gaps are named."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import fakes
import pytest
import wattle
from fakes import Wattle
from wattle.base.errors import DamagedFile
from wattle.figures import merged
from wattle.record import profile, runs
from wattle.record.by_node import Node
from wattle.record.pe import find
from wattle.record.profile import RunProfile
from wattle.report.cli import write
from wattle.run.view import labels

PLOTLY = re.compile(r'<script type="application/gzip" id="plotly">.*?</script>', re.DOTALL)


def load(folder: Path, profiles: list[dict], n_hosts: int | None = None) -> RunProfile:
    return profile.load(fakes.make_run(folder, profiles), profiles[0]["n_pes"], n_hosts=n_hosts)


def measured(profiles: list[dict]) -> list[dict]:
    """The same with a sensor on each node."""
    for pe in profiles:
        for figure in (pe["node"] or {"joules": []})["joules"]:
            figure |= {"provenance": "measured", "source": "powercap package-0"}
    return profiles


# ---- joules ----


def test_pes_are_grouped_by_node_and_each_node_has_its_own_joules(tmp_path):
    found = load(tmp_path / "r", fakes.on_nodes(2))
    assert [(node.host, node.numbers) for node in found.nodes] == [("node0", [0, 1]), ("node1", [2, 3])]
    for node, share in zip(found.nodes, (21.0, 25.0), strict=True):
        assert node.share("cpu").joules == share
        assert node.share("cpu").joules + node.idle("cpu").joules == pytest.approx(node.joules("cpu").joules)


def test_the_node_at_its_supply_is_a_row_of_its_own_and_in_no_sum(tmp_path):
    profiles = measured(fakes.on_nodes(1))
    without = load(tmp_path / "a", profiles)
    supply = fakes.figure("node", 5000.0, "measured") | {"scope": "node", "source": "hwmon hwmon1 power1_average"}
    core = fakes.figure("core-0", 3.0, "measured") | {"scope": "core"}
    profiles[0]["node"]["nested"] = [supply, core]
    found = load(tmp_path / "b", profiles)
    assert [j.domain for j in found.nodes[0].nested] == ["node", "core-0"]
    assert found.domains == without.domains
    assert found.node_joules("cpu").joules == without.node_joules("cpu").joules
    assert [figure["domain"] for figure in found.nodes[0].as_dict()["nested"]] == ["node", "core-0"]


def test_pes_and_idle_add_up_to_the_nodes_over_all_nodes(tmp_path):
    found = load(tmp_path / "r", fakes.on_nodes(3, 2))
    for domain, idle in (("cpu", 3 * 19.0), ("dram", 3 * 4.0)):
        assert found.idle_joules(domain).joules == idle
        whole = found.node_joules(domain).joules
        assert whole == pytest.approx(found.joules(domain).joules + idle)
        assert whole == pytest.approx(sum(node.joules(domain).joules for node in found.nodes))


def test_a_node_whose_reader_left_no_profile_makes_the_sum_unknown(tmp_path):
    profiles = fakes.on_nodes(2)
    found = load(tmp_path / "r", [profiles[0], profiles[1], profiles[3]], n_hosts=2)
    assert found.missing == [2]
    assert found.nodes[0].joules("cpu").known
    assert not found.nodes[1].joules("cpu").known
    assert not found.node_joules("cpu").known
    assert not found.idle_joules("cpu").known


@pytest.mark.parametrize(("n_hosts", "known"), [(2, False), (1, True), (None, True)])
def test_a_node_of_which_nothing_came_makes_the_sum_unknown(tmp_path, n_hosts, known):
    """`None`: no hosts were given, so a missing PE was on the only node."""
    found = load(tmp_path / "r", fakes.on_nodes(2)[:2], n_hosts)
    assert found.node_joules("cpu").known is known


def test_a_pe_that_is_missing_from_several_nodes_leaves_it_open_whether_there_were_more(tmp_path):
    profiles = fakes.on_nodes(2)[:3]
    assert not load(tmp_path / "a", profiles).node_joules("cpu").known
    assert load(tmp_path / "b", profiles, n_hosts=2).node_joules("cpu").known


def test_a_node_that_two_pes_say_they_read_counts_neither(tmp_path):
    profiles = fakes.on_nodes(2)
    profiles[1]["node"] = profiles[0]["node"]
    found = load(tmp_path / "r", profiles)
    assert not found.nodes[0].joules("cpu").known
    assert not found.node_joules("cpu").known


def test_one_sensor_read_by_two_nodes_is_never_counted_twice(tmp_path):
    one = load(tmp_path / "a", measured(fakes.on_nodes(2, boot_id="same")))
    assert not one.node_joules("cpu").known
    assert not one.idle_joules("cpu").known
    assert not one.joules("cpu").known
    assert one.nodes[0].joules("cpu").known
    nameless = measured(fakes.on_nodes(2))
    for pe in nameless:
        pe["host"] = "vm"
    assert not load(tmp_path / "c", nameless).joules("cpu").known
    profiles = measured(fakes.on_nodes(2))
    for pe in profiles:
        pe["boot_id"] = f"of {pe['host']}"
    assert load(tmp_path / "b", profiles).node_joules("cpu").joules == 21 + 25 + 2 * 19


def test_hosts_of_one_name_that_are_different_machines_are_different_nodes(tmp_path):
    profiles = fakes.on_nodes(2)
    for pe in profiles:
        pe |= {"boot_id": pe["host"], "host": "localhost"}
    found = load(tmp_path / "r", profiles)
    assert [node.numbers for node in found.nodes] == [[0, 1], [2, 3]]
    assert found.node_joules("cpu").known


# ---- the network ----


def test_what_went_over_the_network_is_added_up_and_in_the_frame(tmp_path):
    found = load(tmp_path / "r", fakes.on_nodes(2))
    assert found.network.messages == {"sent": 4000, "received": 3600, "merged": None}
    assert found.network.dropped == {"foreign": 0, "malformed": 0}
    assert wattle.open(tmp_path / "r").processes["sent_bytes"].to_list() == [4096000.0] * 4


def test_a_job_on_one_node_has_no_network(run_dir):
    assert profile.load(run_dir).network is None


def test_one_pe_without_a_network_is_none_in_the_frame(tmp_path):
    profiles = fakes.on_nodes(2)
    profiles[0]["network"] = None
    load(tmp_path / "r", profiles)
    assert wattle.open(tmp_path / "r").processes["sent_messages"].to_list() == [None, 1000, 1000, 1000]


def test_bytes_that_hardware_moved_need_no_notice(tmp_path):
    profiles = fakes.on_nodes(2)
    profiles[0]["network"] = fakes.NETWORK | {"bytes": {"sent": 1, "received": 2, "hardware": None}}
    found = load(tmp_path / "r", profiles)
    assert found.pes[0].network.bytes == {"sent": 1, "received": 2, "hardware": None}
    assert found.pes[1].network.bytes["hardware"] == 0
    assert found.network.bytes["hardware"] is None


def test_an_unknown_count_makes_the_sum_unknown(tmp_path):
    profiles = fakes.on_nodes(2)
    profiles[3]["network"] = fakes.NETWORK | {"messages": {"sent": None, "received": 5, "merged": 0}}
    assert load(tmp_path / "r", profiles).network.messages == {"sent": None, "received": 2705, "merged": None}


MERGED = fakes.NETWORK | {
    "messages": {"sent": 1000, "received": 900, "merged": 5000},
    "single": {"messages": 200, "seconds": 0.002, "least_s": 4e-6},
}


def on_nodes_with_merging(**changes: Any) -> list[dict[str, Any]]:
    """Profiles of four PEs on two nodes, each with 5000 operations that shared a message."""
    return [pe | {"network": MERGED} for pe in fakes.on_nodes(2, **changes)]


def test_merged_operations_save_the_quickest_to_the_mean_message_at_the_watts_of_a_pe(tmp_path):
    found = load(tmp_path / "r", on_nodes_with_merging())
    (pe, *_) = found.pes
    cpu = find(pe.joules, "cpu")
    saved = merged.avoided(pe)
    low = 5000 * 4e-6 * (cpu.joules - cpu.uncertainty) / pe.cpu_s
    high = 5000 * 10e-6 * (cpu.joules + cpu.uncertainty) / pe.cpu_s
    assert saved.joules - saved.uncertainty == pytest.approx(low)
    assert saved.joules + saved.uncertainty == pytest.approx(high)
    assert saved.provenance == "modelled" and saved.source == cpu.source
    assert merged.of_run(found).joules == pytest.approx(sum(merged.avoided(one).joules for one in found.pes))
    assert found.network.messages["merged"] == 20000


def test_without_a_single_message_the_saving_is_not_known(tmp_path):
    profiles = on_nodes_with_merging()
    profiles[0]["network"] = MERGED | {"single": {"messages": 0, "seconds": 0, "least_s": 0}}
    found = load(tmp_path / "r", profiles)
    assert not merged.avoided(found.pes[0]).known and not merged.of_run(found).known
    assert "20.0 k operations shared a message with earlier ones (WATTLE_MERGE)" in merged.words(found)


def test_where_merging_is_not_counted_nothing_is_said_of_it(tmp_path):
    found = load(tmp_path / "r", fakes.on_nodes(2))
    assert found.network.messages["merged"] is None and merged.words(found) == "" and not merged.of_run(found).known


@pytest.mark.parametrize(
    ("network", "wrong"),
    [
        ([], "network: expected an object or null, found a list"),
        (fakes.NETWORK | {"name": 5}, "network.name: expected text"),
        (fakes.NETWORK | {"dropped": {"foreign": 1}}, "network.dropped.malformed is missing"),
        (fakes.NETWORK | {"bytes": {"sent": -1, "received": 0}}, "network.bytes.sent: expected at least 0"),
        (fakes.NETWORK | {"messages": {"sent": "many", "received": 0}}, "network.messages.sent: expected a number"),
    ],
)
def test_a_network_that_is_none_is_named(tmp_path, network, wrong):
    with pytest.raises(DamagedFile, match=wrong):
        load(tmp_path / "r", [fakes.pe_profile(0, 1, network=network)])


# ---- what a person sees ----


@pytest.fixture
def on_two(tmp_path: Path) -> dict[str, str]:
    """The files that the made-up launcher leaves for a job of four PEs on two nodes."""
    return {"FAKE_PROFILES": str(fakes.write_profiles(tmp_path / "ready", fakes.on_nodes(2, boot_id="same")))}


def said(wattle: Wattle, env: dict[str, str], *options: object) -> str:
    done = wattle("run", "--hosts", "node0:2,node1:2", *options, "/bin/true", env=env | {"NO_COLOR": "1"})
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_the_tables_show_pes_and_joules_by_node_in_80_columns(wattle: Wattle, on_two):
    text = said(wattle, on_two)
    assert "on 4 PEs on 2 nodes" in text
    assert re.search(r"^node1 +2 +2\.00 ", text, re.MULTILINE)
    assert re.search(r"^node1 +2-3 +cpu +25\.0±\S+ J", text, re.MULTILINE)
    assert re.search(r"^all +4 PEs +cpu +46\.0±\S+ J +38\.0±\S+ J +84\.0±", text, re.MULTILINE)
    assert "node0 and node1 are one machine: the model takes each node for a machine of its own" in " ".join(
        text.split()
    )
    lines = [line for line in text.splitlines() if not any(w in line for w in ("Kept in", "start to end", "linked"))]
    assert max(map(len, lines)) <= 80


def test_the_supply_of_a_node_has_a_line_below_the_table(wattle: Wattle, tmp_path):
    profiles = fakes.on_nodes(2)
    supply = fakes.figure("node", 5000.0, "measured", 250.0) | {
        "scope": "node",
        "source": "hwmon hwmon1 power1_average",
    }
    profiles[2]["node"]["nested"] = [supply, fakes.figure("core-0", 3.0, "measured") | {"scope": "core"}]
    ready = fakes.write_profiles(tmp_path / "ready", profiles)
    text = " ".join(said(wattle, {"FAKE_PROFILES": str(ready)}).split())
    assert re.search(r"In no sum, .*: node of node1, 5\S* ± \S+ k?J measured by hwmon hwmon1 power1_average\.", text)
    assert "core-0" not in text


def test_a_sensor_shared_by_nodes_is_reported(wattle: Wattle, tmp_path):
    ready = fakes.write_profiles(tmp_path / "ready", measured(fakes.on_nodes(2, boot_id="same")))
    text = " ".join(said(wattle, {"FAKE_PROFILES": str(ready)}).split())
    assert "each read the machine's one sensor, so joules of several nodes are not added up" in text


def test_nodes_of_one_name_are_reported(wattle: Wattle, tmp_path):
    profiles = fakes.on_nodes(2, boot_id="same")
    for pe in profiles:
        pe["host"] = "vm"
    ready = fakes.write_profiles(tmp_path / "ready", profiles)
    text = " ".join(said(wattle, {"FAKE_PROFILES": str(ready)}).split())
    assert "PEs 0 and 2 each read the meter of vm: several nodes of one name" in text
    assert "Node, cpu: unavailable" in text


def test_the_tables_name_what_merging_avoided(wattle: Wattle, tmp_path):
    ready = fakes.write_profiles(tmp_path / "ready", on_nodes_with_merging())
    text = " ".join(said(wattle, {"FAKE_PROFILES": str(ready)}).split())
    assert "Messages between nodes: 4,000 of 4.00 KiB on average. 20.0 k operations shared a message" in text
    assert re.search(r"earlier ones: \S+ ± \S+ m?J modelled avoided at their senders \(WATTLE_MERGE\)", text)


def test_the_page_has_the_joules_that_merging_avoided(tmp_path):
    directory = fakes.make_run(tmp_path / "r", on_nodes_with_merging(), n_hosts=2)
    text = plain(write(directory).read_text())
    assert "messages sent received operations merged joules avoided bytes sent" in text
    assert re.search(r"all 4,000 3,600 20\.0 k \S+ ± \S+ m?J modelled 15\.6 MiB", text)


def test_json_has_each_node_and_the_manifest_the_hosts(wattle: Wattle, on_two, tmp_path):
    done = wattle("run", "--hosts", "node0:2,node1:2", "--json", "-o", tmp_path / "out", "/bin/true", env=on_two)
    document = json.loads(done.stdout)
    assert [(n["host"], n["pes"], n["reader"]) for n in document["nodes"]] == [
        ("node0", [0, 1], 0),
        ("node1", [2, 3], 2),
    ]
    assert document["node"]["joules"][0]["joules"] == 84.0
    assert document["total"]["network"]["bytes"]["sent"] == 4 * 4096000
    assert document["pes"][0]["network"]["name"] == "ucx"
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["hosts"] == [{"name": "node0", "slots": 2}, {"name": "node1", "slots": 2}]
    assert manifest["n_hosts"] == 2
    assert [node["host"] for node in manifest["nodes"]] == ["node0", "node1"]


def test_a_host_that_left_nothing_is_named_with_the_remedy(wattle: Wattle, tmp_path):
    ready = fakes.write_profiles(tmp_path / "ready", fakes.on_nodes(2)[:2])
    text = said(wattle, {"FAKE_PROFILES": str(ready)}, "-o", tmp_path / "out")
    assert "No profile from PE 2-3" in text
    assert "No profile came from node1. Every host must be able to write to" in text
    assert str(tmp_path / "out" / "profile") in text
    assert "Node, cpu: unavailable" in text


def test_hosts_that_call_themselves_otherwise_are_not_taken_for_silent(wattle: Wattle, tmp_path):
    ready = fakes.write_profiles(tmp_path / "ready", fakes.on_nodes(2)[:2])
    done = wattle("run", "--hosts", "10.0.0.1:2,10.0.0.2:2", "/bin/true", env={"FAKE_PROFILES": str(ready)})
    assert "Profiles came only from node0; the job was given 10.0.0.1 and 10.0.0.2." in done.stderr
    whole = fakes.write_profiles(tmp_path / "whole", fakes.on_nodes(2))
    done = wattle("run", "--hosts", "10.0.0.1:2,10.0.0.2:2", "/bin/true", env={"FAKE_PROFILES": str(whole)})
    assert "came" not in done.stderr


def test_a_domain_in_a_hosts_name_does_not_make_it_another(wattle: Wattle, tmp_path):
    ready = fakes.write_profiles(tmp_path / "ready", fakes.on_nodes(2)[:3])
    hosts = "node0.example.org:2,node1.example.org:2"
    done = wattle("run", "--hosts", hosts, "/bin/true", env={"FAKE_PROFILES": str(ready)})
    assert "No profile from PE 3" in done.stderr
    assert "came" not in done.stderr


def test_dropped_messages_are_a_warning_and_none_are_no_word(wattle: Wattle, on_two, tmp_path):
    assert "dropped" not in said(wattle, on_two)
    profiles = fakes.on_nodes(2)
    profiles[1]["network"] = fakes.NETWORK | {"dropped": {"foreign": 3, "malformed": 0}}
    profiles[2]["network"] = fakes.NETWORK | {"dropped": {"foreign": 0, "malformed": 1}}
    ready = fakes.write_profiles(tmp_path / "dropped", profiles)
    text = said(wattle, {"FAKE_PROFILES": str(ready)})
    assert "PE 1-2 dropped 3 foreign and 1 malformed messages from the network" in text


@pytest.mark.parametrize(
    ("hosts", "expected"),
    [
        (["a", "b"], ["a", "b"]),
        (["a.x.org", "b.x.org"], ["a", "b"]),
        (["rack1-compute-node-001", "rack1-compute-node-002"], ["…te-node-001", "…te-node-002"]),
        (["a", "a"], ["a#0", "a#1"]),
        (["001-compute-node-rack1", "002-compute-node-rack1"], ["001-compute-node-rack1", "002-compute-node-rack1"]),
    ],
)
def test_short_names_of_nodes_keep_them_apart(hosts, expected):
    assert labels([Node(host, "", []) for host in hosts]) == expected


# ---- the page ----


@pytest.fixture
def page(tmp_path: Path) -> str:
    directory = fakes.make_run(tmp_path / "r", fakes.on_nodes(2, boot_id="same"))
    return PLOTLY.sub("", write(directory, tmp_path / "report.html").read_text())


def plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def test_the_page_has_a_section_by_node_whose_bars_are_the_nodes_joules(page):
    figures = json.loads(re.search(r'<script type="application/json" id="figures">(.*?)</script>', page, re.DOTALL)[1])
    stack = {t["name"]: t["x"] for t in figures["joules-by-node"]["data"]}
    assert stack == {"cpu, PEs": [21, 25], "cpu, idle": [19, 19], "dram, PEs": [4, 4], "dram, idle": [4, 4]}
    assert figures["time"]["data"][0]["y"] == ["PE 0, node0", "PE 1, node0", "PE 2, node1", "PE 3, node1"]
    text = plain(page)
    assert "4 PEs on 2 nodes" in text
    assert "all nodes 4 PEs cpu 46.0 ± " in text
    assert "node0 and node1 are one machine" in text


def test_the_page_shows_the_network_and_what_was_dropped(tmp_path):
    profiles = fakes.on_nodes(2)
    profiles[1]["network"] = fakes.NETWORK | {"dropped": {"foreign": 3, "malformed": 0}}
    directory = fakes.make_run(tmp_path / "r", profiles, hosts=[{"name": "node0"}, {"name": "node1"}], n_hosts=2)
    text = plain(write(directory).read_text())
    assert "PE 1 dropped 3 foreign messages" in text
    assert "all 4,000 3,600 - unavailable 15.6 MiB 15.3 MiB 0 B 3 0" in text


def test_the_page_names_a_host_that_left_nothing(tmp_path):
    given = [{"name": "node0", "slots": 2}, {"name": "node1", "slots": 2}]
    directory = fakes.make_run(tmp_path / "r", fakes.on_nodes(2)[:2], n_pes=4, hosts=given, n_hosts=2)
    assert "No profile came from node1." in plain(write(directory).read_text())


@pytest.mark.parametrize("hosts", [5, [5], [{"slots": 1}], [{"name": 1}]])
def test_hosts_in_a_manifest_are_checked(tmp_path, hosts):
    with pytest.raises(DamagedFile, match="hosts"):
        runs.load(fakes.make_run(tmp_path / "r", hosts=hosts))
