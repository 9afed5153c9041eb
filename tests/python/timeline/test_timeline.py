"""Timelines: reading the PEs' files, and the written files as Perfetto's and OTF2's own readers see them."""

from __future__ import annotations

import json
from pathlib import Path

import fakes
import otf2
import pytest
import timelines
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto
from wattle.base.errors import DamagedFile, WattleError
from wattle.machine import symbols
from wattle.machine.symbols import Place
from wattle.record import power_trace, profile
from wattle.record.pe import PE
from wattle.record.power_trace import PowerTrace
from wattle.record.timeline_file import load, read
from wattle.text.visible import visible
from wattle.timeline import otf2_trace, perfetto, written
from wattle.timeline.places import Places, WhereOf
from wattle.timeline.rows import cost, rows, tracks

SPIN, YIELD, ASLEEP, CALL, CLOCK, _, REGION = range(7)
PUT, BARRIER = 0, 1
PUT_AT, BARRIER_AT = 0x555500001158, 0x555500001201
# PE 0: computes 0.1 ms, is in a put for 0.05, computes 0.05, waits 0.8 in a barrier: spins, then sleeps.
EVENTS = [
    (200_000, 300_000, PUT_AT, PUT, CALL),
    (420_000, 500_000, BARRIER_AT, BARRIER, SPIN),
    (500_000, 1_990_000, BARRIER_AT, BARRIER, ASLEEP),
    (400_000, 2_000_000, BARRIER_AT, BARRIER, CALL),
    (600_000, 600_000, 1_200_000, 0, CLOCK),
]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    clocks = {"mode": "energy", "scaling": "reactive", "knob": "record", "why": "", "changes": 1, "slack_s": 1.0}
    clocks |= {"slow_s": 0.5, "lost_s": 0.0, "price_s": 1e-5, "failed": ""}
    clocks |= {"mine": [{"domain": 0, "normal_khz": 2_600_000}]}
    pes = [fakes.pe_profile(pe, 2, boot_id="b", clocks=clocks) for pe in range(2)]
    directory = fakes.make_run(tmp_path / "run", pes)
    timelines.write(directory / "profile", 0, [EVENTS])
    timelines.write(directory / "profile", 1, [[], [(0, 1_000_000, BARRIER_AT, BARRIER, YIELD)]])
    return directory


class Halo:
    """Places of a program halo.c, in which the barrier is called through a library."""

    def of(self, pe: PE) -> WhereOf:
        places = {BARRIER_AT: ("halo.c:9", "halo.c:5 main() > halo.c:9 exchange() > lib.so+0x1201")}
        return lambda addr, path: places.get(addr, ("", ""))


def rows_of(run: Path):
    return rows(load(run / "profile"), profile.load(run, 2), timelines.MACHINE, Halo())


# ---- reading ----


def test_a_row_covers_all_of_the_time_without_overlap(run):
    row = rows_of(run)[0]
    top = [s for s in row.slices if s.depth == 0]
    assert [(s.begin, s.end, s.kind) for s in top] == [
        (0, 100_000, "compute"),
        (100_000, 150_000, "call"),
        (150_000, 200_000, "compute"),
        (200_000, 1_000_000, "call"),
    ]
    inner = [s for s in row.slices if s.depth == 1]
    assert [(s.begin, s.end, s.kind, s.name) for s in inner] == [
        (210_000, 250_000, "spin", "shmem_barrier_all"),
        (250_000, 995_000, "asleep", "shmem_barrier_all"),
    ]
    assert inner[0].where == "halo.c:9"


def test_joules_follow_the_state_and_end_at_the_profiles(run):
    row = rows_of(run)[0]
    assert row.joules[0] == (0, 0.0)
    assert row.joules[-1] == (1_000_000, pytest.approx(10.0))
    asleep = [value for at, value in row.joules if at in (250_000, 995_000)]
    assert asleep[0] == pytest.approx(asleep[1])  # nothing is drawn asleep
    assert row.joules_from == "modelled, model sandybridge-e5-2670"


def test_a_change_of_clock_is_on_the_rows_of_all_pes_that_share_it(run):
    assert [row.ghz for row in rows_of(run)] == [[(0, 2.6), (300_000, 1.2)]] * 2


def test_unknown_joules_and_clocks_leave_no_counter(tmp_path):
    pes = [fakes.pe_profile(0, 1, joules=[fakes.figure("cpu", None), fakes.figure("dram", None)])]
    run = fakes.make_run(tmp_path / "run", pes)
    timelines.write(run / "profile", 0, [EVENTS[:1]], 1)
    (row,) = rows(load(run / "profile"), profile.load(run, 1), timelines.MACHINE)
    assert (row.joules, row.ghz) == ([], [])


def test_pes_of_several_machines_are_put_together_by_the_time_of_day(tmp_path):
    pes = [fakes.pe_profile(pe, 2, host=f"n{pe}", boot_id=f"b{pe}") for pe in range(2)]
    run = fakes.make_run(tmp_path / "run", pes)
    timelines.write(run / "profile", 0, [EVENTS[:1]])
    later = hex(1_700_000_000_000_000_000 + 5_000)
    timelines.write(run / "profile", 1, [EVENTS[:1]], end_realtime_ns=later, end_monotonic_ns=hex(7))
    made = rows(load(run / "profile"), profile.load(run, 2), timelines.MACHINE)
    assert made[1].begin - made[0].begin == 5_000


def test_the_cost_is_the_sum_over_the_pes(run):
    found = cost(load(run / "profile"), run / "profile")
    assert (found.seen, found.kept, found.left_out) == (5 + 1 + 15, 6, 15)
    assert found.left_out_s == pytest.approx(0.003)
    assert found.price_s == pytest.approx(21 * 50e-9)
    assert found.bytes == sum(p.stat().st_size for p in (run / "profile").glob("*.bin"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda b: b[:-1], "bytes of spans"),
        (lambda b: b"nothing", "line of JSON"),
        (lambda b: b.replace(b'"schema": 2', b'"schema": 9'), "schema"),
        (lambda b: b.replace(b'"ns_per_tick": 0.5', b'"ns_per_tick": 0.0'), "above 1e-30"),
        (lambda b: b.replace(b'"pe": 0', b'"pe": 1'), "says 1"),
        (lambda b: b[:-4] + b"\x09\x00\x00\x00", "no kind"),
        (lambda b: b.replace(b'"shmem_double_put", ', b""), "without a name"),
    ],
)
def test_a_damaged_file_is_named_with_the_mistake(tmp_path, change, words):
    path = timelines.write(tmp_path, 0, [EVENTS])
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(DamagedFile, match=words):
        read(path, 0)


def test_a_run_without_timelines_says_how_to_get_one(run_dir):
    with pytest.raises(WattleError, match="wattle run --timeline"):
        load(run_dir / "profile")


# ---- regions and call paths ----

# The program marks `solve` (0.05 to 0.9 ms) and in it `halo`, which begins and ends within calls.
MARKED = [(100_000, 1_800_000, 0, 0, REGION), (250_000, 1_000_000, 1, 0, REGION)]


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    named = [("solve", -1), ("halo", 0)]
    regions = [{"name": name, "outer": outer, "times": 1, "time_s": 0.1} for name, outer in named]
    run = fakes.make_run(tmp_path / "run", [fakes.pe_profile(0, 1, regions=regions)])
    timelines.write(run / "profile", 0, [[*EVENTS[:-1], *MARKED]], 1)
    return run


def test_regions_enclose_calls_and_computing(marked, tmp_path):
    (row,) = rows(load(marked / "profile"), profile.load(marked, 1), timelines.MACHINE)
    shown = [(s.begin // 1000, s.end // 1000, s.title, s.depth) for s in row.slices]
    assert shown == [
        (0, 50, "compute", 0),
        (50, 200, "solve", 0),  # it ends within the barrier's call, so before it
        (50, 100, "compute", 1),
        (100, 150, "shmem_double_put", 1),
        (150, 200, "halo", 1),  # it begins within the put
        (150, 200, "compute", 2),
        (200, 1000, "shmem_barrier_all", 0),
        (210, 250, "spin: shmem_barrier_all", 1),
        (250, 995, "asleep: shmem_barrier_all", 1),
    ]
    assert [s.kind for s in row.slices if s.name in ("solve", "halo")] == ["region", "region"]
    with otf2.reader.open(str(otf2_trace.write(tmp_path / "otf2", [row]))) as trace:
        paradigms = {r.name: r.paradigm for r in trace.definitions.regions}
    assert paradigms["solve"] == paradigms["halo"] == otf2.enums.Paradigm.USER != paradigms["compute"]


def test_a_region_that_the_profile_lacks_is_left_out(run):
    timelines.write(run / "profile", 1, [MARKED])
    made = rows(load(run / "profile"), profile.load(run, 2), timelines.MACHINE)
    assert [s.title for s in made[1].slices] == ["compute"]


def test_a_span_has_the_path_of_its_call(tmp_path, monkeypatch):
    """Two paths lead to the call in the library; the line is that of the program's own frame."""
    files = [{"path": p, "base": "0x0", "build_id": ""} for p in ("/opt/halo", "/usr/lib/libga.so")]
    site = {"addr": hex(BARRIER_AT), "module": 1, "offset": "0x1201", "call": "shmem_barrier_all", "kind": "wait"}
    counts = {"calls": 1, "bytes": 0, "timed_calls": 1, "time_s": 0.1, "waits": 1}
    waits = {"wait_s": {"spin": 0.0, "yield": 0.0, "asleep": 0.1}, "joules": {}}
    sites = [site | counts | waits | {"path": at, "mark": 0} for at in (1, 3)]
    paths = [[-1, 0, 0x10], [0, 0, 0x20], [-1, -2, 0], [2, 0, 0x30]]
    made = fakes.pe_profile(0, 1, modules=files, sites=sites, paths=paths)
    run = fakes.make_run(tmp_path / "run", [made])
    of = timelines.with_path
    spans = [(i, i + 2, BARRIER_AT, BARRIER, of(CALL, path)) for i, path in ((0, 1), (10, 3), (20, -1), (30, 900))]
    timelines.write(run / "profile", 0, [[(10_000 * b, 10_000 * e, *rest) for b, e, *rest in spans]], 1)

    def resolve(keys):
        return {k: Place(k[0], k[2], "/src/halo.c", k[2], f"f{k[2]}") for k in keys}

    monkeypatch.setattr(symbols, "resolve", resolve)
    found = profile.load(run, 1)
    (row,) = rows(load(run / "profile"), found, {}, Places(found))
    calls = [(s.where, s.path) for s in row.slices if s.kind == "call"]
    call = f"halo.c:{0x1201} f{0x1201}()"
    assert calls == [
        ("halo.c:32", f"halo.c:16 f16() > halo.c:32 f32() > {call}"),
        ("halo.c:48", f"(deeper callers) > halo.c:48 f48() > {call}"),
        (f"halo.c:{0x1201}", ""),
        (f"halo.c:{0x1201}", ""),
    ]


# ---- what others read ----


def test_perfettos_own_parser_reads_every_slice_and_counter(run, tmp_path):
    made = rows_of(run)
    path = perfetto.write(tmp_path / perfetto.NAME, made)
    trace = proto.Trace()
    trace.ParseFromString(path.read_bytes())
    tracks = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")}
    names = [t.name for t in tracks.values() if t.name]
    assert [n for n in names if n.startswith("PE")] == ["PE 0", "PE 1"]
    assert {"clock recorded, not set", "joules, modelled, model sandybridge-e5-2670"} <= set(names)
    assert [t.process.process_name for t in tracks.values() if t.process.process_name] == [
        "PE 0 on node0",
        "PE 1 on node0",
    ]
    row = next(uuid for uuid, t in tracks.items() if t.name == "PE 0")
    assert tracks[tracks[row].parent_uuid].process.process_name == "PE 0 on node0"
    events = [(p.timestamp, p.track_event) for p in trace.packet if p.HasField("track_event")]
    open_names, found = [], []
    for at, event in (e for e in events if e[1].track_uuid == row):
        if event.type == proto.TrackEvent.TYPE_SLICE_BEGIN:
            open_names.append((at, event.name))
        else:
            assert event.type == proto.TrackEvent.TYPE_SLICE_END
            found.append((*open_names.pop(), at))
    assert not open_names
    assert sorted(found) == sorted((s.begin, s.title, s.end) for s in made[0].slices)
    assert {s.title for s in made[0].slices} >= {"compute", "shmem_double_put", "asleep: shmem_barrier_all"}
    notes = {(a.name, a.string_value) for _, e in events for a in e.debug_annotations}
    assert notes == {("site", "halo.c:9"), ("call path", Halo().of(None)(BARRIER_AT, -1)[1])}
    counters = [e for _, e in events if e.type == proto.TrackEvent.TYPE_COUNTER]
    assert {1.2, 2.6} <= {e.double_counter_value for e in counters}


def test_a_clock_that_was_set_is_distinguished_from_one_that_was_recorded(run):
    for file in (run / "profile").glob("pe-*.json"):
        file.write_text(file.read_text().replace('"record"', '"cpufreq"'))
    assert {row.ghz_name for row in rows_of(run)} == {"clock asked for"}


def test_an_archive_that_cannot_be_written_is_one_error(run, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(WattleError, match="cannot be written"):
        otf2_trace.write(tmp_path / "file" / "otf2", rows_of(run))


@pytest.mark.parametrize("name", ["\udcff", "\ud800", "\x1b]0;x\x07", "a\nb"])
def test_names_that_are_no_text_are_written_out(run, tmp_path, name):
    made = rows_of(run)
    for row in made:
        row.host = name
    assert perfetto.write(tmp_path / "trace", made).stat().st_size
    with otf2.reader.open(str(otf2_trace.write(tmp_path / "otf2", made))) as trace:
        assert visible(name) in {node.name for node in trace.definitions.system_tree_nodes}


def test_otf2s_own_reader_reads_every_region_and_metric(run, tmp_path):
    made = rows_of(run)
    anchor = otf2_trace.write(tmp_path / "otf2", made)
    entered: dict[str, list[str]] = {}
    done, values, paths = [], [], {}
    with otf2.reader.open(str(anchor)) as trace:
        assert trace.timer_resolution == 1_000_000_000
        for location, event in trace.events:
            stack = entered.setdefault(location.name, [])
            if isinstance(event, otf2.events.Enter):
                stack.append(event.region.name)
                paths[event.region.name] = list((event.attributes or {}).values())
            elif isinstance(event, otf2.events.Leave):
                assert stack.pop() == event.region.name  # nested, and in order
                done.append((location.name, event.region.name))
            elif isinstance(event, otf2.events.Metric):
                values.append(event.values[0])
    assert not any(entered.values())
    assert {name for name, _ in done} >= {"PE 0", "PE 1"}
    assert ("PE 0", "asleep: shmem_barrier_all") in done
    assert paths["asleep: shmem_barrier_all"] == [Halo().of(None)(BARRIER_AT, -1)[1]] and paths["compute"] == []
    assert len(done) == sum(len(r.slices) + sum(map(len, r.others)) for r in made)
    assert len(values) == sum(len(r.ghz) + len(r.joules) for r in made)


# ---- the command ----


def test_timeline_and_no_profile_exclude_each_other(wattle: fakes.Wattle, tmp_path):
    done = wattle("run", "--timeline", "--no-profile", "-o", tmp_path / "out", "--", "/bin/true")
    assert done.returncode == 2
    assert "--timeline and --no-profile" in done.stderr


def test_the_commands_timeline_lies_in_the_runs_directory_with_its_cost(wattle: fakes.Wattle, run, tmp_path):
    out = tmp_path / "out"
    copy = f"cp {run}/profile/* $WATTLE_PROFILE_DIR"
    done = wattle("run", "-n", 2, "--timeline", "-o", out, "--", "/bin/sh", "-c", copy)
    assert done.returncode == 0, done.stderr
    assert (out / "timeline.pftrace").stat().st_size > 0
    assert (out / "timeline-otf2" / "traces.otf2").is_file()
    words = " ".join(done.stderr.split())
    assert done.stderr.endswith(f"The timeline, for ui.perfetto.dev: {out}/timeline.pftrace\n")
    assert "6 of 21 spans kept, the shortest left out, 3.00 ms together; keeping them took about" in words
    record = json.loads((out / "manifest.json").read_text())
    assert record["set"]["WATTLE_TIMELINE"] == "2M"
    assert record["timeline"]["spans_kept"] == 6


def test_a_program_that_leaves_no_timeline_keeps_its_exit_code(wattle: fakes.Wattle, tmp_path):
    done = wattle("run", "--timeline", "-o", tmp_path / "out", "--", "/bin/sh", "-c", "exit 3")
    assert done.returncode == 3
    assert "timeline: no PE left one (killed, aborted" in done.stderr


def test_a_timeline_of_no_bytes_is_refused(wattle: fakes.Wattle, tmp_path):
    done = wattle("run", "--timeline", "--set", "WATTLE_TIMELINE=0", "--", "true")
    assert done.returncode == 2
    assert "--timeline and WATTLE_TIMELINE=0: 0 keeps none; leave one out" in done.stderr


# ---- watts of meters ----


def watts_of(folder: Path, pe: int = 0, **changes: object) -> Path:
    """The watts that the node's reader left: 100 W in the first half of the job's millisecond, then 50 W."""
    zero = (timelines.END_REALTIME_NS - 1_000_000) / 1e9
    power = {"scope": "package-0", "source": "powercap", "at_s": [zero + 250e-6, zero + 750e-6], "watts": [100, 50]}
    document = {"schema": 1, "pe": pe, "every_s": 0.01, "power": [power | changes]}
    path = folder / f"power-{pe:05d}.json"
    path.write_text(json.dumps(document))
    return path


def test_the_sensors_watts_are_a_counter_of_the_node(run, tmp_path):
    watts_of(run / "profile")
    found = load(run / "profile")
    made = tracks(power_trace.load(run / "profile", {0: "node0", 1: "node0"}), found)
    assert [(t.name, t.unit) for t in made] == [("power, W, package-0, powercap", "W")]
    assert [(pytest.approx(ns, abs=1000), value) for ns, value in made[0].values] == [(250_000, 100), (750_000, 50)]

    trace = proto.Trace()
    trace.ParseFromString(perfetto.write(tmp_path / perfetto.NAME, rows_of(run), made).read_bytes())
    described = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")}
    (track,) = [uuid for uuid, t in described.items() if t.name == "power, W, package-0, powercap"]
    assert described[described[track].parent_uuid].process.process_name == "power of the nodes"
    pids = [t.process.pid for t in described.values() if t.HasField("process")]
    assert len(set(pids)) == len(pids)
    values = [p.track_event.double_counter_value for p in trace.packet if p.track_event.track_uuid == track]
    assert values == [100, 50]

    archive = otf2_trace.write(tmp_path / "otf2", rows_of(run), made)
    with otf2.reader.open(str(archive)) as opened:
        events = [(place.name, event.value) for place, event in opened.events if hasattr(event, "value")]
    assert [value for name, value in events if name == "power, W, package-0, powercap"] == [100, 50]


def test_watts_of_several_nodes_name_their_host(tmp_path):
    watts_of(tmp_path, 0)
    watts_of(tmp_path, 2)
    found = power_trace.load(tmp_path, {0: "a", 1: "a", 2: "b", 3: "b"})
    assert [power.scope for power in found] == ["a package-0", "b package-0"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"at_s": [1.0]}, "has 1 moments and 2 readings"),
        ({"at_s": [2.0, 1.0]}, "expected ascending moments"),
        ({"watts": ["x", 1]}, "expected a number"),
        ({"scope": 3}, "scope"),
    ],
)
def test_damaged_watts_are_named_with_what_is_wrong(tmp_path, changes, words):
    watts_of(tmp_path, **changes)
    with pytest.raises(DamagedFile, match=words):
        power_trace.load(tmp_path, {0: "a"})


def test_a_timeline_is_written_again_with_the_watts_of_an_external_meter(run):
    watts_of(run / "profile")
    written.write(run, timelines.MACHINE)
    first = (run / perfetto.NAME).read_bytes()
    zero = (timelines.END_REALTIME_NS - 1_000_000) / 1e9
    written.again(run, timelines.MACHINE, [PowerTrace("node", "pdu.csv power_W", [zero], [300.0])])
    second = (run / perfetto.NAME).read_bytes()
    assert b"pdu.csv power_W" not in first
    assert b"pdu.csv power_W" in second
    assert b"powercap" in first
    with otf2.reader.open(str(run / otf2_trace.FOLDER / "traces.otf2")) as opened:
        assert "power, W, node, pdu.csv power_W" in {place.name for place, _ in opened.events}
