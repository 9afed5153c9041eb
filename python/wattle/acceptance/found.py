"""Reads the results of the steps' jobs: which meters gave joules, and whether a clock was changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from wattle.acceptance.steps import SENSORS, energy_of
from wattle.acceptance.trial import Result
from wattle.acceptance.untried import Tried
from wattle.base.checked import read_json
from wattle.base.errors import DamagedFile
from wattle.study.sweep.knob import ACTING

KEPT = ("domain", "scope", "provenance", "source", "joules", "uncertainty", "interval_s", "covered_s")


def joules(folder: Path) -> list[dict[str, Any]]:
    """The joules of the node from each energy measurement, by step and meter."""
    found = []
    for path in sorted(folder.glob("energy*")):
        node = next((pe for pe in _pes(folder, path.name) if pe.get("node")), None)
        if node is not None:
            meter = node.get("meter") or {}
            figures = [{key: f.get(key) for key in KEPT} for f in node["node"].get("joules") or []]
            found.append({"step": path.name, "meter": meter.get("name"), "why": meter.get("why"), "figures": figures})
    return found


def tried(folder: Path, results: Sequence[Result]) -> Tried:
    """A summary of the results. `results`: those of all chosen steps."""
    measured = joules(folder)
    steps = {r.name: r for r in results}
    joined = [str(m["meter"]) for m in measured if any(map(_is_measured, m["figures"]))]  # such as "powercap+nvml"
    read = {name for names in joined for name in names.split("+")}

    def unread(step: str) -> str:
        said = next((m["why"] for m in measured if m["step"] == step), None)
        ended = _ended(steps.get(step), step)
        return ended or said or "its sensors gave none"

    two_nodes = steps.get("two-nodes")
    return Tried(
        clocks=_no_clocks(folder, steps),
        joules="" if any(_is_of_node(f) for m in measured for f in m["figures"]) else unread("energy"),
        two_nodes=two_nodes.state if two_nodes else None,
        sensors={name: "" if name in read else unread(energy_of(name)) for name in SENSORS},
    )


def _is_measured(figure: dict[str, Any]) -> bool:
    return figure["provenance"] == "measured" and (figure["joules"] or 0) > 0


def _is_of_node(figure: dict[str, Any]) -> bool:
    """Whether it is measured, and not of an accelerator beside modelled processors."""
    return _is_measured(figure) and figure["scope"] != "device"


def _ended(result: Result | None, step: str) -> str:
    """The reason why a step has no results; "" where it passed."""
    if result is None:
        return f"the step {step} was not chosen"
    if result.state == "passed":
        return ""
    return f"the step {step} failed: {result.why}" if result.state == "failed" else result.why


def _no_clocks(folder: Path, steps: Mapping[str, Result]) -> str | None:
    """The reason why governed jobs changed no clock; "" where one did, None where none ran."""
    found = None
    for pe in _pes(folder, "clocks-*"):
        clocks = pe.get("clocks") or {}
        knob, failed = str(clocks.get("knob") or "none"), str(clocks.get("failed") or "")
        if failed:
            return f"the knob {knob} failed: {failed}"
        if knob in ACTING and clocks.get("changes"):
            found = f"the knob {knob} only gives hints" if clocks.get("sets") == "hints" else ""
        elif found is None:
            found = f"the knob is {knob}" + (f": {why}" if (why := clocks.get("why")) else "")
    if found is None:  # no job left a profile: use the reason of the first step
        found = next((_ended(r, name) or None for name, r in steps.items() if name.startswith("clocks-")), None)
    return found


def _pes(folder: Path, runs: str) -> Iterator[dict[str, Any]]:
    """The profiles of the PEs of these runs."""
    for path in sorted(folder.glob(f"{runs}/profile/pe-*.json")):
        with suppress(DamagedFile):
            pe = read_json(path)
            pe.expect_some(node="an object", meter="an object", clocks="an object")
            for figure in pe.get("node").items("joules") if pe.has("node") else ():
                figure.text("provenance")
                figure.number("joules", lo=None)
            yield pe.object()
