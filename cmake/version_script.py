"""Writes the version script of a library: the linker exports the public names of the API, and keeps all others apart.

usage: version_script.py OUTPUT VERSION ADDED TABLE...

TABLE is api.json, with the routines of OpenSHMEM, or a header, whose functions are public. A public name has the
version node WATTLE_X.Y. X.Y is the version of Wattle that brought it: 0.1, unless the file ADDED names a later one.
So the loader refuses a library that is older than a program needs. Names that other libraries and modules of Wattle
use have the node WATTLE_PRIVATE_VERSION. They fit libraries of the same version only. Other names are local.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

FIRST = "0.1"
# Names that libraries and modules share, the function by which libwattle-shmem stands in front of PMIx, and the one
# that the header of NVTX calls.
PRIVATE = ("wtl_*", "PMIx_Initialized", "InitializeInjectionNvtx2")
# Comments, strings and lines of the preprocessor with those that continue them.
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.DOTALL | re.MULTILINE)
LINKAGE = re.compile(r'extern\s+"C(?:\+\+)?"\s*\{')
BODY = re.compile(r"\{[^{}]*\}")
FUNCTION = re.compile(r"\b(\w+)\s*\([^;]*;")


def functions_of_header(text: str) -> list[str]:
    """The functions that a header declares. The first name with a parenthesis in a declaration is the function's."""
    code = NO_CODE.sub(" ", LINKAGE.sub("", text))
    found = []
    for declaration in re.split(r"(?<=;)|\}", BODY.sub(";", code)):
        if "typedef" not in declaration and "static" not in declaration and (name := FUNCTION.search(declaration)):
            found.append(name[1])
    return found


def public_names(table: Path) -> list[str]:
    text = table.read_text(encoding="utf-8")
    if table.suffix == ".json":
        return [name for routine in json.loads(text) for name in (routine["name"], "p" + routine["name"])]
    return functions_of_header(text)


def added(path: Path) -> dict[str, str]:
    """Names with the version X.Y that brought them."""
    lines = [line.split("#")[0].split() for line in path.read_text(encoding="utf-8").splitlines()]
    return {name: words[0] for words in lines for name in words[1:]}


def script(version: str, names: set[str], later: dict[str, str]) -> str:
    nodes: dict[str, list[str]] = {FIRST: []}
    for name in sorted(names):
        nodes.setdefault(later.get(name, FIRST), []).append(name)
    text, before = "", ""
    for node in sorted(nodes, key=lambda node: tuple(map(int, node.split(".")))):
        listed = "".join(f"    {name};\n" for name in nodes[node])
        text += f"WATTLE_{node} {{\n  global:\n{listed}}}{before};\n"
        before = f" WATTLE_{node}"
    private = "".join(f"    {name};\n" for name in PRIVATE)
    return f"{text}WATTLE_PRIVATE_{version} {{\n  global:\n{private}  local:\n    *;\n}};\n"


def main() -> None:
    output, version, later, *tables = sys.argv[1:]
    names = {name for table in tables for name in public_names(Path(table))}
    Path(output).write_text(script(version, names, added(Path(later))), encoding="utf-8")


if __name__ == "__main__":
    main()
