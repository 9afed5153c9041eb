"""Runs a test program on a mutant of the runtime and demands that it fails, by exit code 1 and for no other reason."""

import sys

import pe_job
import unnoticed


def main() -> int:
    args = pe_job.parser(__doc__).parse_args()
    watch = unnoticed.Watch()
    code, _ = pe_job.run(args.launcher, args.pes, args.command)
    if code == 0:
        return unnoticed.exit_code(watch)
    if code != 1:
        print(f"exit code {code}, must be 1")
    return code != 1


if __name__ == "__main__":
    sys.exit(main())
