"""Demands that every routine of the API table is called by some test program.

usage: completeness.py NM api.json PROGRAM...
"""

import json
import subprocess
import sys
from pathlib import Path


def main() -> int:
    nm, api, *programs = sys.argv[1:]
    called: set[str] = set()
    for program in programs:
        lines = subprocess.run([nm, "--undefined-only", program], check=True, capture_output=True, text=True).stdout
        called |= {line.split()[-1].split("@")[0] for line in lines.splitlines()}
    routines = [r["name"] for r in json.loads(Path(api).read_text())]
    missing = [name for name in routines if name not in called]
    print(f"{len(routines) - len(missing)} of {len(routines)} routines are called")
    for name in missing:
        print(f"no test calls {name}")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
