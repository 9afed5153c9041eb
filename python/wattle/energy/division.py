"""The joules of a node, divided among a program, other programs and the idle node, as Wattle's meter gives them."""

from __future__ import annotations

import json
from dataclasses import dataclass

from wattle.base.checked import Checked
from wattle.base.errors import WattleError
from wattle.text.provenance import Joules, read_joules, total

PARTS = ("program", "others", "idle", "node")


@dataclass(frozen=True, kw_only=True)
class Division:
    """Joules by part of PARTS, one figure for each domain; `others` is empty where no sensor saw other programs.
    `nested`: figures that other domains contain, or that contain them. `why`: why no better meter was used.
    """

    meter: str
    why: str
    others_cpu_s: float
    joules: dict[str, list[Joules]]
    nested: list[Joules]

    def total(self, part: str) -> Joules:
        """The joules of a part over the domains that are known. Unavailable where none is."""
        known = [figure for figure in self.joules[part] if figure.known]
        return total(known, domain=" and ".join(figure.domain for figure in known))


def read(answer: str) -> Division:
    """Reads the meter's answer on one program. Raises WattleError or DamagedFile."""
    try:
        document = Checked("wattle-meter", json.loads(answer))
    except json.JSONDecodeError:
        raise WattleError("wattle-meter ended without figures") from None
    return Division(
        meter=document.text("meter"),
        why=document.text("why"),
        others_cpu_s=document.number("others_cpu_s") or 0.0,
        joules={part: _part(document, part) for part in PARTS},
        nested=[read_joules(entry) for entry in document.items("nested")],
    )


def _part(document: Checked, part: str) -> list[Joules]:
    """A part of the answer. The program is the only process that was metered."""
    entries = next(document.items("parts")).items("figures") if part == "program" else document.items(part)
    return [read_joules(entry) for entry in entries]


def added(divisions: list[Division]) -> Division:
    """The sum of intervals by one meter, or of the shares of processes. At least one."""
    first = divisions[0]
    if len(divisions) == 1:
        return first
    return Division(
        meter=first.meter,
        why=first.why,
        others_cpu_s=sum(one.others_cpu_s for one in divisions),
        joules={part: _added([one.joules[part] for one in divisions]) for part in PARTS},
        nested=_added([one.nested for one in divisions]),
    )


def _added(figures: list[list[Joules]]) -> list[Joules]:
    """The sum by domain. A domain that one interval lacks is summed over the others: other programs may have rested."""
    domains = dict.fromkeys(figure.domain for some in figures for figure in some)
    return [total((f for some in figures for f in some if f.domain == domain), domain=domain) for domain in domains]
