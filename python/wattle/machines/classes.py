"""Classes of machines with their watts, and processors by name. docs/appendix/table-of-cpus.md explains both."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wattle.base import input_files, limits

SERVER, WORKSTATION, DESKTOP, NOTEBOOK = "server", "workstation", "desktop", "notebook"
SMALL, BOARD, ARM_PC, RISC_V = "small", "board", "arm-pc", "risc-v"
ANY = "any"  # a name without any mark

# The first that matches counts. Letters behind a number are the makers' marks of a market: U, P, H, HX, HS, G4 of
# notebooks, T, K, X of desktops, and so on.
RULES = (
    (NOTEBOOK, r"\bxeon.*\bE3-15\d\dM|\bxeon\W+(?:\(r\)\W*)?W-1[01]\d{3}M|\bE3-1[25]\d\dM\b"),
    (WORKSTATION, r"threadripper|\bxeon.*\bw\d?-\d|\bi[79]-\d{4,5}X(?:E)?\b"),
    (SERVER, r"xeon|epyc|opteron|ampere|altra|graviton|neoverse|grace|kunpeng|\bitanium|\bphi\b"),
    (SMALL, r"\bN\d{2,3}\b|\bi3-N\d|\batom\b|\b[JN]\d{4}\b"),
    (BOARD, r"cortex|\bBCM2|\bRK3|raspberry|rockchip|allwinner|amlogic"),
    (ARM_PC, r"\bcix\b"),
    (RISC_V, r"sifive|starfive|spacemit|\bTH1520\b|\bU74\b|\bP550\b"),
    (NOTEBOOK, r"\bryzen ai\b|\bapple\b|\bultra \d \d{3}[UVH]|\b[3579] \d{3}[UH]"),
    (NOTEBOOK, r"\bi[3579]-\d{4,5}(?:[UYPHM]|G\d)"),
    (NOTEBOOK, r"\bryzen\b.*\b\d{4}(?:U|H|HS|HX|C|HX3D)\b|\bcore\W*m\d?-|\b\d{4}[UYM]\b|\bi[357]-\d{3}[UM]\b"),
    (DESKTOP, r"\bryzen\b|\bi[3579]-\d|\bultra \d|\bpentium|\bceleron|\bcore\b|\bathlon|\bfx|\bA\d+-\d|phenom"),
)
_RULES = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in RULES)


def class_of_name(name: str) -> str | None:
    """The class of machines that a processor with this name is made for; None where the name has no known mark."""
    return next((kind for kind, pattern in _RULES if pattern.search(plain(name))), None)


Pair = tuple[float, float]  # a median and the standard deviation of its logarithm


@dataclass(frozen=True)
class MachineClass:
    """Watts of a class of machines, fitted to readings of `machines` machines.

    Packages: `idle` is the share of TDP of an idle package, `full` that of one whose threads all compute. `wake` is the
    part of the difference that the first busy core causes. Wall socket: an idle machine draws `wall_idle` watts, times
    TDP to the power `wall_power`, and a busy one `wall_step` times TDP more. Where `by_limit` is set, the processor's
    highest power limit, where known, takes the place of TDP in `full` and `wall_step`. `tdp_w` is TDP where the name is
    not known. `dram_factor`: its memory over that of servers.
    """

    title: str
    machines: int
    tdp_w: Pair
    by_limit: bool
    idle: Pair
    full: Pair
    wake: float
    wall_idle: Pair
    wall_power: float
    wall_step: Pair
    dram_factor: Pair


@dataclass(frozen=True)
class Named:
    """A processor of machines/names.csv. `limit_w`: 0 where unknown. `cores` of 0: `tdp_w` is that of one core."""

    name: str
    machine: str
    tdp_w: float
    limit_w: float
    cores: int
    threads: int
    part: int | None  # its number in the main ID register of Arm


def read_names(path: Path, core_w: Mapping[str, float]) -> tuple[Named, ...]:
    """Reads the table of names. `core_w`: watts of one busy core of the kinds that systems on a chip are made of."""
    rows = csv.reader(input_files.read_text(path, limits.TEXT_BYTES).splitlines())
    next(rows)
    return tuple(
        Named(
            name,
            machine,
            float(tdp) if tdp else watts_of_parts(parts, core_w),
            float(limit or 0),
            int(cores or 0),
            int(threads or 0),
            int(part, 0) if part else None,
        )
        for name, machine, tdp, limit, cores, threads, parts, part, _ in rows
    )


def watts_of_parts(parts: str, core_w: Mapping[str, float]) -> float:
    """Watts of the busy cores of a system on a chip, as "4xA76+4xA55", or of one core, as "A76"."""
    found = [part.rpartition("x") for part in parts.split("+")]
    return sum(int(count or 1) * core_w[kind] for count, _, kind in found)


def find_name(names: Sequence[Named], cpu: str, part: int | None) -> Named | None:
    """The processor with the longest name that the CPU's name contains as whole words; else that with this part."""
    text = plain(cpu)
    folded = text.casefold()
    best: Named | None = None
    for row in names:
        if (best is None or len(row.name) > len(best.name)) and _contains(folded, row.name.casefold()):
            best = row
    return best or next((row for row in names if part is not None and row.part == part), None)


def _contains(text: str, name: str) -> bool:
    """Does the text contain the name as whole words? "e5-2650" is not in "e5-2650 v2"."""
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) :]
        is_whole = not (before and (before.isalnum() or before in "+.-_")) and not (after[:1].isalnum())
        if is_whole and not re.match(r"\s+v\d", after):
            return True
        at = text.find(name, at + 1)
    return False


def plain(cpu: str) -> str:
    """The CPU's name without marks of ownership and the word for it, with single spaces."""
    return " ".join(re.sub(r"\((?:r|tm)\)|[®™]|\bcpu\b|\bprocessor\b", "", cpu, flags=re.IGNORECASE).split())
