"""Spack's recipe names options that the build has, and tells each build the variants that were chosen."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from tree import ROOT

RECIPE = ROOT / "packaging/spack/package.py"


class Recorded(SimpleNamespace):
    """The declarations of a recipe, by its directives."""

    def __init__(self) -> None:
        super().__init__(variants={}, dependencies=[], provided=[], refused=[], versions=[])


def load() -> tuple[type, Recorded]:
    """Runs the recipe with stand-ins for Spack's names, of which it uses these alone."""
    made = Recorded()

    class CMakePackage:
        def define(self, name: str, value: Any) -> str:
            return f"-D{name}={value}"

        def define_from_variant(self, name: str, variant: str) -> str:
            assert variant in made.variants, variant
            return self.define(name, "ON" if self.spec.satisfies(f"+{variant}") else "OFF")

    def directive(kept: Callable[..., None]) -> Callable[..., None]:
        return kept

    names = {
        "CMakePackage": CMakePackage,
        "license": directive(lambda text: None),
        "version": directive(lambda number: made.versions.append(number)),
        "variant": directive(lambda name, default, description: made.variants.update({name: default})),
        "provides": directive(lambda name: made.provided.append(name)),
        "depends_on": directive(lambda spec, type=None, when=None: made.dependencies.append((spec, when))),
        "requires": directive(lambda spec, when, msg: made.refused.append((spec, when))),
        "conflicts": directive(lambda spec, msg: made.refused.append((spec, None))),
        "run_after": lambda phase, when: lambda method: method,
    }
    text = re.sub(r"^from spack.*$", "", RECIPE.read_text(encoding="utf-8"), flags=re.M)
    exec(compile(text, str(RECIPE), "exec"), names)
    return names["Wattle"], made


class Spec:
    def __init__(self, on: set[str]) -> None:
        self.on = on

    def satisfies(self, variant: str) -> bool:
        return variant.removeprefix("+") in self.on

    def __getitem__(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(mpicc=f"/{name}/bin/mpicc")


def test_the_recipe_provides_both_interfaces_in_this_version() -> None:
    _, made = load()
    (version,) = re.findall(r"project\(wattle VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    assert made.provided == ["openshmem", "armci"] and made.versions == [version]


def test_each_condition_names_a_variant_of_the_recipe() -> None:
    _, made = load()
    conditions = [when for _, when in made.dependencies + made.refused if when]
    named = {name for text in conditions for name in re.findall(r"[+~](\w+)", text)}
    assert named and named <= set(made.variants)


@pytest.mark.parametrize("on", [set(), {"pmix", "ucx", "ofi", "mpi", "profiles", "simulation", "compat"}, {"mpi"}])
def test_each_option_that_the_recipe_sets_is_one_of_the_build(on: set[str]) -> None:
    recipe, _ = load()
    package = recipe()
    package.spec = Spec(on)
    options = dict(word.removeprefix("-D").split("=", 1) for word in package.cmake_args())
    assert options.pop("WTL_MPICC", None) == ("/mpi/bin/mpicc" if "mpi" in on else None)
    expected = {"PMIX": "pmix", "UCX": "ucx", "OFI": "ofi", "CYAML": "profiles", "SIMULATION": "simulation"}
    assert options == {f"WTL_{name}": "ON" if variant in on else "OFF" for name, variant in expected.items()}
    files = [ROOT / "CMakeLists.txt", ROOT / "src/CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")]
    build = "\n".join(path.read_text(encoding="utf-8") for path in files)
    for name in expected:
        assert re.search(rf"option\(WTL_{name} |wtl_optional_library\({name} ", build), name
