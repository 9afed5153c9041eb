"""The packages of the extra `lab`, which only some commands need, and the error where one of them is missing."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from wattle.base.errors import WattleError

LAB = ("jinja2", "markupsafe", "numpy", "otf2", "plotly", "polars", "scipy")


def require(what: str, *packages: str) -> None:
    """Raises WattleError where a package is missing that `what` needs, such as `--timeline`."""
    for package in packages:
        if not has(package):
            raise _missing(what, package)


def has(package: str) -> bool:
    """Whether a package of the extra is installed."""
    return importlib.util.find_spec(package) is not None


@contextmanager
def named(arguments: Sequence[str]) -> Iterator[None]:
    """Meanwhile a missing package of the extra is an error that names the command, the package and the remedy."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package not in LAB:
            raise
        raise _missing(f"wattle {arguments[0]}", package) from None


def _missing(what: str, package: str) -> WattleError:
    return WattleError(
        f"{what} needs the Python package {package}, which is not installed; Wattle's extra `lab` has it: "
        "pip install '.[lab]' in Wattle's sources"
    )
