"""Meters any program: starts wattle-meter, runs the program, and reads the joules of both."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from wattle.base.checked import Checked
from wattle.base.documents import fields
from wattle.base.errors import WattleError
from wattle.energy import tree
from wattle.energy.cgroup import Group
from wattle.energy.tree import Outcome
from wattle.machine import allocation, paths
from wattle.text.provenance import Joules, read_joules, total

PARTS = ("program", "others", "idle", "node")
END_S = 20.0  # time for reading the sensors at the end


@dataclass(frozen=True)
class Metered:
    """A program and its joules. `joules`: by part of PARTS, one figure for each domain; `others` is empty where no
    sensor saw other programs. `nested`: figures that other domains contain, or that contain them.
    """

    command: list[str]
    outcome: Outcome
    meter: str
    why: str
    others_cpu_s: float
    group: Group | None
    joules: dict[str, list[Joules]]
    nested: list[Joules]

    def total(self, part: str) -> Joules:
        """The joules of a part over the domains that are known. Unavailable where none is."""
        known = [figure for figure in self.joules[part] if figure.known]
        return total(known, domain=" and ".join(figure.domain for figure in known))

    def as_dict(self) -> dict[str, Any]:
        job = allocation.here()
        return {
            "schema": 1,
            "kind": "energy",
            "command": self.command,
            **fields(self.outcome, "exit_code wall_s cpu_s"),
            "others_cpu_s": self.others_cpu_s,
            "cgroup": {"path": self.group.path, "cpu_s": self.group.cpu_s} if self.group else None,
            "meter": {"name": self.meter, "why": self.why},
            "joules": {part: [figure.as_dict() for figure in self.joules[part]] for part in PARTS},
            **fields(self, "nested"),
            **({allocation.KEY: job} if job else {}),
        }


def run(
    command: Sequence[str], environment: Mapping[str, str], stdout: int | None, group: Group | None = None
) -> Metered:
    """Runs the program between two readings of the meter. Its process tree counts, and the processes of `group`."""
    meter = subprocess.Popen(
        [str(paths.tool("wattle-meter"))],
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C ends the program, and the meter is read afterwards
    )
    try:
        if not meter.stdout or not meter.stdout.readline():
            raise WattleError((meter.communicate()[1] or "wattle-meter ended").strip().splitlines()[0])
        with group.counted() if group else nullcontext():
            outcome = tree.run(command, environment, stdout, {meter.pid})
        if group:
            outcome = replace(outcome, cpu_s=outcome.cpu_s + group.cpu_s, switches=0)
        answer, _ = meter.communicate(f"{outcome.cpu_s!r}~{outcome.switches}\n", timeout=END_S)
        return _read(list(command), outcome, answer, group)
    except subprocess.TimeoutExpired:
        raise WattleError(f"the meter gave no figures within {END_S:g} s") from None
    finally:
        meter.kill()
        meter.wait()


def _part(document: Checked, part: str) -> list[Joules]:
    """A part of wattle-meter's answer. The program is the only process that it metered."""
    entries = next(document.items("parts")).items("figures") if part == "program" else document.items(part)
    return [read_joules(entry) for entry in entries]


def _read(command: list[str], outcome: Outcome, answer: str, group: Group | None) -> Metered:
    try:
        document = Checked("wattle-meter", json.loads(answer))
    except json.JSONDecodeError:
        raise WattleError("wattle-meter ended without figures") from None
    return Metered(
        command,
        outcome,
        document.text("meter"),
        document.text("why"),
        document.number("others_cpu_s") or 0.0,
        group,
        {part: _part(document, part) for part in PARTS},
        [read_joules(entry) for entry in document.items("nested")],
    )
