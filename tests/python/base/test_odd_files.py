"""For any file, a command that reads it ends with its result or with one line, and exit code 0 or 2.

Each kind of file is changed in one place, by a seed, and given to every command that reads it, in this process and
under limits of memory and time. WATTLE_TEST_SEED repeats a failure.
"""

from __future__ import annotations

import io
import json
import os
import random
import resource
import shutil
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import am_studies
import benches
import fakes
import made_prices
import mini_apps
import mutants
import networks
import polars as pl
import pytest
import studies
import sweeps
import timelines
from tree import ROOT
from wattle import cli
from wattle.acceptance import found as acceptance
from wattle.base.errors import WattleError
from wattle.calibrate import prices
from wattle.calibrate.show import show as show_prices
from wattle.clocks import file as plans
from wattle.machine import info, paths
from wattle.meter_log import kept as external
from wattle.meter_log import log as meter_log
from wattle.meter_log.given import given
from wattle.meter_log.kept import External, JobTime
from wattle.meter_log.load import Pattern
from wattle.meter_log.trace import Trace
from wattle.record.pe import STATES
from wattle.record.power_trace import PowerTrace
from wattle.record.timeline_file import Span
from wattle.run import hosts
from wattle.sim import simulation
from wattle.study import registry
from wattle.text import console
from wattle.text.provenance import Joules, Provenance
from wattle.timeline import written

MEMORY_BYTES = 3 << 30  # beyond what the process has mapped when it begins
LIMIT_S = 120  # for one command; more is a hang
SHORT, CHEAP, MANY = 24, 100, 3000  # changes of each kind
FIXED_SEED = 4073211449  # of the short tests: each run makes the same changes. The long ones make others each time

CLOCKS = {1.2: (4.0, 3.0, 3.0, 0.1), 2.0: (8.0, 6.0, 6.0, 0.1), 2.6: (12.0, 9.0, 9.0, 0.1)}


def number(key: str, value: float, **more: object) -> dict[str, object]:
    tagged = {"unit": "W", "tag": "derived", "source": "nobody", "how": "made up"}
    return {"key": key, "value": value, "plus_minus": value / 4} | tagged | more


MACHINE = {
    "name": "made-up",
    "base_ghz": 2.6,
    "sockets": 2,
    "cores_per_socket": 4,
    "numbers": [
        *(
            number(f"clocks[{i}].{state}", watts, ghz=ghz)
            for i, (ghz, by_state) in enumerate(CLOCKS.items())
            for state, watts in zip(STATES, by_state, strict=True)
        ),
        number("idle.cpu", 20.0),
        number("idle.dram", 4.0),
        number("dram.per_byte", 1e-9, unit="J/B"),
    ],
}


# ---- sound files, and the commands that read them ----


@dataclass(frozen=True)
class Kind:
    """A kind of file. `make` writes a correct one and its neighbours into a folder. `change` returns its bytes with one
    change. `read` has the commands' arguments, or functions, by its path."""

    make: Callable[[Path], Path]
    change: Callable[[bytes, random.Random], bytes]
    read: Callable[[Path], list[list[str] | Callable[[], object]]]
    short: int = SHORT  # changes in the short test; 0: only the long one has it


OF_NETWORK = {
    "latency": {"value": 1e-5},
    "bandwidth": {"value": 1e9},
    "message": {"value": 1e-6},
    "byte": {"value": 0.0},
}


def a_run(folder: Path) -> Path:
    clocks = {"mode": "energy", "scaling": "reactive", "knob": "record", "why": "", "changes": 3, "failed": ""}
    clocks |= {"slack_s": 0.1, "slow_s": 0.1, "lost_s": 0.01, "price_s": 1e-5, "sets": "clocks"}
    clocks |= {"mine": [{"domain": 0, "normal_khz": 2600000}]}
    recorded = {"joules": [fakes.figure("cpu", 8.0)], "saved": [fakes.figure("cpu", 2.0)], "why": ""}
    counted = {"instructions": 1e9, "branches": 1e8, "loads": 2e8, "stores": 1e8, "cycles": 2e9}
    counted |= {"cache_references": None, "cache_misses": None, "why": ""}
    ways = {"sent": 10, "received": 9}
    card = {"name": "eth0", "kind": "net", "packets": ways, "bytes": ways}
    sites = [fakes.site(), fakes.site(0x1200, "shmem_barrier_all", "wait", calls=3)]
    more = {
        "clocks": clocks,
        "recorded": recorded,
        "operations": counted,
        "sites": sites,
        "transfers": fakes.transfers(),
    }
    more |= {"interfaces": {"list": [card], "why": ""}, "transfers": fakes.transfers()}
    numbers = [{"key": f"clocks[0].{state}", "value": 8.0, "plus_minus": 1.0} for state in STATES]
    extra = {"machine_numbers": numbers, "hosts": [{"name": "node0", "slots": 2}], "n_hosts": 2, "nodes": []}
    extra |= {
        "simulated": {"cluster": "c", "network": "n", "numbers": OF_NETWORK},
        "interrupted": False,
        "job_cpu_s": 3.0,
    }
    return fakes.make_run(folder, fakes.on_nodes(2, 1, **more), profile=True, **extra)


def with_timelines(run: Path) -> Path:
    put, barrier = (0x555500001158, 0), (0x555500001201, 1)
    for pe in range(2):
        spans = [(1000 * k, 1000 * k + 300 + 100 * pe, *(put, barrier)[k % 2], Span.CALL) for k in range(9)]
        spans += [(1000 * k + 10, 1000 * k + 90, *barrier, (Span.SPIN, Span.COLLECTIVE)[k % 2]) for k in range(9)]
        path = timelines.write(run / "profile", pe, [[*spans, (500, 500, 2_000_000, 0, Span.CLOCK)], []])
        head, _, body = path.read_bytes().partition(b"\n")
        facts = json.loads(head)
        facts["threads"] = [thread | {"collectives": 4} for thread in facts["threads"]]
        path.write_bytes(json.dumps(facts).encode() + b"\n" + body)
    return run


def of_run(run: Path) -> list[list[str] | Callable[[], object]]:
    sound = run.parent / "sound"
    a_run(sound)
    report = ["report", str(run), "-o", str(run.parent / "report.html")]
    compare = [["compare", str(sound), str(run), "--json"], ["compare", str(run), str(sound)]]
    return [report, *compare, ["history", str(run), "--json"], *of_sim(run)[:2]]


def of_sim(run: Path) -> list[list[str] | Callable[[], object]]:
    plan = ["plan", str(run), "-o", str(run.parent / "plan.yaml")]
    folder = run.parent
    (folder / "energy").exists() or (folder / "energy").symlink_to(run.name)
    return [
        [*plan, "--json"],
        lambda: acceptance.joules(folder),
        [*plan, "--by", "sim"],
        ["sim", "--what-if", str(run), "--network", "ethernet-10g-tcp"],
        lambda: of_timelines(run),
    ]


def of_timelines(run: Path) -> None:
    shutil.rmtree(run / "timeline-otf2", ignore_errors=True)
    written.write(run, timelines.MACHINE)


def of_study(study: Path) -> list[list[str] | Callable[[], object]]:
    return [["report", str(study), "-o", str(study.parent / "report.html")]]


def compared(study: Path) -> list[list[str] | Callable[[], object]]:
    return [*of_study(study), ["compare", str(study), str(study), "--json"]]


def of_patterns(folder: Path) -> Path:
    return studies.make_study(folder, studies.frame(fragments=[1, 4, 16], repeats=3))


def a_sweep(folder: Path, name: str) -> Path:
    facts = {"compute_s": [0.001] * 8, "slack_s": [0.002] * 8, "phase_s": [0.001] * 7, "counted": [9e6, 1e6, 1e5]}
    return sweeps.make_study(
        folder, name, sweeps.as_published, sweeps.KNOB, rounds=1, more=lambda job, x: facts, provenance="modelled"
    )


def of_hosts(path: Path) -> None:
    given = hosts.given(None, path)
    given.as_list(), given.names, given.n_hosts(4), given.pes()


def written_to(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return path


PLAN = b"schema: 1\nn_pes: 4\nmachine: m\nclusters:\n  - clock_ghz: 1.2\n    pes: 0-1,3\n  - clock_ghz: 2\n    pes: 2\n"
HOSTS = b"a slots=2\nb[1-3]:2 # three\nnode[007,10-12] slots=1\n::1 slots=2\n"
NETWORK = "sandybridge-ib"


METER_LOG = b"# a meter\ntime,power_W\n" + b"".join(b"%d,%d.5\n" % (100 + k, 50 + k) for k in range(10))


def with_watts(run: Path) -> Path:
    """A run that has an external meter and the watts of a sensor."""
    figure = Joules(40.0, 3.0, Provenance.MEASURED, "pdu.csv power_W", "node", "node", 2.0, 2.0)
    power = PowerTrace("node", "pdu.csv power_W", [100.0, 101.0], [20.0, 21.0])
    patterns = [Pattern(90.0, 99.0, 0.5, ((91.0, 92.0), (93.0, 94.0))), Pattern(103.0, 112.0, 0.5, ((104.0, 105.0),))]
    clock = {"idle_w": 10.0, "busy_w": 30.0, "words": "an offset"}
    times = [JobTime("", 100.0, 102.0)]
    made = External("pdu.csv", ["every=1"], patterns, times, 0.0, "", clock, {"": [figure]}, [power])
    external.write(run, made)
    document = {"schema": 1, "pe": 0, "every_s": 0.01, "power": [vars(power)]}
    (run / "profile" / "power-00000.json").write_bytes(mutants.json_text(document).encode())
    return run


LONG_ALONE = ("barrier", "race", "receiver", "pascol", "protocols", "lsms")  # other studies have the shared parts, too


def of_study_kinds() -> dict[str, Kind]:
    made: dict[str, Callable[[Path], Path]] = {
        "patterns": of_patterns,
        "am": lambda folder: am_studies.make_study(folder, am_studies.frame(repeats=2, rings=[2])),
        "tsp": lambda folder: mini_apps.make_study(folder, "tsp", repeats=2),
        **{name: lambda folder, name=name: a_sweep(folder, name) for name in sweeps.SWEEPS},
        "network": networks.make_directory,
    }
    found = {}
    for name, make in made.items():
        for file, change in (("samples.parquet", mutants.of_table), ("manifest.json", mutants.of_json)):
            found[f"{name}: {file}"] = Kind(
                lambda folder, make=make, file=file: make(folder / "study") / file,
                change,
                lambda path, name=name: (compared if name in registry.commands() else of_study)(path.parent),
                0 if name in LONG_ALONE else SHORT // 4,
            )
    found["patterns: results.json"] = Kind(
        lambda folder: of_patterns(folder / "study") / "results.json", mutants.of_json, lambda p: of_study(p.parent), 6
    )
    return found


KINDS: dict[str, Kind] = {
    "manifest": Kind(
        lambda folder: a_run(folder / "run") / "manifest.json", mutants.of_json, lambda path: of_run(path.parent)
    ),
    "profile": Kind(
        lambda folder: a_run(folder / "run") / "profile" / "pe-00000.json",
        mutants.of_json,
        lambda path: of_run(path.parents[1]),
    ),
    "profile, replayed": Kind(
        lambda folder: a_run(folder / "run") / "profile" / "pe-00001.json",
        mutants.of_json,
        lambda path: of_sim(path.parents[1])[2:4],
    ),
    "timeline": Kind(
        lambda folder: with_timelines(a_run(folder / "run")) / "profile" / "timeline-00001.bin",
        mutants.of_timeline,
        lambda path: of_sim(path.parents[1])[2:],
    ),
    "profile of a timeline": Kind(
        lambda folder: with_timelines(a_run(folder / "run")) / "profile" / "pe-00001.json",
        mutants.of_json,
        lambda path: of_sim(path.parents[1])[4:],
    ),
    "external meter": Kind(
        lambda folder: with_watts(a_run(folder / "run")) / "external.json",
        mutants.of_json,
        lambda path: of_run(path.parent)[:1],
    ),
    "watts of a sensor": Kind(
        lambda folder: with_watts(a_run(folder / "run")) / "profile" / "power-00000.json",
        mutants.of_json,
        lambda path: of_run(path.parents[1])[:1],
    ),
    "log of a meter": Kind(
        lambda folder: written_to(folder / "log" / "log.csv", METER_LOG),
        mutants.of_lines,
        lambda path: [lambda: Trace(meter_log.read(given(path, []))[0]).drawn(101.5, 108.5)],
        CHEAP,
    ),
    "benchmark": Kind(
        lambda folder: benches.make(folder / "bench.json"),
        mutants.of_json,
        lambda path: [["report", str(path)]],
        CHEAP,
    ),
    "prices": Kind(
        lambda folder: written_to(
            folder / "prices" / "prices.json",
            mutants.json_text(made_prices.document(measured="2026-01-31T12:00:00Z")).encode(),
        ),
        mutants.of_json,
        lambda path: [lambda: show_prices(prices.load(path), console.out)],
        CHEAP,
    ),
    "plan": Kind(
        lambda folder: written_to(folder / "plan" / "plan.yaml", PLAN),
        mutants.of_lines,
        lambda path: [
            lambda: plans.read(path).setting(),
            ["run", "-n", "5", "--plan", str(path), "-o", str(path.parent / "never"), "true"],
        ],
        CHEAP,
    ),
    "hosts": Kind(
        lambda folder: written_to(folder / "hosts" / "hosts", HOSTS),
        mutants.of_lines,
        lambda path: [lambda: of_hosts(path)],
        CHEAP,
    ),
    "list of hosts": Kind(
        lambda folder: written_to(folder / "hosts" / "list", b"a:2,b[1-3]:2,node[007,10-12]"),
        mutants.of_lines,
        lambda path: [lambda: hosts.given(path.read_bytes().decode(errors="replace"), None).pes()],
        CHEAP,
    ),
    "cluster": Kind(
        lambda folder: written_to(
            folder / "cluster" / "c.toml", (ROOT / "machines" / "clusters" / f"{NETWORK}.toml").read_bytes()
        ),
        mutants.of_lines,
        lambda path: [lambda: simulation.plan(str(path), 2, {}).write(path.parent)],
        CHEAP,
    ),
    "simulation": Kind(
        lambda folder: written_to(
            folder / "simulation" / "simulation.json",
            b'{"schema": 1, "simulated_s": 1.5, "messages": 3, "waits": [{"pe": 0, "call": "x", "offset": 4}], '
            b'"pes": [{"pe": 1, "status": 0}]}',
        ),
        mutants.of_json,
        lambda path: [lambda: simulation.Ready(None, path.parent).result],
        CHEAP,
    ),
    **of_study_kinds(),
}


# ---- in this process ----


@cache
def command() -> Callable[..., object]:
    """The whole command, made once."""
    return cli.whole()


@pytest.fixture(autouse=True)
def lab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The lab in this process, of a machine that is made up, with Wattle's own clusters, and reports without the
    library of figures."""
    home = fakes.make_home(tmp_path / "home")
    (home / "share" / "wattle" / "apps").symlink_to(ROOT / "apps")
    monkeypatch.setenv("WATTLE_HOME", str(home))
    known = info.Info(fakes.INFO | {"machine": MACHINE})
    monkeypatch.setattr(info, "ask", lambda environment=None: known)
    monkeypatch.setattr(simulation, "unavailable", lambda: None)
    monkeypatch.setattr(paths, "machines_dir", lambda: ROOT / "machines")
    monkeypatch.setattr("wattle.html.page.plotly", lambda: "")
    whole = command()
    monkeypatch.setattr(cli, "_add_commands", lambda arguments: None)
    monkeypatch.setattr(cli, "_command", lambda: whole)


class Hang(BaseException):
    """A command takes too long. No command catches it: each ends well from an OSError, such as TimeoutError."""


@contextmanager
def limited() -> Iterator[None]:
    """Limits memory and time; exceeding them is an error."""

    def hang(*_: object) -> None:
        raise Hang(f"not over after {LIMIT_S} s")

    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY_BYTES, hard))
    handler = signal.signal(signal.SIGALRM, hang)
    began = time.monotonic()
    left, _ = signal.setitimer(signal.ITIMER_REAL, LIMIT_S)  # the rest of pytest's own limit
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, left - (time.monotonic() - began)))
        resource.setrlimit(resource.RLIMIT_AS, (before, hard))


@contextmanager
def written_to_descriptor(number: int) -> Iterator[list[bytes]]:
    """Output that libraries write there without Python. It is in the list at the end of the block."""
    found: list[bytes] = []
    kept = os.dup(number)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), number)
        try:
            yield found
        finally:
            os.dup2(kept, number)
            os.close(kept)
            file.seek(0)
            found.append(file.read())


def ends_well(reader: list[str] | Callable[[], object]) -> str:
    """Runs a command, or what one reads with: "" where its exit code is 0; the one line that it says where that is 2.
    Nothing else is well."""
    out, said = io.StringIO(), io.StringIO()
    with ExitStack() as stack:
        behind = stack.enter_context(written_to_descriptor(2))
        for context in (limited(), redirect_stdout(out), redirect_stderr(said), warnings.catch_warnings()):
            stack.enter_context(context)
        warnings.simplefilter("error")
        code = cli._guarded(reader) if isinstance(reader, list) else called(reader)
    words = said.getvalue() + behind[0].decode(errors="replace")
    assert code in (0, 2), f"exit code {code}: {words}"
    if code == 2:
        assert words.count("\n") == 1 and words.startswith("wattle: "), words
        assert len(words) < 1000, f"{len(words)} characters: {words[:1000]}"
    return words if code else ""


def called(read: Callable[[], object]) -> int:
    try:
        read()
    except WattleError as error:
        console.error(str(error))
        return error.exit_code
    return 0


def seed(usual: int) -> int:
    return int(os.environ.get("WATTLE_TEST_SEED") or usual)


def change_it(kind: Kind, folder: Path, times: int, first: int) -> None:
    folder.mkdir()
    path = kind.make(folder)
    sound, readers = path.read_bytes(), kind.read(path)
    for read in readers:
        assert not (words := ends_well(read)) or kind is KINDS["plan"], words
    for number in range(first, first + times):
        changed = kind.change(sound, random.Random(number))
        path.write_bytes(changed)
        for read in readers:
            try:
                ends_well(read)
            except BaseException as error:
                error.add_note(f"WATTLE_TEST_SEED={number}, {read}: {changed[:3000]!r}")
                raise


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.short])
def test_a_file_with_one_change_ends_no_command_in_a_traceback(name: str, tmp_path: Path) -> None:
    change_it(KINDS[name], tmp_path / "files", KINDS[name].short, seed(FIXED_SEED))


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", KINDS)
def test_thousands_of_changes_end_no_command_in_a_traceback(name: str, tmp_path: Path) -> None:
    change_it(KINDS[name], tmp_path / "files", MANY, seed(random.SystemRandom().randrange(1 << 32)))


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.short and name != "list of hosts"])
def test_what_stands_in_a_files_place_is_named(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    path = kind.make(tmp_path)
    readers = kind.read(path)
    aside = path.with_name("aside")
    path.rename(aside)
    for what, put in mutants.INSTEAD.items():
        put(path)
        for read in readers:
            try:
                ends_well(read)
            except BaseException as error:
                error.add_note(what)
                raise
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


# ---- what others found, one by one ----

Raw, LONG = mutants.Raw, mutants.LONG


def put(place: str, value: object) -> Callable[[bytes], bytes]:
    """Puts a value into the JSON of a file, before the other members."""

    def change(data: bytes) -> bytes:
        head, newline, body = data.partition(b"\n")
        document = json.loads(head)
        *outer, last = place.split(".")
        entry = document
        for key in outer:
            entry = entry[int(key) if key.isdigit() else key]
        entry[last] = value
        return mutants.json_text(document).encode() + newline + body

    return change


def once(data: bytes) -> bytes:
    """The samples of a study that was run once."""
    made = io.BytesIO()
    frame = pl.read_parquet(io.BytesIO(data))
    frame.filter(pl.col("repeat") == frame["repeat"].min()).write_parquet(made)
    return made.getvalue()


STEP = b'\n[step]\nvalue = 1\nplus_minus = 0\nunit = "Hz"\ntag = "assumed"\nhow = "so"\n'
BANDWIDTH = STEP.replace(b"step", b"bandwidth").replace(b"Hz", b"B/s").replace(b"= 1\n", b"= 1e-300\n")
TOO_LONG = "line 1: expected whole numbers of 64 bits, found a longer one"
LARGER = "expected a whole number of 64 bits, found a larger one"
DEEPER = "is nested deeper than 32 lists and objects"
FOUND: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "a number of 400 digits": ("profile", put("pid", Raw(LONG[400])), f"pid: {LARGER}"),
    "calls of 400 digits": ("profile", put("sites.0.calls", Raw(LONG[400])), f"sites[0].calls: {LARGER}"),
    "a number of 5,000 digits": ("manifest", put("n_pes", Raw(LONG[5000])), TOO_LONG),
    "1,100 classes of waits": (
        "profile",
        put("sites.0.waited", [1] * 1100),
        "sites[0].waited: expected a list of at most 65 entries, found 1100",
    ),
    "1,100 classes of sizes": (
        "profile",
        put("sizes", [{"call": "shmem_put", "counts": [1] * 1100}]),
        "sizes[0].counts: expected a list of at most 65 entries, found 1100",
    ),
    "three billion PEs": ("manifest", put("n_pes", 3_000_000_000), "n_pes: expected at most 99999, found 3000000000"),
    "three billion PEs of a profile": ("profile", put("n_pes", 3_000_000_000), "n_pes: expected at most 99999"),
    "one repeat": ("slack: samples.parquet", once, ""),
    "repeats that are no list": ("manifest", put("repeats", 1), "repeats: expected a list, found a number"),
    "a repeat of 400 letters": ("manifest", put("repeats", ["x" * 400]), "is not a directory beside it"),
    "a module of 400 letters": ("profile", put("modules.0.path", "/" + "x" * 400), ""),
    "a simulation that is a text": ("manifest", put("simulated", "x"), "simulated: expected an object, found text"),
    "lists 700 deep": ("manifest", put("extra", Raw("[" * 700 + "]" * 700)), DEEPER),
    "lists 100,000 deep": ("profile", lambda data: b"[" * 100_000, DEEPER),
    "half of a surrogate pair": ("profile", put("host", "\ud800"), "host: expected text, found half of a surrogate"),
    "and in a key": (
        "manifest",
        put("settings", {"\udfff": "x"}),
        "settings: expected text, found half of a surrogate",
    ),
    "2^64 ticks": ("timeline", put("end_tick", "0x1" + "0" * 16), "end_tick: expected an address of 64 bits"),
    "2^64 - 1 ticks": ("timeline", put("end_tick", "0x" + "f" * 16), "end_tick: expected at most"),
    "a tick of 10^30 ns": ("timeline", put("ns_per_tick", 1e30), "ns from the end of the run"),
    "a joule of 10^400": ("profile", put("wall_s", Raw("1e400")), "wall_s: expected a number from -1e+30 to 1e+30"),
    "NaN": ("profile", put("wall_s", Raw("NaN")), "holds NaN; expected a finite number"),
    "a key twice": ("profile", put("node", Raw('{"joules": [], "joules": []}')), "has the key 'joules' twice"),
    "hosts of 5,000 digits": ("list of hosts", lambda data: b"n[1-" + b"9" * 5000 + b"]", "is no range"),
    "slots of 5,000 digits": ("hosts", lambda data: b"a slots=" + b"9" * 5000, "expected 1 to 65536"),
    "a billion hosts": (
        "list of hosts",
        lambda data: b"n[" + b"1-60000," * 9999 + b"1]",
        "names more than 65536 hosts",
    ),
    "a plan of a billion PEs": (
        "plan",
        lambda data: data.replace(b"0-1,3", b"0-3," * 9999 + b"3"),
        "is in two clusters",
    ),
    "a cluster of 5,000 digits": ("cluster", lambda data: b"latency = " + b"9" * 5000, "expected whole numbers of 64"),
    "a cluster 700 deep": ("cluster", lambda data: b"latency = " + b"[" * 700 + b"]" * 700, DEEPER),
    "a network of 10^-300 bytes a second": (
        "cluster",
        lambda data: data + BANDWIDTH,
        "bandwidth.value: expected a number above 1e-30, found 1e-300",
    ),
    "a clock every hertz": ("cluster", lambda data: data + STEP, "make more than 10000 clocks of a core"),
}


@pytest.mark.parametrize("found", FOUND)
def test_what_was_found_is_refused_with_its_place(found: str, tmp_path: Path) -> None:
    name, change, words = FOUND[found]
    kind = KINDS[name]
    path = kind.make(tmp_path)
    readers = kind.read(path)
    path.write_bytes(change(path.read_bytes()))
    said = [ends_well(read) for read in readers]
    assert any(words in line for line in said), said


def test_a_run_of_three_billion_pes_takes_no_memory(tmp_path: Path) -> None:
    run = fakes.make_run(tmp_path / "run", [], n_pes=3_000_000_000)
    assert "n_pes: expected at most 99999, found 3000000000" in ends_well(["report", str(run)])


@pytest.mark.parametrize("lacks", ["spin", "active"])
def test_a_machine_whose_numbers_lack_a_state_is_compared_without_them(lacks: str, tmp_path: Path) -> None:
    numbers = [{"key": f"clocks[0].{state}", "value": 8.0, "plus_minus": 1.0} for state in STATES if state != lacks]
    runs = [str(fakes.make_run(tmp_path / name, machine_numbers=numbers)) for name in ("before", "after")]
    assert ends_well(["compare", *runs]) == ""
