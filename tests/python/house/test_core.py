"""The light core of the lab needs Typer, Rich and msgspec alone, and no command loads what it does not need."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import re
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import fakes
import pytest
from tree import PACKAGE, ROOT
from wattle import cli
from wattle.base import extras

Core = Callable[..., subprocess.CompletedProcess[str]]


def pinned(name: str) -> list[str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [line.partition("==")[0] for line in lines if "==" in line]


@pytest.fixture(scope="module")
def core_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python environment with the packages of requirements-core.txt and no other."""
    folder = tmp_path_factory.mktemp("core") / "venv"
    venv.create(folder, with_pip=False)
    (site,) = folder.glob("lib/python*/site-packages")
    for name in pinned("requirements-core.txt"):
        for top in {file.parts[0] for file in importlib.metadata.files(name) or () if file.parts[0] != ".."}:
            (site / top).symlink_to(Path(str(importlib.metadata.distribution(name).locate_file(top))))
    (site / "wattle.pth").write_text(f"{PACKAGE}\n")
    return folder / "bin/python"


@pytest.fixture
def core(core_python: Path, environment: dict[str, str], tmp_path: Path) -> Core:
    """Runs `wattle ARGUMENTS` in that environment, in a directory with a run of two PEs."""
    fakes.make_run(tmp_path / "run")

    def run(*arguments: object, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(core_python), "-m", "wattle", *map(str, arguments)],
            env={k: v for k, v in environment.items() if k != "PYTHONPATH"} | more,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


def test_the_environment_has_no_package_of_the_extra(core_python: Path) -> None:
    words = f"import importlib.util as u; print([n for n in {extras.LAB!r} if u.find_spec(n)])"
    assert subprocess.run([core_python, "-c", words], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["version"],
        ["doctor"],
        ["compare", "run", "run"],
        ["history", "run"],
        ["plan", "--help"],
        ["report", "--text", "run"],
        ["run", "--help"],
        ["energy", "--help"],
        ["sim", "--help"],
        ["calibrate", "--help"],
        ["external", "--help"],
        ["acceptance", "--help"],
        ["machines", "predict", "--help"],
    ],
    ids=" ".join,
)
def test_a_command_of_the_core_runs(core: Core, arguments: list[str]) -> None:
    done = core(*arguments)
    assert done.returncode == 0, done.stderr


def test_a_run_shows_its_tables(core: Core, tmp_path: Path) -> None:
    program = fakes.script(tmp_path / "program", "#!/bin/sh\nexit 0\n")
    ready = fakes.write_profiles(tmp_path / "ready", [fakes.pe_profile(0), fakes.pe_profile(1)])
    done = core("run", "-n", 2, "-o", "again", program, FAKE_PROFILES=str(ready))
    assert done.returncode == 0, done.stderr
    assert "Costliest call sites" in done.stderr
    assert "By PE" in core("report", "--text", "again").stdout


@pytest.mark.parametrize(
    ("arguments", "needs"),
    [
        (["study", "slack", "--help"], "wattle study needs the Python package"),
        (["reproduce"], "wattle reproduce needs the Python package"),
        (["scale", "run"], "wattle scale needs the Python package"),
        (["report", "run"], "wattle report needs the Python package"),
        (["plan", "run", "--by", "sim"], "wattle plan needs the Python package numpy"),
        (["sim", "--what-if", "run"], "wattle sim needs the Python package numpy"),
        (["run", "--timeline", "true"], "--timeline needs the Python package numpy"),
        (["run", "--meter-log", "log.csv", "true"], "--meter-log needs the Python package numpy"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_that_needs_the_extra_says_so_in_one_line(core: Core, arguments: list[str], needs: str) -> None:
    done = core(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"wattle: {needs}"), done.stderr
    assert "Wattle's extra `lab` has it: pip install '.[lab]'" in done.stderr
    assert done.stderr.count("\n") == 1


# Runs each list of arguments in a child that has loaded nothing but the command line, and prints what is loaded then.
LOADED = """
import json, os, sys
from wattle import cli
for arguments in json.load(sys.stdin):
    sys.stdout.flush()
    if not (child := os.fork()):
        sys.argv[1:] = arguments
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        loaded = sorted({name.partition(".")[0] for name in sys.modules})
        with open("loaded", "a") as file:
            print(json.dumps([arguments, code, loaded]), file=file)
        os._exit(0)
    os.waitpid(child, 0)
"""


def test_the_commands_of_the_core_load_no_package_of_the_extra(environment: dict[str, str], tmp_path: Path) -> None:
    words = [["--help"], ["version"], ["run", "/bin/true"], *([name, "--help"] for name in cli.COMMANDS)]
    command = [sys.executable, "-c", LOADED]
    text = json.dumps(words)
    subprocess.run(command, env=environment, cwd=tmp_path, input=text, check=True, capture_output=True, text=True)
    ends = [json.loads(line) for line in (tmp_path / "loaded").read_text().splitlines()]
    assert [arguments for arguments, code, loaded in ends if code == 0 and "wattle" in loaded] == words
    of_the_extra = {*extras.LAB, "pydantic", "email"}  # `importlib.metadata` loads email
    assert [(arguments, found) for arguments, _, loaded in ends if (found := of_the_extra & {*loaded})] == []


def test_the_list_of_commands_has_the_first_sentence_of_each() -> None:
    for name in cli.COMMANDS:
        loaded = importlib.import_module(f"wattle.{name}.cli")
        text = getattr(loaded, f"{name}_app").info.help if name in cli.GROUPS else getattr(loaded, name).__doc__
        assert re.sub(r"\s+", " ", text).strip().startswith(cli.COMMANDS[name]), name


def test_each_package_that_the_lab_imports_has_a_pin() -> None:
    both = {*pinned("requirements-core.txt"), *pinned("requirements.txt")}
    assert set(extras.LAB) <= both
    assert not set(extras.LAB) & set(pinned("requirements-core.txt"))
