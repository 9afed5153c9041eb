"""Holds the bytes of the low-power instructions against a disassembler, which knows them whether or not the CPU does.

usage: lowpower_encodings.py OBJDUMP OBJECT             the object compiled for this CPU
       lowpower_encodings.py --cross INCLUDE SOURCE     the source compiled here for the other kind of CPU; skipped (77)
                                                        where there is no clang
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# A disassembler's output for each, operands included: a wrong register would watch or wait for something else.
WANTED = {
    "x86_64": {
        "umonitor": r"umonitor\s+%rdi",
        "umwait": r"umwait\s+%ecx",
        "tpause": r"tpause\s+%ecx",
        "monitorx": r"monitorx\b",
        "mwaitx": r"mwaitx\b",
    },
    "aarch64": {"ldxrb": r"ldxrb\s+w\d+, \[x0\]", "wfe": r"wfe$", "wfet": r"wfet\s+x0"},
}


def functions(listing: str) -> dict[str, list[str]]:
    """The instructions of each function in a disassembly."""
    found: dict[str, list[str]] = {}
    for line in listing.splitlines():
        if head := re.match(r"[0-9a-f]+ <(\w+)>:", line):
            lines = found.setdefault(head[1], [])
        elif found and (body := re.match(r"\s*[0-9a-f]+:\s+(.*)", line)):
            lines.append(body[1].strip())
    return found


def check(listing: str, cpu: str) -> int:
    """Prints what is missing; the number of instructions that are."""
    found = functions(listing)
    wrong = 0
    for name, wanted in WANTED[cpu].items():
        body = found.get(f"is_{name}", [])
        if not any(re.match(wanted, line) for line in body):
            wrong += 1
            print(f"{name}: no {wanted!r} in {body}")
    return wrong


def of_this_cpu(objdump: str, target: str) -> int:
    if platform.machine() not in WANTED:
        print(f"no low-power instruction is used on {platform.machine()}")
        return 0
    command = [objdump, "-d", "--no-show-raw-insn", target]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return check(listing, platform.machine())


def of_the_other_cpu(include: str, source: str) -> int:
    cpu = "x86_64" if platform.machine() == "aarch64" else "aarch64"
    clang, objdump = shutil.which("clang"), shutil.which("llvm-objdump")
    if not clang or not objdump:
        print("clang or llvm-objdump is not installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "ops.o"
        compile_it = [clang, f"--target={cpu}-linux-gnu", "-ffreestanding", "-O2", "-I", include, "-c", source]
        subprocess.run([*compile_it, "-o", target], check=True)
        features = ["--mattr=+wfxt"] if cpu == "aarch64" else []
        command = [objdump, "-d", "--no-show-raw-insn", *features, target]
        return check(subprocess.run(command, capture_output=True, text=True, check=True).stdout, cpu)


if __name__ == "__main__":
    sys.exit(of_the_other_cpu(*sys.argv[2:]) if sys.argv[1] == "--cross" else of_this_cpu(*sys.argv[1:]))
