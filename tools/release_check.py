"""Checks that the tree is ready for a release, with a line for each check. usage: release_check.py [CHECK...]

CHECK (all, in this order): version changelog address names abi docs packages wheel. `--keep-abi` builds the libraries
and writes their ABI into abi/ instead. `--set-address` writes address and contact of pyproject.toml into the files that
name them. Exit code 0: all checks passed; 1: one failed; 64: wrong usage. The output of a
check is in build/log/release-CHECK.log.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / "build/log"
# Full debugging information, which the release has not in generated sources. Modules and simulation are not compared.
FOR_ABI = ROOT / "build/abi"
# The files that name the version, and the text around it.
NAMES_VERSION = {
    "python/wattle/__init__.py": r'__version__ = "([^"]+)"',
    "CITATION.cff": r"^version: (\S+)$",
    "packaging/debian/changelog": r"\Awattle \(([^)]+)\)",
    "packaging/spack/package.py": r'^    version\("([^"]+)"\)',
    "docs/release-notes.md": r"\A# Release notes: (\S+)$",
}
# The files that name the project's address or contact, and the text around each.
NAMES_ADDRESS = {
    "pyproject.toml": {"address": r'^Repository = "([^"]+)"'},
    "CITATION.cff": {"address": r"^repository-code: (\S+)$", "contact": r"^    email: (\S+)$"},
    "README.md": {"address": r"The project is at <([^>]+)>", "contact": r"its contact is <([^>]+)>"},
    "SECURITY.md": {"contact": r"write to <([^>]+)>"},
}


class Failed(Exception):
    """A check failed. The text says why in one line."""


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def version() -> str:
    found = re.search(r"^project\(wattle VERSION ([\d.]+)", read("CMakeLists.txt"), re.MULTILINE)
    if not found:
        raise Failed("CMakeLists.txt has no version")
    return found[1]


def run(check: str, *command: object, reason: int = -1) -> list[str]:
    """Runs a command with its output in the check's log. Returns the lines of standard output. `reason` is the number
    of the line that says why the command failed."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"release-{check}.log"
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=False)
    log.write_text(done.stdout + done.stderr, encoding="utf-8")
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise Failed(f"{lines[reason] if lines else 'no output'} (code {done.returncode}; {log.relative_to(ROOT)})")
    return done.stdout.splitlines()


# ---- the checks: each returns the text of its line, or raises Failed ----


def check_version() -> str:
    wanted, wrong = version(), []
    for name, pattern in NAMES_VERSION.items():
        found = re.search(pattern, read(name), re.MULTILINE)
        if not found or found[1] != wanted:
            wrong.append(f"{name} has {found[1] if found else 'none'}")
    if wrong:
        raise Failed(f"CMakeLists.txt has {wanted}, but {', '.join(wrong)}")
    return f"{wanted} in {len(NAMES_VERSION) + 1} files"


def check_changelog() -> str:
    wanted, text = version(), read("CHANGELOG.md")
    if not re.search(rf"^## \[{re.escape(wanted)}\] - \d{{4}}-\d\d-\d\d$", text, re.MULTILINE):
        raise Failed(f"CHANGELOG.md has no section '## [{wanted}] - YYYY-MM-DD'")
    left = re.search(r"^## \[Unreleased\]\n(.*?)(?=^## \[)", text, re.MULTILINE | re.DOTALL)
    if left and left[1].strip():
        raise Failed(f"CHANGELOG.md has lines under [Unreleased], which belong to {wanted}")
    if "not released yet" in "".join(map(read, ("README.md", "SECURITY.md", "docs/release-notes.md"))):
        raise Failed(f"README.md, SECURITY.md or docs/release-notes.md says that {wanted} is not released yet")
    return f"section {wanted}"


def address() -> dict[str, str]:
    """The project's `address` and `contact`. They are set in one place, [tool.wattle] of pyproject.toml."""
    return tomllib.loads(read("pyproject.toml"))["tool"]["wattle"]


def set_address() -> None:
    for name, patterns in NAMES_ADDRESS.items():
        text = read(name)
        for key, pattern in patterns.items():
            found = re.search(pattern, text, re.MULTILINE)
            if not found:
                raise Failed(f"{name} has no line for the {key}")
            text = text[: found.start(1)] + address()[key] + text[found.end(1) :]
        (ROOT / name).write_text(text, encoding="utf-8")


def check_address() -> str:
    for name, patterns in NAMES_ADDRESS.items():
        for key, pattern in patterns.items():
            found = re.search(pattern, read(name), re.MULTILINE)
            if not found or found[1] != address()[key]:
                raise Failed(f"{name} has another {key} than pyproject.toml: tools/release_check.py --set-address")
    if unset := [key for key, value in address().items() if ".invalid" in value]:
        raise Failed(f"{' and '.join(unset)} in [tool.wattle] of pyproject.toml: not set yet")
    if "placeholders until" in read("README.md"):
        raise Failed("README.md says that address and contact are placeholders")
    return f"{address()['address']} in {len(NAMES_ADDRESS)} files"


def build_for_abi(check: str) -> None:
    options = ("-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DWTL_SIMULATION=OFF")
    run(check, "cmake", "-S", ROOT, "-B", FOR_ABI, *options)
    run(check, "cmake", "--build", FOR_ABI, "--target", "wattle", "wattle-shmem", "armci")


def check_names() -> str:
    build_for_abi("names")
    return "; ".join(run("names", sys.executable, "tools/abi.py", "names", FOR_ABI, reason=0))


def check_abi() -> str:
    if not shutil.which("abidiff"):
        raise Failed("no abidiff here (Debian: abigail-tools)")
    build_for_abi("abi")
    return "; ".join(run("abi", sys.executable, "tools/abi.py", "check", FOR_ABI, reason=0))


def check_docs() -> str:
    run("docs", "make", "docs")
    return f"{sum(1 for _ in (ROOT / 'build/site').rglob('*.html'))} pages in build/site"


def check_packages() -> str:
    made = run("packages", "tools/packages")
    return f"{sum(line.endswith('.deb') for line in made)} Debian packages, no error or warning of lintian"


def check_wheel() -> str:
    (wheel,) = [Path(line).name for line in run("wheel", "tools/wheel") if line.endswith(".whl")]
    return wheel


CHECKS: dict[str, Callable[[], str]] = {
    "version": check_version,
    "changelog": check_changelog,
    "address": check_address,
    "names": check_names,
    "abi": check_abi,
    "docs": check_docs,
    "packages": check_packages,
    "wheel": check_wheel,
}


def passes(name: str) -> bool:
    try:
        text, good = CHECKS[name](), True
    except Failed as error:
        text, good = str(error), False
    print(f"{'ok' if good else 'FAILED':<7} {name:<10} {text}", flush=True)
    return good


def main() -> int:
    asked = sys.argv[1:]
    if asked == ["--keep-abi"]:
        build_for_abi("abi")
        run("abi", sys.executable, "tools/abi.py", "keep", FOR_ABI)
        return 0
    if asked == ["--set-address"]:
        set_address()
        return 0
    if unknown := [name for name in asked if name not in CHECKS]:
        print(f"release_check: {unknown[0]}: the checks are {' '.join(CHECKS)}", file=sys.stderr)
        return 64
    results = [passes(name) for name in asked or CHECKS]
    if not all(results):
        print(f"release_check: {results.count(False)} of {len(results)} checks failed", file=sys.stderr)
    return int(not all(results))


if __name__ == "__main__":
    sys.exit(main())
