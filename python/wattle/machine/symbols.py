"""Resolves an offset in an ELF file to file and line, offline, with eu-addr2line of elfutils.

The file must still have the build-id that the run recorded: a program that was rebuilt since would give wrong lines.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from wattle.base import files
from wattle.machine import elf
from wattle.machine.commands import run_quietly

TOOL = "eu-addr2line"
LIMIT_S = 120


@dataclass(frozen=True)
class Place:
    """The location of a call site or of a caller. `file` is empty where only module and offset are known; `why` gives
    the reason. `around`: the functions into which the compiler inlined this one, the nearest first.
    """

    module: str
    offset: int
    file: str = ""
    line: int = 0
    function: str = ""
    why: str = ""
    around: tuple[Place, ...] = ()
    is_name: bool = False  # it stands for several places, and `function` is their common name
    is_python: bool = False  # a Python frame; it has no module

    @property
    def name(self) -> str:
        """The function, or `libx.so+0x1157`."""
        return self.function or self.label

    @property
    def words(self) -> str:
        """`halo.c:112 exchange()`; of a Python module's own code `train.py:60 <module>`; without a line `exchange() in
        libhalo.so`.
        """
        if not self.function or self.is_name:
            return self.label
        if not self.file:
            return f"{self.function}() in {Path(self.module).name or '?'}"
        return f"{self.label} {self.function}" + ("" if self.function.endswith(">") else "()")

    @property
    def label(self) -> str:
        """`halo.c:112`, or `halo+0x1157`."""
        if self.is_name:
            return self.function
        if self.file:
            return f"{Path(self.file).name}:{self.line}"
        return f"{Path(self.module).name or '?'}+{self.offset:#x}"

    def as_dict(self) -> dict[str, object]:
        return {
            "where": self.label,
            "file": self.file or None,
            "line": self.line or None,
            "function": self.function or None,
            "module": self.module or None,
            "offset": f"{self.offset:#x}",
            "unresolved": self.why or None,
        }


Key = tuple[str, str, int]  # path, recorded build-id, offset


def resolve(keys: Iterable[Key]) -> dict[Key, Place]:
    """The places of all keys, with one process for each module. Never raises: an unresolved Place holds the reason."""
    by_module: dict[tuple[str, str], list[int]] = defaultdict(list)
    for path, build_id, offset in dict.fromkeys(keys):
        by_module[path, build_id].append(offset)
    places: dict[Key, Place] = {}
    for (path, build_id), offsets in by_module.items():
        why = _why_not(path, build_id)
        found = {} if why else _ask(path, offsets)
        if not why and found is None:
            found, why = {}, f"{TOOL} is missing (package elfutils) or failed"
        for offset in offsets:
            places[path, build_id, offset] = (found or {}).get(offset) or Place(path, offset, why=why or "no symbol")
    return places


def _why_not(path: str, recorded: str) -> str:
    if not path:
        return "in no module"
    if not path.startswith("/"):  # the tools would read it relative to this folder, or as an option
        return "its path is not absolute"
    if not files.is_file(path):
        # The runtime writes U+FFFD for each byte of a name that is not UTF-8.
        return "the binary's name is not UTF-8" if "\ufffd" in path else "the binary no longer exists"
    now = elf.build_id(path)
    if recorded and now is not None and now != recorded:
        return "binary changed since the run"
    if not recorded or now is None:
        return _unidentified(path)
    return ""


def _unidentified(path: str) -> str:
    """The reason why a binary without a build-id cannot be used: nothing shows that it is the one that ran."""
    return "the binary has no build-id" if elf.is_elf(Path(path)) else "not an ELF file"


def _ask(path: str, offsets: list[int]) -> dict[int, Place] | None:
    """Runs the tool once for all offsets of a module. None where it could not run."""
    questions = "".join(f"{offset:#x}\n" for offset in offsets)
    try:
        answer = run_quietly([TOOL, "-a", "-i", "-f", "-C", "-e", path], limit_s=LIMIT_S, words=questions)
    except (OSError, subprocess.TimeoutExpired):
        return None
    # The exit code is 1 even where one address has no symbol. Only empty output means failure.
    return parse(path, answer.stdout) if answer.stdout else None


def parse(path: str, answer: str) -> dict[int, Place]:
    """Parses the tool's answer. For each address it has a line `0x...`, then for each frame, innermost first, the
    function and file:line. The innermost frame is the call itself; the others are functions into which the compiler
    inlined it. Frames of shmem.h (its C++ overloads) are skipped.
    """
    places: dict[int, Place] = {}
    lines = answer.splitlines()
    starts = [i for i, line in enumerate(lines) if re.fullmatch(r"0x[0-9a-f]+", line)]
    for i, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        frames = list(zip(lines[i + 1 : end : 2], lines[i + 2 : end : 2], strict=False))
        if frames:
            offset = int(lines[i], 16)
            own = [frame for frame in frames if "/shmem.h:" not in frame[1]]
            first, *others = [_place(path, offset, *frame) for frame in own or frames]
            places[offset] = replace(first, around=tuple(p for p in others if p.function))
    return places


def short_name(function: str, file_line: str = "") -> str:
    """The name alone: of C++ without arguments, template arguments and result, of Fortran as `module::procedure`."""
    if match := re.fullmatch(r"__(\w+?)_MOD_(\w+)", function):
        return "::".join(match.groups())
    if re.search(r"\.[fF](\d\d|or|pp|tn)?:", file_line) and function != "MAIN__":
        return re.sub(r"(?<=\w)__?$", "", re.sub(r"\.\d+$", "", function))
    return (
        _without_arguments(function)
        if re.search(r"[(<]", function)
        else re.sub(r"\.(part|constprop|isra|cold)\b.*", "", function)
    )


def _without_arguments(name: str) -> str:
    """`solver::Halo::exchange` for `void solver::Halo<double>::exchange<int>(int, std::vector<int>&) const`."""
    name = re.sub(r"\s*\[clone [^]]*\]", "", name)
    name = re.sub(r"operator\s*(<=>|<<=?|>>=?|->\*?|<=?|>=?|\(\))", _kept_operator, name)
    name = name.replace("(anonymous namespace)", "{anonymous}")
    while (shorter := re.sub(r"<[^<>]*>", "", name)) != name:
        name = shorter
    lambdas = re.sub(r"\{lambda\([^{}]*\)(#\d+)\}", r"{lambda\1}", name)
    plain = re.sub(r"\([^()]*\)(?=::)", "", lambdas)
    plain = plain.partition("(")[0].rstrip()
    words = re.split(r"\s(?![^{]*\})", plain)
    return "".join(_OPERATORS.get(c, c) for c in words[-1]) or name


_OPERATORS = {"\ue000": "<", "\ue001": ">", "\ue002": "(", "\ue003": ")"}


def _kept_operator(match: re.Match[str]) -> str:
    """The operator in characters that are no brackets."""
    back = {sign: kept for kept, sign in _OPERATORS.items()}
    return "operator" + "".join(back.get(c, c) for c in match[1])


def _place(path: str, offset: int, function_line: str, file_line: str) -> Place:
    function = function_line.partition(" inlined at ")[0]
    function = "" if function.startswith("??") else short_name(function, file_line)
    match = re.match(r"(.+?):(\d+)(?::\d+)?(?: \(discriminator \d+\))?$", file_line)
    if not match or match.group(1) == "??" or match.group(2) == "0":
        why = "no debug information (compile with -g)" if function else "no symbol at that offset"
        return Place(path, offset, function=function, why=why)
    return Place(path, offset, match.group(1), int(match.group(2)), function)
