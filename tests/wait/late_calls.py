"""Judges late.c: each blocking call must have waited at the door, in the stages its policy has."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pe_job

STAGES = {"sleep": {"asleep"}, "spin": {"spin"}, "yield": {"yield"}, "adaptive": {"spin", "yield", "asleep"}}
LOOKS = {"sleep": "asleep", "spin": "busy", "yield": "busy", "adaptive": "either"}

# Waits that no late PE can bring about: clear_lock waits only while its successor is between two instructions of
# set_lock, and the others never wait. finalize waits, but its sites are not the program's. What keeps a mutex from a PE
# is the PE itself: tests/am/mutexes.c.
NEVER_LATE = {"shmem_clear_lock", "shmem_test_lock", "shmem_{T}_test", "shmemx_am_poll"} | {
    f"shmem_{{T}}_test_{which}{form}" for which in ("all", "any", "some") for form in ("", "_vector")
}
ALLOCATE = {"shmem_malloc", "shmem_malloc_with_hints", "shmem_calloc", "shmem_align", "shmem_realloc", "shmem_free"} | {
    "shmalloc",
    "shmemalign",
    "shrealloc",
    "shfree",
}


def blocking_families(api: Path) -> set[str]:
    """Families of calls that may block, as the API table has them."""
    waits = {r["family"] for r in json.loads(api.read_text()) if r["kind"] == "wait"}
    return (waits | ALLOCATE) - NEVER_LATE - {"shmemx_am_mutex_lock", "shmemx_am_mutex_trylock"}


def family(name: str) -> str:
    return re.sub("64$", "{N}", re.sub("^shmem_u?long_", "shmem_{T}_", name))


def calls_made(command: list[str]) -> list[str]:
    """What the program says it calls."""
    said = subprocess.run([*command, "either", "list"], check=True, capture_output=True, text=True)
    return said.stdout.split()


def main() -> int:
    parser = pe_job.parser(__doc__)
    parser.add_argument("--policy", choices=STAGES, required=True)
    parser.add_argument("--api", type=Path, required=True)
    args = parser.parse_args()
    listed = calls_made(args.command)
    forgotten = blocking_families(args.api) - {family(name) for name in listed}
    problems = [f"late.c does not make {name} wait" for name in forgotten]
    code, profiles = pe_job.run(args.launcher, args.pes, [*args.command, LOOKS[args.policy]], WATTLE_WAIT=args.policy)
    if code != 0 or len(profiles) != args.pes:
        print(f"exit code {code}, {len(profiles)} profiles")
        return 1
    for name in listed:
        sites = [s for s in profiles[1]["sites"] if s["call"] == name]
        waits = sum(s["waits"] for s in sites)
        seconds = {stage: sum(s["wait_s"][stage] for s in sites) for stage in ("spin", "yield", "asleep")}
        if waits < 1 or not any(seconds[stage] > 0 for stage in STAGES[args.policy]):
            problems.append(f"{name} did not wait: {waits} waits, {seconds}")
        if any(seconds[stage] > 0 for stage in seconds.keys() - STAGES[args.policy]):
            problems.append(f"{name} waited in a stage its policy does not have: {seconds}")
    print("\n".join(problems) or f"{len(listed)} calls waited")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
