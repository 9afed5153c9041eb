"""Generates the OpenSHMEM front end for few types, so that a mutant of the runtime is quickly built.

usage: mutant_api.py generate.py api.toml OUTPUT.c
"""

import importlib.util
import sys
import tomllib
from pathlib import Path


def main() -> None:
    script, table_path, output = map(Path, sys.argv[1:4])
    spec = importlib.util.spec_from_file_location("generate", script)
    generate = importlib.util.module_from_spec(spec)
    sys.modules["generate"] = generate  # dataclasses look their module up
    spec.loader.exec_module(generate)
    table = tomllib.loads(table_path.read_text())
    table["groups"] = {name: ["uint64"] if "uint64" in types else ["ulong"] for name, types in table["groups"].items()}
    generate.write(output, generate.implementation(table, generate.expand(table), ["calls", *generate.KINDS]))


if __name__ == "__main__":
    main()
