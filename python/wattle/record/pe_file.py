"""Reads and checks the file that a PE writes at its end, profile/pe-00000.json."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

from wattle.base import input_files, limits
from wattle.base.checked import shown
from wattle.base.checked_types import prepare, read
from wattle.base.errors import DamagedFile
from wattle.record.pe import PE, PYTHON, REGION, SCHEMA, STEP_COLUMNS, STEP_COLUMNS_AT_LEAST, STEP_COUNTS, Served, Step


def expect() -> None:
    """Prepares for profiles that a program is about to write."""
    prepare(PE)


def read_pe(path: Path, number: int) -> PE:
    found = pe_of(path, input_files.read_text(path, limits.JSON_BYTES))
    if found.pe != number:
        raise DamagedFile(path, f"pe: says {found.pe} of {found.n_pes} in a file named {path.name}")
    return found


def pe_of(source: object, text: str) -> PE:
    """The PE of a profile. Raises DamagedFile."""
    found: PE = read(source, text, PE, SCHEMA, apart=("sites", "paths", "sequence", "partners"))
    if wrong := next(_contradictions(found), None):
        raise DamagedFile(source, wrong)
    return found


def _contradictions(pe: PE) -> Iterator[str]:
    """Numbers that refer to nothing, and lists that do not fit."""
    n_modules, n_paths, n_sites = len(pe.modules), len(pe.paths), len(pe.sites)
    if pe.pe >= pe.n_pes:
        yield f"pe: says {pe.pe} of {pe.n_pes} PEs"
    for i, region in enumerate(pe.user_regions):
        if region.outer >= i:
            yield f"regions[{i}].outer: is {region.outer}, but there are only {i} regions before it"
    counts = {PYTHON: len(pe.python), REGION: len(pe.user_regions)}
    for i, node in enumerate(pe.paths):
        parent, module, offset = node
        if parent >= i or not REGION <= module < n_modules or (module in counts and offset >= counts[module]):
            yield f"paths[{i}]: the parent or the module does not exist: {shown(list(node))}"
    for i, site in enumerate(pe.sites):
        if site.module >= n_modules:
            yield f"sites[{i}].module: is {site.module}, but there are only {n_modules} modules"
        if site.path >= n_paths:
            yield f"sites[{i}].path: is {site.path}, but there are only {n_paths} nodes of paths"
    if pe.ended and pe.ended.wait and pe.ended.wait.module >= n_modules:
        yield f"ended.wait.module: is {pe.ended.wait.module}, but there are only {n_modules} modules"
    if pe.partners:
        numbers, others = pe.partners.pe, (pe.partners.calls, pe.partners.bytes, pe.partners.wait_s)
        if any(len(other) != len(numbers) for other in others):
            yield "partners: expected lists of equal length"
        if max(numbers, default=0) >= pe.n_pes:
            yield f"partners.pe: expected numbers of PEs below {pe.n_pes}"
    if pe.served and pe.served.columns != list(Served._fields):
        yield f"served.columns: expected {' '.join(Served._fields)}"
    for i, row in enumerate(pe.served.rows if pe.served else ()):
        if row.pe >= pe.n_pes:
            yield f"served.rows[{i}]: expected the number of a PE below {pe.n_pes}, found {row.pe}"
    if pe.sequence and pe.sequence.columns not in (STEP_COLUMNS, STEP_COLUMNS_AT_LEAST):
        yield f"sequence.columns: expected {' '.join(STEP_COLUMNS)}"
    of_times = itemgetter(*(Step._fields.index(name) for name in STEP_COUNTS if name != "burst_calls"))
    for i, step in enumerate(pe.sequence.steps if pe.sequence else ()):
        if max(step[:2]) >= n_sites or max(of_times(step)) > step.times:
            yield f"sequence.steps[{i}]: expected two of {n_sites} sites, and no count but burst_calls above the first"
