"""The summary of a study of messages, for the terminal and the page, with numbers from the samples."""

from __future__ import annotations

from wattle.record.manifest import Manifest
from wattle.study.am.analysis import Analysis, Case
from wattle.study.am.figures import NAMES, shown
from wattle.text import units
from wattle.text.provenance import amount, joule_unit
from wattle.text.units import si


def sentences(a: Analysis, record: Manifest) -> list[str]:
    """Sentences with numbers from the samples."""
    return [_rates(a), _rings(a), _joules(a, record)]


def last_case(a: Analysis, series: str, test: str, *ways: str) -> Case | None:
    found = a.cases(series, test, ("am", *ways))
    return found[-1] if found else None


def _rates(a: Analysis) -> str:
    case = last_case(a, "rate", "uni", "put") or last_case(a, "rate", "uni")
    mine = a.center("rate", case, "am") if case else None
    if case is None or mine is None:
        return ""
    others = [
        f"{shown('rate', c.median)} by {NAMES[way]}"
        for way in ("put", "nbi", "mpi")
        if (c := a.center("rate", case, way))
    ]
    ucx = a.only_case("rate", "uni", "ucx")
    if ucx and (c := a.center("rate", ucx, "ucx")):
        others.append(f"{shown('rate', c.median)} by {NAMES['ucx']} alone")
    beside = f"; {_and(others)}" if others else ""
    many = units.several(case.in_flight, "message")
    return f"With {many} of {units.size(case.bytes)} in flight {shown('rate', mine.median)} went by AM{beside}."


def _and(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def _rings(a: Analysis) -> str:
    case = last_case(a, "ring", "ring", "put")
    if case is None:
        return ""
    am, put, mpi = (a.center("time", case, way) for way in ("am", "put", "mpi"))
    if not am or not put:
        return ""
    third = f" and {units.seconds(mpi.median)} by MPI" if mpi else ""
    by_put = f"{units.seconds(put.median)} by put{third}"
    return f"A token round {case.pes} PEs took {units.seconds(am.median)} a hop by AM, {by_put}."


def _joules(a: Analysis, record: Manifest) -> str:
    kind = a.provenance()
    if kind == "unavailable":
        return f"Joules are not known here: {a.why_no_joules}."
    case = last_case(a, "rate", "uni", "put")
    known = case and a.center("energy", case, "am") and a.center("energy", case, "put")
    am, put = (energy_of(a, case, way)[0] if case and known else "" for way in ("am", "put"))
    cost = f"A message cost {am} by AM and {put} by put there. " if known else ""
    whose = "the machine's, which a sensor sees" if kind == "measured" else "PE 0's"
    why = record.meter.get("why", "").rstrip(".")
    return f"{cost}Joules are {whose}, {kind} ({', '.join(a.sources)})" + (f": {why}." if why else ".")


def energy_of(a: Analysis, case: Case, way: str) -> tuple[str, str]:
    """Joules a message with their uncertainty, and the provenance."""
    found, doubt = a.center("energy", case, way), a.uncertainty(case, way)
    if found is None:
        return units.UNKNOWN, "unavailable"
    factor, unit = joule_unit(found.median)
    text = si(found.median, "J") if doubt is None else f"{amount(found.median, doubt, factor)} {unit}"
    return text, a.provenance((way,))
