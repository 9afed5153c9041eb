"""The output of wattle-info must be JSON that names every meter, domain and figure with its provenance."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def ask(program: str, sysfs: str, machine: str) -> dict:
    """The program's answer, parsed strictly (NaN and Infinity are no JSON)."""
    env = dict(os.environ, WATTLE_MACHINE=machine, WATTLE_SYSFS=sysfs)
    text = subprocess.run([program], env=env, check=True, capture_output=True, text=True).stdout

    def refuse(name: str) -> float:
        raise ValueError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


def check_partial(program: str, root: Path) -> None:
    """Two packages, of which one can be read: the answer must show which one is missing."""
    for n, text in enumerate(("5", "no number")):
        zone = root / f"class/powercap/intel-rapl:{n}"
        zone.mkdir(parents=True)
        for name, value in {"name": f"package-{n}", "energy_uj": text, "max_energy_range_uj": "262143328850"}.items():
            (zone / name).write_text(value + "\n")
        topology = root / f"devices/system/cpu/cpu{n}/topology"
        topology.mkdir(parents=True)
        (topology / "package_cpus_list").write_text(f"{n}\n")
    (root / "devices/system/cpu/online").write_text("0-1\n")
    powercap = ask(program, str(root), "unknown")["meters"][0]
    assert powercap["usable"] and "not a number; only 1 of 2 packages can be read" in powercap["why"], powercap
    assert [d["available"] for d in powercap["domains"]] == [True, False], powercap


def check(program: str) -> None:
    with tempfile.TemporaryDirectory() as root:
        zone = Path(root, "class/powercap/intel-rapl:0")
        zone.mkdir(parents=True)
        for name, text in {"name": "package-0", "energy_uj": "5", "max_energy_range_uj": "262143328850"}.items():
            Path(zone, name).write_text(text + "\n")
        said = ask(program, root, "sandybridge-e5-2670")
        meters = {m["name"]: m for m in said["meters"]}
        assert list(meters) == ["powercap", "perf", "cray", "hwmon", "redfish", "nvml", "model", "none"], meters
        assert meters["powercap"]["usable"] and meters["powercap"]["why"] == "", meters
        assert [d["name"] for d in meters["powercap"]["domains"]] == ["package-0"], meters
        numbers = said["machine"]["numbers"]
        assert said["machine"]["sockets"] == 2 and len(numbers) == 4 + 4 * 4, len(numbers)
        for number in numbers:
            assert number["tag"] in ("cited", "derived", "assumed"), number
            assert number["source"] if number["tag"] == "cited" else number["how"], number
        said = ask(program, root + "/nowhere", "unknown")
        powercap = said["meters"][0]
        assert not powercap["usable"] and "no zone" in powercap["why"] and powercap["domains"] == [], powercap
        assert said["machine"]["cores_per_socket"] is None
        check_partial(program, Path(root, "half"))
        said = ask(program, root, "no-such-machine")
        assert "no-such-machine" in said["machine"]["error"], said
        assert not said["meters"][1]["usable"], said


if __name__ == "__main__":
    check(sys.argv[1])
