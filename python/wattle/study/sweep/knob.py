"""The knob of this machine as the runtime finds it, and the clocks that a study may request."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path

from wattle.base.checked import Checked
from wattle.base.errors import WattleError
from wattle.machine.paths import Home
from wattle.record import profile
from wattle.sim.simulation import Simulation
from wattle.study.site import HERE, Site
from wattle.study.sweep import jobs as sweep_jobs

MOST_CLOCKS, QUICK_CLOCKS = 7, 3
SIMULATED = "simgrid"
ACTING = ("cpufreq", "powercap", SIMULATED)


@dataclass(frozen=True)
class Knob:
    """A knob. `clocks`: the machine's clocks in GHz, rising; empty where none can be set. `base`: the highest clock
    without turbo, where it is known.
    """

    name: str
    why: str
    clocks: tuple[float, ...] = ()
    base: float | None = None

    @property
    def acts(self) -> bool:
        return self.name in ACTING and len(self.clocks) > 1

    @property
    def simulated(self) -> bool:
        return self.name == SIMULATED

    @property
    def words(self) -> str:
        """The knob as part of a sentence."""
        if self.simulated:
            return f"time and clocks are simulated, {self.clocks[0]:g} to {self.clocks[-1]:g} GHz"
        if self.acts:
            return f"clocks are set by {self.name}, {self.clocks[0]:g} to {self.clocks[-1]:g} GHz"
        reason = self.why.rstrip(".") or "the knob only records"
        return f"no clock can be set here ({reason}), so there are no results on clocks"

    def some(self, most: int) -> tuple[float, ...]:
        """At most `most` of the clocks, including both ends."""
        if len(self.clocks) <= most:
            return self.clocks
        step = (len(self.clocks) - 1) / (most - 1)
        return tuple(self.clocks[round(i * step)] for i in range(most))

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"clocks": list(self.clocks), "acts": self.acts, "words": self.words}


def of_study(study: Checked) -> Knob:
    entry = study.get("knob")
    clocks = tuple(ghz for ghz in entry.get("clocks").numbers() if ghz is not None)
    return Knob(entry.text("name"), entry.text("why"), clocks, entry.number("base"))


def of_machine(machine: Simulation) -> Knob:
    """The knob of a simulated machine."""
    clocks = tuple(sorted(clock.ghz for clock in machine.core.clocks))
    return Knob(SIMULATED, "", clocks, machine.core.clocks[machine.core.base].ghz)


def find(home: Home, pes: int, site: Site = HERE) -> Knob:
    """The knob of the nodes of a place. A governed job of `pes` PEs reports it in its profile. The clocks are those of
    this machine, which hosts are taken to share.
    """
    with site.ours.folder() as scratch:
        folder = Path(scratch)
        arguments = ["--repeat", "1", "0.1"]
        environment = {"WATTLE_GOVERN": "baseline", "WATTLE_PROFILE": "on"}
        for _ in sweep_jobs.run(home, "barrier", arguments, pes, environment, folder / "job", at=site):
            pass
        found = profile.load(folder / "job", pes)
    clocks = next((pe.clocks for pe in found.pes if pe.clocks), None)
    if clocks is None:
        raise WattleError("a job with WATTLE_GOVERN=baseline reported no clocks; is the runtime of this version?")
    steps, base = _steps(Path(os.environ.get("WATTLE_SYSFS", "/sys")))
    why = clocks.why or clocks.failed or (f"{clocks.knob} may only give hints" if clocks.hints else "")
    return Knob(clocks.knob, why, steps if clocks.knob in ACTING and not clocks.hints else (), base)


def _steps(root: Path) -> tuple[tuple[float, ...], float | None]:
    """The clocks and the base clock from the first CPU's files. Where the files list no clocks, some between the
    ends.
    """
    cpus = root / "devices" / "system" / "cpu"
    folders = sorted((cpus / "cpufreq").glob("policy*")) or sorted(cpus.glob("cpu[0-9]*/cpufreq"))
    if not folders:
        return (), None
    low, high, base = (_khz(folders[0] / name) for name in ("cpuinfo_min_freq", "cpuinfo_max_freq", "base_frequency"))
    try:
        words = (folders[0] / "scaling_available_frequencies").read_text().split()
        listed = sorted({int(w) for w in words if w.isdigit()})
    except OSError:
        listed = []
    if not listed and low and high:
        listed = sorted({round((low + (high - low) * k / 6) / 1e5) * 100000 for k in range(7)} | {low, high})
    return tuple(khz / 1e6 for khz in listed), base / 1e6 if base else None


def _khz(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
