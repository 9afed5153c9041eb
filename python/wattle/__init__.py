"""Wattle from Python: reads runs, studies and benchmarks as tables, and measures the joules of a part of this process.

    import wattle

    run = wattle.open("wattle-runs/halo")   # or a study, or bench.json
    run.sites.sort("joules", descending=True)

    with wattle.energy() as e:
        train()
    print(e.joules)                         # 12.3 ± 4 J modelled

The page "Wattle from Python" of the documentation has all names. They exist since version 0.1.0. Importing this package
imports none of the packages behind them.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "Bench",
    "DamagedFile",
    "Energy",
    "Joules",
    "Run",
    "Study",
    "WattleError",
    "advise",
    "compare",
    "energy",
    "history",
    "open",
]

if TYPE_CHECKING:
    from wattle.api.bench import Bench
    from wattle.api.functions import advise, compare, energy, history, open
    from wattle.api.run import Run
    from wattle.api.study import Study
    from wattle.base.errors import DamagedFile, WattleError
    from wattle.energy.region import Energy
    from wattle.text.provenance import Joules

_PLACES = {
    "Bench": "wattle.api.bench",
    "DamagedFile": "wattle.base.errors",
    "Energy": "wattle.energy.region",
    "Joules": "wattle.text.provenance",
    "Run": "wattle.api.run",
    "Study": "wattle.api.study",
    "WattleError": "wattle.base.errors",
    "load_ipython_extension": "wattle.api.functions",
    "open": "wattle.api.functions",
}
# Functions with the name of a command, whose package has that name, too. The package is then called.
_CALLED = ("advise", "compare", "energy", "history")


class _Command(ModuleType):
    """The package of a command that is also a function of this package."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        functions = importlib.import_module("wattle.api.functions")
        return getattr(functions, self.__name__.rpartition(".")[2])(*arguments, **named)


class _Wattle(ModuleType):
    """This package. An import of a package inside it sets an attribute."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in _CALLED and type(value) is ModuleType:
            value.__class__ = _Command
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Wattle


def __getattr__(name: str) -> Any:
    if name in _CALLED:
        return importlib.import_module(f"wattle.{name}")
    if name not in _PLACES:
        raise AttributeError(f"module 'wattle' has no attribute {name!r}")
    return getattr(importlib.import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
