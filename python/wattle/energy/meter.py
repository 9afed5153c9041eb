"""Meters any program: starts wattle-meter, runs the program, and reads the joules of both."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from wattle.base.documents import fields
from wattle.base.errors import WattleError
from wattle.energy import division, tree
from wattle.energy.cgroup import Group
from wattle.energy.division import PARTS, Division
from wattle.energy.tree import Outcome
from wattle.machine import allocation, paths

END_S = 20.0  # time for reading the sensors at the end


@dataclass(frozen=True, kw_only=True)
class Metered(Division):
    """A program and its joules. `group`: the control group that was counted, too."""

    command: list[str]
    outcome: Outcome
    group: Group | None

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
        return Metered(**vars(division.read(answer)), command=list(command), outcome=outcome, group=group)
    except subprocess.TimeoutExpired:
        raise WattleError(f"the meter gave no figures within {END_S:g} s") from None
    finally:
        meter.kill()
        meter.wait()
