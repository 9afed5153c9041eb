"""The language of a call site, by its file's extension, so that a change is shown in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from wattle.machine.symbols import Place

# By the extensions that GNU's compilers know. `.C` is C++; of the others case does not matter.
FORTRAN = re.compile(r"\.(f|for|fpp|ftn|f90|f95|f03|f08)$", re.IGNORECASE)
CXX = re.compile(r"\.(cc|cp|cpp|cxx|c\+\+|hh|hpp|hxx|ii|tpp)$", re.IGNORECASE)


@dataclass(frozen=True)
class Snippet:
    """The same change in each language. MPI's own C++ names were removed by MPI 3, so C++ has the calls of C."""

    c: str
    cxx: str
    fortran: str

    def at(self, place: Place) -> str:
        """The change in the language of a place; in C where its file is not known."""
        return {"fortran": self.fortran, "cpp": self.cxx}.get(of(place), self.c)


def of(place: Place) -> str:
    """`c`, `cpp` or `fortran`, as code blocks in Markdown name them."""
    name = Path(place.file).name
    if FORTRAN.search(name):
        return "fortran"
    return "cpp" if CXX.search(name) or name.endswith((".C", ".H")) else "c"
