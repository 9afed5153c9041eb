"""Compares the binary interface (ABI) of the libraries with the one that the last release kept in abi/.

usage: abi.py names BUILD                       names that the libraries export, against the tables of the API
       abi.py check BUILD [KEPT [LIBRARY...]]   ABI against the last tag's, or without a tag against KEPT (abi/)
       abi.py keep BUILD [KEPT [LIBRARY...]]    writes the ABI into KEPT (abi/), for the next release

BUILD is a build folder whose libraries have full debugging information (tools/release_check.py makes one). Exit code
0: all holds; 1: something differs, with a line for each difference; 69: libabigail is missing (Debian: abigail-tools).

An ABI has types, sizes and names of the public functions, and the values of the constants of the headers. Names with a
private version node are left out. A difference is allowed in two cases. The number of the library grows
(libNAME.so.1), or there are only new names, which abi/added.txt lists with a later version.
"""

from __future__ import annotations

import lzma
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "cmake"))
from version_script import public_names  # noqa: E402

INCLUDE = ROOT / "include"
ARMCI = [INCLUDE / f"{name}.h" for name in ("armci", "armcix", "message")]
LIBRARIES = ("wattle", "wattle-shmem", "armci")
HEADERS = {"wattle": ["wattle.h"], "wattle-shmem": ["shmem.h", "shmemx.h"], "armci": ["armcix.h", "message.h"]}
CONSTANT = re.compile(r"#define (_?(?:SHMEMX?|OSHMEM|ARMCI[IX]?|WATTLE|WTL)_\w+) (.+)")
WITHOUT_VALUE = re.compile(r"_H$|VERSION")  # guards of headers, and numbers that grow with each release
NO_PRIVATE = "".join(
    f"[suppress_{kind}]\n  symbol_name_regexp = ^(wtl_|PMIx_)\n  drop = yes\n" for kind in ("function", "variable")
)


def run(*command: object, code: int | None = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, check=False)
    if code is not None and done.returncode != code:
        sys.exit(f"abi: {' '.join(map(str, command))}: code {done.returncode}\n{done.stderr}")
    return done


# ---- names ----


def tables(build: Path) -> dict[str, list[Path]]:
    return {
        "wattle": [INCLUDE / "wattle.h"],
        "wattle-shmem": [build / "generated/api.json"],
        "armci": [*ARMCI, ROOT / "src/armci/tcgmsg.h"],
    }


def exported(library: Path) -> dict[str, str]:
    """The version node of each exported name, from the dynamic symbols."""
    lines = run("nm", "--dynamic", "--defined-only", "--with-symbol-versions", library).stdout.splitlines()
    names = [line.split() for line in lines]
    return dict(word[2].partition("@@")[::2] for word in names if word[1] != "A")


def wrong_names(library: Path, public: set[str]) -> list[str]:
    found = exported(library)
    seen = {name for name, node in found.items() if not node.startswith("WATTLE_PRIVATE_")}
    private = ("PMIx_Initialized", "InitializeInjectionNvtx2")
    hidden = [name for name in found.keys() - seen if not name.startswith("wtl_") and name not in private]
    return (
        [f"{name} is in the table and not exported" for name in sorted(public - seen)]
        + [f"{name} is exported and not in the table" for name in sorted(seen - public)]
        + [f"{name} is exported for Wattle's libraries, but is not named wtl_*" for name in sorted(hidden)]
    )


def names(build: Path) -> int:
    wrong = 0
    for library, made_from in tables(build).items():
        public = {name for table in made_from for name in public_names(table)}
        messages = wrong_names(build / f"lib/lib{library}.so", public)
        report([f"lib{library}: {message}" for message in messages], f"lib{library}: {len(public)} public names")
        wrong += len(messages)
    return int(wrong > 0)


def report(wrong: list[str], good: str) -> None:
    """Prints what is wrong on standard error, or that all is good on standard output."""
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
    else:
        print(good)


# ---- the interface ----


def constants(library: str, build: Path) -> str:
    """The constants of the library's headers with their values, one a line."""
    include = [f"-I{build / 'include'}", "-DWTL_ARMCI_WITHOUT_MPI"]
    included = [word for header in HEADERS[library] for word in ("-include", header)]
    lines = run("cc", "-E", "-dM", *include, *included, "-x", "c", "/dev/null").stdout.splitlines()
    found = (CONSTANT.fullmatch(line) for line in lines)
    return "".join(sorted(f"{m[1]} {m[2]}\n" for m in found if m and not WITHOUT_VALUE.search(m[1])))


def write_interface(library: str, build: Path, folder: Path) -> None:
    """Writes LIBRARY.abi and LIBRARY.constants."""
    rules = folder / "private.suppr"
    rules.write_text(NO_PRIVATE, encoding="utf-8")
    options = ["--drop-undefined-syms", "--drop-private-types", "--no-parameter-names", "--no-corpus-path"]
    options += ["--no-comp-dir-path", "--no-show-locs", "--headers-dir", build / "include"]
    target = ["--out-file", folder / f"{library}.abi", build / f"lib/lib{library}.so"]
    run("abidw", "--suppressions", rules, *options, *target)
    (folder / f"{library}.constants").write_text(constants(library, build), encoding="utf-8")


def public_symbols(abi: str) -> set[tuple[str, str]]:
    """Names with their version nodes."""
    found = re.findall(r"<elf-symbol name='(\w+)'[^>]* version='(WATTLE_[\d.]+)'", abi)
    return {(name, node) for name, node in found if not name.startswith("wtl_")}


def soname(abi: str) -> str:
    found = re.search(r"soname='([^']+)'", abi)
    return found[1] if found else ""


def last_tag() -> str | None:
    done = run("git", "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", code=None)
    return done.stdout.strip() if done.returncode == 0 else None


def kept_files(library: str, kept: Path, tag: str | None) -> tuple[str, str] | None:
    """The ABI and the constants that were kept: by the tag if there is one, else in the folder. None: not kept."""
    name = f"lib{library}"
    if tag:
        shown = [
            subprocess.run(
                ["git", "show", f"{tag}:abi/{name}.{end}"], cwd=ROOT, capture_output=True, check=False
            ).stdout
            for end in ("abi.xz", "constants")
        ]
        return (lzma.decompress(shown[0]).decode(), shown[1].decode()) if all(shown) else None
    if not (kept / f"{name}.abi.xz").exists():
        return None
    with lzma.open(kept / f"{name}.abi.xz", "rt", encoding="utf-8") as file:
        return file.read(), (kept / f"{name}.constants").read_text(encoding="utf-8")


def abidiff(old: str, new: Path, folder: Path, *options: str) -> list[str]:
    """The differences of two interfaces: lines of abidiff that name a function, variable or number."""
    before = folder / "before.abi"
    before.write_text(old, encoding="utf-8")
    done = run("abidiff", *options, before, new, code=None)
    if done.returncode & 3:  # a wrong option or an unreadable file
        sys.exit(f"abi: abidiff: code {done.returncode}\n{done.stderr}")
    if done.returncode == 0:
        return []
    lines = [line.strip() for line in done.stdout.splitlines()]
    return [line for line in lines if re.match(r"\[[ACD]\]|SONAME", line)] or lines


def differences(library: str, old: tuple[str, str], new: tuple[str, str], folder: Path) -> list[str]:
    """Differences that are not allowed while the number of the library stays."""
    was, now = public_symbols(old[0]), public_symbols(new[0])
    gone = [f"{name} of {node} is gone" for name, node in sorted(was - now)]
    nodes = {node for _, node in was}
    came = [f"{name} came into {node}: list it in abi/added.txt" for name, node in sorted(now - was) if node in nodes]
    changed = [
        line
        for line in abidiff(old[0], folder / f"{library}.abi", folder, "--no-added-syms")
        if not line.startswith("[D]")
    ]
    values = dict(line.split(" ", 1) for line in new[1].splitlines())
    for name, value in (line.split(" ", 1) for line in old[1].splitlines()):
        if values.get(name) != value:
            changed.append(f"{name} was {value}, and is {values.get(name, 'gone')}")
    return gone + changed + came


def check(build: Path, kept: Path, libraries: list[str]) -> int:
    tag, failed = last_tag() if kept == ROOT / "abi" else None, 0
    since = tag or f"{kept.name}/ (no release yet)"
    for library in libraries:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            write_interface(library, build, folder)
            new = ((folder / f"{library}.abi").read_text(), (folder / f"{library}.constants").read_text())
            released, last = kept_files(library, kept, tag), kept_files(library, kept, None)
            if released is None or last is None:
                wrong = [f"{since} has no kept ABI of this library"]
            else:
                wrong = differences(library, released, new, folder)
                if wrong and soname(released[0]) != soname(new[0]):
                    print(f"{soname(new[0])}: a number of its own, because {len(wrong)} differences from {since}")
                    wrong = []
                if not wrong and (abidiff(last[0], folder / f"{library}.abi", folder) or last[1] != new[1]):
                    wrong = ["abi/ has an older ABI: tools/release_check.py --keep-abi"]
        number = soname(new[0])
        report([f"{number}: {line}" for line in wrong], f"{number}: programs compiled with {since} run with it")
        failed |= bool(wrong)
    if failed and not tag:
        print("abi: no release has the kept ABI. To keep this one: tools/release_check.py --keep-abi", file=sys.stderr)
    return failed


def keep(build: Path, kept: Path, libraries: list[str]) -> int:
    kept.mkdir(exist_ok=True)
    for library in libraries:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            write_interface(library, build, folder)
            with lzma.open(kept / f"lib{library}.abi.xz", "wb", preset=9) as file:
                file.write((folder / f"{library}.abi").read_bytes())
            shutil.copy(folder / f"{library}.constants", kept / f"lib{library}.constants")
    return 0


def main() -> int:
    if len(sys.argv) < 3 or sys.argv[1] not in ("names", "check", "keep"):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 64
    command, build = sys.argv[1], Path(sys.argv[2]).resolve()
    if command == "names":
        return names(build)
    if not shutil.which("abidiff"):
        print("abi: no abidiff here (Debian: abigail-tools)", file=sys.stderr)
        return 69
    kept = Path(sys.argv[3]).resolve() if len(sys.argv) > 3 else ROOT / "abi"
    libraries = sys.argv[4:] or list(LIBRARIES)
    return check(build, kept, libraries) if command == "check" else keep(build, kept, libraries)


if __name__ == "__main__":
    sys.exit(main())
