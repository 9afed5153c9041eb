#!/usr/bin/env python3
"""Checks the words of pages, comments and docstrings against docs/glossary.md and docs/style.md.

    tools/check_prose.py [PATH...]      report each finding as FILE:LINE: RULE: TEXT
    tools/check_prose.py --count        findings for each room, folder and page

Three rules: no word of the glossary's table "Words that are not used", no sentence that begins with a clause such as
"Who sleeps", and no sentence of more than LONGEST words. A colon ends a sentence for all three rules. A semicolon ends
one for the second rule only.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = "docs/glossary.md"
LONGEST = 35


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


def banned(glossary: str) -> re.Pattern[str]:
    """The words of the first column of the glossary's last table."""
    table = glossary.partition("## Words that are not used")[2]
    words = [word.strip() for row in re.findall(r"^\| ([^|]+) \|", table, re.M)[1:] for word in row.split(",")]
    return re.compile(r"\b(" + "|".join(re.escape(word) for word in words) + r")\b", re.I)


# A clause as subject: "Who sleeps has ...". A question, or "which" and "what" within a sentence, is no finding.
CLAUSE = re.compile(r"^(?:(?:And|But|So|Or) )?(?:who(?:ever)?|what(?:ever)?) (?![^.]*\?)", re.I)
SENTENCE_END = re.compile(r"(?<=[.!?])[)\"*]*\s+(?=[A-Z`\"(*0-9_])|(?<=:)\s+|\n\s*\n")
WORD = re.compile(r"[A-Za-z0-9][\w'./:+-]*")


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Each sentence with the offset of its line within `text`."""
    at = 0
    for end in [*(m.span() for m in SENTENCE_END.finditer(text)), (len(text), len(text))]:
        piece = text[at : end[0]]
        if piece.strip():
            lead = len(piece) - len(piece.lstrip())
            yield text.count("\n", 0, at + lead), re.sub(r"\s+", " ", piece).strip()
        at = end[1]


def findings_of(path: str, first_line: int, text: str, words: re.Pattern[str]) -> Iterator[Finding]:
    for offset, sentence in sentences(text):
        line = first_line + offset
        plain = re.sub(r"`[^`]*`|\"[^\"]*\"", "X", sentence)
        for match in words.finditer(plain):
            yield Finding(path, line, "not in the glossary", f"{match.group()!r} in {sentence[:70]!r}")
        if any(CLAUSE.match(part) for part in re.split(r";\s+", plain)):
            yield Finding(path, line, "clause as subject", repr(sentence[:70]))
        if (n := len(WORD.findall(plain))) > LONGEST:
            yield Finding(path, line, f"{n} words in a sentence", repr(sentence[:70]))


def markdown(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs, items and cells; no code, no link targets."""
    text = re.sub(r"^```.*?^```", lambda m: "\n" * m.group().count("\n"), text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    lines = text.split("\n")
    block: list[str] = []
    start = 1
    for number, line in enumerate([*lines, ""], 1):
        starts_new = bool(re.match(r"\s*([-*+]|\d+\.)\s", line)) or line.startswith(("#", "|", "    "))
        if not line.strip() or starts_new:
            if block:
                yield start, "\n".join(block)
            block, start = [], number
        if line.startswith("    ") and not block:
            continue
        if line.startswith("|"):
            for cell in line.strip("|").split("|"):
                yield number, cell.strip()
        elif line.strip():
            if not block:
                start = number
            block.append(re.sub(r"^\s*([-*+]|\d+\.|#+|>)\s+", "", line))


def c_comments(text: str) -> Iterator[tuple[int, str]]:
    for match in re.finditer(r"/\*(.*?)\*/", text, re.S):
        body = match.group(1)
        lines = [re.sub(r"^\s*\* ?", "", line) for line in body.split("\n")]
        # Drawings and tables keep their columns apart by several blanks.
        kept = ["" if re.search(r"\S {3,}\S|^ {2,}\S|-{4,}", line) else line for line in lines]
        yield text.count("\n", 0, match.start()) + 1, "\n".join(kept)
    for match in re.finditer(r"(?<![:\"])//(.*)$", text, re.M):
        yield text.count("\n", 0, match.start()) + 1, match.group(1)


def python_prose(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith(("#!", "# noqa", "# type")):
            yield token.start[0], token.string.lstrip("# ")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            doc = ast.get_docstring(node, clean=False)
            if doc and isinstance(first, ast.Expr):
                kept = ["" if re.match(r" {4,}\S.* {2,}\S| {8,}\S", line) else line for line in doc.split("\n")]
                yield first.lineno, "\n".join(kept)


def prose(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".md":
        text = text.partition("## Words that are not used")[0] if path.name == "glossary.md" else text
        text = text.partition("## Before and after")[0] if path.name == "style.md" else text
        yield from markdown(text)
    elif path.suffix in (".c", ".h", ".cc", ".cpp", ".def"):
        yield from c_comments(text)
    elif path.suffix == ".py":
        yield from python_prose(text)


def tracked(paths: list[str]) -> list[str]:
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "--", *(paths or ["."])], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    return [name for name in listed if Path(name).suffix in (".md", ".c", ".h", ".cc", ".cpp", ".def", ".py")]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("paths", nargs="*", help="files or folders; by default all")
    parser.add_argument("--count", action="store_true", help="print how many findings each folder and page has")
    options = parser.parse_args()
    words = banned((ROOT / GLOSSARY).read_text(encoding="utf-8"))
    names = tracked(options.paths)
    found = [f for name in names for start, text in prose(ROOT / name) for f in findings_of(name, start, text, words)]
    if options.count:
        counts = Counter("/".join(Path(f.path).parts[:2]) for f in found)
        for name, count in sorted(counts.items()):
            print(f"{count:6} {name}")
        return 0
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
