"""The text of pages, comments and docstrings keeps to the glossary and the style page."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def prose() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_prose", ROOT / "tools" / "check_prose.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.soak
def test_the_text_keeps_to_the_glossary_and_the_style() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    done = subprocess.run([sys.executable, str(ROOT / "tools" / "check_prose.py")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.soak
def test_the_text_is_spelled_correctly() -> None:
    codespell = Path(sys.executable).with_name("codespell")
    folders = ["README.md", "CONTRIBUTING.md", "docs", "src", "include", "python", "tools", "bench", "apps", "examples"]
    done = subprocess.run([codespell, *folders], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("a.c", "/* Who sleeps so has armed its cell. */", "clause as subject"),
        ("a.c", "int a; // The PE is told so.", "not in the glossary"),
        ("a.h", "/*\n * a.h - a header.\n *\n * " + "word " * 40 + "\n */", "words in a sentence"),
        ("a.md", "A title\n\n- What arrives is stored.\n", "clause as subject"),
        ("a.md", "| a | nobody waits |\n", "not in the glossary"),
        ("a.py", '"""Whoever calls this waits."""\n', "clause as subject"),
        ("a.py", "x = 1  # somebody else's\n", "not in the glossary"),
    ],
)
def test_each_kind_of_text_is_checked(prose: ModuleType, tmp_path: Path, name: str, text: str, rule: str) -> None:
    words = prose.banned((ROOT / prose.GLOSSARY).read_text(encoding="utf-8"))
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = [f for line, piece in prose.prose(tmp_path / name) for f in prose.findings_of(name, line, piece, words)]
    assert rule in " ".join(f.rule for f in found)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.c", '/* A PE that sleeps has set `armed`. */ const char *told = "nobody";'),
        ("a.md", "What is a PE?\n\n```\nWho sleeps\n```\n\nThe page says which PE waits and what it does.\n"),
        ("a.py", '"""Returns the PE that waits."""\ntold = "nobody"\n'),
    ],
)
def test_code_questions_and_plain_sentences_are_no_findings(
    prose: ModuleType, tmp_path: Path, name: str, text: str
) -> None:
    words = prose.banned((ROOT / prose.GLOSSARY).read_text(encoding="utf-8"))
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = [f for line, piece in prose.prose(tmp_path / name) for f in prose.findings_of(name, line, piece, words)]
    assert not found
