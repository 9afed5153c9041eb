"""The steps of a reproduction, one for each study at each place, with the usual time of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wattle.base.errors import WattleError
from wattle.study import registry
from wattle.study.place import HOSTS, LOCAL, SIMULATED, TWO_NODES

# Seconds of the studies, quick and full, on this node and simulated: of a virtual machine with two cores that other
# work kept busy. A full sweep that takes longer than some minutes was measured in part, and its time computed from its
# share of the samples. Where the load was far above the number of cores (lsms, pascol, protocols and slack), the CPU
# seconds of that part count in place of its time. Full sweeps of SCALED are scaled from the quick ones, by the number
# of samples and the least length of each. All serve only for estimates, which follow the pace of the steps that ended.
USUAL: dict[str, dict[str, tuple[float | None, float | None]]] = {
    "am": {LOCAL: (63, 780), SIMULATED: (7, 44)},
    "barrier": {LOCAL: (247, 770), SIMULATED: (22, 45)},
    "fragments": {LOCAL: (45, 309), SIMULATED: (10, 59)},
    "lsms": {LOCAL: (89, 1460), SIMULATED: (96, 274)},
    "mst": {LOCAL: (128, 1060), SIMULATED: (209, 630)},
    "pascol": {LOCAL: (112, 560), SIMULATED: (98, 2200)},
    "patterns": {LOCAL: (134, 565), SIMULATED: (21, 155)},
    "protocols": {LOCAL: (48, 480), SIMULATED: (19, 410)},
    "race": {LOCAL: (87, 370), SIMULATED: (119, 1460)},
    "receiver": {LOCAL: (170, 1500), SIMULATED: (21, 24)},
    "slack": {LOCAL: (181, 4080), SIMULATED: (11, 11)},
    "tsp": {LOCAL: (40, 173), SIMULATED: (19, 87)},
}
SCALED = {("receiver", LOCAL)}


PART_S = 300  # full sweeps that take longer were measured in part
MEASURED, IN_PART, BY_QUICK = "measured", "from a part of it", "scaled from the quick sweep"
AS_LOCAL, AS_DEFAULT = "a guess: as on one node", "a guess: as on the default cluster"


@dataclass(frozen=True)
class Step:
    """A study at a place. `on`: the place as `--on` names it, or `hosts:A,B`. `usual_s`: the usual time of it; None
    where it was never measured. `origin`: how that time is known.
    """

    study: str
    on: str
    usual_s: float | None
    origin: str = ""

    @property
    def kind(self) -> str:
        """The kind of the place: local, hosts, two-nodes or sim."""
        return self.on.partition(":")[0]

    @property
    def name(self) -> str:
        """The name of its directory."""
        return f"{self.study}-{self.on.partition(',')[0].replace(':', '-')}"

    def options(self, quick: bool) -> list[str]:
        """The arguments of `wattle study` for it."""
        place = ["--hosts", self.on.partition(":")[2]] if self.kind == HOSTS else ["--on", self.on]
        return [self.study, *place, *(["--quick"] if quick else [])]


def places(listed: str) -> list[str]:
    """The places of `--on`, such as `local,sim` or `sim:mycluster.toml`."""
    found = [part.strip() for part in listed.split(",")]
    for part in found:
        if part.partition(":")[0] not in (LOCAL, TWO_NODES, SIMULATED):
            raise WattleError(
                f"--on {listed}: {part!r} is not a place; allowed: {LOCAL}, {TWO_NODES}, {SIMULATED}:CLUSTER"
            )
    return list(dict.fromkeys(found))


def studies(only: str | None) -> list[str]:
    """The studies of `--only`; all of them without it."""
    known = registry.commands()
    if only is None:
        return known
    names = [name.strip() for name in only.split(",")]
    if wrong := [name for name in names if name not in known]:
        raise WattleError(f"--only {only}: {wrong[0]!r} is not a study; there are {', '.join(known)}")
    return list(dict.fromkeys(names))


def steps(names: Sequence[str], on: Sequence[str], quick: bool) -> list[Step]:
    """The steps, those that take the least time first, so that an interruption leaves as many results as possible."""
    found = [Step(name, place, *usual(name, place, quick)) for name in names for place in dict.fromkeys(on)]
    return sorted(found, key=lambda step: (step.usual_s is None, step.usual_s or 0.0, step.name))


def usual(study: str, on: str, quick: bool) -> tuple[float | None, str]:
    """The usual seconds of a study, and how they are known. Those on hosts, on two nodes and on a cluster that the user
    names were not measured: they are taken from one node and from the default cluster.
    """
    kind = SIMULATED if on.partition(":")[0] == SIMULATED else LOCAL
    times = USUAL.get(study, {}).get(kind)
    seconds = None if times is None else times[0 if quick else 1]
    if seconds is None:
        return None, ""
    if on not in (LOCAL, SIMULATED):
        return seconds, AS_LOCAL if kind == LOCAL else AS_DEFAULT
    if quick:
        return seconds, MEASURED
    return seconds, BY_QUICK if (study, kind) in SCALED else IN_PART if seconds > PART_S else MEASURED


def left_in_words(steps: Sequence[Step], pace: float = 1.0) -> str:
    """The time of steps as words. `pace`: multiplies the usual times."""
    known = [step.usual_s for step in steps if step.usual_s is not None]
    more = len(steps) - len(known)
    if not known:
        return f"an unknown time for {more}" if more else "no time"
    apart = f", and {more} whose time is not known" if more else ""
    return f"about {time_in_words(pace * sum(known))}{apart}"


def time_in_words(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds / 10)) * 10} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
