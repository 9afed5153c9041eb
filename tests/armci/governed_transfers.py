"""Judges the profiles of ARMCI programs under WATTLE_TRANSFERS: each PE says how its transfers were waited for.

usage: governed_transfers.py --mode MODE [--pinned KIND=BYTES ...] --launcher ...    pinned: thresholds that must stay
"""

import sys

import pe_job


def problems_of(profile: dict, mode: str, pinned: dict[str, int]) -> list[str]:
    told = profile.get("transfers")
    if not told or told["mode"] != mode:
        return [f"transfers are {told}"]
    if told["learns"] is (mode == "aware" and bool(pinned)):
        return [f"with thresholds pinned at {pinned} it learns, or without any it does not: {told}"]
    found = [f"{kind} ended at {told[kind]}, not {want}" for kind, want in pinned.items() if told[kind] != want]
    if mode == "scale" and (told["scaled"] == 0 or told["polled"] or told["slept"] or not profile["clocks"]["slow_s"]):
        found.append(f"of transfers that all were to be scaled {told}, clocks {profile['clocks']}")
    if mode == "aware" and (told["polled"] == 0 or (pinned and told["slept"] == 0)):
        found.append(f"small and large transfers, and {told}")
    return found


def main() -> None:
    parser = pe_job.parser(__doc__)
    parser.add_argument("--mode", choices=("scale", "aware"), required=True)
    parser.add_argument("--pinned", action="append", default=[])
    options = parser.parse_args()
    pinned = {kind: int(text) for kind, _, text in (word.partition("=") for word in options.pinned)}
    settings = {"WATTLE_TRANSFERS": options.mode}
    if options.mode == "scale":
        settings |= {"WATTLE_KNOB": "record", "WATTLE_MACHINE": "nw-ice"}
    if pinned:
        settings["WATTLE_THRESHOLDS"] = ",".join(options.pinned)
    code, profiles = pe_job.run(options.launcher, options.pes, options.command, **settings)
    found = [f"PE {p['pe']}: {text}" for p in profiles for text in problems_of(p, options.mode, pinned)]
    if len(profiles) != options.pes:
        found.append(f"{len(profiles)} profiles of {options.pes} PEs")
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(code or bool(found))


if __name__ == "__main__":
    main()
