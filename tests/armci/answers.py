"""Judges the profiles of answers.c: the last PE, which only answers, sends one message for each patch that is put or
accumulated and its fence, and of those that are got their three messages.

usage: answers.py --rounds N --launcher ...
"""

import sys

import pe_job

OTHERS = 60  # of the start, the barriers and the end


def main() -> None:
    parser = pe_job.parser(__doc__)
    parser.add_argument("--rounds", type=int, required=True)
    options = parser.parse_args()
    code, profiles = pe_job.run(options.launcher, options.pes, options.command)
    sent = {p["pe"]: p["network"]["messages"]["sent"] for p in profiles}[options.pes - 1]
    least = (1 + 1 + 3) * options.rounds
    good = least <= sent <= least + least // 10 + OTHERS
    if not good:
        print(f"{sent} messages answered {options.rounds} rounds, where {least} do", file=sys.stderr)
    sys.exit(code or not good)


if __name__ == "__main__":
    main()
