"""The profiles that the PEs of a run wrote: DIR/profile/pe-00000.json and so on, checked and made into frames.

Any number the runtime could not determine is None (null in a frame), never 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattle.checked import Checked, read_json, require_schema
from wattle.errors import DamagedFile, WattleError
from wattle.provenance import Joules, read_joules, total, unavailable

if TYPE_CHECKING:
    import polars as pl

SCHEMA = 1
STATES = ("active", "spin", "yield", "asleep")
TIMES = ("compute", "transfer", "wait")
STAGES = ("spin", "yield", "asleep")
MOVES = ("put", "get", "amo")
KINDS = ("transfer", "wait", "other")

Numbers = dict[str, float | None]


@dataclass(frozen=True)
class Module:
    """One ELF file that was mapped into a PE."""

    path: str
    base: int
    build_id: str


@dataclass(frozen=True)
class Site:
    """One place in the program that called the library. `offset` is inside the module's file, ready for addr2line."""

    addr: int
    module: int  # index into the PE's modules; -1 where the address lies in none
    offset: int
    call: str
    kind: str
    calls: int
    bytes: int
    timed_calls: int
    time_s: float | None
    wait_s: Numbers
    waits: int
    joules: Numbers  # by domain; shares, so always modelled


@dataclass(frozen=True)
class PE:
    """What one PE did between init and finalize."""

    pe: int
    n_pes: int
    host: str
    pid: int
    program: str
    build_id: str
    wall_s: float | None
    cpu_s: float | None
    cpu_init_s: float | None
    state_s: Numbers
    time_s: Numbers
    bytes: Numbers
    rescues: int | None
    sleeps: int | None
    joules: list[Joules]
    node: list[Joules]  # of the whole node; only in its reader's profile, else empty
    idle: list[Joules]  # what nobody on the node caused
    meter: dict[str, str]  # name and why no better one was taken; empty but in the node's reader's profile
    modules: list[Module]
    sites: list[Site]

    def module_of(self, site: Site) -> Module | None:
        return self.modules[site.module] if 0 <= site.module < len(self.modules) else None


@dataclass
class RunProfile:
    """All profiles of one run. `missing` names the PEs that left none; `damaged` holds why a file could not be read
    (only where the caller allowed that)."""

    directory: Path
    n_pes: int
    pes: list[PE]
    missing: list[int] = field(default_factory=list)
    damaged: dict[int, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        return not self.missing and not self.damaged

    @property
    def domains(self) -> list[str]:
        return list(dict.fromkeys(j.domain for pe in self.pes for j in pe.joules))

    @property
    def wall_s(self) -> float | None:
        """The longest PE's time from init to finalize."""
        known = [pe.wall_s for pe in self.pes if pe.wall_s is not None]
        return max(known, default=None)

    @property
    def meter(self) -> dict[str, str]:
        """The meter the run used, and why no better one."""
        return next((pe.meter for pe in self.pes if pe.meter["name"]), {"name": "", "why": ""})

    def joules(self, domain: str) -> Joules:
        """All PEs' joules of a domain. A gap where a PE's profile is missing: its joules are not known."""
        figures = [find(pe.joules, domain) for pe in self.pes]
        figures += [unavailable(domain)] * (len(self.missing) + len(self.damaged))
        return total(figures, domain=domain)

    def node_joules(self, domain: str) -> Joules:
        """Joules of all nodes of the run."""
        return _of_nodes((pe.node for pe in self.pes), domain)

    def idle_joules(self, domain: str) -> Joules:
        """Joules that no PE caused, on all nodes of the run."""
        return _of_nodes((pe.idle for pe in self.pes), domain)

    def sum(self, group: str, key: str) -> float | None:
        """Sum over the PEs of a number in `state_s`, `time_s` or `bytes`; None where one PE does not know it."""
        return add(getattr(pe, group)[key] for pe in self.pes)

    def pe_frame(self) -> pl.DataFrame:
        """One row a PE: pe, host, wall_s, cpu_s, cpu_init_s, state_*_s, time_*_s, bytes_*, rescues, sleeps, and for
        each domain joules_D, uncertainty_D, provenance_D, source_D."""
        import polars as pl

        return pl.DataFrame([_pe_row(pe, self.domains) for pe in self.pes], infer_schema_length=None)

    def site_frame(self) -> pl.DataFrame:
        """One row a PE and call site: pe, module, build_id, offset, call, kind, calls, bytes, timed_calls, time_s,
        waits, wait_*_s, joules_D for each domain."""
        import polars as pl

        rows = [_site_row(pe, site, self.domains) for pe in self.pes for site in pe.sites]
        schema = None if rows else {"pe": pl.Int64, "module": pl.String, "offset": pl.Int64, "call": pl.String}
        return pl.DataFrame(rows, schema=schema, infer_schema_length=None)


def load(directory: Path, n_pes: int | None = None, allow_damaged: bool = False) -> RunProfile:
    """Reads DIR/profile. `n_pes`: how many PEs there should be (the manifest says); without it the files say.

    Where `wattle run --repeat` wrote several runs, their own directories hold the profiles: see `wattle.runs`.
    A damaged file raises DamagedFile, which names it; with `allow_damaged` it is left out and noted instead.
    """
    folder = directory / "profile"
    if not folder.is_dir():
        raise WattleError(f"{directory}: holds no profile directory; expected a directory that `wattle run` wrote")
    pes: list[PE] = []
    damaged: dict[int, str] = {}
    for number, path in _files(folder):
        try:
            pes.append(_read_pe(path, number))
        except DamagedFile as error:
            if not allow_damaged:
                raise
            damaged[number] = error.wrong
    n_pes = _agreed_size(folder, pes, n_pes)
    missing = sorted(set(range(n_pes)) - {pe.pe for pe in pes} - set(damaged))
    return RunProfile(directory, n_pes, pes, missing, damaged)


def find(figures: Iterable[Joules], domain: str) -> Joules:
    """The figure of a domain; unavailable where there is none."""
    return next((j for j in figures if j.domain == domain), unavailable(domain))


def add(values: Iterable[float | None]) -> float | None:
    """Sum; None as soon as one value is not known."""
    result = 0.0
    for value in values:
        if value is None:
            return None
        result += value
    return result


def _of_nodes(lists: Iterable[list[Joules]], domain: str) -> Joules:
    return total((find(figures, domain) for figures in lists if figures), domain=domain)


def _files(folder: Path) -> Iterator[tuple[int, Path]]:
    """The profile files in order of PE. A name that merely looks alike is an error: it would be counted as missing."""
    for path in sorted(folder.glob("pe-*.json")):
        match = re.fullmatch(r"pe-(\d{5,})\.json", path.name)
        if not match:
            raise DamagedFile(path, "is not a profile's name; expected pe-00000.json, pe-00001.json ...")
        yield int(match.group(1)), path


def _agreed_size(folder: Path, pes: list[PE], n_pes: int | None) -> int:
    for pe in pes:
        if n_pes is None:
            n_pes = pe.n_pes
        if pe.n_pes != n_pes:
            file = folder / f"pe-{pe.pe:05d}.json"
            wrong = f"n_pes: says {pe.n_pes} where the rest of the run says {n_pes}: files of two runs are mixed"
            raise DamagedFile(file, wrong)
    if n_pes is None:
        raise WattleError(f"{folder}: holds no readable profile, and nothing says how many PEs there were")
    return n_pes


def _read_pe(path: Path, number: int) -> PE:
    document = read_json(path)
    require_schema(document, SCHEMA)
    n_pes = document.integer("n_pes", lo=1)
    pe = document.integer("pe")
    if pe != number or pe >= n_pes:
        raise document.get("pe").wrong(f"says {pe} of {n_pes} in a file named {path.name}")
    modules = [_read_module(entry) for entry in document.items("modules")]
    has_node = document.has("node")
    return PE(
        pe=pe,
        n_pes=n_pes,
        host=document.text("host"),
        pid=document.integer("pid"),
        program=document.text("program"),
        build_id=document.text("build_id"),
        wall_s=document.number("wall_s"),
        cpu_s=document.number("cpu_s"),
        cpu_init_s=document.number("cpu_init_s"),
        state_s=_numbers(document.get("state_s"), STATES),
        time_s=_numbers(document.get("time_s"), TIMES),
        bytes=_numbers(document.get("bytes"), MOVES),
        rescues=document.count("rescues"),
        sleeps=document.count("sleeps"),
        joules=_figures(document),
        node=_figures(document.get("node")) if has_node else [],
        idle=_figures(document.get("node"), "idle") if has_node else [],
        meter=_read_meter(document),
        modules=modules,
        sites=[_read_site(entry, len(modules)) for entry in document.items("sites")],
    )


def _read_meter(document: Checked) -> dict[str, str]:
    """The meter is the node's: only its reader names it."""
    if "meter" not in document.object() or not document.has("meter"):
        return {"name": "", "why": ""}
    return {"name": document.get("meter").text("name"), "why": document.get("meter").text("why")}


def _figures(parent: Checked, key: str = "joules") -> list[Joules]:
    return [read_joules(entry) for entry in parent.items(key)]


def _numbers(parent: Checked, keys: tuple[str, ...]) -> Numbers:
    return {key: parent.number(key) for key in keys}


def _read_module(entry: Checked) -> Module:
    return Module(entry.text("path"), entry.address("base"), entry.text("build_id"))


def _read_site(entry: Checked, n_modules: int) -> Site:
    module = entry.integer("module", lo=-1)
    if module >= n_modules:
        raise entry.get("module").wrong(f"is {module}, but there are only {n_modules} modules")
    joules = entry.get("joules")
    return Site(
        addr=entry.address("addr"),
        module=module,
        offset=entry.address("offset"),
        call=entry.text("call"),
        kind=entry.choice("kind", KINDS),
        calls=entry.integer("calls"),
        bytes=entry.integer("bytes"),
        timed_calls=entry.integer("timed_calls"),
        time_s=entry.number("time_s"),
        wait_s=_numbers(entry.get("wait_s"), STAGES),
        waits=entry.integer("waits"),
        joules={domain: joules.number(domain, lo=None) for domain in joules.object()},
    )


def _pe_row(pe: PE, domains: list[str]) -> dict[str, Any]:
    row: dict[str, Any] = {key: getattr(pe, key) for key in ("pe", "host", "wall_s", "cpu_s", "cpu_init_s")}
    row |= {f"state_{key}_s": value for key, value in pe.state_s.items()}
    row |= {f"time_{key}_s": value for key, value in pe.time_s.items()}
    row |= {f"bytes_{key}": value for key, value in pe.bytes.items()}
    row |= {"rescues": pe.rescues, "sleeps": pe.sleeps}
    for domain in domains:
        figure = find(pe.joules, domain)
        row[f"joules_{domain}"] = figure.joules
        row[f"uncertainty_{domain}"] = figure.uncertainty
        row[f"provenance_{domain}"] = str(figure.provenance)
        row[f"source_{domain}"] = figure.source
    return row


def _site_row(pe: PE, site: Site, domains: list[str]) -> dict[str, Any]:
    module = pe.module_of(site)
    row: dict[str, Any] = {
        "pe": pe.pe,
        "module": module.path if module else None,
        "build_id": module.build_id if module else None,
        "offset": site.offset,
        "call": site.call,
        "kind": site.kind,
        "calls": site.calls,
        "bytes": site.bytes,
        "timed_calls": site.timed_calls,
        "time_s": site.time_s,
        "waits": site.waits,
    }
    row |= {f"wait_{stage}_s": value for stage, value in site.wait_s.items()}
    return row | {f"joules_{domain}": site.joules.get(domain) for domain in domains}
