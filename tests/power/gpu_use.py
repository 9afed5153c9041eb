"""Judges the profiles of gpu_use.c: a GPU's joules are those of the PE that uses it, and the supply's are in no sum."""

import sys
import tempfile
from math import isclose
from pathlib import Path

import pe_job


def figures(figures_of: list[dict]) -> dict[str, dict]:
    return {figure["domain"]: figure for figure in figures_of}


def judge(profiles: list[dict]) -> None:
    reader = next(profile for profile in profiles if profile["node"])
    assert reader["meter"] == {"name": "powercap+hwmon+nvml", "why": ""}
    node = figures(reader["node"]["joules"])
    assert list(node) == ["package-0", "gpu-0", "dram"], node
    assert isclose(node["gpu-0"]["joules"], 350) and isclose(node["package-0"]["joules"], 60), node
    assert [figure["provenance"] for figure in node.values()] == ["measured", "measured", "modelled"], node
    assert figures(reader["node"]["idle"])["gpu-0"]["joules"] == 0
    *others, user = (figures(profile["joules"])["gpu-0"] for profile in profiles)
    assert isclose(user["joules"], 350) and user["scope"] == "device", user
    assert all(other["joules"] == 0 for other in others), others
    supply = figures(reader["node"]["nested"])["node"]
    assert supply["provenance"] == "measured" and isclose(supply["joules"], 700 * supply["interval_s"], rel_tol=0.2)


def main() -> int:
    args = pe_job.parser(__doc__).parse_args()
    if args.launcher == "threads":
        return 77  # the PEs are threads of one process, which uses the GPU as a whole
    with tempfile.TemporaryDirectory() as root:
        settings = {"WATTLE_SYSFS": f"{root}/sys", "FAKE_NVML": f"{root}/gpus"}
        code, profiles = pe_job.run(args.launcher, args.pes, args.command, **settings)
        if code != 0 or len(profiles) != args.pes:
            print(f"exit code {code}, {len(profiles)} profiles, files {list(Path(root).iterdir())}")
            return 1
    judge(profiles)
    return 0


if __name__ == "__main__":
    sys.exit(main())
