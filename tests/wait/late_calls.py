"""Judges late.c and late_armci.c: each blocking call must have waited at the door, in the stages its policy has."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pe_job

STAGES = {"sleep": {"asleep"}, "spin": {"spin"}, "yield": {"yield"}, "adaptive": {"spin", "yield", "asleep"}}
TRIES = 3  # an answer may be there before the wait if another program had the core
LOOKS = {"sleep": "asleep", "spin": "busy", "yield": "busy", "adaptive": "either"}

# Waits that no late PE can bring about: clear_lock waits only while its successor is between two instructions of
# set_lock, and the others never wait. finalize waits, but its sites are not the program's. A PE waits for a mutex
# only because of its own threads: tests/am/mutexes.c.
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


# ARMCI's, by their names in profiles. Those that wait for another node's agent alone never wait within a node.
ARMCI_ALLOCATE = {"ARMCI_Malloc", "ARMCI_Free", "ARMCI_Malloc_group", "ARMCI_Free_group"} | {
    "ARMCI_Create_mutexes",
    "ARMCI_Destroy_mutexes",
    "ARMCIX_Group_split",
    "armci_tcgmsg_nxtval",
}
ARMCI_FAR = {"ARMCI_Wait", "ARMCI_WaitProc", "ARMCI_WaitAll", "ARMCI_Fence", "ARMCI_AllFence", "ARMCI_GroupFence"}
ARMCI_FETCH = {"ARMCI_Get", "ARMCI_GetValue", "ARMCI_GetS", "ARMCI_GetV", "ARMCI_Rmw"}


def blocking_armci(table: Path, far: bool) -> set[str]:
    """Calls of ARMCI that may block, as the table for profiles has them."""
    waits = set(re.findall(r"^X\((\w+), WAIT", table.read_text(), re.M)) - {"ARMCI_Finalize"}
    return (waits | ARMCI_ALLOCATE | ARMCI_FETCH) if far else (waits | ARMCI_ALLOCATE) - ARMCI_FAR


def family(name: str) -> str:
    return re.sub("64$", "{N}", re.sub("^shmem_u?long_", "shmem_{T}_", name))


def calls_made(command: list[str]) -> Counter[str]:
    """The calls that the program lists, with the number of places of each."""
    env = dict(os.environ, WTL_TEST_PES="1", WTL_TEST_NODES="1")  # PEs that are threads would all say it
    said = subprocess.run([*command, "either", "list"], env=env, check=True, capture_output=True, text=True)
    return Counter(said.stdout.split())


def judge(profile: dict, listed: Counter[str], policy: str) -> tuple[list[str], list[str]]:
    """The calls that did not wait, and those that waited in a stage which the policy does not have."""
    missing, wrong = [], []
    for name, places in listed.items():
        sites = [s for s in profile["sites"] if s["call"] == name and s["waits"] > 0]
        seconds = {stage: sum(s["wait_s"][stage] for s in sites) for stage in ("spin", "yield", "asleep")}
        if len(sites) < places or not any(seconds[stage] > 0 for stage in STAGES[policy]):
            missing.append(f"{name} waited in {len(sites)} of {places} places, {seconds}")
        if any(seconds[stage] > 0 for stage in seconds.keys() - STAGES[policy]):
            wrong.append(f"{name} waited in a stage its policy does not have: {seconds}")
    return missing, wrong


def main() -> int:
    parser = pe_job.parser(__doc__)
    parser.add_argument("--policy", choices=STAGES, required=True)
    parser.add_argument("--api", type=Path, required=True, help="api.json, or ARMCI's calls.def")
    args = parser.parse_args()
    listed = calls_made(args.command)
    if args.api.suffix == ".def":
        blocking = blocking_armci(args.api, far="far" in args.command)
    else:
        blocking = blocking_families(args.api)
    problems = [f"the program does not make {name} wait" for name in blocking - {family(name) for name in listed}]
    missing: list[str] = []
    for _ in range(TRIES):
        command = [*args.command, LOOKS[args.policy]]
        code, profiles = pe_job.run(args.launcher, args.pes, command, WATTLE_WAIT=args.policy)
        if code != 0 or len(profiles) != args.pes:
            print(f"exit code {code}, {len(profiles)} profiles")
            return 1
        missing, wrong = judge(profiles[1], listed, args.policy)
        problems += wrong
        if not missing or problems:
            break
    problems += missing
    print("\n".join(problems) or f"{listed.total()} calls waited")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
