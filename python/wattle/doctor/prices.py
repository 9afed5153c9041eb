"""Findings on the prices of waiting, as `wattle calibrate` measured them and programs use them."""

from __future__ import annotations

from wattle.base.errors import WattleError
from wattle.calibrate import prices
from wattle.calibrate.prices import Price, Prices
from wattle.doctor.finding import Finding, Section, State
from wattle.text import units

TITLE = "Prices of waiting"
NAME = "prices"
HOW = "`wattle calibrate` measures them in some seconds; until then, programs learn them as they wait"


def examine() -> Section:
    try:
        where = prices.where()
        if not where.known or where.source is None:
            return Section(TITLE, [Finding(NAME, State.NO, "none known", f"{where.why}; {HOW}")])
        found = prices.load(where.source)
    except WattleError as error:
        return Section(TITLE, [Finding(NAME, State.NO, "none known", str(error))])
    known = [p for p in found.prices if p.idle.median_s is not None or p.peer.median_s is not None]
    return Section(TITLE, [_source(found, str(where.source)), *map(_row, known)])


def _source(found: Prices, file: str) -> Finding:
    says = f"measured {found.measured}, in {file}"
    if not found.disturbed:
        return Finding(NAME, State.YES, says)
    why = f"during the measurement there was {found.disturbed}; `wattle calibrate` measures them again"
    return Finding(NAME, State.PARTLY, says, why)


def _row(price: Price) -> Finding:
    parts = [units.seconds(price.idle.median_s)] if price.idle.median_s is not None else []
    if price.peer.median_s is not None:
        parts.append(f"with a peer {units.seconds(price.peer.median_s)}")
    return Finding(price.name, State.INFO, f"{price.what}: {', '.join(parts)}")
