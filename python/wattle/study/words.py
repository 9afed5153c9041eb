"""Sentences that the summaries of several studies share."""

from __future__ import annotations

from collections.abc import Iterable

from wattle.record.manifest import Manifest


def joules(kind: str, sources: Iterable[str], record: Manifest, unknown: str = "", both: str = "") -> str:
    """The provenance of joules. `kind`: the weakest. `unknown`: why there are none. `both`: added where a sensor
    measured them.
    """
    if kind == "unavailable":
        return f"Joules are not known here: {unknown}." if unknown else "Joules are not known here."
    source = ", ".join(sources)
    if kind == "measured":
        return f"Joules are measured{both} ({source})."
    why = record.meter.get("why", "").rstrip(".")
    return f"Joules are modelled, not measured ({source})" + (f": {why}." if why else ".")
