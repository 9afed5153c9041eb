#!/usr/bin/env python3
"""The campaign of faults: strikes processes of many short jobs at random moments, and judges how the jobs end.

After a blow, every process of the job must end within 30 s. Nothing may be left behind (files, shared memory, network
namespaces, changed clocks), and the exit code must be as docs/launching.md says. One program in five traps
floating-point exceptions. The seed, which is printed, decides everything except the timing. A line for each failure has
the command that repeats that job. Errors that a launcher also makes without the library are counted apart.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("python", "tests/support")]

from faulted import compile_program, missing  # noqa: E402
from trials import BLOWS, KINDS, MOMENTS, TRAPS, Choice, Kind, draw  # noqa: E402
from verdict import Verdict, run_trial  # noqa: E402

LOG = ROOT / "build/log/faults"
APART = ("MPI's own", "left by MPI")  # classes of what is not the library's


def words(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split(",") if word)


def options() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seed", type=int, default=None, help="an integer; else one is drawn and printed")
    p.add_argument("--jobs", type=int, default=1000, help="how many jobs (1000)")
    p.add_argument("--only", type=int, help="only the job of this number")
    p.add_argument("--at-once", type=int, default=2, help="how many jobs run at a time (2)")
    p.add_argument("--beside", type=int, default=0, help="busy loops that run beside them (0)")
    for name, table in (
        ("kinds", [kind.name for kind in KINDS]),
        ("blows", list(BLOWS)),
        ("victims", sorted({victim for kind in KINDS for victim in kind.victims})),
        ("places", sorted({place for kind in KINDS for place in kind.places})),
        ("moments", list(MOMENTS)),
        ("traps", sorted({*TRAPS})),
    ):
        p.add_argument(f"--{name}", type=words, default=(), help=f"only these, with commas: {', '.join(table)}")
    return p.parse_args()


@contextmanager
def busy_loops(n: int) -> Iterator[None]:
    """Loops that use up the cores; they end with this process, however it ends."""
    loop = f"while kill -0 {os.getpid()} 2>/dev/null; do :; done"
    running = [subprocess.Popen(["sh", "-c", loop]) for _ in range(n)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def usable(choice: Choice) -> tuple[Kind, ...]:
    """The kinds of jobs that can run here. The draw depends on them, so those that cannot are named."""
    wanted = [kind for kind in KINDS if not choice.kinds or kind.name in choice.kinds]
    for kind in wanted:
        if reason := missing(kind):
            print(f"without {kind.name}: {reason}")
    return tuple(kind for kind in wanted if not missing(kind))


def again(verdict: Verdict, given: list[str]) -> str:
    """The command that runs the job once more."""
    same = " ".join(word for word in given)
    trial = verdict.trial
    return f"tests/faults/campaign.py {same} --seed {trial.seed} --only {trial.number}"


def report(verdict: Verdict, given: list[str]) -> None:
    trial = verdict.trial
    for kind, what in verdict.wrong:
        print(f"{kind}: job {trial.number} ({trial}): {what}\n    again: {again(verdict, given)}", flush=True)
    if verdict.wrong:
        LOG.mkdir(parents=True, exist_ok=True)
        (LOG / f"{trial.seed}-{trial.number}.txt").write_text(f"{trial}\n{verdict.wrong}\n{verdict.evidence}\n")


def summary(verdicts: list[Verdict]) -> str:
    """A table: a line for each kind of job."""
    classes = sorted({kind for verdict in verdicts for kind in verdict.kinds_of_wrong})
    lines = [f"{'job':14} {'jobs':>5} {'struck':>6} {'mean s':>6}" + "".join(f" {name:>14}" for name in classes)]
    for name in [kind.name for kind in KINDS] + ["all"]:
        mine = [v for v in verdicts if name in (v.trial.kind.name, "all")]
        if not mine:
            continue
        wrong = Counter(kind for v in mine for kind in v.kinds_of_wrong)
        mean = sum(v.seconds for v in mine) / len(mine)
        struck = sum(v.struck for v in mine)
        lines.append(
            f"{name:14} {len(mine):5} {struck:6} {mean:6.1f}" + "".join(f" {wrong[each]:14}" for each in classes)
        )
    return "\n".join(lines)


def run(given: list[str], o: argparse.Namespace, choice: Choice) -> list[Verdict]:
    kinds = usable(choice)
    numbers = [o.only] if o.only is not None else range(o.jobs)
    stop = threading.Event()
    verdicts = []
    with tempfile.TemporaryDirectory(prefix="wtlfaults") as folder, busy_loops(o.beside):
        for kind in kinds:
            compile_program(kind, Path(folder))

        def one(number: int) -> Verdict | None:
            return None if stop.is_set() else run_trial(draw(o.seed, number, kinds, choice), Path(folder))

        with ThreadPoolExecutor(o.at_once) as pool:
            try:
                for done in as_completed([pool.submit(one, number) for number in numbers]):
                    verdict = done.result()
                    if verdict:
                        verdicts.append(verdict)
                        report(verdict, given)
                        if len(verdicts) % 50 == 0:
                            print(f"{len(verdicts)} of {len(numbers)}", flush=True)
            finally:
                stop.set()
    return verdicts


def main() -> int:
    o = options()
    names = ("kinds", "blows", "victims", "places", "moments", "traps")
    given = [f"--{name} {','.join(getattr(o, name))}" for name in names]
    given = [text for text in given if not text.endswith(" ")]
    o.seed = random.SystemRandom().randrange(10**6) if o.seed is None else o.seed
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the jobs under way end first
    print(f"seed {o.seed}", flush=True)
    verdicts = run(given, o, Choice(*(getattr(o, name) for name in names)))
    print(summary(verdicts))
    failed = sum(bool(v.kinds_of_wrong - set(APART)) for v in verdicts)
    print(f"seed {o.seed}: {len(verdicts)} jobs, {failed} failed; what was found is in {LOG}" if failed else "all good")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
