"""Which files hold a program's own code: its executable, and the libraries that belong to it.

A library belongs to the program unless it is the system's, MPI's, a language's, a network's, or a tool's. A library in
a folder of the system belongs to a packaged program if both were built from one source package, as liblammps and lmp.
"""

from __future__ import annotations

import os
import re
import subprocess
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from wattle.machine.commands import run_quietly, without_preload

SETTING = "WATTLE_OWN_CODE"
LIMIT_S = 30
INTERPRETERS = ("python", "perl", "R", "Rscript", "julia", "ruby", "octave", "node")
INSTALLED = re.compile(r"/(site|dist)-packages/|/lib(64)?/python3\.\d+/")  # folders of Python's packages
_SYSTEM = re.compile(r"(/usr)?/(lib|lib32|lib64|libx32|libexec)/|\[")  # `[vdso]` is the kernel's
_PACKAGED = re.compile(r"(/usr)?/(s?bin|games|lib|lib64|libexec|share)/")  # folders of packages' programs
_OTHERS = re.compile(
    r"mca_|ld-linux|lib("
    r"c|m|mvec|dl|rt|pthread|util|resolv|stdc\+\+|gcc_s|gfortran|quadmath|atomic|c\+\+|c\+\+abi|flang.*|pgf90.*|nv(c|f|hpc).*"
    r"|gomp|i?omp5?|imf|svml|irc|irng|intlc|ifcore.*|ifport.*|tbb.*|mkl_.*|[atlu]b?san"
    r"|mpi|mpi_.*|mpi[a-z]*\d*|mpich.*|pmpi.*|fmpich.*|open-(rte|pal)|pmix.*|prrte|hwloc|event.*|hcoll|ucc|sharp.*"
    r"|uc[pstm]|fabric|ibverbs|rdmacm|mlx[45]|psm2?|infinipath|portals|nccl.*|rccl.*|cu(da|dart|blas|fft|pti).*|hsa-.*|amdhip.*"
    r"|wattle.*|oshmem|sma|shmem|ga|ga\+\+|armci|comex"
    r"|python3.*|julia.*|R|perl|ruby.*|octave.*|jvm"
    r"|tau.*|TAU.*|caliper|scorep.*|vt.*|extrae.*|mpiP.*|ipm|darshan.*|papi.*|likwid.*|geopm.*|pinpoint.*|hpcrun.*|nvToolsExt.*"
    r")[-.]?\d*(-\w+)?\.so(\.|$)"
)


def is_interpreter(program: str) -> bool:
    name = Path(program).name
    return any(name == i or name.startswith(f"{i}3") for i in INTERPRETERS)


def is_own(module: str, program: str) -> bool:
    """Whether a file that the process had loaded holds code of the program `program`, a path. The variable
    WATTLE_OWN_CODE may say so of each: patterns between colons, the last that matches counts, `!` for one that is not.
    """
    return _is_own(module, program, os.environ.get(SETTING, ""))


@cache
def _is_own(module: str, program: str, patterns: str) -> bool:
    for pattern in reversed(patterns.split(":")):
        wanted = pattern.removeprefix("!")
        if wanted and fnmatchcase(module if "/" in wanted else Path(module).name, wanted):
            return wanted == pattern
    if module == program:
        return not is_interpreter(program)
    if not module or _OTHERS.match(Path(module).name) or INSTALLED.search(module):
        return False
    if not _SYSTEM.match(module):
        return True
    return bool(_PACKAGED.match(os.path.realpath(program))) and Path(module).name in _files_beside(program)


@cache
def _files_beside(program: str) -> frozenset[str]:
    """The names of all files of the installed packages from the source package of the program's package. Empty where
    no package has the program.
    """
    return _of_debian(os.path.realpath(program)) or _of_rpm(os.path.realpath(program))


def _of_debian(program: str) -> frozenset[str]:
    # Before /bin was a link to /usr/bin, packages had their programs in either.
    for path in (program, program.removeprefix("/usr"), f"/usr{program}"):
        owner = _answer("dpkg-query", "-S", path).partition(": ")[0].partition(",")[0]
        if owner:
            listed = _answer("dpkg-query", "-W", "-f", "${binary:Package}\t${source:Package}\n")
            return _names(_answer("dpkg-query", "-L", *_siblings(listed, owner)))
    return frozenset()


def _of_rpm(program: str) -> frozenset[str]:
    owner = _answer("rpm", "-qf", "--qf", "%{NAME}\n", program).partition("\n")[0]
    listed = _answer("rpm", "-qa", "--qf", "%{NAME}\t%{SOURCERPM}\n") if owner else ""
    names = _siblings(listed, owner)
    return _names(_answer("rpm", "-ql", *names)) if names else frozenset()


def _siblings(listed: str, owner: str) -> list[str]:
    """The packages with the same source as `owner`, from lines of package and source."""
    source_of = dict(line.split("\t", 1) for line in listed.splitlines() if "\t" in line)
    return [name for name, source in source_of.items() if source == source_of.get(owner)]


def _names(listed: str) -> frozenset[str]:
    return frozenset(Path(line).name for line in listed.splitlines())


def _answer(*command: str) -> str:
    """The output of a package manager. Empty where it is not there or does not know."""
    try:
        done = run_quietly(command, {**without_preload(), "LC_ALL": "C"}, LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
