"""Writes docs/settings.md from the table that `wattle-info settings` prints, or checks that it is up to date.

usage: settings_doc.py [--write]        without --write: exit code 1 and a message if the file is out of date
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "settings.md"

HEAD = """\
# Settings

After this page you can choose a value for each setting. A setting is an environment variable, as in
`WATTLE_WAIT=spin oshrun -n 4 ./program`. `oshrun --settings` and `wattle doctor` print all settings with the values in
force. `oshrun` passes them on to the PEs of all nodes.

**Values**

- Size: a number with K, M, G or T (powers of 1024), as in `SHMEM_SYMMETRIC_SIZE=2G`. Without a letter: bytes.
- Time: a number with ns, us, ms or s, as in `WATTLE_SLEEP_MAX=5ms`. Without a unit: seconds.
- Switch: on or off, yes or no, true or false, 1 or 0.
- `SHMEM_INFO`, `SHMEM_VERSION` and `SHMEM_DEBUG` are on with any value, also an empty one, as the OpenSHMEM standard
  requires. Only the words for off (`off`, `no`, `false`, `0`) turn them off.

**Errors.** A wrong value ends the program before any PE starts work. The error names the value and the allowed values.
The same happens if the name of a variable begins with `WATTLE_` but is not a setting. The error then names the most
similar setting.

**Not in the table.** Two variables are for the command `wattle` alone. `WATTLE_HOME` is the folder of the installation,
or the build tree, whose tools it uses. `WATTLE_OWN_CODE` says which files hold [the program's own code](lab/report.md).

The table is generated from `src/base/settings.def` by `make docs`.

"""


def settings(home: Path) -> list[dict]:
    """The rows of the table, as wattle-info prints them if no setting is in force."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("WATTLE_", "SHMEM_"))}
    done = subprocess.run(
        [str(home / "bin" / "wattle-info"), "settings"], env=env, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def number(value: float, kind: str, unit: str) -> str:
    """A bound with the usual unit."""
    if kind == "size":
        for factor, suffix in ((1 << 40, "T"), (1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
            if value >= factor and value % factor == 0:
                return f"{int(value // factor)}{suffix}"
        return f"{int(value)}"
    if kind == "seconds" and 0 < value < 1:
        for factor, suffix in ((1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")):
            if value >= factor:
                return f"{value / factor:g}{suffix}"
    return f"{value:g}{' ' + unit if unit and kind != 'seconds' else 's' if kind == 'seconds' and value else ''}"


def allowed(row: dict) -> str:
    """The allowed values of a setting."""
    kind = row["kind"].lower()
    if kind == "choice":
        choices = row["choices"].split("|") if isinstance(row["choices"], str) else row["choices"]
        return ", ".join(f"`{choice}`" for choice in choices)
    if kind == "bool":
        return "`on`, `off`"
    if kind == "flag":
        return "any value; `off` turns it off"
    if kind == "text":
        return "text"
    text = f"{number(row['lo'], kind, row['unit'])} to {number(row['hi'], kind, row['unit'])}"
    return f"{text}, or `auto`" if row["default"] == "auto" else text


def page(rows: list[dict]) -> str:
    """The whole page."""
    lines = ["| setting | default | allowed | effect |", "|---|---|---|---|"]
    for row in rows:
        default = f"`{row['default']}`" if row["default"] else "none"
        lines.append(f"| `{row['name']}` | {default} | {allowed(row)} | {row['help'].replace('|', chr(92) + '|')} |")
    return HEAD + "\n".join(lines) + "\n"


def main() -> int:
    """Writes or checks the page."""
    home = Path(os.environ.get("WATTLE_HOME") or ROOT / "build" / "release")
    if not (home / "bin" / "wattle-info").exists():
        print(f"settings_doc: {home}/bin/wattle-info is missing; run `make build`", file=sys.stderr)
        return 69
    text = page(settings(home))
    if "--write" in sys.argv[1:]:
        PAGE.write_text(text, encoding="utf-8")
        print(f"docs: wrote {PAGE.relative_to(ROOT)}")
        return 0
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        print("docs/settings.md is out of date; run `make docs`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
