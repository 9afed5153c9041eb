"""Judges the bell's litmus test: no sleep may have been rescued by its time-out; in a mutant, some must have been.

A job ends early after a wait so long that its wake-up may be lost. On a busy machine the wake-up may only be late, so
a mutant gets another job.
"""

import argparse
import sys
import time

import pe_job
import unnoticed

PATIENCE_S = 90.0  # for the first lost wake-up of a mutant


def rescues_of(args: argparse.Namespace) -> int | None:
    """The number of rescued sleeps in a run; None if it failed or no PE slept."""
    code, profiles = pe_job.run(args.launcher, args.pes, args.command)
    rescues = [p["rescues"] for p in profiles]
    sleeps = sum(p["sleeps"] for p in profiles)
    waits = sum(s["waits"] for p in profiles for s in p["sites"])
    print(f"{waits} waits, {sleeps} sleeps; rescued by PE: {rescues}")
    return None if code != 0 or len(profiles) != args.pes or sleeps == 0 else sum(rescues)


def main() -> int:
    parser = pe_job.parser(__doc__)
    parser.add_argument("--expect", choices=("none", "some"), required=True)
    args = parser.parse_args()
    until = time.monotonic() + PATIENCE_S
    watch = unnoticed.Watch()
    found = rescues_of(args)
    if args.expect == "none":
        return found != 0
    while found == 0 and time.monotonic() < until:
        found = rescues_of(args)
    return unnoticed.exit_code(watch) if found == 0 else found is None


if __name__ == "__main__":
    sys.exit(main())
