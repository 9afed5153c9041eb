"""Judges the profiles of counts.c: every call counted, at its site, and times that add up."""

import sys

import pe_job

# Call -> calls and bytes of each of its sites.
EXPECTED = {
    "shmem_long_p": [(5000, 40000)],
    "shmem_putmem": [(7, 7 * 65536)],
    "shmem_getmem": [(1, 100), (3, 300)],
    "shmem_long_atomic_inc": [(11, 88)],
    "shmem_quiet": [(5, 0)],
    "shmem_barrier_all": [(4, 0)],
    "shmem_calloc": [(1, 0), (1, 0)],
    "shmem_free": [(1, 0), (1, 0)],
}
KINDS = {"shmem_long_p": "transfer", "shmem_getmem": "transfer", "shmem_barrier_all": "wait", "shmem_free": "other"}


def network_problems(network: dict | None, several_nodes: bool) -> list[str]:
    if network is None or not several_nodes:
        return [] if (network is None) != several_nodes else [f"a network of {network}"]
    found = [] if network["dropped"] == {"foreign": 0, "malformed": 0} else [f"messages dropped: {network['dropped']}"]
    kinds = [network[what][direction] for direction in ("sent", "received") for what in ("messages", "bytes")]
    return found if min(kinds) > 0 else [*found, f"a network without messages: {network}"]


def problems_of(profile: dict, pe: int, pes: int, pes_a_node: int) -> list[str]:
    found = []

    def expect(good: bool, what: str) -> None:
        if not good:
            found.append(f"PE {pe}: {what}")

    expect((profile["schema"], profile["pe"], profile["n_pes"]) == (4, pe, pes), "schema or PE")
    sites = profile["sites"]
    program = profile["modules"][0]
    expect(profile["build_id"] == program["build_id"] != "", f"the program is {profile['build_id']!r} and {program}")
    expect(profile["program"] == program["path"], f"the program is {profile['program']} and {program}")
    for call, wanted in EXPECTED.items():
        got = sorted((s["calls"], s["bytes"]) for s in sites if s["call"] == call)
        expect(got == wanted, f"{call} at {got}, must be {wanted}")
    expect(len(sites) == sum(len(w) for w in EXPECTED.values()), f"{len(sites)} sites")
    expect(all(s["kind"] == KINDS.get(s["call"], s["kind"]) for s in sites), "kinds")
    expect(all(s["module"] == 0 and int(s["offset"], 16) > 0 for s in sites), "a site outside the program")
    expect(len({s["addr"] for s in sites}) == len(sites), "two sites at one address")
    p = next(s for s in sites if s["call"] == "shmem_long_p")
    # Each interrupted sample has the next call timed, too.
    timed = 8 + 63 + 4
    expect(timed <= p["timed_calls"] < 2 * timed and p["time_s"] > 0, f"{p['timed_calls']} of 5000 p timed")
    expect(profile["bytes"] == {"put": 40000 + 7 * 65536, "get": 400, "amo": 88}, f"bytes {profile['bytes']}")
    for parts in ("state_s", "time_s"):
        total = sum(profile[parts].values())
        expect(
            abs(total - profile["wall_s"]) < 1e-6 + 1e-6 * profile["wall_s"],
            f"{parts} add up to {total}, not {profile['wall_s']}",
        )
        expect(min(profile[parts].values()) >= 0, f"{parts} below nothing")
    expect(profile["cpu_s"] >= 0 and profile["cpu_init_s"] >= 0, "CPU seconds")
    expect((profile["node"] is None) == (pe % pes_a_node != 0), "the node's joules are the reader's to tell")
    return found + [f"PE {pe}: {line}" for line in network_problems(profile["network"], pes_a_node < pes)]


def joules_problems(profiles: list[dict]) -> list[str]:
    """On one node, the joules of all PEs and the idle joules add up to the node's, for each domain."""
    node = next(p["node"] for p in profiles if p["node"])
    found = []
    for total, idle in zip(node["joules"], node["idle"], strict=True):
        parts = [j for p in profiles for j in p["joules"] if j["domain"] == total["domain"]]
        if len(parts) != len(profiles):
            found.append(f"{total['domain']}: {len(parts)} shares of {len(profiles)} PEs")
        added = idle["joules"] + sum(j["joules"] for j in parts)
        if not abs(added - total["joules"]) <= 1e-6 * total["joules"]:
            found.append(f"{total['domain']}: PEs and idle have {added} J, the node {total['joules']} J")
        if any(j["provenance"] not in ("measured", "modelled") for j in [total, idle, *parts]):
            found.append(f"{total['domain']}: joules without provenance")
    return found


def main() -> int:
    args = pe_job.parser(__doc__).parse_args()
    code, profiles = pe_job.run(args.launcher, args.pes, args.command)
    if code != 0 or len(profiles) != args.pes:
        print(f"exit code {code}, {len(profiles)} profiles")
        return 1
    each = pe_job.pes_a_node(args.launcher, args.pes)
    problems = [line for pe, profile in enumerate(profiles) for line in problems_of(profile, pe, args.pes, each)]
    for first in range(0, args.pes, each):
        problems += joules_problems(profiles[first : first + each])
    print("\n".join(problems))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
