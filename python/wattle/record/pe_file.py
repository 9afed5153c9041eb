"""Reads and checks the file that a PE writes at its end, profile/pe-00000.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from wattle.base import limits
from wattle.base.checked import Checked, require_schema, shown
from wattle.base.errors import DamagedFile
from wattle.record.checked_types import read_json, typed
from wattle.record.pe import (
    COUNTED,
    DROPS,
    ENDS,
    INTERFACES,
    KINDS,
    MOVES,
    NO_CORE,
    PE,
    PYTHON,
    REGION,
    SINGLE,
    SPENT,
    STEP_COUNTS,
    TIMES,
    WAYS,
    Amount,
    Clocks,
    Cores,
    Count,
    Ended,
    Interface,
    Interfaces,
    Module,
    Network,
    Numbers,
    Operations,
    Partners,
    PathNode,
    PythonPlace,
    Recorded,
    Region,
    Sequence,
    Served,
    Site,
    Step,
    UserRegion,
    Wait,
)
from wattle.text.provenance import Joules, read_joules

SCHEMAS = (1, 2, 3, 4)  # 1: no call paths; 2: no Python frames in them; 3: no regions in them


def read_pe(path: Path, number: int) -> PE:
    document = read_json(path, apart=("sites", "paths", "sequence"))
    found = pe_of(document)
    if found.pe != number:
        raise document.get("pe").wrong(f"says {found.pe} of {found.n_pes} in a file named {path.name}")
    return found


def pe_of(document: Checked) -> PE:
    """The PE of a profile that was read."""
    require_schema(document, *SCHEMAS)
    n_pes = document.integer("n_pes", lo=1, hi=limits.PES)
    pe = document.integer("pe")
    if pe >= n_pes:
        raise document.get("pe").wrong(f"says {pe} of {n_pes} PEs")
    modules = [_read_module(entry) for entry in document.items("modules")]
    python = [_read_python(entry) for entry in document.items("python")] if document.has("python") else []
    user_regions = _read_user_regions(document) if document.has("regions") else []
    counts = {PYTHON: len(python), REGION: len(user_regions)}
    paths = _read_paths(document, len(modules), counts) if document.has("paths") else []
    sites = _read_sites(document, len(modules), len(paths))
    has_node = document.has("node")
    return PE(
        pe=pe,
        n_pes=n_pes,
        host=document.text("host"),
        boot_id=document.text("boot_id") if document.has("boot_id") else "",
        pid=document.integer("pid"),
        program=document.text("program"),
        api=document.text("api") if document.has("api") else "",
        shows_idle=_shows_idle(document.get("mpi")) if document.has("mpi") else None,
        build_id=document.text("build_id"),
        wall_s=document.number("wall_s"),
        cpu_s=document.number("cpu_s"),
        cpu_init_s=document.number("cpu_init_s"),
        wake_s=document.number("wake_s") if document.has("wake_s") else None,
        second_s=document.number("second_s") if document.has("second_s") else None,
        state_s=_spent(document.get("state_s"), SPENT),
        time_s=_spent(document.get("time_s"), TIMES),
        bytes=_numbers(document.get("bytes"), MOVES),
        rescues=document.count("rescues"),
        sleeps=document.count("sleeps"),
        joules=_figures(document),
        node=_figures(document.get("node")) if has_node else [],
        idle=_figures(document.get("node"), "idle") if has_node else [],
        others=_figures(document.get("node"), "others") if has_node and document.get("node").has("others") else [],
        reads_node=has_node,
        meter=_read_meter(document),
        modules=modules,
        sites=sites,
        paths=paths,
        python=python,
        user_regions=user_regions,
        network=_read_network(document.get("network")) if document.has("network") else None,
        clocks=_read_clocks(document.get("clocks")) if document.has("clocks") else None,
        thresholds=_read_thresholds(document.get("transfers")) if document.has("transfers") else None,
        trials=document.get("transfers").count("trials") if document.has("transfers") else 0,
        recorded=_read_recorded(document.get("recorded")) if document.has("recorded") else None,
        operations=_read_operations(document.get("operations")) if document.has("operations") else None,
        interfaces=_read_interfaces(document.get("interfaces")) if document.has("interfaces") else None,
        passed={entry.text("call"): entry.integer("calls") for entry in document.items("passed")}
        if document.has("passed")
        else {},
        wait_joules=_numbers(document.get("wait_joules"), ("cpu", "dram")) if document.has("wait_joules") else {},
        partners=_read_partners(document.get("partners"), n_pes) if document.has("partners") else None,
        sizes={e.text("call"): _plain_numbers(e, "counts", limits.CLASSES) for e in document.items("sizes")}
        if document.has("sizes")
        else {},
        sequence=_read_sequence(document, len(sites)) if document.has("sequence") else None,
        served=_read_served(document.get("served"), n_pes) if document.has("served") else [],
        cores=_read_cores(document.get("no_core")) if document.has("no_core") else None,
        ended=_read_ended(document.get("ended"), len(modules)) if document.has("ended") else None,
        waited_from_s=document.number("waited_from_s") if document.has("waited_from_s") else None,
        nested=_figures(document.get("node"), "nested") if has_node and document.get("node").has("nested") else [],
    )


def _shows_idle(mpi: Checked) -> bool | None:
    """None in files of earlier versions."""
    return mpi.flag("shows_idle") if mpi.has("shows_idle") else None


def _plain_numbers(parent: Checked, key: str, most: int = limits.PES) -> list[Any]:
    """A list of at most `most` numbers of at least 0. A large job has many, so they are not checked one by one."""
    entry = parent.get(key)
    found = entry.expect("a list").value
    if len(found) > most:
        raise entry.wrong(f"expected at most {most} numbers, found {len(found)}")
    if found and not (set(map(type, found)) <= {int, float} and min(found) >= 0):
        raise entry.wrong("expected numbers of at least 0")
    return found


def _read_partners(entry: Checked, n_pes: int) -> Partners:
    found = [_plain_numbers(entry, key) for key in ("pe", "calls", "bytes", "wait_s")]
    if len(set(map(len, found))) != 1:
        raise entry.wrong("expected lists of equal length")
    if found[0] and not (set(map(type, found[0])) == {int} and max(found[0]) < n_pes):
        raise entry.get("pe").wrong(f"expected numbers of PEs below {n_pes}")
    return Partners(*found)


STEP_COLUMNS = ["from", "to", *STEP_COUNTS, "time_s", "bytes", "area", "low", "high"]


class _Sequence(msgspec.Struct):
    columns: list[str]
    noted: Count
    lost: Count
    timer_s: Amount | None
    steps: list[Step]


def _read_sequence(document: Checked, n_sites: int) -> Sequence:
    found = typed(document, "sequence", _Sequence)
    if found.columns != STEP_COLUMNS:
        raise DamagedFile(document.file, f"sequence.columns: expected {' '.join(STEP_COLUMNS)}")
    parts = slice(STEP_COLUMNS.index("transfers"), STEP_COLUMNS.index("burst_calls"))
    for i, step in enumerate(found.steps):
        if max(step[:2]) >= n_sites or max(step[parts]) > step.times:
            wrong = f"expected two of {n_sites} sites, and no count but the last above the first"
            raise DamagedFile(document.file, f"sequence.steps[{i}]: {wrong}")
    return Sequence(found.noted, found.lost, found.timer_s, found.steps)


SERVED_COLUMNS = ["pe", "mark", "requests", "bytes", "agents_s", "handlers_s", "waits_s", "cpu", "dram"]


def _read_served(entry: Checked, n_pes: int) -> list[Served]:
    columns = entry.get("columns")
    if columns.expect("a list").value != SERVED_COLUMNS:
        raise columns.wrong(f"expected {' '.join(SERVED_COLUMNS)}")
    return [_read_served_row(row, n_pes) for row in entry.items("rows")]


def _read_served_row(entry: Checked, n_pes: int) -> Served:
    row = entry.expect("a list").value
    if len(row) != len(SERVED_COLUMNS) or not set(map(type, row[:4])) == {int} or not -1 <= row[0] < n_pes:
        raise entry.wrong(f"expected {len(SERVED_COLUMNS)} numbers, the first of them that of a PE below {n_pes}")
    if not all(number is None or (type(number) in (int, float) and number >= 0) for number in row[1:]):
        raise entry.wrong("expected numbers of at least 0, or null")
    return Served(*row)


def _spent(parent: Checked, keys: tuple[str, ...]) -> Numbers:
    """Time by state. Earlier versions did not tell time without a core apart."""
    return {key: None if key == NO_CORE and not parent.has(key) else parent.number(key) for key in keys}


def _read_cores(entry: Checked) -> Cores:
    waits, others, throttled, quota = (
        entry.number(key) for key in ("in_waits_s", "other_threads_s", "throttled_s", "quota_cores")
    )
    sets = (_read_set(entry, key) for key in ("cores", "cores_of_threads"))
    until = entry.number("until_s") if entry.has("until_s") else None
    busy = entry.count("other_busy_threads") or 0
    return Cores(entry.text("source"), waits, others, busy, throttled, quota, *sets, until)


def _read_set(entry: Checked, key: str) -> frozenset[int]:
    numbers = entry.get(key).numbers()
    if any(number is None or number % 1 for number in numbers):
        raise entry.get(key).wrong("expected numbers of cores")
    return frozenset(int(number) for number in numbers if number is not None)


def _read_ended(entry: Checked, n_modules: int) -> Ended:
    wait = entry.get("wait") if entry.has("wait") else None
    return Ended(
        signal=entry.count("signal"),
        exit_code=entry.count("exit_code"),
        time=entry.choice("time", ENDS),
        realtime_s=entry.number("realtime_s"),
        partial=entry.flag("partial"),
        wait=_read_wait(wait, n_modules) if wait is not None else None,
    )


def _read_wait(entry: Checked, n_modules: int) -> Wait:
    return Wait(_module(entry, n_modules), entry.address("offset"), entry.text("call"), entry.number("for_s"))


def _module(entry: Checked, n_modules: int) -> int:
    module = entry.integer("module", lo=-1)
    if module >= n_modules:
        raise entry.get("module").wrong(f"is {module}, but there are only {n_modules} modules")
    return module


def _read_recorded(entry: Checked) -> Recorded:
    would, saved = (_figures(entry, key) for key in ("joules", "saved"))
    if len(would) != 1 or len(saved) != 1:
        raise entry.wrong("expected one figure")
    return Recorded(would[0], saved[0], entry.text("why"))


def _read_operations(entry: Checked) -> Operations:
    counts = (entry.number(key) if entry.has(key) else None for key in COUNTED)  # earlier versions had four
    return Operations(*counts, entry.text("why"))


def _read_interfaces(entry: Checked) -> Interfaces:
    return Interfaces([_read_interface(one) for one in entry.items("list")], entry.text("why"))


def _read_interface(entry: Checked) -> Interface:
    sent = (_numbers(entry.get(key), WAYS) for key in ("packets", "bytes"))
    return Interface(entry.text("name"), entry.choice("kind", INTERFACES), *sent)


def _read_thresholds(entry: Checked) -> dict[str, int]:
    return {kind: entry.count(kind) for kind in ("put", "get", "acc", "strided")}


def _read_clocks(entry: Checked) -> Clocks:
    said = [entry.text(key) for key in ("mode", "scaling", "knob", "why")]
    if not entry.has("changes"):
        return Clocks(*said)
    times = [entry.number(key) for key in ("slack_s", "slow_s", "lost_s", "price_s")]
    hints = entry.has("sets") and entry.choice("sets", ("clocks", "hints")) == "hints"
    bound = entry.number("memory_bound_s") if entry.has("memory_bound_s") else None  # earlier versions had none
    counters = entry.text("counters") if entry.has("counters") else ""
    regions = tuple(map(_read_region, entry.items("regions"))) if entry.has("regions") else ()
    return Clocks(*said, entry.count("changes"), *times, entry.text("failed"), hints, bound, counters, regions)


def _read_region(entry: Checked) -> Region:
    counts = (entry.integer(key) for key in ("instances", "seen", "acted"))
    seconds = (entry.number(key, lo=None if key == "lost_s" else 0.0) for key in ("compute_s", "slack_s", "lost_s"))
    return Region(entry.address("addr"), *counts, *seconds, entry.number("follows") if entry.has("follows") else None)


def _read_meter(document: Checked) -> dict[str, str]:
    """The node's meter. Only the profile of the node's reader names it."""
    if "meter" not in document.object() or not document.has("meter"):
        return {"name": "", "why": ""}
    return {"name": document.get("meter").text("name"), "why": document.get("meter").text("why")}


def _read_network(entry: Checked) -> Network:
    sizes, messages = entry.get("bytes"), entry.get("messages")
    return Network(
        name=entry.text("name"),
        dropped=_numbers(entry.get("dropped"), DROPS),
        messages=_numbers(messages, WAYS),
        bytes=_numbers(sizes, WAYS) | {"hardware": sizes.number("hardware") if sizes.has("hardware") else None},
        merged=messages.number("merged") if messages.has("merged") else None,
        single=_numbers(entry.get("single"), SINGLE) if entry.has("single") else None,
    )


def _figures(parent: Checked, key: str = "joules") -> list[Joules]:
    return [read_joules(entry) for entry in parent.items(key)]


def _numbers(parent: Checked, keys: tuple[str, ...]) -> Numbers:
    return {key: parent.number(key) for key in keys}


def _read_module(entry: Checked) -> Module:
    return Module(entry.text("path"), entry.address("base"), entry.text("build_id"))


def _read_python(entry: Checked) -> PythonPlace:
    return PythonPlace(entry.text("file"), entry.text("function"), entry.integer("line"))


def _read_user_regions(document: Checked) -> list[UserRegion]:
    found: list[UserRegion] = []
    for entry in document.items("regions"):
        outer = entry.integer("outer", lo=-1)
        if outer >= len(found):
            raise entry.get("outer").wrong(f"is {outer}, but there are only {len(found)} regions before it")
        found.append(UserRegion(entry.text("name"), outer, entry.count("times"), entry.number("time_s")))
    return found


def _read_paths(document: Checked, n_modules: int, counts: dict[int, int]) -> list[PathNode]:
    """The nodes of the call paths. `counts`: the number of Python places and of regions."""
    nodes = typed(document, "paths", list[PathNode])
    for i, node in enumerate(nodes):
        parent, module, offset = node
        if parent >= i or not REGION <= module < n_modules or (module in counts and offset >= counts[module]):
            raise DamagedFile(
                document.file, f"paths[{i}]: the parent or the module does not exist: {shown(list(node))}"
            )
    return nodes


def _read_sites(document: Checked, n_modules: int, n_paths: int) -> list[Site]:
    sites = typed(document, "sites", list[Site])
    for i, site in enumerate(sites):
        wrong = ""
        if site.kind not in KINDS:
            wrong = f"kind: expected one of {', '.join(KINDS)}, found {shown(site.kind)}"
        elif site.module >= n_modules:
            wrong = f"module: is {site.module}, but there are only {n_modules} modules"
        elif site.path >= n_paths:
            wrong = f"path: is {site.path}, but there are only {n_paths} nodes of paths"
        if wrong:
            raise DamagedFile(document.file, f"sites[{i}].{wrong}")
    return sites
