"""Judges the bell's litmus test: no sleep may have been rescued by its time-out; in a mutant, some must have been."""

import sys

import pe_job


def main() -> int:
    parser = pe_job.parser(__doc__)
    parser.add_argument("--expect", choices=("none", "some"), required=True)
    args = parser.parse_args()
    code, profiles = pe_job.run(args.launcher, args.pes, args.command)
    rescues = [p["rescues"] for p in profiles]
    sleeps = sum(p["sleeps"] for p in profiles)
    waits = sum(s["waits"] for p in profiles for s in p["sites"])
    print(f"{waits} waits, {sleeps} sleeps; rescued by PE: {rescues}")
    if code != 0 or len(profiles) != args.pes or sleeps == 0:
        return 1
    return (sum(rescues) == 0) != (args.expect == "none")


if __name__ == "__main__":
    sys.exit(main())
