"""Copies installed Python packages into another environment, so that an installation needs no index.

usage: copy_packages.py FOLDER REQUIREMENTS...

FOLDER is the other environment's folder of packages. Ends with code 1, and copies nothing, if this Python lacks a
pinned version. Programs of the packages are left out, because they name the Python that they belong to.
"""

from __future__ import annotations

import re
import shutil
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path


def pins(path: Path) -> dict[str, str]:
    """The packages and versions of a requirement file, and of those that it names by `-r`."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if other := re.fullmatch(r"-r (\S+)", line):
            found |= pins(path.with_name(other[1]))
        elif pin := re.fullmatch(r"([\w.-]+)==(\S+)", line):
            found[pin[1]] = pin[2]
    return found


def installed(name: str, version: str) -> Distribution | None:
    """The package if this Python has exactly this version of it, with a list of its files."""
    try:
        package = distribution(name)
    except PackageNotFoundError:
        return None
    return package if package.version == version and package.files else None


def copy(package: Distribution, folder: Path) -> None:
    for file in package.files or ():
        source = Path(str(package.locate_file(file)))
        if ".." in file.parts or not source.is_file():
            continue
        target = folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)  # with the rights that the umask gives, and not those of the source


def main(folder: str, *requirements: str) -> int:
    wanted = {name: version for path in requirements for name, version in pins(Path(path)).items()}
    packages = [installed(name, version) for name, version in wanted.items()]
    if None in packages:
        return 1
    for package in packages:
        assert package
        copy(package, Path(folder))
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
