"""The cores of a shielded study, from `--shield CORES`."""

from __future__ import annotations

import re
from pathlib import Path

from wattle.base.checked import shown
from wattle.base.errors import WattleError
from wattle.text.units import ranges

AUTO = "auto"
CPUS = Path("/sys/devices/system/cpu")
LIST = re.compile(r"[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*")


def choose(text: str, allowed: set[int], cpus: Path = CPUS) -> set[int]:
    """The cores that `--shield` names, of those that this process may use. `auto`: all but the first core with its
    threads, which are left to other programs. Raises WattleError.
    """
    if text == AUTO:
        first = min(allowed)
        chosen = allowed - (siblings(first, cpus) | {first})
        if not chosen:
            some = ranges(sorted(allowed))
            raise WattleError(f"--shield auto: needs two cores, and this process may use {some} of one; name cores")
        return chosen
    if not LIST.fullmatch(text):
        raise WattleError(f"--shield {shown(text)}: expected auto, or cores as in 2-5,7")
    chosen = parse(text)
    if not chosen or not chosen <= allowed:
        raise WattleError(f"--shield {text}: this process may use the cores {ranges(sorted(allowed))}")
    return chosen


def siblings(cpu: int, cpus: Path = CPUS) -> set[int]:
    """The threads of the core of this CPU. Empty where the kernel does not list them."""
    try:
        text = (cpus / f"cpu{cpu}" / "topology" / "thread_siblings_list").read_text().strip()
    except OSError:
        return set()
    return parse(text) if LIST.fullmatch(text) else set()


def parse(text: str) -> set[int]:
    """The numbers of a list such as 2-5,7."""
    found: set[int] = set()
    for part in text.split(","):
        low, _, high = part.partition("-")
        found |= set(range(int(low), int(high or low) + 1))
    return found
