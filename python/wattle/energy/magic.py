"""The magic `%%wattle` of notebooks."""

from __future__ import annotations

from typing import Any

from wattle.energy.region import Energy
from wattle.text import console


def register(shell: Any) -> None:
    """Adds the magic to an IPython shell."""

    def wattle(line: str, cell: str) -> None:
        """Run a cell and print its joules. `%%wattle NAME` also assigns the figures to the variable NAME."""
        name = line.strip()
        if name and not name.isidentifier():
            raise ValueError(f"%%wattle {name}: expected the name of a variable, or nothing")
        found = Energy()
        with found:
            done = shell.run_cell(cell)
        if name:
            shell.user_ns[name] = found
        console.out.print(str(found), soft_wrap=True)
        done.raise_error()

    shell.register_magic_function(wattle, "cell", "wattle")
