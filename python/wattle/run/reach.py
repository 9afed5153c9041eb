"""Finds the hosts that do not answer while a launcher starts its job on them by ssh."""

from __future__ import annotations

import getopt
import os
import re
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

NAMED_AFTER_S = 10.0
LIMIT = "WATTLE_REACH"
DEFAULT = "60s"  # as in src/base/settings.def
UNITS_S = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0}
OPTIONS = "1246ab:c:e:fgi:kl:m:no:p:qstvxAB:CD:E:F:GI:J:KL:MNO:PQ:R:S:TVw:W:XYy"  # of ssh
SYN_SENT = "02"  # of /proc/net/tcp


class Reach:
    """Looks for such hosts from NAMED_AFTER_S after the start of a job on, until all have answered. `of_job` lists the
    job's processes, `say` prints a remark.
    """

    def __init__(
        self, environment: Mapping[str, str], of_job: Callable[[], Iterable[int]], say: Callable[[str], None]
    ) -> None:
        self.limit = environment.get(LIMIT) or DEFAULT
        self.of_job, self.say = of_job, say
        self.started = time.monotonic()
        self.named: set[int] = set()
        self.is_over = False

    def look(self) -> None:
        """Names each host that does not answer, and ends its ssh at the limit. The launcher then ends the job."""
        waited_s = time.monotonic() - self.started
        if self.is_over or waited_s < NAMED_AFTER_S:
            return
        found = {pid: host for pid in self.of_job() if (host := _host_asked_by(pid))}
        self.is_over = not found
        number, unit = re.fullmatch(r"(.*?)([a-z]*)", self.limit, re.DOTALL).groups()  # type: ignore[union-attr]
        limit_s = float(number) * UNITS_S[unit]
        for pid, host in found.items():
            if pid not in self.named:
                self.named.add(pid)
                until = f"; the job ends after {self.limit} without one ({LIMIT})" if limit_s else ""
                self.say(f"no answer from {host} since {waited_s:.0f} s{until}")
            if limit_s and waited_s >= limit_s:
                with suppress(OSError):
                    os.kill(pid, signal.SIGTERM)


def _host_asked_by(pid: int) -> str:
    """The host to which this process, an ssh, tries to connect. Empty where it does not."""
    process = Path(f"/proc/{pid}")
    try:
        if (process / "comm").read_text(errors="replace").strip() != "ssh":
            return ""
        sockets = {str(fd.readlink()) for fd in (process / "fd").iterdir()}
        rows = [line.split() for of in ("tcp", "tcp6") for line in (process / "net" / of).read_text().splitlines()]
        if not any(row[3] == SYN_SENT and f"socket:[{row[9]}]" in sockets for row in rows):
            return ""
        words = (process / "cmdline").read_text(errors="replace").split("\0")
        return getopt.getopt(words[1:], OPTIONS)[1][0]
    except (OSError, IndexError, getopt.GetoptError):  # it has ended, or belongs to another user
        return ""
