"""Breaks each routine that has a test program of its own, and demands that one that calls it then ends otherwise.

usage: broken_programs.py NM OSHRUN BREAKERS.so api.json generated_calls.h PROGRAM[:ARGUMENT]...

Prints the list "routine<TAB>program that notices". The routines that shmem_calls tests are not among them: shmem_broken
does the same for those in one job. A program that does not end is stopped after a while: that is noticed too.
"""

import json
import re
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

PES, TRIES = 2, 3
UNBROKEN_S = 300  # limit of a program that ends, on a busy machine too
LEAST_S, SLOWER = 20, 10  # limit of a broken program: this long, and this many times as long as unbroken


@cache
def called_by(nm: str, program: str) -> set[str]:
    lines = subprocess.run([nm, "--undefined-only", program], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in lines.splitlines()}


def status(oshrun: str, breakers: str, program: str, routine: str, limit_s: float) -> int | None:
    """How the program ends with the routine broken ("": none is); None if it does not within the limit."""
    path, _, argument = program.partition(":")
    command = [
        oshrun,
        "-n",
        str(PES),
        "--",
        "env",
        f"LD_PRELOAD={breakers}",
        f"WTL_TEST_BREAK={routine}",
        path,
        argument,
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as job:
        try:
            return job.wait(limit_s)
        except subprocess.TimeoutExpired:
            job.terminate()
            job.wait()
            return None


def main() -> int:
    nm, oshrun, breakers, api, calls, *programs = sys.argv[1:]
    tested = set(re.findall(r"test_(\w+), (?:true|false)}", Path(calls).read_text()))
    routines = [r["name"] for r in json.loads(Path(api).read_text()) if r["name"] not in tested]
    usual, limit_s = {}, {}
    for program in programs:
        began = time.monotonic()
        usual[program] = status(oshrun, breakers, program, "", UNBROKEN_S)
        limit_s[program] = max(LEAST_S, SLOWER * (time.monotonic() - began))
    failing = [program for program, how in usual.items() if how != 0 and ":" not in program]
    if failing:  # they would fail for a broken routine too
        print("unbroken, these fail:", *failing)
        return 1
    unnoticed = 0
    for routine in routines:
        callers = [p for p in programs if routine in called_by(nm, p.partition(":")[0])]
        tries = [p for p in callers for _ in range(TRIES)]  # a lock that does not lock may be lucky
        found = next((p for p in tries if status(oshrun, breakers, p, routine, limit_s[p]) != usual[p]), None)
        unnoticed += found is None
        print(
            f"{routine}\t{Path(found).name if found else 'not noticed by ' + ', '.join(Path(p).name for p in callers)}"
        )
    print(f"{len(routines) - unnoticed} of {len(routines)} broken routines are noticed")
    return unnoticed != 0


if __name__ == "__main__":
    sys.exit(main())
